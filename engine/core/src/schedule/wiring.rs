//! What never changes during a run: the specs, who waits for whom, and how far each task is from the end.

use super::spec::NodeSpec;
use crate::graph::EdgeKind;
use crate::ids::TaskId;

/// The plan as the scheduler sees it.
#[derive(Debug)]
pub(super) struct Wiring {
    specs: Vec<NodeSpec>,
    /// The length of the longest path from each task to one that nothing needs.
    ranks: Vec<u32>,
    /// Every task after all that it needs. A task on a cycle is missing.
    order: Vec<TaskId>,
    /// Where the dependents of each task begin in `dependents`; one more entry than tasks.
    starts: Vec<usize>,
    dependents: Vec<Dependent>,
}

/// A task that waits for another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependent {
    /// The one that waits.
    pub(super) task: TaskId,
    /// What for.
    pub(super) kind: EdgeKind,
}

impl Wiring {
    pub(super) fn new(specs: Vec<NodeSpec>) -> Self {
        let (starts, dependents) = turn_around(&specs);
        let mut wiring = Wiring { ranks: vec![0; specs.len()], order: Vec::new(), starts, dependents, specs };
        wiring.order = wiring.sort();
        for &task in wiring.order.iter().rev() {
            let beyond = wiring.dependents(task).iter().map(|next| wiring.ranks[next.task.index()] + 1).max();
            wiring.ranks[task.index()] = beyond.unwrap_or(0);
        }
        wiring
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
        &self.dependents[self.starts[task.index()]..self.starts[task.index() + 1]]
    }

    fn sort(&self) -> Vec<TaskId> {
        let mut missing: Vec<usize> = self.specs.iter().map(|spec| spec.needs.len()).collect();
        let mut order: Vec<TaskId> = self.tasks().filter(|task| missing[task.index()] == 0).collect();
        let mut next = 0;
        while let Some(&task) = order.get(next) {
            next += 1;
            for dependent in self.dependents(task) {
                let left = &mut missing[dependent.task.index()];
                *left -= 1;
                if *left == 0 {
                    order.push(dependent.task);
                }
            }
        }
        order
    }
}

/// Lists, for each task, those that need it, in manifest order.
fn turn_around(specs: &[NodeSpec]) -> (Vec<usize>, Vec<Dependent>) {
    let mut starts = vec![0; specs.len() + 1];
    for edge in specs.iter().flat_map(|spec| &spec.needs) {
        starts[edge.from.index() + 1] += 1;
    }
    for task in 0..specs.len() {
        starts[task + 1] += starts[task];
    }
    let mut free = starts.clone();
    let total = starts[specs.len()];
    let mut dependents = vec![Dependent { task: TaskId(0), kind: EdgeKind::Done }; total];
    for (task, spec) in specs.iter().enumerate() {
        for edge in &spec.needs {
            dependents[free[edge.from.index()]] = Dependent { task: TaskId::at(task), kind: edge.kind };
            free[edge.from.index()] += 1;
        }
    }
    (starts, dependents)
}
