//! A manifest as written: keys known, types right, nothing resolved. Words (`isolation: worktree`), lengths of time and
//! templates are still text, so that the compiler can speak of them with their place.

use std::sync::Arc;

use super::key::Key;
use super::node::{Node, Text};
use super::task::TaskKeys;
use super::task_file::PromptText;
use crate::diagnostic::{SourceFile, Spanned};

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
