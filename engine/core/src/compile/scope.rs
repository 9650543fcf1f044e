//! Where a template stands and what it can speak of there.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;

use super::findings::Written;
use super::input::{Place, Purpose};
use super::inputs::Input;
use super::prompts::PromptFiles;
use super::shape::{Names, Shape};
use crate::diagnostic::SourceFile;
use crate::graph::Edge;
use crate::ids::TaskId;
use crate::model::Settings;
use crate::plan::ConditionAt;
use crate::template::{Reference, Segment, Template};

/// Where a template stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// Top-level `env`: this many entries stand before it.
    PlanEnv(usize),
    /// Top-level `lock`: taken before anything else.
    Lock,
    /// Top-level `outputs`.
    PlanOutputs,
    /// `if`: asked once, before an expansion; or, when it names the item or the key, of each instance.
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

    /// Whether one instance is meant, or can be, not the task as a whole.
    pub(super) fn of_instance(self) -> bool {
        matches!(self, Spot::Condition | Spot::Key | Spot::Env | Spot::Attempt | Spot::Verdict)
    }

    /// Whether the key of an instance is known.
    pub(super) fn sees_key(self) -> bool {
        self.of_instance() && self != Spot::Key
    }

    /// Whether it is read before an `if` that is asked of each instance.
    pub(super) fn makes_instances(self) -> bool {
        matches!(self, Spot::Items | Spot::Key)
    }

    pub(super) fn of_attempt(self) -> bool {
        matches!(self, Spot::Env | Spot::Attempt | Spot::Verdict)
    }

    /// How many of the names of its own task it knows: its id; of an instance its address and key; the attempt.
    pub(super) fn own_names(self) -> usize {
        match self {
            Spot::PlanEnv(_) | Spot::Lock | Spot::PlanOutputs | Spot::Items | Spot::Key => 1,
            Spot::Condition => 3,
            Spot::Env | Spot::Attempt | Spot::Verdict => 4,
        }
    }

    /// Whether what stands there is held for true or false.
    pub(super) fn is_condition(self) -> bool {
        matches!(self, Spot::Condition | Spot::Verdict)
    }

    pub(super) fn sees_run_status(self) -> bool {
        matches!(self, Spot::Condition | Spot::PlanOutputs)
    }
}

/// A variable of top-level `env`.
pub(super) struct PlanVariable {
    /// Whether a secret is part of its value.
    pub secret: bool,
}

/// What references can lead to.
pub(super) struct World<'a> {
    /// The manifest.
    pub file: &'a SourceFile,
    pub place: &'a dyn Place,
    pub purpose: Purpose,
    pub ids: HashMap<&'a str, TaskId>,
    pub shapes: Vec<Shape<'a>>,
    pub inputs: IndexMap<&'a str, Input>,
    pub secrets: Vec<&'a str>,
    pub env: IndexMap<&'a str, PlanVariable>,
    pub settings: &'a Settings,
    /// `pools`.
    pub pools: IndexMap<&'a str, NonZeroU32>,
    /// Prompts that are files.
    pub prompts: &'a PromptFiles,
    /// The shell of tasks that name none.
    pub shell: Arc<[String]>,
}

impl World<'_> {
    /// The names of the tasks, in manifest order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.shapes.iter().map(|shape| shape.id.value.as_str())
    }
}

/// An edge that follows from a reference or a fork, and from where.
pub(super) struct Need<'a> {
    pub from: TaskId,
    pub written: Written<'a>,
    pub at: Range<usize>,
}

/// A place that reads the output of a task.
pub(super) struct OutputRead<'a> {
    pub from: TaskId,
    pub spot: Spot,
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
    /// What `needs` says.
    pub edges: Vec<Edge>,
    /// What it needs besides.
    pub needs: Vec<Need<'a>>,
    /// The tasks whose folder it reads.
    pub dirs: Vec<TaskId>,
    pub reads: Vec<OutputRead<'a>>,
}

impl<'w, 'a> Scope<'w, 'a> {
    /// Before anything was read.
    pub(super) fn new(world: &'w World<'a>, task: Option<&'w Shape<'a>>) -> Self {
        Scope { world, task, edges: Vec::new(), needs: Vec::new(), dirs: Vec::new(), reads: Vec::new() }
    }

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

    /// Of whom a condition is asked: of each instance when it names the item or the key.
    pub(super) fn condition_at(&self, expression: &Template) -> ConditionAt {
        let names_instance = |root: &str| {
            root == "key" || self.item_name() == Some(root) || (root == "matrix" && self.axes().is_some())
        };
        let own = |reference: &Reference| {
            reference.root() == "task"
                && matches!(reference.path.get(1), Some(Segment::Name(name)) if name == "key" || name == "address")
        };
        let mut references = expression.references.iter();
        let of_instance = self.is_expanded()
            && references.any(|reference| names_instance(reference.root()) || own(reference));
        if of_instance { ConditionAt::Instance } else { ConditionAt::Task }
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
        roots.extend((spot.sees_key() && self.is_expanded()).then_some("key"));
        roots.extend(["run", "git"]);
        roots.extend(spot.of_attempt().then_some("attempt"));
        roots.extend(self.task.map(|_| "task"));
        roots
    }
}
