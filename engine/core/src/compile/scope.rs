//! Where a template stands and what it can speak of there.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;

use super::findings::Written;
use super::input::Place;
use super::inputs::InputKind;
use super::prompts::PromptFiles;
use super::shape::{Names, Shape};
use crate::graph::EdgeKind;
use crate::ids::TaskId;

/// Where a template stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// Top-level `env`: this many entries stand before it.
    PlanEnv(usize),
    /// Top-level `lock`: taken before anything else.
    Lock,
    /// Top-level `outputs`.
    PlanOutputs,
    /// `if`: asked once, before an expansion.
    Condition,
    /// `for_each` and the axes of `matrix`.
    Items,
    /// `key` of an expansion.
    Key,
    /// `env` of a task.
    Env,
    /// `prompt`, `run`, `dir`, `base`, `description`.
    Attempt,
    /// `expect.that` and `retry.if`: the attempt has ended.
    Verdict,
}

impl Spot {
    pub(super) fn in_env(self) -> bool {
        matches!(self, Spot::PlanEnv(_) | Spot::Env)
    }

    /// Whether it is read before any task runs.
    pub(super) fn is_before_tasks(self) -> bool {
        matches!(self, Spot::PlanEnv(_) | Spot::Lock)
    }

    /// Whether one instance is meant, not the task as a whole.
    pub(super) fn of_instance(self) -> bool {
        matches!(self, Spot::Key | Spot::Env | Spot::Attempt | Spot::Verdict)
    }

    pub(super) fn of_attempt(self) -> bool {
        matches!(self, Spot::Env | Spot::Attempt | Spot::Verdict)
    }

    pub(super) fn sees_run_status(self) -> bool {
        matches!(self, Spot::Condition | Spot::PlanOutputs)
    }
}

/// A variable of top-level `env`.
pub(super) struct PlanVariable<'a> {
    pub name: &'a str,
    /// Whether a secret is part of its value.
    pub secret: bool,
}

/// What references can lead to.
pub(super) struct World<'a> {
    pub place: &'a dyn Place,
    pub ids: HashMap<&'a str, TaskId>,
    pub shapes: Vec<Shape<'a>>,
    pub inputs: IndexMap<&'a str, InputKind>,
    pub secrets: Vec<&'a str>,
    pub env: Vec<PlanVariable<'a>>,
    /// `pools`.
    pub pools: IndexMap<&'a str, NonZeroU32>,
    /// Prompts that are files.
    pub prompts: &'a PromptFiles,
    /// The shell of tasks that name none.
    pub shell: Arc<[String]>,
}

/// An edge that a task asks for, and where.
pub(super) struct Need<'a> {
    pub from: TaskId,
    /// The edge's type; `None` when it was inferred from a reference.
    pub kind: Option<EdgeKind>,
    pub written: Written<'a>,
    pub at: Range<usize>,
}

/// A place that reads the output of a task.
pub(super) struct OutputRead<'a> {
    pub from: TaskId,
    pub path: String,
    /// Whether it is prepared for null.
    pub defaulted: bool,
    pub written: Written<'a>,
    pub at: Range<usize>,
}

/// What the references of one task, or of the plan itself, have in common.
pub(super) struct Scope<'w, 'a> {
    pub world: &'w World<'a>,
    /// The task whose templates are read.
    pub task: Option<&'w Shape<'a>>,
    pub needs: Vec<Need<'a>>,
    pub reads: Vec<OutputRead<'a>>,
}

impl<'a> Scope<'_, 'a> {
    pub(super) fn is_expanded(&self) -> bool {
        self.task.is_some_and(Shape::is_expanded)
    }

    pub(super) fn item_name(&self) -> Option<&str> {
        match self.task.map(|task| &task.names) {
            Some(Names::Item(name)) => Some(name),
            Some(Names::None | Names::Matrix(_)) | None => None,
        }
    }

    pub(super) fn axes(&self) -> Option<&[&'a str]> {
        match self.task.map(|task| &task.names) {
            Some(Names::Matrix(axes)) => Some(axes),
            Some(Names::None | Names::Item(_)) | None => None,
        }
    }

    /// The names that a template sees where it stands.
    pub(super) fn roots(&self, spot: Spot) -> Vec<&str> {
        let mut roots = vec!["inputs", "env"];
        roots.extend(spot.in_env().then_some("secrets"));
        roots.extend((!spot.is_before_tasks()).then_some("tasks"));
        if spot.of_instance() {
            roots.extend(self.item_name());
            roots.extend(self.axes().map(|_| "matrix"));
        }
        roots.extend((spot.of_attempt() && self.is_expanded()).then_some("key"));
        roots.extend(["run", "git"]);
        roots.extend(spot.of_attempt().then_some("attempt"));
        roots.extend((spot == Spot::Verdict).then_some("task"));
        roots
    }
}
