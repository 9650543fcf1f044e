//! A plan: a manifest with every name resolved and every template parsed. What can be wrong with a text no longer can.

use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::graph::Graph;
use crate::ids::{Address, TaskId};
use crate::model::{AgentDef, Isolation, Merge, Reason};
use crate::template::{Script, Template};

mod expand;
mod expand_rules;
mod expected;
mod facts;
mod granted;
mod kind;
mod reads;
mod select;

pub use facts::{FACTS, Fact, FactInfo, FactOf, FactType, OfMany, USAGE, UsageFact};
pub use kind::{
    AgentCheck, AgentChecks, AgentTask, Command, Kind, KindInfo, Permissions, ShellTask, TaskKind, Written,
};
pub use reads::Read;
pub use select::{InstanceLimit, SelectError, Selected, Selection};

pub use expand::{Combination, ExpandError, MOST_INSTANCES, combinations, list_rows, unique_keys};

/// A compiled manifest.
#[derive(Debug)]
pub struct Plan {
    /// `name`, else the file's stem.
    pub name: String,
    /// `description`.
    pub description: Option<String>,
    /// Declared inputs with the values of this run.
    pub inputs: IndexMap<String, Value>,
    /// Declared secrets, by name.
    pub secrets: Vec<String>,
    /// Top-level `env`; a template may read those before it.
    pub env: Vec<(String, Template)>,
    /// `concurrency`.
    pub concurrency: Option<NonZeroU32>,
    /// `pools`, by name.
    pub pools: IndexMap<String, NonZeroU32>,
    /// `lock`: one run at a time with this name.
    pub lock: Option<Template>,
    /// `briefing`.
    pub briefing: Option<String>,
    /// Tasks in manifest order; `tasks[id.index()]`.
    pub tasks: Vec<Task>,
    /// Who waits for whom.
    pub graph: Graph,
    /// Every definition that a task names, once each.
    pub agents: Vec<AgentDef>,
    /// `outputs`.
    pub outputs: Vec<(String, Template)>,
}

/// A task of the plan. Most of 100,000 tasks have only what stands here, and share what they say nothing about.
#[derive(Debug)]
pub struct Task {
    /// Its place in the plan.
    pub id: TaskId,
    /// Its address, which for a plan task is its id in the manifest.
    pub address: Address,
    /// What it does.
    pub kind: TaskKind,
    /// `isolation`; the task's, else its agent's.
    pub isolation: Isolation,
    /// `merge`.
    pub merge: Merge,
    /// `None`: as `TaskOptions::default`.
    pub(crate) options: Option<Box<TaskOptions>>,
}

impl Deref for Task {
    type Target = TaskOptions;

    fn deref(&self) -> &TaskOptions {
        static NONE: LazyLock<TaskOptions> = LazyLock::new(TaskOptions::default);
        self.options.as_deref().unwrap_or(&NONE)
    }
}

/// What a task says beyond what it does.
#[derive(Debug, Default, PartialEq)]
pub struct TaskOptions {
    /// `description`.
    pub description: Option<Template>,
    /// `if`.
    pub condition: Option<Condition>,
    /// `matrix` or `for_each`. Boxed: few tasks have one.
    pub expansion: Option<Box<Expansion>>,
    /// `retry`.
    pub retry: Retry,
    /// `timeout`.
    pub timeout: Timeout,
    /// `continue_on_error`.
    pub continue_on_error: bool,
    /// `output`.
    pub output: Output,
    /// `artifacts`: paths and patterns below the task's folder.
    pub artifacts: Vec<Template>,
    /// `expect`.
    pub expect: Expect,
    /// `dir`.
    pub dir: Option<Template>,
    /// `env` of the task over that of `defaults`.
    pub env: Vec<(String, Template)>,
    /// `base`.
    pub base: Option<Template>,
    /// `merge.message`.
    pub merge_message: Option<Template>,
    /// `include` and `setup` of a private tree. Boxed: few tasks have some.
    pub preparation: Option<Box<Preparation>>,
    /// `pool`: the index in `Plan::pools`.
    pub pool: Option<usize>,
    /// `on_lost`, else what follows from `idempotent` and the kind.
    pub on_lost: OnLost,
    /// `background`; the task's, else its agent's.
    pub background: bool,
    /// The tasks that read the `.dir` of its private tree, which lives until they have ended.
    pub dir_readers: Vec<TaskId>,
}

/// What makes a private tree fit for work.
#[derive(Debug, PartialEq)]
pub struct Preparation {
    /// Patterns in the syntax of `.gitignore`: files that git ignores and the tree gets all the same.
    pub include: Vec<String>,
    /// Commands that run first.
    pub setup: Vec<SetupCommand>,
}

/// A command of `setup`.
#[derive(Debug, PartialEq)]
pub struct SetupCommand {
    /// The words that the script is appended to.
    pub shell: Arc<[String]>,
    /// The script.
    pub script: Script,
}

/// `if`.
#[derive(Debug, PartialEq)]
pub struct Condition {
    /// The bare expression.
    pub expression: Template,
    /// Of whom it is asked.
    pub at: ConditionAt,
}

/// Of whom an `if` is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionAt {
    /// Of the task, once. One that expands is asked before it does, so that a no never evaluates its list.
    Task,
    /// Of each instance: it names the item or the key.
    Instance,
}

/// What becomes of an attempt whose engine died, when the run is resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLost {
    /// It runs again.
    #[default]
    Retry,
    /// The task stays lost: it may have done its work already.
    Fail,
}

/// How a task becomes many.
#[derive(Debug, PartialEq)]
pub struct Expansion {
    /// Over what.
    pub over: Over,
    /// `key`; else the scalar itself or the index, for a matrix the values joined with `,`.
    pub key: Option<Template>,
    /// `max_parallel`.
    pub max_parallel: Option<NonZeroU32>,
    /// `fail_fast`.
    pub fail_fast: bool,
}

/// What an expansion ranges over.
#[derive(Debug, PartialEq)]
pub enum Over {
    /// `for_each`, with the name that items have (`item` unless `as` says otherwise).
    ForEach {
        /// The list.
        items: Items,
        /// `as`.
        name: String,
    },
    /// `matrix`: every combination, less `exclude`, plus `include`.
    Matrix {
        /// Axes in the order in which they were written.
        axes: Vec<(String, Items)>,
        /// Combinations added.
        include: Vec<IndexMap<String, Value>>,
        /// Combinations taken out: those that agree on every named axis.
        exclude: Vec<IndexMap<String, Value>>,
    },
}

/// A list that is known, or known at run time.
#[derive(Debug, PartialEq)]
pub enum Items {
    /// Written out.
    List(Vec<Item>),
    /// One expression.
    Expression(Template),
}

/// An element of a list that was written out. Numbers stay numbers; texts may hold templates, at any depth.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A value without templates.
    Value(Value),
    /// A text with templates.
    Text(Template),
    /// A list with templates somewhere in it.
    List(Vec<Item>),
    /// An object with templates somewhere in it.
    Object(Vec<(String, Item)>),
}

/// `retry`.
#[derive(Debug, Default, PartialEq)]
pub struct Retry {
    /// All but its expression: what the scheduler reads.
    pub policy: RetryPolicy,
    /// `retry.if`.
    pub condition: Option<Template>,
}

/// How often an attempt is tried again, when, and after which failures.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Further attempts after the first.
    pub max: u32,
    /// Before the first of them.
    pub delay: Duration,
    /// Factor from one to the next.
    pub backoff: f64,
    /// The longest.
    pub max_delay: Duration,
    /// Whether each is shortened by up to a half, at random.
    pub jitter: bool,
    /// Reasons that are worth another attempt; `None`: the default set.
    pub on: Option<Vec<Reason>>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            max: 0,
            delay: Duration::from_secs(1),
            backoff: 2.0,
            max_delay: Duration::from_secs(60),
            jitter: true,
            on: None,
        }
    }
}

/// `timeout`: each per attempt, each absent unless set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeout {
    /// Of the whole attempt.
    pub run: Option<Duration>,
    /// Between two signs of life.
    pub idle: Option<Duration>,
    /// Between TERM and KILL.
    pub grace: Option<Duration>,
}

/// `output`: the form that a task's output has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Standard output or the final text, without trailing newlines.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// A list of lines.
    Lines,
    /// An object of texts: what the task wrote to the file `$FLOW_OUTPUT`.
    Pairs,
    /// One JSON value that fits a schema.
    Schema(Arc<Value>),
}

/// `expect`.
#[derive(Debug, Default, PartialEq)]
pub struct Expect {
    /// Paths (globs) that must exist in the task's folder at its end.
    pub files: Vec<String>,
    /// Whether the tree must differ from its start (only a private one can), or must not.
    pub changes: Option<bool>,
    /// Whether a refused call of its agent is a failure.
    pub no_denials: bool,
    /// A bare expression that must hold.
    pub that: Option<Template>,
}
