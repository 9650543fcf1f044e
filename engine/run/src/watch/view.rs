//! What a person sees of a live run, as data: folded from updates, drawn elsewhere.

use std::collections::HashMap;
use std::time::Duration;

use flow_core::event::{Event, Launch};
use flow_core::ids::{Address, Attempt, Millis};
use flow_core::model::{Outcome, OutputSlice, Reason, RunStatus, TaskState};
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
    pub tokens: u64,
    last: IndexMap<Address, Box<Outcome>>,
    parents: IndexMap<Address, ()>,
    earlier: Earlier,
}

/// What earlier engines left, until the new one says what runs again. Empty in a run that was never resumed.
#[derive(Debug, Default)]
struct Earlier {
    ended: HashMap<Address, (TaskState, bool)>,
    instances: HashMap<Address, Vec<Address>>,
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
    /// All of them.
    pub fn all(&self) -> usize {
        self.completed + self.failed + self.allowed + self.killed + self.lost + self.skipped + self.blocked
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
    pub tokens: u64,
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
            Update::Earlier(entry) => {
                self.remember(&entry.event);
                self.event(entry.at, &entry.event);
                None
            }
            Update::Event(entry) => {
                let line = self.event(entry.at, &entry.event);
                if matches!(entry.event, Event::RunResumed { .. }) {
                    self.earlier = Earlier::default();
                }
                line
            }
            Update::Progress(task, progress) => {
                self.progress(task, progress);
                None
            }
            Update::Note(text) => Some(Line::Note { text: text.clone() }),
        }
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
                // Nothing of the last engine lives.
                self.running.clear();
                lost.iter().chain(reset).for_each(|task| self.take_back(task));
                None
            }
            Event::TaskExpanded { task, instances } => {
                self.total = (self.total + instances.len()).saturating_sub(1);
                self.parents.insert(task.clone(), ());
                None
            }
            Event::AttemptStarting { task, attempt, .. } => {
                let running = RunningTask {
                    attempt: *attempt,
                    since: at,
                    launch: None,
                    turn: 0,
                    tokens: 0,
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
                self.tokens += outcome.usage.as_ref().map_or(0, flow_core::model::Usage::total_tokens);
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
                    self.count(*state, *allowed);
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
            Event::KillRequested { task: None, force, .. } => Some(Line::Stopping { force: *force }),
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
            | Event::WorktreeEnded { .. } => None,
        }
    }

    fn remember(&mut self, event: &Event) {
        if let Event::TaskEnded { task, state, allowed, .. } = event
            && !self.parents.contains_key(task)
        {
            self.earlier.ended.insert(task.clone(), (*state, *allowed));
        } else if let Event::TaskExpanded { task, instances } = event {
            let instances = instances.iter().map(|instance| task.instance(&instance.key)).collect();
            self.earlier.instances.insert(task.clone(), instances);
        }
    }

    /// A task runs again, so it has not ended; an expanded one is one task again.
    fn take_back(&mut self, task: &Address) {
        let instances = self.earlier.instances.remove(task);
        if let Some(instances) = &instances {
            self.parents.shift_remove(task);
            self.total = (self.total + 1).saturating_sub(instances.len());
        }
        for task in instances.iter().flatten().chain([task]) {
            if let Some((state, allowed)) = self.earlier.ended.remove(task)
                && let Some(count) = self.count_of(state, allowed)
            {
                *count = count.saturating_sub(1);
            }
        }
    }

    fn count(&mut self, state: TaskState, allowed: bool) {
        if let Some(count) = self.count_of(state, allowed) {
            *count += 1;
        }
    }

    fn count_of(&mut self, state: TaskState, allowed: bool) -> Option<&mut usize> {
        Some(match state {
            TaskState::Completed => &mut self.ended.completed,
            TaskState::Failed if allowed => &mut self.ended.allowed,
            TaskState::Failed => &mut self.ended.failed,
            TaskState::Killed => &mut self.ended.killed,
            TaskState::Lost => &mut self.ended.lost,
            TaskState::Skipped => &mut self.ended.skipped,
            TaskState::Blocked => &mut self.ended.blocked,
            TaskState::Created | TaskState::Starting | TaskState::Running => return None,
        })
    }

    fn progress(&mut self, task: &Address, progress: &Progress) {
        let Some(running) = self.running.get_mut(task) else { return };
        match progress {
            Progress::Waiting(waiting) => running.waiting = *waiting,
            Progress::Turn(turn) => running.turn = *turn,
            Progress::Tokens(sent, received) => running.tokens = sent + received,
            Progress::Tool(tool, call) => running.activity = format!("{tool} {call}"),
            Progress::Text(text) => {
                if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                    running.activity = line.trim().to_owned();
                }
            }
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
