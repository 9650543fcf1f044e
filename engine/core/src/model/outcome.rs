//! How things end: attempts, tasks, runs. These are data, never errors, and they are written to the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Artifact, Digest, Merge, OutputSlice};
use crate::ids::Address;
use crate::text::{one_line, visible};

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

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// Well.
    Completed,
    /// Not well; may be tried again.
    Failed,
    /// Stopped on purpose.
    Killed,
    /// Its engine died under it.
    Lost,
}

/// What is known of an attempt when it ends. Everything but `end` may be absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How.
    pub end: AttemptEnd,
    /// Why, unless completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// One line for people: what exactly, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The exit code of a command that exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended a command, such as `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Wall time in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// Standard output of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<OutputSlice>,
    /// Standard error of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<OutputSlice>,
    /// The final text of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<OutputSlice>,
    /// The output in its declared form, when it is no plain text and at most 64 KiB as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The same in a file, when larger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
    /// What that file held when it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_hash: Option<Digest>,
    /// The id of the agent instance: `a` + 16 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What the agent used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Calls that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// Files that are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What became of the private tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeOutcome>,
    /// Processes that had escaped their group and were ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaky: bool,
    /// Whether it failed by its verdict: `expect.that` did not hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verdict_unmet: bool,
}

impl Outcome {
    /// An end with nothing else known.
    pub fn bare(end: AttemptEnd, reason: Option<Reason>, message: Option<String>) -> Self {
        Outcome {
            end,
            reason,
            message,
            exit_code: None,
            signal: None,
            duration_ms: 0,
            stdout: None,
            stderr: None,
            text: None,
            output: None,
            output_file: None,
            output_hash: None,
            agent_id: None,
            usage: None,
            denials: Vec::new(),
            artifacts: Vec::new(),
            worktree: None,
            leaky: false,
            verdict_unmet: false,
        }
    }

    /// A failure with its reason and a line for people.
    pub fn failed(reason: Reason, message: impl Into<String>) -> Self {
        Outcome::bare(AttemptEnd::Failed, Some(reason), Some(message.into()))
    }
}

/// What an agent used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Model turns.
    pub turns: u32,
    /// Tool calls that were made, refused ones included.
    pub tool_uses: u32,
    /// Tokens sent, cached ones not included.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Tokens sent that the provider had cached.
    pub cache_read_tokens: u64,
    /// Tokens that the provider cached.
    pub cache_write_tokens: u64,
    /// The model that answered, as its provider calls it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
}

impl Usage {
    /// Adds up; of the models the last that is known.
    pub fn add(&mut self, other: &Usage) {
        self.turns += other.turns;
        self.tool_uses += other.tool_uses;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        if !other.model.is_empty() {
            self.model.clone_from(&other.model);
        }
    }

    /// What is left of it without a part of it.
    #[must_use]
    pub fn less(mut self, part: &Usage) -> Usage {
        self.turns = self.turns.saturating_sub(part.turns);
        self.tool_uses = self.tool_uses.saturating_sub(part.tool_uses);
        self.input_tokens = self.input_tokens.saturating_sub(part.input_tokens);
        self.output_tokens = self.output_tokens.saturating_sub(part.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_sub(part.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_sub(part.cache_write_tokens);
        self
    }

    /// All tokens.
    pub fn total_tokens(&self) -> u64 {
        self.fresh_tokens() + self.cache_read_tokens
    }

    /// All tokens but those that the provider had cached.
    pub fn fresh_tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens + self.cache_write_tokens
    }
}

/// A refused tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The tool.
    pub tool: String,
    /// The call on one line.
    pub call: String,
    /// Why.
    pub reason: DenialReason,
    /// What exactly, where the reason alone doesn't say it: which rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Denial {
    /// The call on one short line: `Write foo.md`.
    pub fn line(&self) -> String {
        const WIDTH: usize = 100;
        one_line(&format!("{} {}", self.tool, self.call), WIDTH)
    }
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialReason {
    /// A rule denies it.
    Rule,
    /// It would ask, and nobody can be asked.
    NobodyToAsk,
    /// It would ask, and a background agent asks nobody.
    AsyncAgent,
    /// The mode refuses it.
    Mode,
    /// The agent doesn't have the tool.
    NotAvailable,
    /// No tool has that name.
    UnknownTool,
}

/// What became of a private tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeOutcome {
    /// The folder, when it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The branch, when it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The last commit of the branch, when it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The commit it started from; empty for a copy.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base: String,
    /// The patch file relative to the run folder, for `merge: patch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// What came of `merge: apply`, `squash` or `cherry_pick`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergeOutcome>,
    /// Files changed, as git counts them.
    pub files_changed: u32,
    /// What the tree lacked: uncommitted files of the checkout, submodules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacked: Vec<String>,
    /// How many uncommitted changes of the checkout it lacked; a new folder counts as one.
    #[serde(default, skip_serializing_if = "is_none")]
    pub uncommitted: u32,
    /// How many files that git ignores the task left in it: no branch has them, and no merge brings them home.
    #[serde(default, skip_serializing_if = "is_none")]
    pub ignored: u32,
    /// What no commit can hold, repositories that the task made: it is in the kept folder and nowhere else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered: Vec<String>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// What came of bringing the work of a private tree home. With conflicts nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeOutcome {
    /// How it was to come home.
    pub how: Merge,
    /// What was written at home, at most 200 paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Commits made on the enclosing branch, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// What was in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflict>,
    /// The checkout had gone to another branch, so that nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
}

impl MergeOutcome {
    /// Whether nothing came home though there was work.
    pub fn is_refused(&self) -> bool {
        !self.conflicts.is_empty() || self.moved.is_some()
    }
}

/// A checkout that is no longer on the branch on which the run began; `HEAD` where it is on none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Where the run began.
    pub from: String,
    /// Where the checkout is.
    pub to: String,
}

impl Moved {
    /// For people.
    pub fn in_words(&self) -> String {
        format!("the checkout is on `{}`, and the run began on `{}`", visible(&self.to), visible(&self.from))
    }
}

/// A file that two sides changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeConflict {
    /// The file, relative to the enclosing tree.
    pub path: String,
    /// What is in the way.
    pub kind: ConflictKind,
    /// The task of the same run whose work came home before; absent when it was somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Address>,
}

/// What is in the way of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// The enclosing tree has another content than the private tree started from.
    Changed,
    /// The enclosing branch changed the same lines.
    Content,
    /// It must not be written: git's or flow's own files, submodules, what a link leads to.
    Protected,
}

impl ConflictKind {
    /// For people, after the file's name.
    pub fn in_words(self) -> &'static str {
        match self {
            ConflictKind::Changed => "is not what the task began with",
            ConflictKind::Content => "was changed on the enclosing branch too",
            ConflictKind::Protected => "can't be written from a private tree",
        }
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
