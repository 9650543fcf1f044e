//! What happened, one event after the other: the disk format (version 2) and the only thing that changes a scheduler's state.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::graph::EdgeKind;
use crate::ids::{Address, Attempt, CallId, Millis, RunId};
use crate::model::{ChildMode, Merge, MergeOutcome, Outcome, Reason, RunStatus, TaskState};
use crate::plan::{Kind, OnLost};
use crate::text::{format_duration, list_some};

mod launch;

pub use launch::{Instance, Launch, LaunchAgent};

/// The version that this build writes. Older ones stay readable, also where a journal goes on in a newer one; what is
/// newer than this is refused. In version 1 every attempt had a slot, and nothing ran but tasks of the plan.
pub const VERSION: u32 = 2;

/// An event with its place in the journal. On disk a `crc` of the line follows as its last field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Format version.
    pub v: u32,
    /// Position from 0, without gaps.
    pub seq: u64,
    /// When, in milliseconds since the Unix epoch.
    pub at: Millis,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// That a task of the plan waits for another; both by their place in `tasks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEdge {
    /// The one that must end first.
    pub from: u32,
    /// The one that waits.
    pub to: u32,
    /// How the first must end.
    #[serde(default, skip_serializing_if = "EdgeKind::is_success")]
    pub on: EdgeKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ev", rename_all = "snake_case")]
pub enum Event {
    /// The first event of every run.
    RunStarted {
        /// The run.
        run: RunId,
        /// The plan's name.
        plan: String,
        /// The manifest as the person named it.
        path: String,
        /// The project root.
        root: String,
        /// Plan tasks in manifest order.
        tasks: Vec<Address>,
        /// Who waits for whom.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edges: Vec<PlanEdge>,
        /// Tasks at once.
        concurrency: u32,
        /// Inputs by name; secrets are never among them.
        inputs: BTreeMap<String, Value>,
        /// Decides jitter, so that a replay is exact.
        seed: u64,
        /// The version of flow.
        flow: String,
        /// The branch of the checkout, where merges land; `HEAD` where it is on none, nothing where it was not asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
    },
    /// A new engine took the run over: a new epoch, in which what runs again is a new launch.
    RunResumed {
        /// From 2.
        epoch: u32,
        /// Tasks that were under way when the last engine died.
        lost: Vec<Address>,
        /// Tasks that start again from nothing, with all that depended on them.
        reset: Vec<Address>,
        /// Tasks that were under way as well and stay lost (`on_lost: fail`): they may have done their work.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given_up: Vec<Address>,
    },
    /// A task became its instances.
    TaskExpanded {
        /// The task.
        task: Address,
        /// Instances in item order.
        instances: Vec<Instance>,
    },
    /// What it needs has ended as it should, and its condition holds; of an instance only the latter is said.
    TaskReady {
        /// The task.
        task: Address,
    },
    /// An agent started something beside the plan. Written before anything of it happens.
    ChildStarted {
        /// The child; its address is below that of its starter.
        task: Address,
        /// The node whose attempt started it.
        by: Address,
        /// The conversation in which that was; another attempt may have another one, and then it is not its child.
        by_agent: String,
        /// The call of a tool that did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// What it is.
        kind: Kind,
        /// Whether its starter waits for it.
        mode: ChildMode,
        /// How many starters there are above it, up to a task of the plan or an instance of one.
        depth: u8,
        /// For people.
        description: String,
        /// The definition of an agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// How long it may run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// Whether it may be started again when its engine died. Never by the engine itself: it is lost, and who started
        /// it hears of that.
        on_lost: OnLost,
    },
    /// An attempt was ordered. Written before anything of it happens.
    AttemptStarting {
        /// The task.
        task: Address,
        /// Which try.
        attempt: Attempt,
        /// The slot that it takes, and whose output file it uses; a child takes none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<u32>,
    },
    /// What the attempt is, once its templates are rendered; written before its process or first request.
    AttemptRunning {
        /// The task.
        task: Address,
        /// Which try.
        attempt: Attempt,
        /// What is being run.
        launch: Launch,
    },
    /// An attempt ended.
    AttemptEnded {
        /// The task.
        task: Address,
        /// Which try.
        attempt: Attempt,
        /// How.
        outcome: Box<Outcome>,
    },
    /// There will be another attempt.
    TaskRetry {
        /// The task.
        task: Address,
        /// The next try.
        attempt: Attempt,
        /// Not before this moment.
        due: Millis,
    },
    /// A task reached a state that nothing follows.
    TaskEnded {
        /// The task.
        task: Address,
        /// The state.
        state: TaskState,
        /// Why, unless completed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
        /// One line for people where no attempt says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Whether the failure is allowed (`continue_on_error`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        allowed: bool,
    },
    /// Something was told to stop. Without a task: the whole run.
    KillRequested {
        /// The task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<Address>,
        /// Why.
        reason: Reason,
        /// Whether without grace.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        force: bool,
    },
    /// A private tree was made.
    WorktreeMade {
        /// The task.
        task: Address,
        /// Which try.
        attempt: Attempt,
        /// The folder.
        path: String,
        /// The branch; a copy has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The commit it starts from; a copy begins with the files as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
    },
    /// The work of a private tree is about to be brought home. Without a `merge_ended` behind it, it was undone or will be.
    MergeStarted {
        /// The task.
        task: Address,
        /// Which try.
        attempt: Attempt,
        /// How.
        how: Merge,
    },
    /// The work of a private tree came home, or could not.
    MergeEnded {
        /// The task.
        task: Address,
        /// Which try.
        attempt: Attempt,
        /// What came of it; absent when it was not tried after all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        merge: Option<MergeOutcome>,
    },
    /// A private tree was taken down or kept; its outcome stands in the attempt's.
    WorktreeEnded {
        /// The task.
        task: Address,
        /// Which try.
        attempt: Attempt,
        /// Whether folder or branch are kept.
        kept: bool,
        /// The last commit of its branch, where that is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// A provider asks for patience.
    ProviderParked {
        /// Provider and model.
        provider: String,
        /// Until when.
        until: Millis,
        /// Why.
        reason: String,
    },
    /// The last event of an epoch that ended by itself.
    RunEnded {
        /// How.
        status: RunStatus,
        /// The exit code of `flow run`.
        exit: u8,
        /// The plan's `outputs`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outputs: Option<Value>,
        /// One line for people where no task says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}

/// What is said of an event in a line: what it is called, which node it is about, and the rest.
pub type EventWords<'a> = (&'static str, Option<&'a Address>, String);

impl Event {
    /// The event in words, `at` its moment.
    pub fn in_words(&self, at: Millis) -> EventWords<'_> {
        let number = |attempt: &Attempt| format!("attempt {attempt}");
        let names = |all: &[Address]| list_some(all.iter().map(Address::as_str), 8);
        match self {
            Event::RunStarted { plan, tasks, concurrency, .. } => {
                ("run started", None, format!("{plan}: {} tasks, {concurrency} at once", tasks.len()))
            }
            Event::RunResumed { epoch, lost, reset, given_up } => {
                let lost = if lost.is_empty() { String::new() } else { format!("; lost: {}", names(lost)) };
                let reset =
                    if reset.is_empty() { String::new() } else { format!("; to run: {}", names(reset)) };
                let once = match given_up.as_slice() {
                    [] => String::new(),
                    given_up => format!("; lost and not run twice: {}", names(given_up)),
                };
                ("run resumed", None, format!("epoch {epoch}{lost}{once}{reset}"))
            }
            Event::TaskExpanded { task, instances } => {
                let keys = list_some(instances.iter().map(|instance| instance.key.as_str()), 8);
                ("task expanded", Some(task), format!("{} instances: {keys}", instances.len()))
            }
            Event::TaskReady { task } => ("task ready", Some(task), String::new()),
            Event::ChildStarted { task, kind, description, .. } => {
                ("child started", Some(task), format!("{}: {description}", kind.info().word))
            }
            Event::AttemptStarting { task, attempt, .. } => ("attempt starting", Some(task), number(attempt)),
            Event::AttemptRunning { task, launch, .. } => {
                ("attempt running", Some(task), launch.description.clone())
            }
            Event::AttemptEnded { task, attempt, outcome } => {
                let reason =
                    outcome.reason.map(|reason| format!(", {}", reason.as_str())).unwrap_or_default();
                let code = outcome.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
                let time = format_duration(Duration::from_millis(outcome.duration_ms));
                ("attempt ended", Some(task), format!("{} after {time}{reason}{code}", number(attempt)))
            }
            Event::TaskRetry { task, attempt, due } => (
                "task retry",
                Some(task),
                format!("{} in {}", number(attempt), format_duration(due.since(at))),
            ),
            Event::TaskEnded { task, state, reason, message, allowed } => {
                let reason = reason.map(|reason| format!(" ({})", reason.as_str())).unwrap_or_default();
                let allowed = if *allowed { ", allowed" } else { "" };
                let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
                ("task ended", Some(task), format!("{}{reason}{allowed}{message}", state.as_str()))
            }
            Event::KillRequested { task, reason, force } => {
                let force = if *force { ", at once" } else { "" };
                ("kill requested", task.as_ref(), format!("{}{force}", reason.as_str()))
            }
            Event::WorktreeMade { task, path, branch, .. } => {
                let what = branch.as_deref().unwrap_or_default();
                ("worktree made", Some(task), format!("{what} in {path}"))
            }
            Event::MergeStarted { task, attempt, .. } => ("merge started", Some(task), number(attempt)),
            Event::MergeEnded { task, merge, .. } => {
                let said = match merge {
                    None => "not tried".to_owned(),
                    Some(merge) if !merge.is_refused() => format!("{} files came home", merge.files.len()),
                    Some(MergeOutcome { moved: Some(moved), .. }) => moved.in_words(),
                    Some(merge) => {
                        let paths = merge.conflicts.iter().map(|conflict| conflict.path.as_str());
                        format!("conflicts in {}", list_some(paths, 8))
                    }
                };
                ("merge ended", Some(task), said)
            }
            Event::WorktreeEnded { task, kept, .. } => {
                ("worktree ended", Some(task), if *kept { "kept" } else { "removed" }.to_owned())
            }
            Event::ProviderParked { provider, until, reason } => (
                "provider parked",
                None,
                format!("{provider} for {}: {reason}", format_duration(until.since(at))),
            ),
            Event::RunEnded { status, exit, message, .. } => {
                let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
                ("run ended", None, format!("{}, exit code {exit}{message}", status.as_str()))
            }
        }
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
