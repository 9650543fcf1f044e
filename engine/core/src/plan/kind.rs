//! What a task does: the kinds of tasks, one row a kind, and what a plan holds of each.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::OnLost;
use crate::ids::TaskId;
use crate::model::{PermissionMode, ToolRule};
use crate::template::{Script, Template};

/// A kind of what runs: as a task of a plan, or started by an agent beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Kind {
    /// A command.
    Shell,
    /// An agent.
    Agent,
}

/// What a kind decides by itself.
#[derive(Debug)]
pub struct KindInfo {
    /// The word of journals and reports.
    pub word: &'static str,
    /// The letter that the id of one begins with which an agent started.
    pub letter: char,
    /// The keys of a manifest that make a task one of this kind; what it does stands under the first.
    pub made_by: &'static [&'static str],
    /// Keys that no other kind takes.
    pub keys: &'static [&'static str],
    /// One of them, for messages about a plan.
    pub one: &'static str,
    /// All of them, for messages about a plan.
    pub all: &'static str,
    /// What a notification calls one.
    pub called: &'static str,
    /// Whether it ends with a text of its own, which is its result. What another prints is only shown.
    pub answers: bool,
    /// What a resume does with an attempt that was lost, where nobody says.
    pub on_lost: OnLost,
}

impl KindInfo {
    /// The key under which a task of this kind says what it does.
    pub fn key(&self) -> &'static str {
        self.made_by.first().copied().unwrap_or_default()
    }
}

const SHELL: KindInfo = KindInfo {
    word: "local_bash",
    letter: 'b',
    made_by: &["run"],
    keys: &["shell", "max_output"],
    one: "a shell task",
    all: "shell tasks",
    called: "background command",
    answers: false,
    on_lost: OnLost::Retry,
};

const AGENT: KindInfo = KindInfo {
    word: "local_agent",
    letter: 'a',
    made_by: &["prompt", "agent", "fork"],
    keys: &[
        "model",
        "tools",
        "disallowed_tools",
        "max_turns",
        "permission_mode",
        "permissions",
        "repair",
        "checks",
    ],
    one: "an agent task",
    all: "agents",
    called: "Agent",
    answers: true,
    // It may have done its work, and a second time may do harm.
    on_lost: OnLost::Fail,
};

impl Kind {
    /// Every kind.
    pub const ALL: &'static [Kind] = &[Kind::Shell, Kind::Agent];

    /// Its row.
    pub fn info(self) -> &'static KindInfo {
        match self {
            Kind::Shell => &SHELL,
            Kind::Agent => &AGENT,
        }
    }

    /// The kind of this word. Journals of later versions have words for more.
    pub fn of_word(word: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.info().word == word)
    }
}

impl From<Kind> for &'static str {
    fn from(kind: Kind) -> &'static str {
        kind.info().word
    }
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Kind::of_word(&word).ok_or_else(|| format!("there is no kind `{word}`"))
    }
}

/// What a task does.
#[derive(Debug)]
pub enum TaskKind {
    /// `run`.
    Shell(ShellTask),
    /// `agent` + `prompt`, or `prompt` alone. Boxed: plans have many more shell tasks.
    Agent(Box<AgentTask>),
}

impl TaskKind {
    /// What its kind decides.
    pub fn info(&self) -> &'static KindInfo {
        match self {
            TaskKind::Shell(_) => &SHELL,
            TaskKind::Agent(_) => &AGENT,
        }
    }

    /// The agent, if it is one.
    pub fn agent(&self) -> Option<&AgentTask> {
        match self {
            TaskKind::Shell(_) => None,
            TaskKind::Agent(agent) => Some(agent),
        }
    }

    /// What it does, as it is written.
    pub fn written(&self) -> Written<'_> {
        match self {
            TaskKind::Shell(ShellTask { command: Command::Script { script, .. }, .. }) => {
                Written::Script(script)
            }
            TaskKind::Shell(ShellTask { command: Command::Words(words), .. }) => Written::Words(words),
            TaskKind::Agent(agent) => Written::Text(&agent.prompt),
        }
    }

    /// The scripts that it runs beside what it does.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &Script> {
        let checks = self.agent().into_iter().flat_map(|agent| &agent.checks);
        checks.flat_map(|checks| &checks.checks).map(|check| &check.script)
    }
}

/// What a task does, in one of the forms in which that is written.
#[derive(Clone, Copy, Debug)]
pub enum Written<'p> {
    /// A script for a shell.
    Script(&'p Script),
    /// A program and its arguments.
    Words(&'p [Template]),
    /// A text.
    Text(&'p Template),
}

/// A shell task.
#[derive(Debug)]
pub struct ShellTask {
    /// What it runs.
    pub command: Command,
    /// `max_output` in bytes.
    pub max_output: Option<u64>,
}

/// `run`: text for a shell, or a list.
#[derive(Debug)]
pub enum Command {
    /// A script for a shell.
    Script {
        /// The words that the script is appended to, for example `bash --noprofile --norc -eo pipefail -c`. Shared: nearly
        /// every task has the same.
        shell: Arc<[String]>,
        /// The script.
        script: Script,
    },
    /// A program and its arguments, which no shell reads.
    Words(Vec<Template>),
}

/// An agent task.
#[derive(Debug)]
pub struct AgentTask {
    /// Index into `Plan::agents`.
    pub agent: usize,
    /// `fork`: the task whose conversation it goes on with. Definition, model and tools are that task's, and what restrains
    /// and grants there holds here too.
    pub fork: Option<TaskId>,
    /// `prompt`.
    pub prompt: Template,
    /// `model` of the task.
    pub model: Option<String>,
    /// `tools` of the task: narrows the definition's set, and grants.
    pub tools: Option<Vec<ToolRule>>,
    /// `disallowed_tools` of the task.
    pub disallowed_tools: Vec<ToolRule>,
    /// `max_turns` of the task.
    pub max_turns: Option<u32>,
    /// `permission_mode` of the task.
    pub permission_mode: Option<PermissionMode>,
    /// `permissions` of the task.
    pub permissions: Permissions,
    /// `checks`: commands that must pass in its tree once it is done. Boxed: few agents have some.
    pub checks: Option<Box<AgentChecks>>,
    /// `repair`: turns in which the agent may mend an output that doesn't fit.
    pub repair: u32,
}

/// `checks` of an agent task.
#[derive(Debug)]
pub struct AgentChecks {
    /// The words that each script is appended to.
    pub shell: Arc<[String]>,
    /// The checks, in order.
    pub checks: Vec<AgentCheck>,
}

/// A check of an agent's work.
#[derive(Debug)]
pub struct AgentCheck {
    /// The script.
    pub script: Script,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// `permissions: {allow, ask, deny}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Calls that pass.
    pub allow: Vec<ToolRule>,
    /// Calls that ask.
    pub ask: Vec<ToolRule>,
    /// Calls that are refused.
    pub deny: Vec<ToolRule>,
}

#[cfg(test)]
#[path = "kind_tests.rs"]
mod tests;
