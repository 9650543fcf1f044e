//! What an agent starts beside the plan: its children.

use serde::{Deserialize, Serialize};

/// What a child is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildKind {
    /// Another agent.
    #[serde(rename = "local_agent")]
    Agent,
    /// A command.
    #[serde(rename = "local_bash")]
    Shell,
}

impl ChildKind {
    /// The word in the journal and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ChildKind::Agent => "local_agent",
            ChildKind::Shell => "local_bash",
        }
    }

    /// The letter that its ids begin with.
    pub fn letter(self) -> char {
        match self {
            ChildKind::Agent => 'a',
            ChildKind::Shell => 'b',
        }
    }
}

/// Whether the conversation that started a child waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildMode {
    /// The call that started it returns when it has ended.
    Foreground,
    /// The call returned at once.
    Background,
}
