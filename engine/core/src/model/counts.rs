//! How many tasks are in which state.

use serde::Serialize;

use super::TaskState;

/// How many tasks there are in each state. A task that became its instances is none; they are. Nor is what an agent started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All.
    pub total: usize,
    /// Done, and well.
    pub completed: usize,
    /// Failed, but for allowed failures.
    pub failed: usize,
    /// Failed with `continue_on_error`.
    pub allowed_failures: usize,
    /// Stopped on purpose.
    pub killed: usize,
    /// Those of `killed` that had not begun.
    pub not_run: usize,
    /// Their engine died under them.
    pub lost: usize,
    /// Their own `if` was false.
    pub skipped: usize,
    /// An edge can no longer hold.
    pub blocked: usize,
    /// Under way.
    pub running: usize,
    /// Not begun.
    pub waiting: usize,
}

/// What a task is counted as.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Its state.
    pub state: TaskState,
    /// Whether its failure is allowed.
    pub allowed: bool,
    /// Whether there was an attempt.
    pub begun: bool,
}

impl Counts {
    /// Counts a task.
    pub fn add(&mut self, task: Counted) {
        self.each_of(task, |count| *count += 1);
    }

    /// Takes back what was counted of a task that runs again.
    pub fn take(&mut self, task: Counted) {
        self.each_of(task, |count| *count = count.saturating_sub(1));
    }

    /// Those that were stopped once they had begun.
    pub fn stopped(&self) -> usize {
        self.killed.saturating_sub(self.not_run)
    }

    /// The numbers that are not zero: "3 completed, 1 allowed failure, 6 stopped, 1 not run".
    pub fn in_words(&self) -> String {
        let allowed = if self.allowed_failures == 1 { "allowed failure" } else { "allowed failures" };
        let all = [
            (self.completed, "completed"),
            (self.failed, "failed"),
            (self.allowed_failures, allowed),
            (self.stopped(), TaskState::Killed.in_words(true)),
            (self.not_run, TaskState::Killed.in_words(false)),
            (self.lost, "lost"),
            (self.skipped, "skipped"),
            (self.blocked, "blocked"),
            (self.running, "running"),
            (self.waiting, "waiting"),
        ];
        let said: Vec<String> = all
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if said.is_empty() { "no tasks".to_owned() } else { said.join(", ") }
    }

    /// Changes every count that a task is part of.
    fn each_of(&mut self, task: Counted, change: impl Fn(&mut usize)) {
        change(&mut self.total);
        if task.state == TaskState::Killed && !task.begun {
            change(&mut self.not_run);
        }
        change(match task.state {
            TaskState::Created => &mut self.waiting,
            TaskState::Starting | TaskState::Running => &mut self.running,
            TaskState::Completed => &mut self.completed,
            TaskState::Failed if task.allowed => &mut self.allowed_failures,
            TaskState::Failed => &mut self.failed,
            TaskState::Killed => &mut self.killed,
            TaskState::Lost => &mut self.lost,
            TaskState::Skipped => &mut self.skipped,
            TaskState::Blocked => &mut self.blocked,
        });
    }
}

impl FromIterator<Counted> for Counts {
    fn from_iter<I: IntoIterator<Item = Counted>>(tasks: I) -> Self {
        let mut counts = Counts::default();
        tasks.into_iter().for_each(|task| counts.add(task));
        counts
    }
}
