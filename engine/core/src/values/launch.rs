//! From a plan task to what one attempt runs: every template rendered, every value in its place.

use std::path::PathBuf;

use indexmap::IndexMap;

use super::context::Scope;
use crate::model::{Outcome, Reason};
use crate::plan::{AgentTask, ShellTask, Task, TaskKind};
use crate::template::{Context, RenderedScript, Segment, Template};
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
    /// Values that must not be shown: those of the secrets that `env` names.
    pub secrets: Vec<String>,
    /// The variables of `env` that hold one of them.
    pub secret_names: Vec<String>,
    /// Files to write before the start: from `| file`.
    pub files: Vec<(PathBuf, Vec<u8>)>,
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
    let (mut secrets, mut secret_names) = (Vec::new(), Vec::new());
    let mut files = Vec::new();
    let mut env = IndexMap::new();
    for (name, template) in scope.plan.env.iter().chain(&task.env) {
        let inner = Scope { env: env.clone(), ..*scope };
        let value = render(&inner, &format!("env.{name}"), template, &mut files)?;
        let mut secret = false;
        for reference in &template.references {
            let [Segment::Name(root), Segment::Name(read), ..] = &*reference.path else { continue };
            match root.as_str() {
                "secrets" => {
                    secrets.extend(scope.facts.env.get(read).cloned());
                    secret = true;
                }
                "env" => secret |= secret_names.contains(read),
                _ => {}
            }
        }
        if secret {
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
    let common = |fallback: &str, env, files| Common {
        description: one_line(described.as_deref().unwrap_or(fallback), 120),
        dir,
        env,
        secrets,
        secret_names,
        files,
    };
    match &task.kind {
        TaskKind::Shell(shell) => {
            let RenderedScript { text: script, env: holes } = script(&inner, shell, &mut files)?;
            let first =
                script.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
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

fn script(scope: &Scope<'_>, shell: &ShellTask, files: &mut Files) -> Result<RenderedScript, Box<Outcome>> {
    let context = scope.context(shell.script.holes().flat_map(|hole| &hole.template.references));
    let rendered = shell.script.render(&context).map_err(|error| failure("run", &error.to_string()));
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
