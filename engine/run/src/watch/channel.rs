//! A bounded channel that drops rather than waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use flow_core::event::Entry;
use flow_core::ids::Address;

use crate::execute::Progress;

/// How many updates may wait for a slow watcher.
const WAITING: usize = 16_384;

/// Something a watcher may want to show.
#[derive(Clone, Debug)]
pub enum Update {
    /// A line of the journal, already written.
    Event(Arc<Entry>),
    /// What an attempt says while it lives.
    Progress(Address, Progress),
    /// Something about the run that a person should know.
    Note(String),
}

/// The run's side.
#[derive(Clone, Debug)]
pub struct Publisher {
    sender: Option<SyncSender<Update>>,
    dropped: Arc<AtomicU64>,
}

/// The watcher's side.
#[derive(Debug)]
pub struct Updates {
    receiver: Receiver<Update>,
    dropped: Arc<AtomicU64>,
}

/// A channel to one watcher.
pub fn channel() -> (Publisher, Updates) {
    let (sender, receiver) = sync_channel(WAITING);
    let dropped = Arc::new(AtomicU64::new(0));
    (Publisher { sender: Some(sender), dropped: Arc::clone(&dropped) }, Updates { receiver, dropped })
}

impl Publisher {
    /// A publisher that nobody listens to.
    pub fn silent() -> Self {
        Publisher { sender: None, dropped: Arc::default() }
    }

    /// Tells the watcher, unless it is too far behind.
    pub fn publish(&self, update: Update) {
        if let Some(sender) = &self.sender
            && sender.try_send(update).is_err()
        {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Updates {
    /// The next update; `None` when the run is over and all has been read. `Err` when none came in time.
    pub fn next(&self, at_most: Duration) -> Result<Option<Update>, NothingYet> {
        match self.receiver.recv_timeout(at_most) {
            Ok(update) => Ok(Some(update)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(NothingYet),
        }
    }

    /// How many updates were dropped because this watcher was behind.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// No update came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingYet;

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
