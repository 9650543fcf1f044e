//! Rebuilding a scheduler from a journal. Nothing is guessed: an event that can't follow what came before is an error.

use thiserror::Error;

use super::apply::Misfit;
use super::book::Book;
use super::scheduler::Scheduler;
use super::spec::{Limits, NodeSpec};
use crate::event::{Entry, VERSION};
use crate::ids::Address;

/// Why a journal and a plan don't make a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// A newer flow wrote it.
    #[error("event {seq} has format version {version}, and this flow reads up to {VERSION}")]
    Version {
        /// Its place.
        seq: u64,
        /// Its version.
        version: u32,
    },
    /// Events are missing.
    #[error("event {seq} stands where event {expected} should")]
    Gap {
        /// Its place.
        seq: u64,
        /// The place that comes next.
        expected: u64,
    },
    /// Another plan was run.
    #[error("the journal is of a plan with other tasks")]
    OtherPlan,
    /// The plan has no such task.
    #[error("event {seq} is about `{task}`, which the run doesn't have")]
    UnknownTask {
        /// Its place.
        seq: u64,
        /// The task.
        task: Address,
    },
    /// It can't have happened then.
    #[error("event {seq} about `{task}` can't follow what came before it")]
    OutOfPlace {
        /// Its place.
        seq: u64,
        /// The task.
        task: Address,
    },
}

impl Scheduler {
    /// The scheduler of a run as its journal leaves it. Without any event: as it is before the first.
    pub fn replay<'a>(
        specs: Vec<NodeSpec>,
        limits: Limits,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Self, ReplayError> {
        let mut scheduler = Scheduler::new(specs, limits);
        for (expected, entry) in (0u64..).zip(entries) {
            check(scheduler.book(), entry, expected)?;
            scheduler.apply(&entry.event, entry.at);
        }
        Ok(scheduler)
    }
}

fn check(book: &Book, entry: &Entry, expected: u64) -> Result<(), ReplayError> {
    let seq = entry.seq;
    if entry.v > VERSION {
        return Err(ReplayError::Version { seq, version: entry.v });
    }
    if seq != expected {
        return Err(ReplayError::Gap { seq, expected });
    }
    book.fits(&entry.event).map_err(|misfit| match misfit {
        Misfit::OtherPlan => ReplayError::OtherPlan,
        Misfit::Unknown(task) => ReplayError::UnknownTask { seq, task },
        Misfit::OutOfPlace(task) => ReplayError::OutOfPlace { seq, task },
    })
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
