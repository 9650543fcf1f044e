//! A shell script whose holes have become references to environment variables.

use super::Template;

/// A script with holes.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Text and holes in order.
    pub parts: Vec<ScriptPart>,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptPart {
    /// Shell text as written.
    Text(Box<str>),
    /// A hole.
    Hole(Template),
}
