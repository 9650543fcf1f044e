//! Which tool calls pass: rules, modes and the place.

use std::path::PathBuf;

use crate::model::{PermissionMode, PermissionRules, ToolPolicy, ToolRule};

/// Everything that decides over the calls of one agent.
#[derive(Clone, Debug)]
pub struct Permissions {
    /// What happens when no rule matches.
    pub mode: PermissionMode,
    /// The agent's own tree: where relative paths start, absolute and free of links.
    pub tree: PathBuf,
    /// Whether the tree is private (worktree), so that edits inside it pass in mode `acceptEdits`.
    pub private_tree: bool,
    /// Rules of flow.toml, by layer.
    pub layers: Vec<PermissionRules>,
    /// `permissions` of the task, and what its `tools` grant.
    pub task: PermissionRules,
    /// What the definition's `tools` say: names limit, specifiers also allow.
    pub definition: ToolPolicy,
    /// `disallowedTools` of the definition and `disallowed_tools` of the task.
    pub disallowed: Vec<ToolRule>,
}
