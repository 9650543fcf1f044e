//! What the words of flow mean, apart from any file format: agents, tools, settings, states, outcomes.

mod agent;
mod cause;
mod child;
mod command;
mod counts;
mod internal;
mod kept;
mod outcome;
mod settings;
mod state;
mod tool_rule;
mod tools;
mod usage;

pub use agent::{AgentDef, AgentSource, Effort, Isolation, Merge, ModelRef, PermissionMode, ToolPolicy};
pub use cause::Cause;
pub use child::ChildMode;
pub use command::{Command, Signal};
pub use counts::{Counted, Counts};
pub use internal::{FLOW_DIR, GIT_DIR, is_flow_dir, is_git_dir, is_internal, is_internal_dir};
pub use kept::{Artifact, Digest, OutputSlice};
pub use outcome::{
    AttemptEnd, ConflictKind, Denial, DenialReason, MergeConflict, MergeOutcome, Moved, Outcome,
    WorktreeOutcome,
};
pub use settings::{
    ModelChoice, ModelTarget, ModelWish, PermissionRules, ProviderKind, ProviderSettings, Settings,
    SettingsLayer,
};
pub use state::{Reason, RunStatus, TaskState};
pub use tool_rule::ToolRule;
pub use tools::{
    HAND_IN, OF_SERVER, READ, TOOLS, ToolClass, ToolEffect, ToolInfo, ToolState, ToolSubject, Unruled,
    in_background, known_tool, offered_tools, tool,
};
pub use usage::Usage;
