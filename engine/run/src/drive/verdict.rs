//! What the plan and the person say of an attempt that an executor calls done.

use flow_core::ids::{Attempt, NodeId};
use flow_core::model::{AttemptEnd, Outcome, Reason};

use super::driver::Driver;

impl Driver {
    /// The outcome, once `expect.that` and what was refused are judged.
    pub(super) fn judged(&self, id: NodeId, attempt: Attempt, outcome: Box<Outcome>) -> Box<Outcome> {
        self.judge_denials(id, self.judge_that(id, attempt, outcome))
    }

    fn judge_that(&self, id: NodeId, attempt: Attempt, mut outcome: Box<Outcome>) -> Box<Outcome> {
        let (plan_id, task) = self.plan_task(id);
        let (Some(that), AttemptEnd::Completed) = (&task.expect.that, outcome.end) else { return outcome };
        let scope = self.scope(id, plan_id, attempt);
        let (reason, message) = match that.truth(&scope.context_of_outcome(that, &outcome)) {
            Ok(true) => return outcome,
            Ok(false) => (Reason::Expectation, format!("`expect.that` does not hold: {}", that.source)),
            Err(error) => (Reason::Expression, format!("`expect.that`: {error}")),
        };
        outcome.end = AttemptEnd::Failed;
        outcome.verdict_unmet = reason == Reason::Expectation;
        outcome.reason = Some(reason);
        outcome.message = Some(message);
        outcome
    }

    /// What the agent was refused is a failure where the plan or the person says so.
    fn judge_denials(&self, id: NodeId, mut outcome: Box<Outcome>) -> Box<Outcome> {
        let expected = self.plan_task(id).1.expect.no_denials;
        if !(expected || self.setup.strict) || outcome.end != AttemptEnd::Completed {
            return outcome;
        }
        let Some(first) = outcome.denials.first() else { return outcome };
        let more = match outcome.denials.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let by = if expected { "`expect.denied`" } else { "`--strict`" };
        outcome.message = Some(format!("refused: {}{more} ({by})", first.line()));
        outcome.end = AttemptEnd::Failed;
        outcome.reason = Some(Reason::PermissionDenied);
        outcome
    }
}
