//! What an attempt says while it lives.

use std::time::Duration;

use flow_core::converse::Logged;
use serde::{Deserialize, Serialize};

/// What an attempt says while it lives. Losing one is harmless but for `Waiting`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It waits for a provider, or no longer does: its clock stops or goes on.
    Waiting(bool),
    /// A provider asks for patience: which, for how long, why.
    Parked {
        /// Provider and model.
        provider: String,
        /// How long.
        wait: Duration,
        /// Why.
        reason: String,
    },
    /// A model turn has begun.
    Turn(u32),
    /// What it says: the last whole line so far, never a piece of one.
    Text(String),
    /// A tool is being used: name and the call on one line.
    Tool(String, String),
    /// A line of the log about a call.
    Logged(Box<Logged>),
    /// Tokens so far: those that the provider had cached stand apart.
    Tokens {
        /// Sent and received.
        fresh: u64,
        /// Sent, and cached by the provider.
        cached: u64,
    },
}
