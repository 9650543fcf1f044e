//! An agent definition: what an agent may do and its system prompt.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tool_rule::ToolRule;
use crate::diagnostic::SourceFile;

/// A definition, read from a file or built in.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDef {
    /// Identity: exact case, whatever the file is called.
    pub name: String,
    /// When to use it, for people and for the model that chooses.
    pub description: String,
    /// A second hint for the model that chooses.
    pub when_to_use: Option<String>,
    /// Which tools the agent has, before anything is taken away.
    pub tools: ToolPolicy,
    /// Tools taken away; a specifier takes the whole tool.
    pub disallowed_tools: Vec<ToolRule>,
    /// The model.
    pub model: ModelRef,
    /// Thinking effort.
    pub effort: Option<Effort>,
    /// What happens when no permission rule matches.
    pub permission_mode: Option<PermissionMode>,
    /// The most model turns of one attempt.
    pub max_turns: Option<u32>,
    /// Where it works when the task doesn't say.
    pub isolation: Option<Isolation>,
    /// Whether it runs under the rules of background agents.
    pub background: bool,
    /// Whether it may be started in the background.
    pub supports_background: bool,
    /// Skills whose text is put into the prompt.
    pub skills: Vec<String>,
    /// Text sent before the first prompt.
    pub initial_prompt: Option<String>,
    /// Terminal colour.
    pub color: Option<String>,
    /// The definition's own version.
    pub version: Option<String>,
    /// The system prompt, byte for byte.
    pub body: String,
    /// Which source it came from.
    pub source: AgentSource,
    /// The file as the person knows it; `built-in` for ours.
    pub path: String,
    /// The file as read, so that a run can keep it.
    pub file: Arc<SourceFile>,
    /// BLAKE3 of the file's bytes, 64 hex digits.
    pub hash: String,
    /// What was odd about the file, one line each, with file and line.
    pub warnings: Vec<String>,
}

/// Where a definition came from; a later source replaces an earlier one whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentSource {
    /// Compiled in.
    BuiltIn,
    /// A plugin's folder.
    Plugin,
    /// The user's folders.
    User,
    /// The project's folders.
    Project,
    /// `--agents`.
    Flag,
    /// The machine's policy.
    Policy,
}

impl AgentSource {
    /// The word for people and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentSource::BuiltIn => "built-in",
            AgentSource::Plugin => "plugin",
            AgentSource::User => "user",
            AgentSource::Project => "project",
            AgentSource::Flag => "flag",
            AgentSource::Policy => "policy",
        }
    }
}

/// Which tools a definition names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolPolicy {
    /// No `tools` key: all that the parent (or the place) has.
    Inherit,
    /// Exactly these; specifiers are allow rules too. Empty: none.
    Only(Vec<ToolRule>),
}

impl ToolPolicy {
    /// Whether it names a tool.
    pub fn names(&self, tool: &str) -> bool {
        match self {
            ToolPolicy::Inherit => true,
            ToolPolicy::Only(rules) => ToolRule::any_names(rules, tool),
        }
    }
}

impl AgentDef {
    /// Whether it has a tool, before a task narrows it.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.tools.names(tool) && !ToolRule::any_names(&self.disallowed_tools, tool)
    }
}

/// The model of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelRef {
    /// The parent's, or the default of a root.
    Inherit,
    /// An alias of flow.toml, a provider's id or `provider/id`.
    Named(String),
}

/// How much the model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Effort {
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// What happens to a call that no rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Reads inside the tree pass, the rest asks.
    Default,
    /// Edits inside the own tree pass as well.
    AcceptEdits,
    /// Writers are refused.
    Plan,
    /// What would ask is denied.
    DontAsk,
    /// Everything passes; only a person or a policy may say so.
    BypassPermissions,
    /// Read as `default`.
    Auto,
    /// Asks only after the automatic checks.
    Bubble,
}

/// Where a task works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In the enclosing tree, beside others.
    #[default]
    None,
    /// In a git worktree and branch of its own.
    Worktree,
    /// In a private copy of the tree as it is, uncommitted files included; works without git.
    Copy,
    /// In the enclosing tree, with a conversation that begins from what the run knows: its briefing and the notifications
    /// of what the task needs.
    Fork,
}

/// How the work of a private tree comes home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// Nothing comes home; a branch with commits is kept and listed.
    #[default]
    None,
    /// A lasting branch.
    Branch,
    /// A patch file in the run folder.
    Patch,
    /// Its changes as uncommitted files of the enclosing tree.
    Apply,
    /// One commit on the enclosing branch.
    Squash,
    /// Each of its commits on the enclosing branch.
    CherryPick,
}

impl PermissionMode {
    /// The mode where neither task nor definition says one.
    pub fn unsaid(private_tree: bool) -> Self {
        if private_tree { PermissionMode::AcceptEdits } else { PermissionMode::Default }
    }

    /// Its words, which definitions and tasks share.
    pub const WORDS: &'static [(&'static str, PermissionMode)] = &[
        ("default", PermissionMode::Default),
        ("acceptEdits", PermissionMode::AcceptEdits),
        ("plan", PermissionMode::Plan),
        ("dontAsk", PermissionMode::DontAsk),
        ("bypassPermissions", PermissionMode::BypassPermissions),
        ("auto", PermissionMode::Auto),
        ("bubble", PermissionMode::Bubble),
    ];
}

impl Isolation {
    /// Whether the task has a tree of its own.
    pub fn is_private(self) -> bool {
        match self {
            Isolation::None | Isolation::Fork => false,
            Isolation::Worktree | Isolation::Copy => true,
        }
    }
}

impl Merge {
    /// The word of the manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Merge::None => "none",
            Merge::Branch => "branch",
            Merge::Patch => "patch",
            Merge::Apply => "apply",
            Merge::Squash => "squash",
            Merge::CherryPick => "cherry_pick",
        }
    }

    /// Whether it writes to the enclosing tree.
    pub fn changes_home(self) -> bool {
        match self {
            Merge::None | Merge::Branch | Merge::Patch => false,
            Merge::Apply | Merge::Squash | Merge::CherryPick => true,
        }
    }
}
