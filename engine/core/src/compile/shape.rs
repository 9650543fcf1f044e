//! What the rest of a plan can see of each task: its kind, its output, its place. Made before any template is read, since
//! a template may speak of every task.

use serde_json::Value;

use super::literal::json;
use crate::diagnostic::{Span, Spanned};
use crate::ids::TaskId;
use crate::model::{Isolation, Merge};
use crate::plan::{Kind, Output};
use crate::syntax::{Key, Node, NodeKind, TaskKeys};

/// The keys of a task over those of `defaults`.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    /// The task's.
    pub own: &'a TaskKeys,
    /// Those of `defaults`.
    pub defaults: &'a TaskKeys,
}

impl<'a> Keys<'a> {
    /// A key of the task, else of `defaults`; the whole value is replaced.
    pub(super) fn get<T>(&self, key: impl Fn(&'a TaskKeys) -> &'a Option<T>) -> Option<&'a T> {
        key(self.own).as_ref().or_else(|| key(self.defaults).as_ref())
    }

    /// A switch of the task, else of `defaults`, else off.
    pub(super) fn is_on(&self, key: impl Fn(&'a TaskKeys) -> &'a Option<Spanned<bool>>) -> bool {
        self.get(key).is_some_and(|switch| switch.value)
    }

    /// Where the task itself wrote a key.
    pub(super) fn written(&self, key: &str) -> Option<Span> {
        self.own.written.iter().find(|(name, _)| *name == key).map(|(_, span)| *span)
    }
}

/// The names that an expansion gives to the templates of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Names<'a> {
    /// Not expanded.
    None,
    /// `for_each`, with the name of its items.
    Item(&'a str),
    /// `matrix`, with its axes.
    Matrix(Vec<&'a str>),
}

/// A task as others see it.
pub(super) struct Shape<'a> {
    pub task: TaskId,
    pub id: &'a Spanned<Key>,
    pub keys: Keys<'a>,
    /// What it does; nothing where that is unclear, which is reported already.
    pub kind: Option<Kind>,
    /// The index of its agent's definition in the plan, if it has one that exists.
    pub agent: Option<usize>,
    /// The task whose conversation it goes on with.
    pub fork: Option<TaskId>,
    pub names: Names<'a>,
    /// Names of its matrix that only some instances have, each with the key of one that lacks it.
    pub lacking: Vec<(String, String)>,
    pub output: Output,
    pub isolation: Isolation,
    pub merge: Merge,
    /// Whether the file has errors inside this task: then what is missing may be there, misspelt.
    pub faulty: bool,
}

impl Shape<'_> {
    pub(super) fn is_expanded(&self) -> bool {
        self.names != Names::None
    }

    /// Whether it may fail and its readers run all the same.
    pub(super) fn may_fail(&self) -> bool {
        self.keys.is_on(|keys| &keys.continue_on_error)
    }

    /// The values of an axis of its matrix, where all of them are written out.
    pub(super) fn axis_values(&self, axis: &str) -> Option<Vec<Value>> {
        let matrix = &self.keys.own.matrix.as_ref()?.value;
        let written: Vec<&Node> = match matrix.axes.iter().find(|(name, _)| name.value == axis) {
            None => Vec::new(),
            Some((_, Node { kind: NodeKind::List(nodes), .. })) => nodes.iter().collect(),
            Some(_) => return None,
        };
        let included = matrix.include.iter().filter_map(|entry| match &entry.kind {
            NodeKind::Map(pairs) => pairs.iter().find(|pair| pair.key == axis).map(|pair| &pair.value),
            _ => None,
        });
        let fixed = |node: &Node| match &node.kind {
            NodeKind::Text { value, .. } if value.contains("${") => None,
            NodeKind::List(_) | NodeKind::Map(_) => None,
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::Text { .. } => Some(json(node)),
        };
        written.into_iter().chain(included).map(fixed).collect()
    }

    /// "a shell task", for messages.
    pub(super) fn described(&self) -> &'static str {
        match self.kind {
            _ if self.is_expanded() => "an expanded task",
            Some(kind) => kind.info().one,
            None => "this task",
        }
    }
}
