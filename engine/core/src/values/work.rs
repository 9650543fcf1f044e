//! What one attempt is, apart from any plan.
//!
//! 1. It is data: whoever runs it needs no plan, and it can be written down and sent elsewhere.
//! 2. Every template in it is rendered. What depends on the folder of the attempt is not in it; [`super::told`] makes that
//!    of it once there is one.
//! 3. No secret is written down with it: see [`Sealed`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::commit::CommitMessage;
use super::kind::WorkKind;
use super::named::NamedOutput;
use super::sealed::Sealed;
use crate::converse::OutputForm;
use crate::ids::Address;
use crate::model::{AgentSource, Effort, ModelWish, PermissionMode, PermissionRules, ToolPolicy, ToolRule};
use crate::plan::{Output, Timeout};
use crate::policy::ModeSource;

/// What one attempt is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// What it runs.
    pub kind: WorkKind,
    /// For people, one line.
    pub description: String,
    /// The folder relative to the attempt's tree, as the task's `dir` says.
    pub dir: Option<String>,
    /// Declared variables, the plan's and the task's.
    pub env: IndexMap<String, Sealed>,
    /// Files to write before the start: from `| file`.
    pub files: Vec<(PathBuf, Sealed)>,
    /// Commands that run first, in order.
    pub setup: Vec<Step>,
    /// `artifacts`: paths and patterns.
    pub artifacts: Vec<String>,
    /// What commits of its work say.
    pub message: CommitMessage,
    /// What must hold of its folder at its end.
    pub expect: ExpectedTree,
    /// How long it and its parts may take.
    pub timeout: Timeout,
    /// Whether the rules of background tasks hold.
    pub background: bool,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShellWork {
    /// What it runs.
    pub program: Program,
    /// The most that it may print, in bytes.
    pub max_output: Option<u64>,
    /// The form of its output.
    pub output: Output,
}

/// A script for a shell, or a program with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// A script.
    Script(ShellScript),
    /// Program and arguments.
    Words(Vec<String>),
}

/// A script for a shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShellScript {
    /// Program and arguments before it.
    pub shell: Arc<[String]>,
    /// Its text. No value is in it.
    pub text: String,
    /// The variables that it reads beside the declared ones.
    pub env: Vec<(String, String)>,
}

/// A script that is a part of an attempt: a command of `setup`, a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// For people, one line, as it is written; empty where nobody would know which line of several is meant.
    pub shown: String,
    /// The script.
    pub script: ShellScript,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// What must hold of the folder of an attempt that says it went well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedTree {
    /// Paths and patterns of what must be there.
    pub files: Vec<String>,
    /// Whether its tree must differ from its start, or must not.
    pub changes: Option<bool>,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentWork {
    /// Which definition it has.
    pub agent: AgentName,
    /// The model that is asked for.
    pub model: ModelWish<String>,
    /// Thinking.
    pub effort: Option<Effort>,
    /// How its conversation begins.
    pub beginning: Beginning,
    /// The prompt.
    pub prompt: String,
    /// The outputs of other tasks that its prompt names: files of the run that it may read.
    pub named: Vec<NamedOutput>,
    /// The tools that the model is offered, in a stable order: those with which its conversation begins.
    pub tools: Vec<Arc<str>>,
    /// Which of its calls pass, as far as that doesn't depend on where it works.
    pub rules: AgentRules,
    /// Commands that must pass once it says that it is done.
    pub checks: Vec<Step>,
    /// The form of its output.
    pub output: OutputForm,
    /// Turns in which it may mend an output that doesn't fit.
    pub repair: u32,
    /// The most model turns.
    pub max_turns: u32,
    /// Readers at once.
    pub max_tool_concurrency: u32,
}

/// A definition, by what people and reports know it by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentName {
    /// Its name.
    pub name: String,
    /// Where it came from.
    pub source: AgentSource,
    /// Its file.
    pub path: String,
    /// BLAKE3 of that file.
    pub hash: String,
    /// Its own version.
    pub version: Option<String>,
}

/// How a conversation begins, but for the prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beginning {
    /// From nothing.
    New(NewConversation),
    /// On from where another task's conversation is.
    Fork(ForkOf),
}

/// A conversation that begins from nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewConversation {
    /// The body of the definition.
    pub body: String,
    /// Whether the system prompt names the place. That of a person's is its body byte for byte, so there the first message
    /// does.
    pub system_has_place: bool,
    /// The run's briefing.
    pub briefing: Option<String>,
    /// What the agent is to know of what has happened so far.
    pub known: Vec<String>,
    /// The definition's own opening.
    pub opening: Option<String>,
}

/// A conversation that goes on from where another task's is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForkOf {
    /// That task.
    pub task: Address,
    /// The folder in which it worked, if it is known.
    pub dir: Option<String>,
    /// The form of output that the conversation began with.
    pub output: OutputForm,
}

/// Which calls of an agent pass, as far as that doesn't depend on where it works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentRules {
    /// What happens when no rule matches; nothing where the place decides.
    pub mode: Option<PermissionMode>,
    /// Who chose the mode.
    pub mode_source: ModeSource,
    /// Rules of flow.toml, by layer.
    pub layers: Vec<PermissionRules>,
    /// `permissions` of the task, and what its `tools` grant.
    pub task: PermissionRules,
    /// What the definition's `tools` say.
    pub definition: ToolPolicy,
    /// What definition and task take away, and what its own place forbids a fork.
    pub disallowed: Vec<ToolRule>,
}

impl Work {
    /// The variables that commands of an agent may see: what the model can print is no secret any more.
    pub fn open_env(&self) -> impl Iterator<Item = (&str, &str)> {
        self.env.iter().filter_map(|(name, value)| Some((name.as_str(), value.plain()?)))
    }
}
