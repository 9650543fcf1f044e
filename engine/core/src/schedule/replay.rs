//! Rebuilding a scheduler from a journal. Nothing is guessed: an event that can't follow what came before is an error.

use thiserror::Error;

use super::book::{Book, Phase};
use super::scheduler::Scheduler;
use super::spec::{Limits, NodeSpec};
use crate::event::{Entry, Event, VERSION};
use crate::ids::{Address, Attempt};

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
    let phase = |task: &Address| match book.find(task) {
        Some(id) => Ok((book.node(id), book.spec(id))),
        None => Err(ReplayError::UnknownTask { seq, task: task.clone() }),
    };
    let follows = |task: &Address, well: bool| match well {
        true => Ok(()),
        false => Err(ReplayError::OutOfPlace { seq, task: task.clone() }),
    };
    let runs = |task: &Address, attempt: Attempt, begun: Option<bool>| {
        let (node, _) = phase(task)?;
        let live =
            matches!(node.phase, Phase::Live { running, .. } if begun.is_none_or(|begun| begun == running));
        follows(task, live && node.attempts == attempt.0)
    };
    match &entry.event {
        Event::RunStarted { tasks, .. } => {
            let plan = book.plan_nodes().map(|id| &book.node(id).address);
            let same = tasks.iter().eq(plan);
            if same { Ok(()) } else { Err(ReplayError::OtherPlan) }
        }
        Event::RunResumed { lost, reset, given_up, .. } => {
            lost.iter().chain(reset).chain(given_up).try_for_each(|task| phase(task).map(drop))
        }
        Event::TaskExpanded { task, .. } => {
            let (node, spec) = phase(task)?;
            follows(task, node.phase == Phase::Ready && spec.expands && node.parent.is_none())
        }
        Event::TaskReady { task } => follows(task, phase(task)?.0.phase == Phase::Waiting),
        Event::AttemptStarting { task, attempt, .. } => {
            let (node, spec) = phase(task)?;
            let waits = matches!(node.phase, Phase::Ready | Phase::Retrying { .. });
            let runs = !spec.expands || node.parent.is_some();
            follows(task, waits && runs && attempt.0 == node.attempts + 1)
        }
        Event::AttemptRunning { task, attempt, .. } => runs(task, *attempt, Some(false)),
        Event::AttemptEnded { task, attempt, .. } => runs(task, *attempt, None),
        Event::TaskRetry { task, attempt, .. } => {
            let (node, _) = phase(task)?;
            follows(task, node.phase == Phase::Settling && attempt.0 == node.attempts + 1)
        }
        Event::TaskEnded { task, state, .. } => {
            let (node, _) = phase(task)?;
            let live = matches!(node.phase, Phase::Ended(_) | Phase::Gone | Phase::Live { .. });
            follows(task, !live && state.is_terminal() && node.open == 0)
        }
        Event::KillRequested { task: Some(task), .. }
        | Event::WorktreeMade { task, .. }
        | Event::WorktreeEnded { task, .. }
        | Event::MergeStarted { task, .. }
        | Event::MergeEnded { task, .. } => phase(task).map(drop),
        Event::KillRequested { task: None, .. } | Event::ProviderParked { .. } | Event::RunEnded { .. } => {
            Ok(())
        }
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
