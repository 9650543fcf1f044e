//! Ended tasks and what they used, of a whole run and of each task that became many.

use flow_core::ids::Millis;
use flow_core::model::{TaskState, Usage};

/// Ended tasks by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counts {
    pub completed: usize,
    pub failed: usize,
    pub allowed: usize,
    /// Told to end before they had begun.
    pub not_run: usize,
    /// Told to end.
    pub killed: usize,
    pub lost: usize,
    pub skipped: usize,
    pub blocked: usize,
}

impl Counts {
    /// The count of tasks that end like this; `begun`: whether there was an attempt.
    fn of(&mut self, end: End) -> Option<&mut usize> {
        let End { state, allowed, begun } = end;
        match state {
            TaskState::Completed => Some(&mut self.completed),
            TaskState::Failed if allowed => Some(&mut self.allowed),
            TaskState::Failed => Some(&mut self.failed),
            TaskState::Killed if !begun => Some(&mut self.not_run),
            TaskState::Killed => Some(&mut self.killed),
            TaskState::Lost => Some(&mut self.lost),
            TaskState::Skipped => Some(&mut self.skipped),
            TaskState::Blocked => Some(&mut self.blocked),
            TaskState::Created | TaskState::Starting | TaskState::Running => None,
        }
    }

    /// All of them.
    pub fn all(&self) -> usize {
        let Counts { completed, failed, allowed, not_run, killed, lost, skipped, blocked } = self;
        completed + failed + allowed + not_run + killed + lost + skipped + blocked
    }

    pub(super) fn add(&mut self, end: End) {
        if let Some(count) = self.of(end) {
            *count += 1;
        }
    }

    pub(super) fn take(&mut self, end: End) {
        if let Some(count) = self.of(end) {
            *count = count.saturating_sub(1);
        }
    }
}

/// How a task ended, so that one that runs again in a later epoch is counted once.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) state: TaskState,
    pub(super) allowed: bool,
    pub(super) begun: bool,
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

    pub(super) fn add(&mut self, other: Spent) {
        self.fresh += other.fresh;
        self.cached += other.cached;
    }
}

/// A task that became many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// How many it became.
    pub instances: usize,
    /// How many of them have ended.
    pub ended: Counts,
    /// How many of them run.
    pub running: usize,
    /// Tokens of attempts that have ended.
    pub spent: Spent,
    /// When the first of them began.
    pub began: Option<Millis>,
    /// When the last one of them ended.
    pub last: Millis,
}

impl Group {
    /// How many have not begun, or wait for another try.
    pub fn queued(&self) -> usize {
        self.instances.saturating_sub(self.ended.all() + self.running)
    }
}
