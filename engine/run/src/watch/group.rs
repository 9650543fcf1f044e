//! What tasks used, of a whole run and of each task that became many.

use flow_core::ids::Millis;
use flow_core::model::{Counts, Usage};

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
        self.instances.saturating_sub(self.ended.total + self.running)
    }
}
