//! What can be wrong with a template: before a run ([`TemplateError`]) and in one ([`EvalError`]).

use std::ops::Range;

/// A fault of a template, an expression or a script, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// What kind of fault it is.
    pub kind: TemplateErrorKind,
    /// The bytes of the source that are at fault.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateErrorKind {
    /// It can't be parsed.
    Syntax,
    /// It is right in itself and may not stand here.
    Place,
    /// A filter, test or function that doesn't exist.
    UnknownFilter,
    /// A hole where no value can stand safely.
    UnsafeHole,
    /// A warning: a value becomes program text of another language.
    ProgramText,
}

impl TemplateError {
    pub(super) fn new(kind: TemplateErrorKind, at: Range<usize>, message: impl Into<String>) -> Self {
        TemplateError { kind, at, message: message.into(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same fault in a text of which the source is a part that begins at `offset`.
    #[must_use]
    pub fn moved(mut self, offset: usize) -> Self {
        self.at = self.at.start + offset..self.at.end + offset;
        self
    }
}

/// An evaluation that failed. The message names paths and fields and never shows a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the source where it happened.
    pub at: Option<Range<usize>>,
    /// Whether a value that it reads can't be had any more: no fault of the text.
    pub unreadable: bool,
}

impl EvalError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        EvalError { message: message.into(), at: None, unreadable: false }
    }
}
