//! Keys that stand a level too high: tasks beside `tasks`, a task's keys beside the tasks.

use super::fields::{Field, Reader};
use super::node::{Entry, Node, NodeKind};
use super::task::{KEYS as TASK, MAKING};
use crate::diagnostic::Code;

/// Whether a value is a task: it has a key that makes one.
pub(super) fn is_task(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Map(entries) => entries.iter().any(|entry| MAKING.contains(&entry.key.as_str())),
        NodeKind::Null
        | NodeKind::Bool(_)
        | NodeKind::Int(_)
        | NodeKind::Float(_)
        | NodeKind::Text { .. }
        | NodeKind::List(_) => false,
    }
}

/// Whether a task can have such a key.
pub(super) fn is_task_key(key: &str) -> bool {
    TASK.iter().any(|field| key == field.name)
}

/// Reports tasks that stand beside an empty `tasks`, and takes them away. True when there were some.
pub(super) fn beside_tasks<T>(reader: &mut Reader<'_>, entries: &mut Vec<Entry>, known: &[Field<T>]) -> bool {
    let is_empty = |entry: &Entry| entry.key == "tasks" && matches!(entry.value.kind, NodeKind::Null);
    if !entries.iter().any(is_empty) {
        return false;
    }
    let is_known = |entry: &Entry| known.iter().any(|field| entry.key == field.name);
    let (tasks, rest): (Vec<Entry>, Vec<Entry>) =
        std::mem::take(entries).into_iter().partition(|entry| !is_known(entry) && is_task(&entry.value));
    *entries = rest;
    if let Some(first) = tasks.first() {
        let more = match tasks.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more like it"),
        };
        let message = format!("`{}` stands beside `tasks`, not in it", first.key);
        reader.problem(Code::UnknownKey, first.key_span, message).help =
            Some(format!("indent `{}:` under `tasks:`{more}", first.key));
        entries.retain(|entry| entry.key != "tasks");
    }
    !tasks.is_empty()
}

/// Reports a task's key that stands among the tasks. True when it is one.
pub(super) fn beside_task(reader: &mut Reader<'_>, entry: &Entry, before: Option<&str>) -> bool {
    if !is_task_key(&entry.key) || is_task(&entry.value) {
        return false;
    }
    let message = format!("`{}` stands among the tasks, and is a key of one", entry.key);
    reader.problem(Code::WrongType, entry.key_span, message).help = Some(match before {
        Some(task) => format!("indent it under `{task}:`"),
        None => "write the name of a task above it, and indent it".to_owned(),
    });
    true
}
