//! What a person sees of a live run, as data: folded from updates, drawn elsewhere.

use std::time::Duration;

use flow_core::event::{Event, Launch};
use flow_core::ids::{Address, Attempt, Millis};
use flow_core::model::{Outcome, OutputSlice, Reason, RunStatus, TaskState, Usage};
use indexmap::IndexMap;

use super::channel::Update;
use crate::execute::Progress;

/// A live run.
#[derive(Debug, Default)]
pub struct View {
    /// What runs, in order of start.
    pub running: IndexMap<Address, RunningTask>,
    /// How many tasks and instances there are so far; parents of expansions are not counted.
    pub total: usize,
    /// How many have ended, by state.
    pub ended: Counts,
    /// When the run (or this epoch) began.
    pub began: Millis,
    /// Tokens of attempts that have ended.
    ended_spent: Spent,
    last: IndexMap<Address, Box<Outcome>>,
    /// Expanded tasks, with how many instances each has.
    parents: IndexMap<Address, usize>,
    /// How each task ended, so that one that runs again in a later epoch is counted once.
    ends: IndexMap<Address, (TaskState, bool)>,
}

/// Ended tasks by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counts {
    pub completed: usize,
    pub failed: usize,
    pub allowed: usize,
    pub killed: usize,
    pub lost: usize,
    pub skipped: usize,
    pub blocked: usize,
}

impl Counts {
    fn of(&mut self, state: TaskState, allowed: bool) -> Option<&mut usize> {
        match state {
            TaskState::Completed => Some(&mut self.completed),
            TaskState::Failed if allowed => Some(&mut self.allowed),
            TaskState::Failed => Some(&mut self.failed),
            TaskState::Killed => Some(&mut self.killed),
            TaskState::Lost => Some(&mut self.lost),
            TaskState::Skipped => Some(&mut self.skipped),
            TaskState::Blocked => Some(&mut self.blocked),
            TaskState::Created | TaskState::Starting | TaskState::Running => None,
        }
    }

    /// All of them.
    pub fn all(&self) -> usize {
        self.completed + self.failed + self.allowed + self.killed + self.lost + self.skipped + self.blocked
    }
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Sent and received, but for what the provider had cached.
    pub fresh: u64,
    /// Sent, and cached by the provider.
    pub cached: u64,
}

impl Spent {
    /// What was used.
    pub fn of(usage: &Usage) -> Self {
        Spent { fresh: usage.fresh_tokens(), cached: usage.cache_read_tokens }
    }

    /// Whether no model was asked.
    pub fn is_none(self) -> bool {
        self == Spent::default()
    }

    fn add(&mut self, other: Spent) {
        self.fresh += other.fresh;
        self.cached += other.cached;
    }
}

/// A task that runs.
#[derive(Debug)]
pub struct RunningTask {
    /// Which try.
    pub attempt: Attempt,
    /// Since when.
    pub since: Millis,
    /// What it is.
    pub launch: Option<Launch>,
    /// The model turn it is in.
    pub turn: u32,
    /// Tokens so far.
    pub spent: Spent,
    /// What it did last, one line.
    pub activity: String,
    /// Whether it waits for a provider.
    pub waiting: bool,
}

/// Something worth a line that stays.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A task ended.
    Ended {
        /// The task.
        task: Address,
        /// How.
        state: TaskState,
        /// Why, unless completed.
        reason: Option<Reason>,
        /// Whether the failure is allowed.
        allowed: bool,
        /// The last attempt.
        outcome: Option<Box<Outcome>>,
        /// One line for people where no attempt says it.
        message: Option<String>,
        /// Whether it is the parent of an expansion.
        parent: bool,
    },
    /// A task will be tried again.
    Retry {
        /// The task.
        task: Address,
        /// Which try comes.
        attempt: Attempt,
        /// When.
        after: Duration,
        /// What went wrong.
        outcome: Option<Box<Outcome>>,
    },
    /// A provider asks for patience.
    Parked {
        /// Provider and model.
        provider: String,
        /// How long.
        wait: Duration,
        /// Why.
        reason: String,
    },
    /// Something about the run that a person should know.
    Note {
        /// What.
        text: String,
    },
    /// The run was told to stop.
    Stopping {
        /// Why.
        reason: Reason,
        /// Whether everything is killed at once.
        force: bool,
    },
    /// A finished run.
    Finished {
        /// How.
        status: RunStatus,
        /// One line for people where no task says it.
        message: Option<String>,
    },
}

impl View {
    /// Takes an update in; says what is worth a line that stays.
    pub fn update(&mut self, update: &Update) -> Option<Line> {
        match update {
            Update::Event(entry) => self.event(entry.at, &entry.event),
            Update::Progress(task, progress) => {
                self.progress(task, progress);
                None
            }
            Update::Note(text) => Some(Line::Note { text: text.clone() }),
        }
    }

    /// Tokens of all attempts so far.
    pub fn spent(&self) -> Spent {
        let mut all = self.ended_spent;
        self.running.values().for_each(|task| all.add(task.spent));
        all
    }

    fn event(&mut self, at: Millis, event: &Event) -> Option<Line> {
        match event {
            Event::RunStarted { tasks, .. } => {
                self.total = tasks.len();
                self.began = at;
                None
            }
            Event::RunResumed { lost, reset, .. } => {
                self.began = at;
                self.running.clear();
                lost.iter().chain(reset).for_each(|task| self.uncount(task));
                None
            }
            Event::TaskExpanded { task, instances } => {
                let before = self.parents.insert(task.clone(), instances.len());
                if before.is_some() {
                    let gone = format!("{task}[");
                    let old: Vec<_> =
                        self.ends.keys().filter(|own| own.as_str().starts_with(&gone)).cloned().collect();
                    old.iter().for_each(|own| self.uncount(own));
                }
                self.total = (self.total + instances.len()).saturating_sub(before.unwrap_or(1));
                None
            }
            Event::AttemptStarting { task, attempt, .. } => {
                let running = RunningTask {
                    attempt: *attempt,
                    since: at,
                    launch: None,
                    turn: 0,
                    spent: Spent::default(),
                    activity: String::new(),
                    waiting: false,
                };
                self.running.insert(task.clone(), running);
                None
            }
            Event::AttemptRunning { task, launch, .. } => {
                if let Some(running) = self.running.get_mut(task) {
                    running.activity.clone_from(&launch.description);
                    running.launch = Some(launch.clone());
                }
                None
            }
            Event::AttemptEnded { task, outcome, .. } => {
                self.running.shift_remove(task);
                self.ended_spent.add(outcome.usage.as_ref().map(Spent::of).unwrap_or_default());
                self.last.insert(task.clone(), outcome.clone());
                None
            }
            Event::TaskRetry { task, attempt, due } => Some(Line::Retry {
                task: task.clone(),
                attempt: *attempt,
                after: due.since(at),
                outcome: self.last.shift_remove(task),
            }),
            Event::TaskEnded { task, state, reason, message, allowed } => {
                let parent = self.parents.contains_key(task);
                if !parent {
                    self.uncount(task);
                    self.ends.insert(task.clone(), (*state, *allowed));
                    if let Some(count) = self.ended.of(*state, *allowed) {
                        *count += 1;
                    }
                }
                Some(Line::Ended {
                    task: task.clone(),
                    state: *state,
                    reason: *reason,
                    allowed: *allowed,
                    outcome: self.last.shift_remove(task),
                    message: message.clone(),
                    parent,
                })
            }
            Event::KillRequested { task: None, reason, force } => {
                Some(Line::Stopping { reason: *reason, force: *force })
            }
            Event::ProviderParked { provider, until, reason } => Some(Line::Parked {
                provider: provider.clone(),
                wait: until.since(at),
                reason: reason.clone(),
            }),
            Event::RunEnded { status, message, .. } => {
                Some(Line::Finished { status: *status, message: message.clone() })
            }
            Event::TaskReady { .. }
            | Event::KillRequested { task: Some(_), .. }
            | Event::WorktreeMade { .. }
            | Event::WorktreeEnded { .. }
            | Event::MergeStarted { .. }
            | Event::MergeEnded { .. } => None,
        }
    }

    /// Takes back what was counted of a task that runs again.
    fn uncount(&mut self, task: &Address) {
        if let Some((state, allowed)) = self.ends.swap_remove(task)
            && let Some(count) = self.ended.of(state, allowed)
        {
            *count = count.saturating_sub(1);
        }
    }

    fn progress(&mut self, task: &Address, progress: &Progress) {
        let Some(running) = self.running.get_mut(task) else { return };
        match progress {
            Progress::Waiting(waiting) => running.waiting = *waiting,
            Progress::Turn(turn) => running.turn = *turn,
            Progress::Tokens { fresh, cached } => {
                running.spent = Spent { fresh: *fresh, cached: *cached };
            }
            Progress::Tool(tool, call) => running.activity = format!("{tool} {call}"),
            Progress::Text(line) => running.activity.clone_from(line),
            Progress::Parked { .. } => {}
        }
    }
}

/// The stream of a command that says most about its failure.
pub fn telling_output(outcome: &Outcome) -> Option<&OutputSlice> {
    [&outcome.stderr, &outcome.stdout].into_iter().flatten().find(|slice| slice.len > 0)
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
