//! TOML as the same tree: `flow.toml` and `+++` front matter.

use std::ops::Range;
use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::node::{Entry, Node, NodeKind};
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};

/// Reads a file as a TOML document.
pub(crate) fn parse_toml(file: &Arc<SourceFile>) -> Result<Node, Vec<Diagnostic>> {
    parse_toml_part(file, 0..file.text.len())
}

/// Reads a part of a file.
pub(crate) fn parse_toml_part(file: &Arc<SourceFile>, part: Range<usize>) -> Result<Node, Vec<Diagnostic>> {
    let text = file.text.get(part.clone()).unwrap_or_default();
    // A byte order mark is no content, and offsets count on from behind it.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let base = part.start + text.len() - body.len();
    let (table, errors) = DeTable::parse_recoverable(body);
    if errors.is_empty() {
        let lowering = Lowering { base };
        return Ok(Node { span: Span::new(part.start, part.end), kind: lowering.table(table.into_inner()) });
    }
    let mut lines = Vec::new();
    let problem = |error: &::toml::de::Error| {
        let at = error.span().unwrap_or(0..0);
        let span = Span::new(base + at.start, base + at.end);
        // After one error the parser guesses; what else it says of the same line is noise.
        let line = body.get(..at.start).unwrap_or_default().matches('\n').count();
        if lines.contains(&line) {
            return None;
        }
        lines.push(line);
        let duplicate = error.message().contains("duplicate key");
        let code = if duplicate { Code::DuplicateKey } else { Code::Malformed };
        let message = match duplicate {
            true => format!("`{}` is written twice", file.slice(span)),
            false => format!("this isn't TOML: {}", error.message()),
        };
        Some(Diagnostic::new(code, file, span, message))
    };
    Err(errors.iter().filter_map(problem).collect())
}

struct Lowering {
    base: usize,
}

impl Lowering {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.base + range.start, self.base + range.end)
    }

    fn table(&self, table: DeTable<'_>) -> NodeKind {
        let mut entries: Vec<Entry> = table
            .into_iter()
            .map(|(key, value)| Entry {
                key_span: self.span(key.span()),
                key: key.into_inner().into(),
                value: self.value(value),
            })
            .collect();
        // The parser's table is sorted by name; ours is in the order of the file.
        entries.sort_by_key(|entry| entry.key_span.start);
        NodeKind::Map(entries.into())
    }

    /// The depth is bounded by the parser.
    fn value(&self, value: Spanned<DeValue<'_>>) -> Node {
        let span = self.span(value.span());
        let kind = match value.into_inner() {
            DeValue::String(text) => NodeKind::Text { value: text.into(), plain: false },
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => NodeKind::Int(number),
                Err(_) => NodeKind::Float(number.as_str().parse().unwrap_or(f64::INFINITY)),
            },
            DeValue::Float(number) => NodeKind::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => NodeKind::Bool(flag),
            DeValue::Datetime(moment) => NodeKind::Text { value: moment.to_string().into(), plain: true },
            DeValue::Array(items) => NodeKind::List(items.into_iter().map(|item| self.value(item)).collect()),
            DeValue::Table(table) => self.table(table),
        };
        Node { span, kind }
    }
}

#[cfg(test)]
#[path = "toml_tests.rs"]
mod tests;
