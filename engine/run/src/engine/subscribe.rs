//! What happens in a run, as it happens, for whoever looks on from anywhere: the same of a run of this process and of
//! another.
//!
//! 1. Every event of the journal comes, in its order and once, however slow the reader is.
//! 2. Between them comes what agents do and what commands print while they live. Of that a slow reader misses some.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::error::EngineError;
use super::runs::Run;
use crate::watch::{Follower, Update};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// A place in what happens in a run.
#[derive(Debug)]
pub struct Subscription {
    run: Run,
    follower: Follower,
    /// The first event that is told.
    from: u64,
    waiting: VecDeque<Update>,
    over: bool,
}

/// What one look brings.
#[derive(Debug)]
pub struct Look {
    /// What has come since the last one.
    pub updates: Vec<Update>,
    /// Whether some process ran the run when the look began. If none did, nothing is left to come.
    pub live: bool,
}

impl Run {
    /// What happens in the run, from this event on; those before are not told.
    pub fn subscribe(&self, from: u64) -> Subscription {
        let follower = Follower::new(Arc::clone(&self.folder));
        Subscription { run: self.clone(), follower, from, waiting: VecDeque::new(), over: false }
    }
}

impl Subscription {
    /// Looks without waiting.
    pub fn look(&mut self) -> Result<Look, EngineError> {
        // Asked first: what it wrote before it left is read below.
        let live = self.run.is_live()?;
        let entries = self.follower.events()?.into_iter();
        let told = entries.filter(|entry| entry.seq >= self.from);
        let mut updates: Vec<Update> = told.map(|entry| Update::Event(Arc::new(entry))).collect();
        updates.extend(self.follower.progress());
        Ok(Look { updates, live })
    }
}

/// Waits for each update, until nobody runs the run any more.
impl Iterator for Subscription {
    type Item = Result<Update, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(update) = self.waiting.pop_front() {
                return Some(Ok(update));
            }
            if self.over {
                return None;
            }
            match self.look() {
                Ok(look) => {
                    self.over = !look.live;
                    self.waiting.extend(look.updates);
                }
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
            if self.waiting.is_empty() && !self.over {
                std::thread::sleep(LOOK);
            }
        }
    }
}
