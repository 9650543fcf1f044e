//! What can be wanted of a live run, whoever wants it: its terminal, a signal, another process, a program that has flow in it.
//!
//! A command is no event. The run's owner hands it to the scheduler, and what that decides is journaled like everything
//! else.

use serde::{Deserialize, Serialize};

use crate::ids::Address;

/// A command to a live run, as its `control.jsonl` holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Command {
    /// End the run.
    StopRun {
        /// Whether without grace.
        #[serde(default)]
        force: bool,
        /// The signal that says so, which then is the cause of the run's end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
    },
    /// End one task, or all instances of one.
    StopTask {
        /// The task.
        task: Address,
        /// Whether without grace.
        #[serde(default)]
        force: bool,
    },
    /// Stop all its processes and its engine until somebody continues them; meanwhile no clock runs.
    Suspend,
}

/// A signal that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// A request to end.
    Terminate,
    /// The terminal is gone.
    HangUp,
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
