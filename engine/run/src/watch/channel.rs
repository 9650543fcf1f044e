//! A bounded channel that drops rather than waits, and that wakes its watcher now and then instead of at every update:
//! a wake costs more than a short task's events, and nobody sees a line come 20 ms later.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use flow_core::event::Entry;
use flow_core::ids::Address;
use serde::{Deserialize, Serialize};

use super::outputs::Stream;
use crate::execute::Progress;

/// How many updates may wait for a slow watcher.
const WAITING: usize = 16_384;

/// How far a watcher that has read everything may lag behind.
const LAG: Duration = Duration::from_millis(20);

/// Something a watcher may want to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// A line of the journal, already written.
    Event(Arc<Entry>),
    /// What an attempt says while it lives.
    Progress(Address, Progress),
    /// What a command printed. Whoever has the run in their own process reads its files instead.
    Output {
        /// The task.
        task: Address,
        /// To which of its streams.
        stream: Stream,
        /// What.
        text: String,
        /// Bytes before it that came too fast to be told.
        #[serde(default, skip_serializing_if = "is_zero")]
        missed: u64,
    },
    /// Something about the run that a person should know.
    Note(String),
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The run's side.
#[derive(Clone, Debug)]
pub struct Publisher(Option<Sending>);

#[derive(Clone, Debug)]
struct Sending {
    // Dropped in this order: whoever hears that the run is over then finds the end of the updates.
    sender: Sender<Update>,
    _run: Sender<Infallible>,
    backlog: Arc<Backlog>,
}

/// The watcher's side.
#[derive(Debug)]
pub struct Updates {
    receiver: Receiver<Update>,
    /// Never says anything; it ends with the run.
    run: Receiver<Infallible>,
    backlog: Arc<Backlog>,
}

#[derive(Debug, Default)]
struct Backlog {
    waiting: AtomicUsize,
    dropped: AtomicU64,
}

/// A channel to one watcher.
pub fn channel() -> (Publisher, Updates) {
    // Its bound is counted here: a bounded channel of std sets up all of its places when it is made, a megabyte and more.
    let (sender, receiver) = mpsc::channel();
    let (alive, run) = mpsc::channel();
    let backlog = Arc::new(Backlog::default());
    let sending = Sending { sender, _run: alive, backlog: Arc::clone(&backlog) };
    (Publisher(Some(sending)), Updates { receiver, run, backlog })
}

impl Publisher {
    /// A publisher that nobody listens to.
    pub fn silent() -> Self {
        Publisher(None)
    }

    /// Tells the watcher, unless it is too far behind.
    pub fn publish(&self, update: Update) {
        let Some(Sending { sender, backlog, .. }) = &self.0 else { return };
        if backlog.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING || sender.send(update).is_err() {
            backlog.waiting.fetch_sub(1, Ordering::Relaxed);
            backlog.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Updates {
    /// The next update; `None` when the run is over and all has been read. `Err` when none came in time.
    pub fn next(&self, at_most: Duration) -> Result<Option<Update>, NothingYet> {
        let update = match self.receiver.try_recv() {
            Ok(update) => Ok(update),
            Err(_) => {
                // Whoever waits here for the end of the run alone is not woken by what happens in it.
                let _ = self.run.recv_timeout(LAG.min(at_most));
                self.receiver.recv_timeout(at_most.saturating_sub(LAG))
            }
        };
        match update {
            Ok(update) => {
                self.backlog.waiting.fetch_sub(1, Ordering::Relaxed);
                Ok(Some(update))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(NothingYet),
        }
    }

    /// How many updates were dropped because this watcher was behind.
    pub fn dropped(&self) -> u64 {
        self.backlog.dropped.load(Ordering::Relaxed)
    }
}

/// No update came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingYet;

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
