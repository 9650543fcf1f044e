//! What the words of flow mean, apart from any file format: agents, tools, settings, states, outcomes.

mod agent;
mod cause;
mod command;
mod kept;
mod outcome;
mod settings;
mod tools;

pub use agent::{AgentDef, AgentSource, Effort, Isolation, Merge, ModelRef, PermissionMode, ToolPolicy};
pub use cause::Cause;
pub use command::{Command, Signal};
pub use kept::{Artifact, Digest, OutputSlice};
pub use outcome::{
    AttemptEnd, ConflictKind, Denial, DenialReason, MergeConflict, MergeOutcome, Moved, Outcome, Reason,
    RunStatus, TaskState, Usage, WorktreeOutcome,
};
pub use settings::{
    ModelChoice, ModelTarget, ModelWish, PermissionRules, ProviderKind, ProviderSettings, Settings,
    SettingsLayer,
};
pub use tools::{TOOLS, ToolClass, ToolInfo, ToolRule, tool};
