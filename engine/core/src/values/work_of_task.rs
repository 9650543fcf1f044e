//! From a task of a plan to what one attempt of it is: every template rendered, everything that it names looked up.

use std::path::PathBuf;
use std::sync::Arc;

use super::agent::agent_work;
use super::argv::argv;
use super::commit::CommitMessage;
use super::context::Scope;
use super::limits::check_all;
use super::render::{render, render_given, script};
use super::variables::Variables;
use super::work::{ExpectedTree, Program, ShellScript, ShellWork, Step, Work, WorkKind};
use crate::model::{Outcome, Settings};
use crate::plan::{Command, ShellTask, Task, TaskKind};
use crate::template::{RenderedScript, Script, ValueFiles};
use crate::text::{file_name, one_line, shell_words};

/// The work of an attempt. A template that fails is the attempt's outcome.
pub fn work_of_task(scope: &Scope<'_>, task: &Task, settings: &Settings) -> Result<Work, Box<Outcome>> {
    let files = ValueFiles::within(files_dir(scope));
    let scope = &Scope { files: Some(&files), env: None, ..*scope };
    let Variables { values, carried: env, files: mut written } = Variables::of(scope, task, &files)?;
    check_all(&values, &[])?;
    let scope = &Scope { env: Some(values), ..*scope };
    let dir = render_given(scope, "dir", task.dir.as_ref())?;
    let description = render_given(scope, "description", task.description.as_ref())?;
    let setup = setup(scope, task)?;
    let artifacts = task.artifacts.iter().map(|template| render(scope, "artifacts", template));
    let artifacts = artifacts.collect::<Result<Vec<_>, _>>()?;
    let message = render_given(scope, "merge.message", task.merge_message.as_ref())?;
    let (kind, first, prompt) = match &task.kind {
        TaskKind::Shell(shell) => {
            let (work, first) = shell_work(scope, task, shell)?;
            (WorkKind::Shell(work), first, None)
        }
        TaskKind::Agent(agent) => {
            let work = agent_work(scope, task, agent, settings)?;
            let prompt = work.prompt.clone();
            (WorkKind::Agent(Box::new(work)), prompt.clone(), Some(prompt))
        }
    };
    written.extend(files.take().into_iter().map(|(path, text)| (path, super::Sealed::Plain(text))));
    Ok(Work {
        message: CommitMessage::of(message, description.as_deref(), prompt.as_deref()),
        description: one_line(description.as_deref().unwrap_or(&first), 120),
        kind,
        dir,
        env,
        files: written,
        setup,
        artifacts,
        expect: ExpectedTree { files: task.expect.files.clone(), changes: task.expect.changes },
        timeout: task.timeout.clone(),
        background: task.background,
    })
}

/// Where the values go that an attempt reads as files: each attempt has a folder of its own.
fn files_dir(scope: &Scope<'_>) -> PathBuf {
    let address = scope.address().unwrap_or_default();
    format!("{}/values/{}.{}", scope.facts.run_dir, file_name(&address), scope.attempt).into()
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

/// A script of a task.
pub(super) fn shell_script(
    scope: &Scope<'_>,
    what: &str,
    shell: &Arc<[String]>,
    lowered: &Script,
) -> Result<ShellScript, Box<Outcome>> {
    let RenderedScript { text, env } = script(scope, what, lowered)?;
    Ok(ShellScript { shell: Arc::clone(shell), text, env })
}

fn setup(scope: &Scope<'_>, task: &Task) -> Result<Vec<Step>, Box<Outcome>> {
    let commands = task.preparation.iter().flat_map(|preparation| &preparation.setup);
    let steps = commands.map(|command| {
        let source = command.script.source();
        let mut lines = source.lines().map(str::trim).filter(|line| !line.is_empty());
        // Of several lines nobody knows which one failed.
        let only = lines.next().filter(|_| lines.next().is_none()).unwrap_or_default();
        let script = shell_script(scope, "setup", &command.shell, &command.script)?;
        Ok(Step { shown: one_line(only, 80), script, timeout: None })
    });
    steps.collect()
}
