//! What stands under the keys of a task, as written.

use super::node::{Node, Text};
use crate::diagnostic::{SourceFile, Span, Spanned};

/// `run`: a script, or the words of a command.
#[derive(Clone, Debug)]
pub enum RunText {
    /// Text for a shell.
    Script(Text),
    /// A list: a program and its arguments, which no shell reads. Boxed: few are.
    Words(Box<Spanned<Vec<Text>>>),
}

impl RunText {
    /// Its place.
    pub fn span(&self) -> Span {
        match self {
            RunText::Script(text) => text.span,
            RunText::Words(words) => words.span,
        }
    }
}

/// `prompt`, or a part of `briefing`: the text, or where it is.
#[derive(Clone, Debug)]
pub enum PromptText {
    /// Written out.
    Inline(Text),
    /// `{ file: x.md }`: the path, relative to the manifest.
    File(Text),
}

impl PromptText {
    /// The text or the path, for its place.
    pub fn written(&self) -> &Text {
        match self {
            PromptText::Inline(text) | PromptText::File(text) => text,
        }
    }
}

/// One entry of `needs`.
#[derive(Clone, Debug)]
pub struct NeedFile {
    /// Where the task is named.
    pub span: Span,
    /// What few have; a plan may have 300,000 edges.
    rare: Option<Box<RareNeed>>,
}

#[derive(Clone, Debug)]
struct RareNeed {
    /// The name, where it doesn't stand there as it is.
    unlike: Option<String>,
    kind: Option<Text>,
}

impl NeedFile {
    /// An entry of a file.
    pub(super) fn new(file: &SourceFile, task: Text, kind: Option<Text>) -> Self {
        let as_written = file.slice(task.span) == task.value;
        let unlike = (!as_written).then_some(task.value);
        let rare = (unlike.is_some() || kind.is_some()).then(|| Box::new(RareNeed { unlike, kind }));
        NeedFile { span: task.span, rare }
    }

    /// The task's name.
    pub fn task<'f>(&'f self, file: &'f SourceFile) -> &'f str {
        let unlike = self.rare.as_ref().and_then(|rare| rare.unlike.as_deref());
        unlike.unwrap_or_else(|| file.slice(self.span))
    }

    /// The edge type, when written.
    pub fn kind(&self) -> Option<&Text> {
        self.rare.as_ref()?.kind.as_ref()
    }
}

/// `matrix`.
#[derive(Clone, Debug)]
pub struct MatrixFile {
    /// Axes in order: a list node, or a text with one expression.
    pub axes: Vec<(Text, Node)>,
    /// `include`: mappings.
    pub include: Vec<Node>,
    /// `exclude`: mappings.
    pub exclude: Vec<Node>,
}

/// `retry`: a number, or a mapping.
#[derive(Clone, Debug, Default)]
pub struct RetryFile {
    /// `max`, or the number itself.
    pub max: Option<Spanned<i64>>,
    /// `delay`.
    pub delay: Option<Text>,
    /// `backoff`.
    pub backoff: Option<Spanned<f64>>,
    /// `max_delay`.
    pub max_delay: Option<Text>,
    /// `jitter`.
    pub jitter: Option<Spanned<bool>>,
    /// `on`.
    pub on: Option<Spanned<Vec<Text>>>,
    /// `if`.
    pub condition: Option<Text>,
}

/// `timeout`: a length, or a mapping.
#[derive(Clone, Debug, Default)]
pub struct TimeoutFile {
    /// `run`, or the length itself.
    pub run: Option<Text>,
    /// `idle`.
    pub idle: Option<Text>,
    /// `grace`.
    pub grace: Option<Text>,
}

/// `expect`.
#[derive(Clone, Debug, Default)]
pub struct ExpectFile {
    /// `files`.
    pub files: Vec<Text>,
    /// `changes`.
    pub changes: Option<Spanned<bool>>,
    /// `denied`.
    pub denied: Option<Spanned<bool>>,
    /// `that`.
    pub that: Option<Text>,
}

/// One of `checks`: a script, or `{ run, timeout }`.
#[derive(Clone, Debug)]
pub struct CheckFile {
    /// The script.
    pub run: Text,
    /// How long it may take.
    pub timeout: Option<Text>,
}

/// `permissions`.
#[derive(Clone, Debug, Default)]
pub struct PermissionsFile {
    /// `allow`.
    pub allow: Vec<Text>,
    /// `ask`.
    pub ask: Vec<Text>,
    /// `deny`.
    pub deny: Vec<Text>,
}
