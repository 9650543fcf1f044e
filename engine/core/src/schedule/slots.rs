//! The slots of live attempts: the smallest free number first, so that few output files serve many attempts.

use std::collections::BTreeSet;

/// Which slots are taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slots {
    /// Free slots below `high`.
    free: BTreeSet<u32>,
    /// One more than the highest slot ever taken.
    high: u32,
}

impl Slots {
    /// How many are taken.
    pub(super) fn taken(&self) -> usize {
        self.high as usize - self.free.len()
    }

    pub(super) fn lowest_free(&self) -> u32 {
        self.free.first().copied().unwrap_or(self.high)
    }

    pub(super) fn take(&mut self, slot: u32) {
        self.free.extend(self.high..slot);
        self.free.remove(&slot);
        self.high = self.high.max(slot.saturating_add(1));
    }

    pub(super) fn release(&mut self, slot: u32) {
        self.free.insert(slot);
    }
}
