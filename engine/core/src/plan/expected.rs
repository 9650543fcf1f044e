//! What a run of a plan comes to when nothing goes wrong.

use crate::graph::EdgeKind;
use crate::plan::Plan;

impl Plan {
    /// For each task whether it starts when everything before it goes well. One with an `if` may be skipped, one that
    /// waits for a failure may be blocked, and so may what needs it; such tasks don't count.
    pub fn starts_when_all_goes_well(&self) -> Vec<bool> {
        let mut reached = vec![false; self.tasks.len()];
        let mut starts = vec![false; self.tasks.len()];
        for id in self.graph.order() {
            let task = id.index();
            reached[task] = self.graph.needs[task].iter().all(|edge| match edge.kind {
                EdgeKind::Success => reached[edge.from.index()],
                EdgeKind::Completed => starts[edge.from.index()],
                EdgeKind::Failure => false,
                EdgeKind::Done => true,
            });
            starts[task] = reached[task] && self.tasks[task].condition.is_none();
        }
        starts
    }
}

#[cfg(test)]
#[path = "expected_tests.rs"]
mod tests;
