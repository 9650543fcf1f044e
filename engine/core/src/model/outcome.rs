//! How attempts end. This is data, never an error, and it is written to the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Artifact, Digest, Merge, OutputSlice, Reason, TaskState, Usage};
use crate::ids::Address;
use crate::text::{one_line, visible};

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

impl AttemptEnd {
    /// How an attempt ends that was told to, for this reason.
    pub fn when_stopped(reason: Reason) -> Self {
        if reason.is_deliberate() { AttemptEnd::Killed } else { AttemptEnd::Failed }
    }

    /// The state of a task whose last attempt ended like this. The reason decides what a kill was: a clock or a limit makes
    /// a failure of it, and what a person or fail-fast stopped is no failure, however it took that.
    pub fn task_state(self, reason: Option<Reason>) -> TaskState {
        match self {
            AttemptEnd::Completed => TaskState::Completed,
            AttemptEnd::Lost => TaskState::Lost,
            AttemptEnd::Failed | AttemptEnd::Killed if reason.is_some_and(Reason::is_deliberate) => {
                TaskState::Killed
            }
            AttemptEnd::Killed if reason.is_none() => TaskState::Killed,
            AttemptEnd::Failed | AttemptEnd::Killed => TaskState::Failed,
        }
    }
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

    /// The end of an attempt whose engine died, of a task that must not run twice.
    pub fn lost_for_good() -> Self {
        let message = "the engine died while it ran, and it must not run twice (`on_lost: fail`)";
        Outcome::bare(AttemptEnd::Lost, Some(Reason::WorkerRestart), Some(message.to_owned()))
    }

    /// The end of an attempt whose engine died, of what an agent had started.
    pub fn lost_with_engine() -> Self {
        let message = "the engine died while it ran";
        Outcome::bare(AttemptEnd::Lost, Some(Reason::WorkerRestart), Some(message.to_owned()))
    }

    /// A failure with its reason and a line for people.
    pub fn failed(reason: Reason, message: impl Into<String>) -> Self {
        Outcome::bare(AttemptEnd::Failed, Some(reason), Some(message.into()))
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
    /// The commit it started from; a copy begins with the files as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
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

impl WorktreeOutcome {
    /// Whether its folder or its branch is there to stay.
    pub fn is_kept(&self) -> bool {
        self.path.is_some() || self.branch.is_some()
    }

    /// Whether work of it waits for somebody to take it: in what is kept, or in a patch.
    pub fn leaves_work(&self) -> bool {
        self.is_kept() || self.patch.is_some()
    }
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

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
