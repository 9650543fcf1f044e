//! The keys of a task: what is written of each, and who reads it.

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use super::fields::{Field, Reader};
use super::foreign::Place;
use super::node::{Entry, Node, NodeKind, Text};
use super::task_file::{
    CheckFile, ExpectFile, MatrixFile, NeedFile, PermissionsFile, PromptText, RetryFile, RunText, TimeoutFile,
};
use super::task_values::{
    checks, expect, isolation, item_name, matrix, merge, needs, one_or_more, output, permissions, prompt,
    retry, run, shell, size, timeout, tools,
};
use super::workflow::environment;
use crate::diagnostic::{Code, Span, Spanned};

/// The keys of a task; all optional here. A plan may have 100,000 tasks and most of them only what stands here: the rest is
/// a box that is made for the first key in it, and that reads as its default until then.
#[derive(Clone, Debug, Default)]
pub struct TaskKeys {
    /// The mapping that holds them.
    pub span: Span,
    /// `needs`: a name, a list of names or a mapping of names to edge types.
    pub needs: Box<[NeedFile]>,
    /// `run`.
    pub run: Option<RunText>,
    /// Every key that was written, with its place, in order: for conflicts between kinds and keys.
    pub written: Box<[(&'static str, Span)]>,
    pub(super) rare: Option<Box<RareKeys>>,
}

impl Deref for TaskKeys {
    type Target = RareKeys;

    fn deref(&self) -> &RareKeys {
        static NONE: LazyLock<RareKeys> = LazyLock::new(RareKeys::default);
        self.rare.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for TaskKeys {
    fn deref_mut(&mut self) -> &mut RareKeys {
        self.rare.get_or_insert_default()
    }
}

/// The keys that few tasks have.
#[derive(Clone, Debug, Default)]
pub struct RareKeys {
    /// `description`.
    pub description: Option<Text>,
    /// `if`.
    pub condition: Option<Text>,
    /// `agent`.
    pub agent: Option<Text>,
    /// `fork`: the task whose conversation it goes on with.
    pub fork: Option<Text>,
    /// `prompt`.
    pub prompt: Option<PromptText>,
    /// `matrix`.
    pub matrix: Option<Spanned<Box<MatrixFile>>>,
    /// `for_each`: a list node, or a text with one expression.
    pub for_each: Option<Node>,
    /// `as`.
    pub item_name: Option<Text>,
    /// `key`.
    pub key: Option<Text>,
    /// `max_parallel`.
    pub max_parallel: Option<Spanned<i64>>,
    /// `fail_fast`.
    pub fail_fast: Option<Spanned<bool>>,
    /// `retry`.
    pub retry: Option<Spanned<Box<RetryFile>>>,
    /// `timeout`.
    pub timeout: Option<Spanned<Box<TimeoutFile>>>,
    /// `continue_on_error`.
    pub continue_on_error: Option<Spanned<bool>>,
    /// `output`: a word or a schema.
    pub output: Option<Node>,
    /// `repair`.
    pub repair: Option<Spanned<i64>>,
    /// `checks`: a script or a list of them.
    pub checks: Option<Spanned<Vec<CheckFile>>>,
    /// `artifacts`: a path or a list of paths.
    pub artifacts: Option<Spanned<Vec<Text>>>,
    /// `expect`.
    pub expect: Option<Spanned<Box<ExpectFile>>>,
    /// `dir`.
    pub dir: Option<Text>,
    /// `env`.
    pub env: Vec<(Text, Text)>,
    /// `shell`: words.
    pub shell: Option<Spanned<Vec<Text>>>,
    /// `max_output`: bytes, or text such as `64MiB`.
    pub max_output: Option<Node>,
    /// `isolation`.
    pub isolation: Option<Text>,
    /// `base`.
    pub base: Option<Text>,
    /// `include`: one pattern or many.
    pub include: Option<Vec<Text>>,
    /// `setup`: one command or many.
    pub setup: Option<Vec<Text>>,
    /// `merge`: the word, or its `how`.
    pub merge: Option<Text>,
    /// `merge.message`; it belongs to the `merge` beside it.
    pub merge_message: Option<Text>,
    /// `pool`.
    pub pool: Option<Text>,
    /// `on_lost`.
    pub on_lost: Option<Text>,
    /// `idempotent`.
    pub idempotent: Option<Spanned<bool>>,
    /// `background`.
    pub background: Option<Spanned<bool>>,
    /// `model`.
    pub model: Option<Text>,
    /// `tools`: comma separated text or a list.
    pub tools: Option<Spanned<Vec<Text>>>,
    /// `disallowed_tools`.
    pub disallowed_tools: Option<Spanned<Vec<Text>>>,
    /// `max_turns`.
    pub max_turns: Option<Spanned<i64>>,
    /// `permission_mode`.
    pub permission_mode: Option<Text>,
    /// `permissions`.
    pub permissions: Option<Spanned<Box<PermissionsFile>>>,
}

/// Keys that make an entry a task.
pub(crate) const MAKING: &[&str] = &["run", "prompt", "agent", "fork"];

/// Keys that mean one task and can't be taken over from `defaults`.
pub(super) const OWN: &[&str] =
    &["description", "needs", "if", "run", "agent", "fork", "prompt", "matrix", "for_each", "as", "key"];

pub(super) const KEYS: &[Field<TaskKeys>] = &[
    Field { name: "run", read: |reader, task, entry| task.run = run(reader, entry) },
    Field { name: "needs", read: |reader, task, entry| task.needs = needs(reader, entry) },
    Field { name: "agent", read: |reader, task, entry| task.agent = reader.any_text(entry) },
    Field { name: "fork", read: |reader, task, entry| task.fork = reader.any_text(entry) },
    Field { name: "prompt", read: |reader, task, entry| task.prompt = prompt(reader, entry) },
    Field { name: "if", read: |reader, task, entry| task.condition = reader.any_text(entry) },
    Field { name: "output", read: |reader, task, entry| task.output = output(reader, entry) },
    Field { name: "env", read: |reader, task, entry| task.env = environment(reader, entry) },
    Field { name: "timeout", read: |reader, task, entry| task.timeout = timeout(reader, entry) },
    Field { name: "retry", read: |reader, task, entry| task.retry = retry(reader, entry) },
    Field {
        name: "continue_on_error",
        read: |reader, task, entry| task.continue_on_error = reader.flag(entry),
    },
    Field { name: "description", read: |reader, task, entry| task.description = reader.any_text(entry) },
    Field { name: "matrix", read: |reader, task, entry| task.matrix = matrix(reader, entry) },
    Field { name: "for_each", read: |reader, task, entry| task.for_each = reader.list_or_text(entry) },
    Field { name: "as", read: |reader, task, entry| task.item_name = item_name(reader, entry) },
    Field { name: "key", read: |reader, task, entry| task.key = reader.any_text(entry) },
    Field { name: "max_parallel", read: |reader, task, entry| task.max_parallel = reader.int(entry) },
    Field { name: "fail_fast", read: |reader, task, entry| task.fail_fast = reader.flag(entry) },
    Field { name: "repair", read: |reader, task, entry| task.repair = reader.int(entry) },
    Field { name: "checks", read: |reader, task, entry| task.checks = Some(checks(reader, entry)) },
    Field {
        name: "artifacts",
        read: |reader, task, entry| task.artifacts = Some(one_or_more(reader, entry)),
    },
    Field { name: "expect", read: |reader, task, entry| task.expect = expect(reader, entry) },
    Field { name: "dir", read: |reader, task, entry| task.dir = reader.any_text(entry) },
    Field { name: "shell", read: |reader, task, entry| task.shell = shell(reader, entry) },
    Field { name: "max_output", read: |reader, task, entry| task.max_output = size(reader, entry) },
    Field { name: "isolation", read: |reader, task, entry| task.isolation = isolation(reader, entry) },
    Field { name: "base", read: |reader, task, entry| task.base = reader.any_text(entry) },
    Field { name: "include", read: |reader, task, entry| task.include = Some(reader.one_or_many(entry)) },
    Field { name: "setup", read: |reader, task, entry| task.setup = Some(reader.one_or_many(entry)) },
    Field {
        name: "merge",
        read: |reader, task, entry| (task.merge, task.merge_message) = merge(reader, entry),
    },
    Field { name: "pool", read: |reader, task, entry| task.pool = reader.any_text(entry) },
    Field { name: "on_lost", read: |reader, task, entry| task.on_lost = reader.text(entry) },
    Field { name: "idempotent", read: |reader, task, entry| task.idempotent = reader.flag(entry) },
    Field { name: "background", read: |reader, task, entry| task.background = reader.flag(entry) },
    Field { name: "model", read: |reader, task, entry| task.model = reader.any_text(entry) },
    Field { name: "tools", read: |reader, task, entry| task.tools = Some(tools(reader, entry)) },
    Field {
        name: "disallowed_tools",
        read: |reader, task, entry| task.disallowed_tools = Some(tools(reader, entry)),
    },
    Field { name: "max_turns", read: |reader, task, entry| task.max_turns = reader.int(entry) },
    Field { name: "permission_mode", read: |reader, task, entry| task.permission_mode = reader.text(entry) },
    Field { name: "permissions", read: |reader, task, entry| task.permissions = permissions(reader, entry) },
];

/// How many keys a task can have.
#[cfg(test)]
pub(crate) const KEY_COUNT: usize = KEYS.len();

/// The keys of a task.
pub(crate) fn task(reader: &mut Reader<'_>, span: Span, entries: Box<[Entry]>) -> TaskKeys {
    let mut keys = TaskKeys { span, ..TaskKeys::default() };
    keys.written = reader.fields(Place::Task, entries, KEYS, &mut keys).into();
    keys
}

/// The keys of `defaults`: those of a task but for what makes it this task.
pub(crate) fn defaults(reader: &mut Reader<'_>, entry: Entry) -> TaskKeys {
    let mut keys = TaskKeys { span: entry.value.span, ..TaskKeys::default() };
    let entries = reader.mapping(entry, "a mapping of a task's keys").unwrap_or_default();
    let (own, shared): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| OWN.contains(&entry.key.as_str()));
    for entry in own {
        let message = format!("`{}` can't stand in `defaults`", entry.key);
        let shell = entry.key == "run" && matches!(entry.value.kind, NodeKind::Map(_));
        reader.problem(Code::UnknownKey, entry.key_span, message).help = Some(match shell {
            true => "write `defaults: { shell: … }`".to_owned(),
            false => "write it on each task that it is meant for".to_owned(),
        });
    }
    keys.written = reader.fields(Place::Defaults, shared.into(), KEYS, &mut keys).into();
    keys
}
