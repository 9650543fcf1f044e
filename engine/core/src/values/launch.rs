//! From a plan task to what one attempt runs: every template rendered, every value in its place.

use std::path::PathBuf;

use indexmap::IndexMap;

use super::context::Scope;
use crate::model::{Outcome, Reason};
use crate::plan::{AgentTask, Task, TaskKind};
use crate::template::{Context, RenderedScript, Script, Segment, Template};
use crate::text::one_line;

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
    /// Program and arguments before the script.
    pub shell: std::sync::Arc<[String]>,
    /// The script.
    pub script: String,
    /// What it and agents have in common.
    pub common: Common,
}

/// An agent, ready to start.
#[derive(Debug)]
pub struct PreparedAgent {
    /// The prompt of the task.
    pub prompt: String,
    /// What it and commands have in common.
    pub common: Common,
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
    /// The variables of `env` that hold a secret.
    pub secret_names: Vec<String>,
    /// Files to write before the start: from `| file`.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Commands of `setup`, in order.
    pub setup: Vec<PreparedSetup>,
}

/// A command of `setup`, ready to start.
#[derive(Debug)]
pub struct PreparedSetup {
    /// Program and arguments before the script.
    pub shell: std::sync::Arc<[String]>,
    /// The script.
    pub script: String,
    /// The declared variables and those that the script reads.
    pub env: IndexMap<String, String>,
}

impl Common {
    /// The variables that commands of an agent's tools may see: what the model can print is no secret any more.
    pub fn env_without_secrets(&self) -> Vec<(String, String)> {
        let open = self.env.iter().filter(|(name, _)| !self.secret_names.contains(name));
        open.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Renders an attempt. A failure is the attempt's outcome.
pub fn prepare(scope: &Scope<'_>, task: &Task) -> Result<Launchable, Box<Outcome>> {
    let mut secret_names = Vec::new();
    let mut files = Vec::new();
    let mut env = IndexMap::new();
    for (name, template) in scope.plan.env.iter().chain(&task.env) {
        let inner = Scope { env: env.clone(), ..*scope };
        let value = render(&inner, &format!("env.{name}"), template, &mut files)?;
        let is_secret = |reference: &crate::template::Reference| match &*reference.path {
            [Segment::Name(root), Segment::Name(_), ..] if root == "secrets" => true,
            [Segment::Name(root), Segment::Name(read), ..] if root == "env" => secret_names.contains(read),
            _ => false,
        };
        if template.references.iter().any(is_secret) {
            secret_names.push(name.clone());
        }
        env.insert(name.clone(), value);
    }
    let inner = Scope { env: env.clone(), ..*scope };
    let dir = task.dir.as_ref().map(|template| render(&inner, "dir", template, &mut files)).transpose()?;
    let described = task
        .description
        .as_ref()
        .map(|template| render(&inner, "description", template, &mut files))
        .transpose()?;
    let setup = setup(&inner, task, &env, &mut files)?;
    let common = |fallback: &str, env, files| Common {
        setup,
        description: one_line(described.as_deref().unwrap_or(fallback), 120),
        dir,
        env,
        secret_names,
        files,
    };
    match &task.kind {
        TaskKind::Shell(shell) => {
            let RenderedScript { text: script, env: holes } =
                script(&inner, "run", &shell.script, &mut files)?;
            // As the person wrote it: the variables of the lowered script say nothing, and a value may be secret.
            let source = shell.script.source();
            let first =
                source.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
            env.extend(holes);
            Ok(Launchable::Shell(PreparedShell {
                shell: shell.shell.clone(),
                script,
                common: common(&first, env, files),
            }))
        }
        TaskKind::Agent(agent) => {
            let prompt = prompt(&inner, agent, &mut files)?;
            let first = prompt.clone();
            Ok(Launchable::Agent(PreparedAgent { prompt, common: common(&first, env, files) }))
        }
    }
}

type Files = Vec<(PathBuf, Vec<u8>)>;

fn render(
    scope: &Scope<'_>,
    what: &str,
    template: &Template,
    files: &mut Files,
) -> Result<String, Box<Outcome>> {
    if template.is_literal() {
        return Ok(template.source.to_string());
    }
    let context = scope.context(&template.references);
    let rendered = template.render(&context).map_err(|error| failure(what, &error.to_string()));
    take_files(&context, files);
    rendered
}

fn setup(
    scope: &Scope<'_>,
    task: &Task,
    env: &IndexMap<String, String>,
    files: &mut Files,
) -> Result<Vec<PreparedSetup>, Box<Outcome>> {
    let commands = task.preparation.iter().flat_map(|preparation| &preparation.setup);
    let prepared = commands.map(|command| {
        let RenderedScript { text: script, env: holes } = script(scope, "setup", &command.script, files)?;
        let mut env = env.clone();
        env.extend(holes);
        Ok(PreparedSetup { shell: command.shell.clone(), script, env })
    });
    prepared.collect()
}

fn script(
    scope: &Scope<'_>,
    what: &str,
    script: &Script,
    files: &mut Files,
) -> Result<RenderedScript, Box<Outcome>> {
    let context = scope.context(script.holes().flat_map(|hole| &hole.template.references));
    let rendered = script.render(&context).map_err(|error| failure(what, &error.to_string()));
    take_files(&context, files);
    rendered
}

fn prompt(scope: &Scope<'_>, agent: &AgentTask, files: &mut Files) -> Result<String, Box<Outcome>> {
    render(scope, "prompt", &agent.prompt, files)
}

fn take_files(context: &Context, files: &mut Files) {
    files.extend(context.take_files());
}

fn failure(what: &str, error: &str) -> Box<Outcome> {
    Box::new(Outcome::failed(Reason::Expression, format!("`{what}`: {error}")))
}
