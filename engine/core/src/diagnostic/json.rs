//! Diagnostics as programs read them: code, severity, message, place, help, related places.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Diagnostic, Label, Severity};

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl<'a> Place<'a> {
    fn of(label: &'a Label) -> Self {
        let (line, column) = label.file.line_column(label.span.start);
        Place { file: &label.file.name, line, column, message: None }
    }

    fn related(label: &'a Label) -> Self {
        Place { message: Some(&label.text), ..Place::of(label) }
    }
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_map(None)?;
        entry.serialize_entry("code", self.code.as_str())?;
        entry.serialize_entry("severity", self.severity().as_str())?;
        entry.serialize_entry("message", &self.message)?;
        if let Some(label) = self.labels.first() {
            let place = Place::of(label);
            entry.serialize_entry("file", place.file)?;
            entry.serialize_entry("line", &place.line)?;
            entry.serialize_entry("column", &place.column)?;
        }
        if let Some(help) = &self.help {
            entry.serialize_entry("help", help)?;
        }
        let related: Vec<Place<'_>> = self.labels.iter().skip(1).map(Place::related).collect();
        if !related.is_empty() {
            entry.serialize_entry("related", &related)?;
        }
        entry.end()
    }
}

impl Severity {
    /// The word of messages and of programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
