//! What stays of a live run: a line for what happened.

use std::time::Duration;

use flow_core::ids::{Address, Attempt};
use flow_core::model::{Outcome, OutputSlice, Reason, RunStatus, TaskState};

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

/// The stream of a command that says most about its failure.
pub fn telling_output(outcome: &Outcome) -> Option<&OutputSlice> {
    [&outcome.stderr, &outcome.stdout].into_iter().flatten().find(|slice| slice.len > 0)
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
