//! What an agent starts beside the plan: its children.

use serde::{Deserialize, Serialize};

/// Whether the conversation that started a child waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildMode {
    /// The call that started it returns when it has ended.
    Foreground,
    /// The call returned at once.
    Background,
}
