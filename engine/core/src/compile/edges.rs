//! From what tasks need to the graph, and what the graph says about the plan: cycles, outputs that may be null.

use std::collections::BTreeMap;

use serde_json::Value;

use super::findings::{Findings, Mark};
use super::scope::{Need, OutputRead, World};
use super::shape::Shape;
use crate::diagnostic::Code;
use crate::graph::{Edge, EdgeKind, Graph};
use crate::ids::TaskId;
use crate::model::TaskState;
use crate::plan::{ConditionAt, Task};
use crate::template::{Operand, Relation, Segment};

/// Cycles of one plan that are shown; the rest can wait until these are gone.
const MOST_CYCLES: usize = 10;
/// Tasks of one cycle that are named before the middle is left out.
const MOST_NAMED: usize = 12;
/// Edges of one cycle that are marked in the text.
const MOST_MARKED: usize = 6;

/// What follows from references and forks, by task: few have any.
pub(super) type Inferred<'a> = BTreeMap<TaskId, Vec<Need<'a>>>;

/// Makes the graph of what each task's `needs` says: each task once, an edge type that was written wins over an inferred one.
pub(super) fn graph(mut needs: Vec<Vec<Edge>>, inferred: &Inferred<'_>) -> Graph {
    for (task, more) in inferred {
        let edges = more.iter().map(|need| Edge { from: need.from, kind: EdgeKind::default() });
        needs[task.index()].extend(edges);
    }
    for edges in &mut needs {
        // Stable: of two that say the same the first one written stays, and written ones stand before inferred ones.
        edges.sort_by_key(|edge| edge.from);
        edges.dedup_by_key(|edge| edge.from);
    }
    Graph { needs }
}

/// Reports tasks that wait for each other: the whole path, and the place of each edge.
pub(super) fn report_cycles(
    findings: &mut Findings,
    world: &World<'_>,
    graph: &Graph,
    inferred: &Inferred<'_>,
) {
    for cycle in graph.cycles(MOST_CYCLES) {
        let id = |task: TaskId| world.shapes[task.index()].id.value.as_str();
        let edges: Vec<(TaskId, TaskId)> =
            cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1)).collect();
        let place = |(task, from): (TaskId, TaskId)| -> Mark {
            let shape = &world.shapes[task.index()];
            if let Some(need) = shape.keys.own.needs.iter().find(|need| need.task(world.file) == id(from)) {
                return findings.mark_span(need.span);
            }
            match inferred.get(&task).and_then(|needs| needs.iter().find(|need| need.from == from)) {
                Some(need) => findings.mark(need.written, need.at.clone()),
                None => findings.mark_span(shape.id.span),
            }
        };
        let message = match cycle.as_slice() {
            [task] => format!("task waits for itself: `{0} -> {0}`", id(*task)),
            _ => format!("tasks wait for each other: `{}`", path(&cycle, id)),
        };
        let Some(first) = edges.first().copied() else { continue };
        let mut finding = findings.at_mark(Code::Cycle, place(first), message);
        if let Some(label) = finding.labels.first_mut() {
            label.text = format!("`{}` needs `{}`", id(first.0), id(first.1));
        }
        for (task, from) in edges.into_iter().skip(1).take(MOST_MARKED - 1) {
            let text = format!("`{}` needs `{}`", id(task), id(from));
            let mark = place((task, from));
            finding = finding.label(&mark.file, mark.span, text);
        }
        findings.push(finding.help("take one of these edges away"));
    }
}

fn path<'i>(cycle: &[TaskId], id: impl Fn(TaskId) -> &'i str) -> String {
    let mut names: Vec<String> = cycle.iter().map(|task| id(*task).to_owned()).collect();
    if names.len() > MOST_NAMED {
        let left_out = names.len() - MOST_NAMED;
        names.splice(MOST_NAMED - 2..names.len() - 2, [format!("({left_out} more)")]);
    }
    names.extend(cycle.first().map(|first| id(*first).to_owned()));
    names.join(" -> ")
}

/// Warns of reads of an output that is null in a case in which the reader runs.
pub(super) fn warn_of_nulls(
    findings: &mut Findings,
    reader: &Shape<'_>,
    tasks: &[Option<Task>],
    graph: &Graph,
    reads: &[OutputRead<'_>],
    world: &World<'_>,
) {
    let condition = |task: TaskId| tasks[task.index()].as_ref()?.condition.as_ref();
    let own = condition(reader.task);
    let asks_status = own.is_some_and(|own| own.expression.asks_status());
    let of_instance = own.is_some_and(|own| own.at == ConditionAt::Instance);
    // Whoever asks for the state of a task in `if` knows in which case the rest is read.
    let guards = |read: &OutputRead<'_>| {
        let asked_before = !(of_instance && read.spot.makes_instances());
        asked_before
            && reader.keys.own.condition.as_ref().is_some_and(|condition| {
                let id = &world.shapes[read.from.index()].id.value;
                reads_task(&condition.value, id)
            })
    };
    // A task whose instances are asked one by one has a list of outputs, however many of them are skipped.
    let skippable = |task: TaskId| condition(task).is_some_and(|own| own.at == ConditionAt::Task);
    for read in reads.iter().filter(|read| !read.defaulted) {
        let source = &world.shapes[read.from.index()];
        let edge = graph.needs[reader.task.index()].iter().find(|edge| edge.from == read.from);
        let edge = edge.map_or(EdgeKind::Success, |edge| edge.kind);
        let edge = if asks_status { EdgeKind::Done } else { edge };
        let id = &source.id.value;
        // What became many has a list, however its instances ended; only what never began has none.
        let begins = !skippable(read.from) && graph.needs[read.from.index()].is_empty();
        let why = match edge {
            EdgeKind::Completed => continue,
            EdgeKind::Success | EdgeKind::Failure if source.is_expanded() && !skippable(read.from) => {
                continue;
            }
            EdgeKind::Done if source.is_expanded() && begins => continue,
            EdgeKind::Success if source.may_fail() => {
                format!("`{id}` may fail and go on (`continue_on_error`)")
            }
            EdgeKind::Success if skippable(read.from) => {
                format!("`{id}` is skipped when its `if` is false")
            }
            EdgeKind::Success => continue,
            EdgeKind::Failure => format!("`{}` runs only when `{id}` failed", reader.id.value),
            EdgeKind::Done => format!("`{}` runs however `{id}` ended", reader.id.value),
        };
        if is_tested(read, reads) || guards(read) {
            continue;
        }
        let mark = findings.mark(read.written, read.at.clone());
        let message = format!("`{}` may be null: {why}", read.path);
        let finding = findings.at_mark(Code::MaybeNull, mark, message);
        findings.push(finding.help(format!("write `{} | default(...)`", read.path)));
    }
}

/// Reports conditions that ask for an end of a task after which this one is not asked at all.
pub(super) fn report_unasked(
    findings: &mut Findings,
    world: &World<'_>,
    tasks: &[Option<Task>],
    graph: &Graph,
) {
    for (shape, task) in world.shapes.iter().zip(tasks) {
        let Some(condition) = task.as_ref().and_then(|task| task.condition.as_ref()) else { continue };
        let Some(written) = shape.keys.own.condition.as_ref() else { continue };
        if condition.expression.asks_status() {
            continue;
        }
        for comparison in &condition.expression.claims.comparisons {
            let (Operand::Reference(reference), Operand::Literal(Value::String(state), _), Relation::Equal) =
                (&comparison.left, &comparison.right, comparison.relation)
            else {
                continue;
            };
            let [Segment::Name(root), Segment::Name(id), Segment::Name(field)] = reference.path.as_slice()
            else {
                continue;
            };
            let (Some(from), "tasks", "status") = (world.ids.get(id.as_str()), root.as_str(), field.as_str())
            else {
                continue;
            };
            let edge = graph.needs[shape.task.index()].iter().find(|edge| edge.from == *from);
            let (Some(edge), Some(end)) = (edge, TaskState::ended(state)) else { continue };
            let may_fail = world.shapes[from.index()].may_fail();
            if edge.kind.holds(end, may_fail) {
                continue;
            }
            let own = &shape.id.value;
            let asked = match edge.kind {
                EdgeKind::Success if may_fail => {
                    format!("`{own}` runs only when `{id}` completed, was skipped or failed")
                }
                EdgeKind::Success => format!("`{own}` runs only when `{id}` completed or was skipped"),
                EdgeKind::Completed => format!("`{own}` runs only when `{id}` completed"),
                EdgeKind::Failure => format!("`{own}` runs only when `{id}` failed"),
                EdgeKind::Done => continue,
            };
            let mark = findings.mark(written.into(), comparison.at.clone());
            let finding =
                findings.at_mark(Code::NeverTrue, mark, format!("`{id}` is never `{state}` here: {asked}"));
            findings.push(finding.help(format!("add `needs: {{ {id}: done }}`, or write `if: failure()`")));
        }
    }
}

/// Whether the same text tests the value, as in `${% if tasks.a.output is none %}`.
fn is_tested(read: &OutputRead<'_>, reads: &[OutputRead<'_>]) -> bool {
    read.written.text.contains("${%")
        && reads.iter().any(|other| {
            other.defaulted
                && other.from == read.from
                && other.written.span == read.written.span
                && read.path.starts_with(&other.path)
        })
}

/// Whether an expression speaks of a task.
fn reads_task(expression: &str, id: &str) -> bool {
    expression.match_indices(id).any(|(start, _)| {
        let before = expression[..start].trim_end_matches(['.', '[', '"', '\'']);
        let after = expression[start + id.len()..].chars().next();
        before.ends_with("tasks") && !after.is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
    })
}

#[cfg(test)]
#[path = "edges_tests.rs"]
mod tests;
