//! From a plan task to what one attempt runs: every template rendered, every value in its place.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;

use super::argv::{argv, command_line};
use super::commit::CommitMessage;
use super::context::Scope;
use super::limits::{check_all, check_variable};
use crate::model::{Outcome, Reason};
use crate::plan::{AgentTask, Command, Task, TaskKind};
use crate::template::{EvalError, Reference, RenderedScript, Script, Segment, Template, ValueFiles};
use crate::text::{file_name, one_line};

/// What an attempt runs.
#[derive(Debug)]
pub enum Launchable {
    /// A command.
    Shell(PreparedShell),
    /// An agent.
    Agent(PreparedAgent),
}

/// A command, ready to start.
#[derive(Debug)]
pub struct PreparedShell {
    /// What it runs.
    pub command: PreparedCommand,
    /// What it and agents have in common.
    pub common: Common,
}

/// A script for a shell, or a program with its arguments.
#[derive(Debug)]
pub enum PreparedCommand {
    /// A script.
    Script {
        /// Program and arguments before it.
        shell: Arc<[String]>,
        /// The script.
        script: String,
    },
    /// Program and arguments.
    Words(Vec<String>),
}

/// An agent, ready to start.
#[derive(Debug)]
pub struct PreparedAgent {
    /// The prompt of the task.
    pub prompt: String,
    /// Its checks, in order.
    pub checks: Vec<PreparedCheck>,
    /// What it and commands have in common.
    pub common: Common,
}

/// A check of an agent's work, ready to start.
#[derive(Debug)]
pub struct PreparedCheck {
    /// For people, one line.
    pub shown: String,
    /// The script.
    pub script: String,
    /// The variables that it reads.
    pub env: Vec<(String, String)>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// What every launch has.
#[derive(Debug)]
pub struct Common {
    /// For people, one line.
    pub description: String,
    /// The folder relative to the task's tree, as the task's `dir` says.
    pub dir: Option<String>,
    /// Declared variables, the plan's and the task's.
    pub env: IndexMap<String, String>,
    /// Those of them that hold a secret: no agent's command gets them.
    pub secret_env: Vec<String>,
    /// `artifacts`: paths and patterns.
    pub artifacts: Vec<String>,
    /// Files to write before the start: from `| file`.
    pub files: Vec<(PathBuf, String)>,
    /// Commands of `setup`, in order.
    pub setup: Vec<PreparedSetup>,
    /// What commits of its work say.
    pub message: CommitMessage,
}

/// A command of `setup`, ready to start.
#[derive(Debug)]
pub struct PreparedSetup {
    /// For people, as it is written; empty where there are several lines, since nobody knows which of them failed.
    pub shown: String,
    /// Program and arguments before the script.
    pub shell: Arc<[String]>,
    /// The script.
    pub script: String,
    /// The declared variables and those that the script reads.
    pub env: IndexMap<String, String>,
}

impl Common {
    /// The variables that commands of an agent's tools may see: what the model can print is no secret any more.
    pub fn env_without_secrets(&self) -> Vec<(String, String)> {
        let open = self.env.iter().filter(|(name, _)| !self.secret_env.contains(name));
        open.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Renders an attempt. A failure is the attempt's outcome.
pub fn prepare(scope: &Scope<'_>, task: &Task) -> Result<Launchable, Box<Outcome>> {
    let files = ValueFiles::within(files_dir(scope));
    let scope = &Scope { files: Some(&files), env: None, ..*scope };
    let (mut env, mut secret_env) = (IndexMap::new(), Vec::new());
    for (name, template) in scope.plan.env.iter().chain(&task.env) {
        let inner = Scope { env: Some(env.clone()), ..*scope };
        let value = render(&inner, &format!("env.{name}"), template)?;
        if template.references.iter().any(|reference| holds_secret(reference, &secret_env)) {
            secret_env.push(name.clone());
        }
        check_variable(name, &value)?;
        env.insert(name.clone(), value);
    }
    let declared = env.len();
    check_all(&env, declared)?;
    let inner = Scope { env: Some(env.clone()), ..*scope };
    let dir = task.dir.as_ref().map(|template| render(&inner, "dir", template)).transpose()?;
    let described =
        task.description.as_ref().map(|template| render(&inner, "description", template)).transpose()?;
    let setup = setup(&inner, task, &env)?;
    let artifacts = task.artifacts.iter().map(|template| render(&inner, "artifacts", template));
    let artifacts = artifacts.collect::<Result<Vec<_>, _>>()?;
    let message =
        task.merge_message.as_ref().map(|template| render(&inner, "merge.message", template)).transpose()?;
    let common = |fallback: &str, prompt: Option<&str>, env| Common {
        message: CommitMessage::of(message, described.as_deref(), prompt),
        setup,
        description: one_line(described.as_deref().unwrap_or(fallback), 120),
        dir,
        env,
        secret_env,
        artifacts,
        files: files.take(),
    };
    match &task.kind {
        TaskKind::Shell(shell) => {
            let (command, first) = match &shell.command {
                Command::Script { shell, script: lowered } => {
                    let RenderedScript { text: script, env: holes } = script(&inner, "run", lowered)?;
                    // As the person wrote it: the variables of the lowered script say nothing, and a value may be secret.
                    let source = lowered.source();
                    let first = source.lines().map(str::trim).find(|line| !line.is_empty());
                    let first = first.unwrap_or_default().to_owned();
                    env.extend(holes);
                    check_all(&env, declared)?;
                    (PreparedCommand::Script { shell: Arc::clone(shell), script }, first)
                }
                Command::Words(words) => {
                    let words = argv(&inner, words)?;
                    let shown = command_line(&words);
                    (PreparedCommand::Words(words), shown)
                }
            };
            Ok(Launchable::Shell(PreparedShell { command, common: common(&first, None, env) }))
        }
        TaskKind::Agent(agent) => {
            let prompt = render(&inner, "prompt", &agent.prompt)?;
            let first = prompt.clone();
            let checks = checks(&inner, agent)?;
            Ok(Launchable::Agent(PreparedAgent { prompt, checks, common: common(&first, Some(&first), env) }))
        }
    }
}

/// Where the values go that an attempt reads as files: each attempt has a folder of its own.
fn files_dir(scope: &Scope<'_>) -> PathBuf {
    let address = scope.address().unwrap_or_default();
    format!("{}/values/{}.{}", scope.facts.run_dir, file_name(&address), scope.attempt).into()
}

fn render(scope: &Scope<'_>, what: &str, template: &Template) -> Result<String, Box<Outcome>> {
    if template.is_literal() {
        return Ok(template.source.to_string());
    }
    let context = scope.context(&template.references);
    template.render(&context).map_err(|error| unevaluated(what, &error))
}

fn setup(
    scope: &Scope<'_>,
    task: &Task,
    env: &IndexMap<String, String>,
) -> Result<Vec<PreparedSetup>, Box<Outcome>> {
    let commands = task.preparation.iter().flat_map(|preparation| &preparation.setup);
    let prepared = commands.map(|command| {
        let RenderedScript { text: script, env: holes } = script(scope, "setup", &command.script)?;
        let mut env = env.clone();
        env.extend(holes);
        let source = command.script.source();
        let mut lines = source.lines().map(str::trim).filter(|line| !line.is_empty());
        let only = lines.next().filter(|_| lines.next().is_none()).unwrap_or_default();
        Ok(PreparedSetup { shown: one_line(only, 80), shell: command.shell.clone(), script, env })
    });
    prepared.collect()
}

fn script(scope: &Scope<'_>, what: &str, script: &Script) -> Result<RenderedScript, Box<Outcome>> {
    if let Some(text) = script.literal() {
        // Everything that templates can see takes longer to put together than most scripts to start.
        return Ok(RenderedScript { text: text.to_owned(), env: Vec::new() });
    }
    let context = scope.context(script.holes().flat_map(|hole| &hole.template.references));
    script.render(&context).map_err(|error| unevaluated(what, &error))
}

fn checks(scope: &Scope<'_>, agent: &AgentTask) -> Result<Vec<PreparedCheck>, Box<Outcome>> {
    let checks = agent.checks.iter().flat_map(|checks| &checks.checks);
    let prepared = checks.map(|check| {
        let RenderedScript { text: script, env } = script(scope, "checks", &check.script)?;
        // As the person wrote it, like the description of a command.
        let shown = one_line(&check.script.source(), 80);
        Ok(PreparedCheck { shown, script, env, timeout: check.timeout })
    });
    prepared.collect()
}

/// Whether a value speaks of a secret, or of a variable that holds one.
fn holds_secret(reference: &Reference, secret_env: &[String]) -> bool {
    match &*reference.path {
        [Segment::Name(root), ..] if root == "secrets" => true,
        [Segment::Name(root), Segment::Name(name), ..] if root == "env" => secret_env.contains(name),
        _ => false,
    }
}

/// A template that could not be evaluated. One that reads what is lost is right in itself.
pub(super) fn unevaluated(what: &str, error: &EvalError) -> Box<Outcome> {
    let mut outcome = failure(what, &error.message);
    if error.unreadable {
        outcome.reason = Some(Reason::Resource);
    }
    outcome
}

pub(super) fn failure(what: &str, error: &str) -> Box<Outcome> {
    Box::new(Outcome::failed(Reason::Expression, format!("`{what}`: {error}")))
}
