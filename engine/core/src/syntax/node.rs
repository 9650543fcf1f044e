//! One tree for YAML, TOML and JSON: what the key readers work on.

use super::key::Key;
use crate::diagnostic::{Span, Spanned};

/// Text with its place.
pub type Text = Spanned<String>;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands in the file; for a block scalar the text with its indentation.
    pub span: Span,
    /// The value.
    pub kind: NodeKind,
}

impl Node {
    /// The entries of a mapping; anything else has none.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            NodeKind::Map(entries) => entries,
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::Text { .. }
            | NodeKind::List(_) => &[],
        }
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false` (YAML 1.2: `yes` and `no` are text).
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction, or one that no `i64` holds.
    Float(f64),
    /// Text. `plain`: written without quotes or a block sign, so that YAML could have read it otherwise.
    Text {
        /// The value.
        value: Box<str>,
        /// Whether it was written plain.
        plain: bool,
    },
    /// A list.
    List(Box<[Node]>),
    /// A mapping in the order in which it was written; keys are unique.
    Map(Box<[Entry]>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Entry {
    /// The key as a name with its place.
    pub(crate) fn name(&self) -> Spanned<String> {
        Spanned::new(self.key.to_string(), self.key_span)
    }
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
