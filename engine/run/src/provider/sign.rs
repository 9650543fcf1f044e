//! What a request to a model says while it is under way.

use std::time::Duration;

use flow_core::ids::{Address, Millis};
use flow_core::model::Usage;
use flow_core::wire::Delta;

/// Who asks, and how many calls it has made before: a script's turns are found by it.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// The task.
    pub address: Address,
    /// The agent's name.
    pub agent: String,
    /// Calls made so far, over all attempts. Every try moves it on.
    pub position: u32,
}

/// A sign of life.
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    /// A try has begun.
    Trying {
        /// When.
        at: Millis,
    },
    /// A try is over.
    Tried(Tried),
    /// A piece of the answer. If the try fails, it was for nothing.
    Delta(Delta),
    /// It waits for the provider, or no longer does.
    Waiting(bool),
    /// The provider asks for patience.
    Parked {
        /// Provider and model.
        provider: String,
        /// How long.
        wait: Duration,
        /// Why.
        reason: String,
    },
}

/// How a try went.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// When it began.
    pub at: Millis,
    /// How long it took.
    pub took: Duration,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// What it cost, when it went well.
    pub usage: Option<Usage>,
    /// What went wrong, when it did not.
    pub error: Option<String>,
}
