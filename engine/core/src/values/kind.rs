//! What an attempt runs, kind by kind.

use serde::{Deserialize, Serialize};

use super::agent::agent_work;
use super::argv::argv;
use super::context::Scope;
use super::limits::check_all;
use super::render::shell_script;
use super::work::{AgentWork, Program, ShellWork, Work};
use crate::model::{Outcome, Settings};
use crate::plan::{Command, Kind, ShellTask, Task, TaskKind};
use crate::text::shell_words;

/// What an attempt runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// A command.
    Shell(ShellWork),
    /// An agent. Boxed: runs have many more commands.
    Agent(Box<AgentWork>),
}

impl Work {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match &self.kind {
            WorkKind::Shell(_) => Kind::Shell,
            WorkKind::Agent(_) => Kind::Agent,
        }
    }
}

/// What an attempt runs, and what that says of it.
pub(super) struct Doing {
    pub(super) kind: WorkKind,
    /// What stands for a description where the task has none.
    pub(super) shown: String,
    /// What was asked for in prose, for the message of a commit.
    pub(super) prompt: Option<String>,
}

impl Doing {
    /// What an attempt of a task runs. A template that fails is the attempt's outcome.
    pub(super) fn of_task(scope: &Scope<'_>, task: &Task, settings: &Settings) -> Result<Self, Box<Outcome>> {
        match &task.kind {
            TaskKind::Shell(shell) => {
                let (work, shown) = shell_work(scope, task, shell)?;
                Ok(Doing { kind: WorkKind::Shell(work), shown, prompt: None })
            }
            TaskKind::Agent(agent) => {
                let work = agent_work(scope, task, agent, settings)?;
                let prompt = work.prompt.clone();
                Ok(Doing {
                    kind: WorkKind::Agent(Box::new(work)),
                    shown: prompt.clone(),
                    prompt: Some(prompt),
                })
            }
        }
    }
}

/// A command, and for people the first line of what it runs.
fn shell_work(
    scope: &Scope<'_>,
    task: &Task,
    shell: &ShellTask,
) -> Result<(ShellWork, String), Box<Outcome>> {
    let (program, first) = match &shell.command {
        Command::Script { shell, script } => {
            let script_of = shell_script(scope, "run", shell, script)?;
            check_all(scope.env.as_ref().unwrap_or(&Default::default()), &script_of.env)?;
            // As the person wrote it: the variables of the lowered script say nothing, and a value may be secret.
            let source = script.source();
            let first = source.lines().map(str::trim).find(|line| !line.is_empty());
            (Program::Script(script_of), first.unwrap_or_default().to_owned())
        }
        Command::Words(words) => {
            let words = argv(scope, words)?;
            let shown = shell_words(&words);
            (Program::Words(words), shown)
        }
    };
    Ok((ShellWork { program, max_output: shell.max_output, output: task.output.clone() }, first))
}
