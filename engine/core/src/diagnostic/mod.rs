//! What is wrong with the person's text: code, place, message, help. All of a file's are collected; none stops the rest.

mod code;
mod json;
mod render;
mod source;
#[cfg(test)]
pub(crate) mod testing;

pub use code::{Code, Severity};
pub use render::render;
pub use source::{SourceFile, Span, Spanned};

use std::sync::Arc;

/// One finding about a text that a person wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// What kind of finding; decides the severity.
    pub code: Code,
    /// What is wrong: a lower-case fragment without a full stop, names in backticks.
    pub message: String,
    /// Where: the first label is the place itself, the others are related places.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

/// A marked place.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The bytes.
    pub span: Span,
    /// What is there; may be empty for the first label.
    pub text: String,
}

impl Diagnostic {
    /// A finding at one place.
    pub fn new(code: Code, file: &Arc<SourceFile>, span: Span, message: impl Into<String>) -> Self {
        let label = Label { file: Arc::clone(file), span, text: String::new() };
        Diagnostic { code, message: message.into(), labels: vec![label], help: None }
    }

    /// A finding about no text in particular, but about what the text means in this place.
    pub fn at_no_place(code: Code, message: impl Into<String>) -> Self {
        Diagnostic { code, message: message.into(), labels: Vec::new(), help: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what to do, where there is something.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Adds a related place.
    #[must_use]
    pub fn label(mut self, file: &Arc<SourceFile>, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { file: Arc::clone(file), span, text: text.into() });
        self
    }

    /// Error or warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Whether the text can't be used.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}
