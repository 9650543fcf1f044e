//! What a report says.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::fold::Fold;
use crate::event::{Entry, LaunchAgent};
use crate::graph::EdgeKind;
use crate::ids::{Address, Attempt, CallId, Millis, RunId};
use crate::model::{
    Artifact, AttemptEnd, Counted, Counts, Denial, Digest, Outcome, OutputSlice, Reason, RunStatus,
    TaskState, Usage, WorktreeOutcome,
};

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// The version of this format.
    pub version: u32,
    /// The run.
    pub run: RunId,
    /// The plan's name.
    pub plan: String,
    /// The manifest as the person named it.
    pub path: String,
    /// The project root.
    pub root: String,
    /// The version of flow that began it.
    pub flow: String,
    /// The branch on which its merges land; `HEAD` where the checkout was on none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// How it stands.
    pub status: RunStatus,
    /// The exit code of `flow run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
    /// One line for people where no task says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it began.
    pub started: Millis,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
    /// How long an engine was at work, over all epochs.
    pub duration_ms: u64,
    /// From 1; one more with each resume.
    pub epoch: u32,
    /// The scripts of written models that answered in place of real ones, in the order in which they were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written_models: Vec<String>,
    /// Inputs by name; secrets are never among them.
    pub inputs: BTreeMap<String, Value>,
    /// The plan's `outputs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Value>,
    /// How many tasks there are in each state.
    pub counts: Counts,
    /// What all agents used, over all attempts.
    pub usage: Usage,
    /// `usage` as one number.
    pub total_tokens: u64,
    /// The rows that count for the plan: tasks in manifest order, instances in item order after the task they belong to.
    pub tasks: Vec<TaskReport>,
    /// Instances that had been started before a resume made their expansion again without them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<TaskReport>,
    /// What agents started beside the plan, in the order in which they did. It is no task: it counts as none and fails
    /// nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<TaskReport>,
}

impl RunReport {
    /// The private trees whose work did not come home, by task and attempt.
    pub fn kept_trees(&self) -> impl Iterator<Item = (&TaskReport, &AttemptReport, &WorktreeOutcome)> {
        self.rows().flat_map(|task| task.attempts.iter().map(move |attempt| (task, attempt))).filter_map(
            |(task, attempt)| {
                let tree = attempt.worktree.as_ref().filter(|tree| tree.leaves_work())?;
                // What another attempt went on in is that one's by now.
                (!task.is_taken_up(attempt)).then_some((task, attempt, tree))
            },
        )
    }

    /// Every row that something ran for: tasks, instances that are none any more, and what agents started.
    pub fn rows(&self) -> impl Iterator<Item = &TaskReport> {
        self.tasks.iter().chain(&self.dropped).chain(&self.children)
    }

    /// The report of a journal; `None` when it doesn't begin with `RunStarted`. A run without an end counts as running;
    /// see [`RunReport::without_owner`].
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Option<Self> {
        let mut fold = Fold::default();
        entries.into_iter().for_each(|entry| fold.take(entry));
        fold.report()
    }

    /// The same run when no engine owns it: what was under way is lost.
    #[must_use]
    pub fn without_owner(mut self) -> Self {
        if self.status != RunStatus::Running {
            return self;
        }
        self.status = RunStatus::Lost;
        for task in self.tasks.iter_mut().chain(&mut self.children) {
            if task.is_under_way() {
                task.lose();
            }
        }
        let is_lost = |task: &TaskReport| task.state == TaskState::Lost;
        let lost: Vec<Address> =
            self.tasks.iter().filter(|task| is_lost(task)).map(|task| task.address.clone()).collect();
        for task in self.tasks.iter_mut().filter(|task| task.state == TaskState::Running) {
            let any = task.instances.iter().flatten().any(|one| lost.contains(one));
            task.state = if any { TaskState::Lost } else { TaskState::Created };
            task.reason = any.then_some(Reason::WorkerRestart);
        }
        self.counts = counts_of(&self.tasks);
        self
    }

    /// The tasks that count by themselves: of one that became many its instances.
    pub fn counted(&self) -> impl Iterator<Item = &TaskReport> {
        self.tasks.iter().filter(|task| task.counts_itself())
    }

    /// Failures that are allowed.
    pub fn allowed_failures(&self) -> impl Iterator<Item = &TaskReport> {
        self.counted().filter(|task| task.allowed && task.state == TaskState::Failed)
    }

    /// What ended badly: failures that are not allowed, and what was killed or lost.
    pub fn failures(&self) -> impl Iterator<Item = &TaskReport> {
        self.counted().filter(|task| task.state.is_bad(task.allowed))
    }
}

/// A task or an instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskReport {
    /// Its address.
    pub address: Address,
    /// The task that it is an instance of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Address>,
    /// Who started it, where it is no task of the plan. Boxed: few are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<Starter>>,
    /// Its key, for an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its item, for an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// `local_bash` or `local_agent`; unknown until it has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it does, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the rules of background tasks held.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Its state.
    pub state: TaskState,
    /// Why, unless completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// One line for people: what exactly, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the failure is allowed (`continue_on_error`).
    pub allowed: bool,
    /// What it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Of a blocked task: what it needs and can't have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<Address>,
    /// The exit code of its last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended its last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// The time its attempts of the last launch took, for an expanded task that of its instances.
    pub duration_ms: u64,
    /// Of an expanded task: how long at least one of its instances was at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    /// What its attempts used, all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Calls that were refused, in all attempts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// Files of its last attempt that are kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What became of the private tree of its last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeOutcome>,
    /// The agent of its last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<LaunchAgent>,
    /// The folder of its last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Whether processes of an attempt had escaped their group.
    pub leaky: bool,
    /// Whether it failed by its verdict: `expect.that` did not hold.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verdict_unmet: bool,
    /// Its output in its declared form, when it is no plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The same in a file of the run folder, when large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
    /// What that file held when it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_hash: Option<Digest>,
    /// Its instances, once it is expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<Vec<Address>>,
    /// Its launches: one an epoch in which it began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<LaunchReport>,
    /// Its attempts.
    pub attempts: Vec<AttemptReport>,
    /// Whether an attempt began since it was last put back to the start.
    #[serde(skip)]
    pub(super) begun: bool,
}

/// The attempt that started a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Starter {
    /// Its task, instance or child.
    pub task: Address,
    /// Which try.
    pub attempt: Attempt,
    /// The call of a tool that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
}

/// A task that another one needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Need {
    /// The task.
    pub task: Address,
    /// How it must end.
    #[serde(skip_serializing_if = "EdgeKind::is_success")]
    pub on: EdgeKind,
}

/// A launch: the attempts from a start to the end of the task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchReport {
    /// From 1.
    pub launch: u32,
    /// The epoch that it began in.
    pub epoch: u32,
    /// How it ended, once it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    /// Why, unless completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// One line for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptReport {
    /// Which try.
    pub attempt: Attempt,
    /// The launch that it belongs to.
    pub launch: u32,
    /// When it began.
    pub started: Millis,
    /// The concurrency slot that it was given, whose files its commands write to.
    #[serde(skip)]
    pub slot: Option<u32>,
    /// How it ended, once it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<AttemptEnd>,
    /// Why, unless completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// One line for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The exit code of a command that exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Wall time.
    pub duration_ms: u64,
    /// The agent instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What the agent used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How many of the agent's calls were refused.
    #[serde(skip)]
    pub denied: usize,
    /// The private tree, as it was made.
    #[serde(skip)]
    pub tree: Option<MadeTree>,
    /// What became of the private tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeOutcome>,
    /// Standard output of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<OutputSlice>,
    /// Standard error of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<OutputSlice>,
    /// The final text of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<OutputSlice>,
}

/// A private tree, as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeTree {
    /// When it was made.
    pub made: Millis,
    /// Its folder.
    pub path: String,
    /// Where its branch began; a copy has none.
    pub branch: Option<BranchStart>,
    /// Whether nobody has settled it yet.
    pub is_open: bool,
    /// The last commit of its branch, where that was kept when it was settled.
    pub commit: Option<String>,
}

/// The branch of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchStart {
    /// Its name.
    pub name: String,
    /// The commit it started from.
    pub base: String,
}

impl TaskReport {
    /// Whether a later attempt has gone on in the tree of this one.
    fn is_taken_up(&self, attempt: &AttemptReport) -> bool {
        let path = |one: &AttemptReport| one.tree.as_ref().map(|tree| tree.path.clone());
        let later = self.attempts.iter().filter(|one| one.attempt > attempt.attempt);
        path(attempt).is_some_and(|own| later.filter_map(path).any(|other| other == own))
    }

    /// Whether it counts by itself: what became its instances counts as they do.
    pub fn counts_itself(&self) -> bool {
        self.instances.is_none()
    }

    /// Whether an attempt of it runs.
    pub fn is_under_way(&self) -> bool {
        self.counts_itself() && matches!(self.state, TaskState::Starting | TaskState::Running)
    }

    /// Whether nothing of it has begun, since a resume where one put it back to the start.
    pub fn never_began(&self) -> bool {
        self.counts_itself() && !self.begun
    }

    /// Closes the live attempt and its launch: their engine is gone.
    pub(super) fn lose(&mut self) {
        if let Some(attempt) = self.attempts.last_mut().filter(|attempt| attempt.end.is_none()) {
            (attempt.end, attempt.reason) = (Some(AttemptEnd::Lost), Some(Reason::WorkerRestart));
        }
        self.close_launch(TaskState::Lost, Some(Reason::WorkerRestart), None);
        (self.state, self.reason) = (TaskState::Lost, Some(Reason::WorkerRestart));
    }

    /// Closes the live attempt of a task that stays lost; its own end follows.
    pub(super) fn give_up(&mut self) {
        if let Some(attempt) = self.attempts.last_mut().filter(|attempt| attempt.end.is_none()) {
            (attempt.end, attempt.reason) = (Some(AttemptEnd::Lost), Some(Reason::WorkerRestart));
        }
        let lost = if self.by.is_some() { Outcome::lost_with_engine() } else { Outcome::lost_for_good() };
        (self.state, self.message) = (TaskState::Running, lost.message);
    }

    /// Says how the open launch ended, if there is one.
    pub(super) fn close_launch(&mut self, state: TaskState, reason: Option<Reason>, message: Option<String>) {
        if let Some(launch) = self.launches.last_mut().filter(|launch| launch.state.is_none()) {
            (launch.state, launch.reason, launch.message) = (Some(state), reason, message);
        }
    }
}

/// How many of these tasks are in which state.
pub(super) fn counts_of<'a>(tasks: impl IntoIterator<Item = &'a TaskReport>) -> Counts {
    let counted =
        |task: &TaskReport| Counted { state: task.state, allowed: task.allowed, begun: !task.never_began() };
    tasks.into_iter().filter(|task| task.counts_itself()).map(counted).collect()
}
