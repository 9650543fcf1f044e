//! What never changes during a run: the specs, who waits for whom, and how far each task is from the end.

use super::spec::NodeSpec;
use crate::graph::{Dependent, Dependents};
use crate::ids::TaskId;

/// The plan as the scheduler sees it.
#[derive(Debug)]
pub(super) struct Wiring {
    specs: Vec<NodeSpec>,
    /// The length of the longest path from each task to one that nothing needs.
    ranks: Vec<u32>,
    /// Every task after all that it needs. A task on a cycle is missing.
    order: Vec<TaskId>,
    dependents: Dependents,
}

impl Wiring {
    pub(super) fn new(specs: Vec<NodeSpec>) -> Self {
        let dependents = Dependents::new(specs.iter().map(|spec| spec.needs.as_slice()));
        let order = dependents.order();
        Wiring { ranks: dependents.ranks(&order), order, dependents, specs }
    }

    /// The tasks of the plan, in manifest order.
    pub(super) fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        (0..self.len()).map(TaskId::at)
    }

    /// How many tasks the plan has.
    pub(super) fn len(&self) -> usize {
        self.specs.len()
    }

    pub(super) fn spec(&self, task: TaskId) -> &NodeSpec {
        &self.specs[task.index()]
    }

    pub(super) fn rank(&self, task: TaskId) -> u32 {
        self.ranks[task.index()]
    }

    pub(super) fn order(&self) -> &[TaskId] {
        &self.order
    }

    pub(super) fn dependents(&self, task: TaskId) -> &[Dependent] {
        self.dependents.of(task)
    }
}
