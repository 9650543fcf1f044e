//! Who waits for whom.
//!
//! Every walk is iterative: a chain of 100,000 tasks must not overflow the stack.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::model::TaskState;

/// What must be true of a task before one that needs it may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Completed, skipped, or failed with `continue_on_error`.
    #[default]
    Success,
    /// It really ran, and well.
    Completed,
    /// Failed, killed or lost.
    Failure,
    /// It ended, whatever the way.
    Done,
}

impl EdgeKind {
    /// Whether it is what `needs: [task]` asks.
    pub fn is_success(&self) -> bool {
        *self == EdgeKind::Success
    }

    /// Whether it holds once the task that it comes from is in this state; `allowed`: whether its failure is.
    pub fn holds(self, state: TaskState, allowed: bool) -> bool {
        match self {
            EdgeKind::Success => {
                matches!(state, TaskState::Completed | TaskState::Skipped)
                    || (state == TaskState::Failed && allowed)
            }
            EdgeKind::Completed => state == TaskState::Completed,
            EdgeKind::Failure => state.is_bad(false),
            EdgeKind::Done => state.is_terminal(),
        }
    }

    /// The word of the manifest behind the name of a task; empty for `success`, which nobody writes.
    pub fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Success => "",
            EdgeKind::Completed => "completed",
            EdgeKind::Failure => "failure",
            EdgeKind::Done => "done",
        }
    }
}

/// An edge to what a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The task that must end first.
    pub from: TaskId,
    /// How it must end.
    pub kind: EdgeKind,
}

/// A directed graph, one node a plan task; without cycles once it is part of a plan.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// `needs[task]`: what it waits for, each task once, in manifest order.
    pub needs: Vec<Vec<Edge>>,
}

/// A task that waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// The one that waits.
    pub task: TaskId,
    /// How the other must end.
    pub kind: EdgeKind,
}

/// For each task those that wait for it, in manifest order: one list, and where in it those of each task begin.
#[derive(Clone, Debug)]
pub struct Dependents {
    starts: Vec<u32>,
    all: Vec<Dependent>,
}

impl Dependents {
    /// Turns around what each task needs.
    pub fn new<'a>(needs: impl Iterator<Item = &'a [Edge]> + Clone) -> Self {
        // The count of each task stands one place behind its own: summed up, it is where the next one begins.
        let mut starts = vec![0u32; needs.clone().count() + 1];
        needs.clone().flatten().for_each(|edge| starts[edge.from.index() + 1] += 1);
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut free = starts.clone();
        let nobody = Dependent { task: TaskId::at(0), kind: EdgeKind::Done };
        let mut all = vec![nobody; starts[starts.len() - 1] as usize];
        for (index, needs) in needs.enumerate() {
            for edge in needs {
                let free = &mut free[edge.from.index()];
                all[*free as usize] = Dependent { task: TaskId::at(index), kind: edge.kind };
                *free += 1;
            }
        }
        Dependents { starts, all }
    }

    /// Those that wait for a task.
    pub fn of(&self, task: TaskId) -> &[Dependent] {
        let at = |index: usize| self.starts[index] as usize;
        &self.all[at(task.index())..at(task.index() + 1)]
    }

    /// The tasks so that each stands behind what it needs, ties in manifest order. Tasks on a cycle, and what needs
    /// them, are left out.
    pub fn order(&self) -> Vec<TaskId> {
        let mut open = vec![0u32; self.starts.len() - 1];
        self.all.iter().for_each(|dependent| open[dependent.task.index()] += 1);
        let free = |(index, open): (usize, &u32)| (*open == 0).then(|| Reverse(TaskId::at(index)));
        let mut ready: BinaryHeap<Reverse<TaskId>> = open.iter().enumerate().filter_map(free).collect();
        let mut order = Vec::with_capacity(open.len());
        while let Some(Reverse(task)) = ready.pop() {
            order.push(task);
            for dependent in self.of(task) {
                let open = &mut open[dependent.task.index()];
                *open -= 1;
                if *open == 0 {
                    ready.push(Reverse(dependent.task));
                }
            }
        }
        order
    }

    /// For each task the number of edges of the longest path from it to a task that nothing needs; `order` is theirs.
    pub fn ranks(&self, order: &[TaskId]) -> Vec<u32> {
        let mut ranks = vec![0u32; self.starts.len() - 1];
        for &task in order.iter().rev() {
            let beyond = self.of(task).iter().map(|next| ranks[next.task.index()] + 1).max();
            ranks[task.index()] = beyond.unwrap_or(0);
        }
        ranks
    }
}

impl Graph {
    /// Who waits for each task.
    pub fn dependents(&self) -> Dependents {
        Dependents::new(self.needs.iter().map(Vec::as_slice))
    }

    /// The tasks so that each stands behind what it needs, as [`Dependents::order`] has it.
    pub fn order(&self) -> Vec<TaskId> {
        self.dependents().order()
    }

    /// Up to `most` cycles, each as short as can be through its first task: every task needs the one behind it and the
    /// last needs the first. No two share all their edges; there is none exactly when the graph has none.
    pub fn cycles(&self, most: usize) -> Vec<Vec<TaskId>> {
        let mut cycles = Vec::new();
        if self.order().len() == self.needs.len() {
            return cycles;
        }
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(self.needs.len(), 0);
        let nodes: Vec<NodeIndex> = self.needs.iter().map(|_| graph.add_node(())).collect();
        for (index, needs) in self.needs.iter().enumerate() {
            for edge in needs {
                graph.add_edge(nodes[index], nodes[edge.from.index()], ());
            }
        }
        loop {
            let mut starts: Vec<NodeIndex> = kosaraju_scc(&graph)
                .into_iter()
                .filter(|part| part.len() > 1 || graph.contains_edge(part[0], part[0]))
                .filter_map(|part| part.into_iter().min())
                .collect();
            starts.sort();
            if starts.is_empty() {
                return cycles;
            }
            for start in starts {
                if cycles.len() == most {
                    return cycles;
                }
                let cycle = shortest_cycle(&graph, start);
                // Without its last edge this cycle is gone and the next round finds the others.
                let closing = cycle.last().and_then(|last| graph.find_edge(*last, start));
                if let Some(edge) = closing {
                    graph.remove_edge(edge);
                }
                cycles.push(cycle.into_iter().map(|node| TaskId::at(node.index())).collect());
            }
        }
    }
}

/// The shortest way from a node back to itself, by breadth; the node must lie on a cycle.
fn shortest_cycle(graph: &DiGraph<(), ()>, start: NodeIndex) -> Vec<NodeIndex> {
    let mut came_from: Vec<Option<NodeIndex>> = vec![None; graph.node_count()];
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        if graph.contains_edge(node, start) {
            let mut cycle = vec![node];
            let mut at = node;
            while let Some(before) = came_from[at.index()] {
                cycle.push(before);
                at = before;
            }
            cycle.reverse();
            return cycle;
        }
        let mut next: Vec<NodeIndex> = graph.neighbors(node).collect();
        next.sort();
        for neighbor in next {
            if neighbor != start && came_from[neighbor.index()].is_none() {
                came_from[neighbor.index()] = Some(node);
                queue.push_back(neighbor);
            }
        }
    }
    vec![start]
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
