//! The states of tasks and runs, and why something ended. What follows from a state or a reason is said here, once.

use serde::{Deserialize, Serialize};

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Waits for what it needs, or for a slot.
    Created,
    /// An attempt was ordered.
    Starting,
    /// An attempt runs.
    Running,
    /// Done, and well.
    Completed,
    /// Done, and not well.
    Failed,
    /// Stopped on purpose.
    Killed,
    /// Its engine died under it.
    Lost,
    /// Its own `if` was false.
    Skipped,
    /// An edge can no longer hold.
    Blocked,
}

impl TaskState {
    /// The end that a word of the manifest names.
    pub fn ended(word: &str) -> Option<TaskState> {
        Self::ENDS.iter().copied().find(|state| state.as_str() == word)
    }

    /// Every state in which a task can end.
    pub const ENDS: &'static [TaskState] = &[
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Killed,
        TaskState::Lost,
        TaskState::Skipped,
        TaskState::Blocked,
    ];

    /// The word of the manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskState::Created => "created",
            TaskState::Starting => "starting",
            TaskState::Running => "running",
            TaskState::Completed => "completed",
            TaskState::Failed => "failed",
            TaskState::Killed => "killed",
            TaskState::Lost => "lost",
            TaskState::Skipped => "skipped",
            TaskState::Blocked => "blocked",
        }
    }

    /// The word for people: what was told to end before it had `begun` was not run.
    pub fn in_words(self, begun: bool) -> &'static str {
        match self {
            TaskState::Killed if begun => "stopped",
            TaskState::Killed => "not run",
            TaskState::Created
            | TaskState::Starting
            | TaskState::Running
            | TaskState::Completed
            | TaskState::Failed
            | TaskState::Lost
            | TaskState::Skipped
            | TaskState::Blocked => self.as_str(),
        }
    }

    /// Whether nothing follows it.
    pub fn is_terminal(self) -> bool {
        match self {
            TaskState::Created | TaskState::Starting | TaskState::Running => false,
            TaskState::Completed
            | TaskState::Failed
            | TaskState::Killed
            | TaskState::Lost
            | TaskState::Skipped
            | TaskState::Blocked => true,
        }
    }

    /// Whether it fails the run; `allowed`: whether its failure is, by `continue_on_error`.
    pub fn is_bad(self, allowed: bool) -> bool {
        match self {
            TaskState::Failed => !allowed,
            TaskState::Killed | TaskState::Lost => true,
            TaskState::Created
            | TaskState::Starting
            | TaskState::Running
            | TaskState::Completed
            | TaskState::Skipped
            | TaskState::Blocked => false,
        }
    }

    /// Whether something went wrong: what somebody stopped is bad, and no failure.
    pub fn is_failure(self, allowed: bool) -> bool {
        self != TaskState::Killed && self.is_bad(allowed)
    }
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal;)+) => {
        /// Why something ended as it did.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Reason { $($(#[doc = $doc])+ $name,)+ }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Reason] = &[$(Reason::$name),+];

            /// The word of the manifest.
            pub fn as_str(self) -> &'static str {
                match self { $(Reason::$name => $word,)+ }
            }
        }
    };
}

reasons! {
    /// The command exited with another code than 0.
    ExitCode = "exit_code";
    /// A signal ended the command.
    Signal = "signal";
    /// `timeout.run` passed.
    Timeout = "timeout";
    /// `timeout.idle` passed without a sign of life.
    Stall = "stall";
    /// The turn limit.
    MaxTurns = "max_turns";
    /// The provider limits requests, and retries were used up.
    RateLimit = "rate_limit";
    /// The provider is overloaded, and retries were used up.
    Overloaded = "overloaded";
    /// Any other answer of the provider, or none.
    Provider = "provider";
    /// The conversation no longer fits the model's window.
    ContextOverflow = "context_overflow";
    /// The limit of tokens cut the answer, again and again.
    Truncated = "truncated";
    /// The output doesn't fit its declared form.
    InvalidOutput = "invalid_output";
    /// The agent ended without a text.
    NoOutput = "no_output";
    /// A declared artifact is missing, or can't be kept.
    MissingArtifact = "missing_artifact";
    /// A command of `checks` failed after the agent had its second chance.
    CheckFailed = "check_failed";
    /// An unmet `expect`.
    Expectation = "expectation";
    /// A denial itself ended the agent.
    PermissionDenied = "permission_denied";
    /// The private tree could not be made.
    Isolation = "isolation";
    /// A command of `setup` failed before the task began.
    Setup = "setup";
    /// The work of the private tree and what came home meanwhile don't fit together.
    MergeConflict = "merge_conflict";
    /// More output than `max_output`.
    OutputLimit = "output_limit";
    /// Something it needs did not end as the edge asks.
    Upstream = "upstream";
    /// Its own `if` was false.
    Condition = "condition";
    /// The person left it out of this run.
    NotSelected = "not_selected";
    /// The run or the task was stopped by a person.
    Cancelled = "cancelled";
    /// A sibling or another task failed under fail-fast.
    FailFast = "fail_fast";
    /// The engine died while it ran.
    WorkerRestart = "worker_restart";
    /// The command could not be started.
    Spawn = "spawn";
    /// An expression failed on the run's values.
    Expression = "expression";
    /// The private tree vanished under the task.
    WorkspaceLost = "workspace_lost";
    /// Git's own locks were held too long.
    GitLocked = "git_locked";
    /// The private tree's git files, or what the task printed, were changed under it.
    Tampered = "tampered";
    /// The machine ran out of processes, memory or file handles.
    Resource = "resource";
    /// The disk is full.
    NoSpace = "no_space";
    /// A defect of flow.
    Internal = "internal";
}

impl Reason {
    /// Whether a person or fail-fast stopped it. Limits, such as time, stop things too, and make failures of them.
    pub fn is_deliberate(self) -> bool {
        matches!(self, Reason::Cancelled | Reason::FailFast)
    }
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Its engine is alive.
    Running,
    /// All went well, allowed failures aside.
    Completed,
    /// A task failed.
    Failed,
    /// It was stopped.
    Killed,
    /// Its engine died.
    Lost,
}

impl RunStatus {
    /// The word for people.
    pub fn in_words(self) -> &'static str {
        match self {
            RunStatus::Killed => "interrupted",
            RunStatus::Running | RunStatus::Completed | RunStatus::Failed | RunStatus::Lost => self.as_str(),
        }
    }

    /// The word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Killed => "killed",
            RunStatus::Lost => "lost",
        }
    }
}
