//! Agents that may write to one tree at the same time.

use super::agent_task::agent_place;
use super::findings::Findings;
use super::shape::Shape;
use crate::diagnostic::Code;
use crate::graph::Graph;
use crate::ids::TaskId;
use crate::text::list_some;

/// How many of them are marked in the text.
const MOST_MARKED: usize = 4;

/// A task whose agent may change the shared tree.
pub(super) struct Writer {
    pub task: TaskId,
    /// Whether it becomes many that run side by side.
    pub parallel: bool,
}

/// Warns, once a plan, of writers that no path keeps apart.
pub(super) fn warn_of_shared_trees(
    findings: &mut Findings,
    shapes: &[Shape<'_>],
    graph: &Graph,
    writers: &[Writer],
) {
    let clashing = side_by_side(graph, writers);
    let Some((first, others)) = clashing.split_first() else { return };
    let shape = |task: &TaskId| &shapes[task.index()];
    let names = clashing.iter().map(|task| shape(task).id.value.as_str());
    let message = match others {
        [] => format!("the instances of `{}` may write to one tree at the same time", shape(first).id.value),
        [..] => format!("agents may write to one tree at the same time: {}", list_some(names, 12)),
    };
    let mut finding = findings.at(Code::SharedWriters, agent_place(shape(first).keys), message);
    for task in others.iter().take(MOST_MARKED - 1) {
        finding = findings.related(finding, agent_place(shape(task).keys), "may write as well");
    }
    let help = match others {
        [] => "give it `isolation: worktree`, or `max_parallel: 1`",
        [..] => "give each `isolation: worktree`, or order them with `needs`",
    };
    findings.push(finding.help(help));
}

/// The writers that can run beside another one, in manifest order.
///
/// All are in one line exactly when, in topological order, each is reached by the one before it. The last writer that
/// reaches a task is found in one pass, so that this stays linear in a plan of any size.
fn side_by_side(graph: &Graph, writers: &[Writer]) -> Vec<TaskId> {
    let mut found: Vec<TaskId> =
        writers.iter().filter(|writer| writer.parallel).map(|writer| writer.task).collect();
    if writers.len() > 1 {
        let mut is_writer = vec![false; graph.needs.len()];
        writers.iter().for_each(|writer| is_writer[writer.task.index()] = true);
        // For each task the position of the last writer before it, and of itself if it is one; 0: none.
        let mut last = vec![0usize; graph.needs.len()];
        let mut before: Option<TaskId> = None;
        let mut count = 0;
        for task in graph.order() {
            let reached =
                graph.needs[task.index()].iter().map(|edge| last[edge.from.index()]).max().unwrap_or(0);
            last[task.index()] = reached;
            if is_writer[task.index()] {
                if let Some(before) = before.filter(|_| reached != count) {
                    found.extend([before, task]);
                }
                count += 1;
                last[task.index()] = count;
                before = Some(task);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
#[path = "writers_tests.rs"]
mod tests;
