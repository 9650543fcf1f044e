//! A manifest as written: keys known, types right, nothing resolved. Words (`isolation: worktree`), lengths of time and
//! templates are still text, so that the compiler can speak of them with their place.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use super::{Key, Node};
use crate::diagnostic::{SourceFile, Span, Spanned};

/// Text with its place.
pub type Text = Spanned<String>;

/// A manifest.
#[derive(Clone, Debug)]
pub struct WorkflowFile {
    /// The file.
    pub file: Arc<SourceFile>,
    /// `name`.
    pub name: Option<Text>,
    /// `description`.
    pub description: Option<Text>,
    /// `inputs` in order.
    pub inputs: Vec<InputFile>,
    /// `secrets`.
    pub secrets: Vec<Text>,
    /// `env`.
    pub env: Vec<(Text, Text)>,
    /// `concurrency`.
    pub concurrency: Option<Spanned<i64>>,
    /// `pools`: names to numbers of slots, in order.
    pub pools: Vec<(Text, Spanned<i64>)>,
    /// `lock`.
    pub lock: Option<Text>,
    /// `briefing`.
    pub briefing: Vec<PromptText>,
    /// `defaults`: the keys that every task takes over unless it says otherwise.
    pub defaults: TaskKeys,
    /// `tasks` in order.
    pub tasks: Vec<TaskFile>,
    /// `outputs` in order.
    pub outputs: Vec<(Text, Text)>,
}

/// An input as declared.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Its name.
    pub name: Text,
    /// `type`; `string` when absent.
    pub kind: Option<Text>,
    /// `description`.
    pub description: Option<Text>,
    /// `default`.
    pub default: Option<Node>,
    /// `enum`.
    pub choices: Option<Spanned<Box<[Node]>>>,
    /// `minimum`.
    pub minimum: Option<Node>,
    /// `maximum`.
    pub maximum: Option<Node>,
    /// `required: false` makes an input without a default null.
    pub required: Option<Spanned<bool>>,
}

/// A task as written.
#[derive(Clone, Debug)]
pub struct TaskFile {
    /// Its id.
    pub id: Spanned<Key>,
    /// Its keys.
    pub keys: TaskKeys,
}

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

/// `run`: a script, or the words of a command.
#[derive(Clone, Debug)]
pub enum RunText {
    /// Text for a shell.
    Script(Text),
    /// A list: a program and its arguments, which no shell reads. Boxed: few are.
    Words(Box<Spanned<Vec<Text>>>),
}

impl RunText {
    /// Its place.
    pub fn span(&self) -> Span {
        match self {
            RunText::Script(text) => text.span,
            RunText::Words(words) => words.span,
        }
    }
}

/// `prompt`, or a part of `briefing`: the text, or where it is.
#[derive(Clone, Debug)]
pub enum PromptText {
    /// Written out.
    Inline(Text),
    /// `{ file: x.md }`: the path, relative to the manifest.
    File(Text),
}

impl PromptText {
    /// The text or the path, for its place.
    pub fn written(&self) -> &Text {
        match self {
            PromptText::Inline(text) | PromptText::File(text) => text,
        }
    }
}

/// One entry of `needs`.
#[derive(Clone, Debug)]
pub struct NeedFile {
    /// Where the task is named.
    pub span: Span,
    /// What few have; a plan may have 300,000 edges.
    rare: Option<Box<RareNeed>>,
}

#[derive(Clone, Debug)]
struct RareNeed {
    /// The name, where it doesn't stand there as it is.
    unlike: Option<String>,
    kind: Option<Text>,
}

impl NeedFile {
    /// An entry of a file.
    pub(super) fn new(file: &SourceFile, task: Text, kind: Option<Text>) -> Self {
        let as_written = file.slice(task.span) == task.value;
        let unlike = (!as_written).then_some(task.value);
        let rare = (unlike.is_some() || kind.is_some()).then(|| Box::new(RareNeed { unlike, kind }));
        NeedFile { span: task.span, rare }
    }

    /// The task's name.
    pub fn task<'f>(&'f self, file: &'f SourceFile) -> &'f str {
        let unlike = self.rare.as_ref().and_then(|rare| rare.unlike.as_deref());
        unlike.unwrap_or_else(|| file.slice(self.span))
    }

    /// The edge type, when written.
    pub fn kind(&self) -> Option<&Text> {
        self.rare.as_ref()?.kind.as_ref()
    }
}

/// `matrix`.
#[derive(Clone, Debug)]
pub struct MatrixFile {
    /// Axes in order: a list node, or a text with one expression.
    pub axes: Vec<(Text, Node)>,
    /// `include`: mappings.
    pub include: Vec<Node>,
    /// `exclude`: mappings.
    pub exclude: Vec<Node>,
}

/// `retry`: a number, or a mapping.
#[derive(Clone, Debug, Default)]
pub struct RetryFile {
    /// `max`, or the number itself.
    pub max: Option<Spanned<i64>>,
    /// `delay`.
    pub delay: Option<Text>,
    /// `backoff`.
    pub backoff: Option<Spanned<f64>>,
    /// `max_delay`.
    pub max_delay: Option<Text>,
    /// `jitter`.
    pub jitter: Option<Spanned<bool>>,
    /// `on`.
    pub on: Option<Spanned<Vec<Text>>>,
    /// `if`.
    pub condition: Option<Text>,
}

/// `timeout`: a length, or a mapping.
#[derive(Clone, Debug, Default)]
pub struct TimeoutFile {
    /// `run`, or the length itself.
    pub run: Option<Text>,
    /// `idle`.
    pub idle: Option<Text>,
    /// `grace`.
    pub grace: Option<Text>,
}

/// `expect`.
#[derive(Clone, Debug, Default)]
pub struct ExpectFile {
    /// `files`.
    pub files: Vec<Text>,
    /// `changes`.
    pub changes: Option<Spanned<bool>>,
    /// `denied`.
    pub denied: Option<Spanned<bool>>,
    /// `that`.
    pub that: Option<Text>,
}

/// One of `checks`: a script, or `{ run, timeout }`.
#[derive(Clone, Debug)]
pub struct CheckFile {
    /// The script.
    pub run: Text,
    /// How long it may take.
    pub timeout: Option<Text>,
}

/// `permissions`.
#[derive(Clone, Debug, Default)]
pub struct PermissionsFile {
    /// `allow`.
    pub allow: Vec<Text>,
    /// `ask`.
    pub ask: Vec<Text>,
    /// `deny`.
    pub deny: Vec<Text>,
}
