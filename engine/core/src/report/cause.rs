//! Why a run ended, from the states of its tasks.

use super::fold::Fold;
use super::run_report::TaskReport;
use crate::model::{Cause, RunStatus, Signal, TaskState};

/// What beside its tasks decides why a run ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndedBy {
    /// Whether allowed failures count: `--strict`.
    pub strict: bool,
    /// The signal that stopped it.
    pub signal: Option<Signal>,
}

/// The failures of a run.
enum Failures {
    /// Some count that are more than a verdict, or there are none.
    Other,
    /// Every one that counts is an unmet `expect.that`.
    Verdicts,
    /// There are some, and each of them is allowed.
    Allowed,
}

impl Fold {
    /// Why a run ended in this state.
    pub fn cause(&self, status: RunStatus, by: EndedBy) -> Cause {
        match (status, self.failures()) {
            (RunStatus::Completed, Failures::Allowed) if by.strict => Cause::AllowedFailures,
            (RunStatus::Completed, _) => Cause::Success,
            // Told by another process, which is as good as TERM.
            (RunStatus::Killed, _) => by.signal.map_or(Cause::Terminated, Cause::from),
            (RunStatus::Failed, Failures::Verdicts) => Cause::Rejected,
            (RunStatus::Failed | RunStatus::Running | RunStatus::Lost, _) => Cause::TaskFailed,
        }
    }

    fn failures(&self) -> Failures {
        let (mut verdicts, mut allowed) = (0usize, 0usize);
        let failed = |task: &&TaskReport| task.counts_itself() && task.state == TaskState::Failed;
        for task in self.plan_rows().filter(failed) {
            match (task.allowed, task.verdict_unmet) {
                (true, _) => allowed += 1,
                (false, true) => verdicts += 1,
                (false, false) => return Failures::Other,
            }
        }
        match (verdicts, allowed) {
            (0, 0) => Failures::Other,
            (0, _) => Failures::Allowed,
            _ => Failures::Verdicts,
        }
    }
}

#[cfg(test)]
#[path = "cause_tests.rs"]
mod tests;
