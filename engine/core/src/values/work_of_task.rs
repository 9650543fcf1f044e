//! From a task of a plan to what one attempt of it is: every template rendered, everything that it names looked up.

use std::path::PathBuf;

use super::commit::CommitMessage;
use super::context::Scope;
use super::kind::Doing;
use super::limits::check_all;
use super::render::{render, render_given, shell_script};
use super::variables::Variables;
use super::work::{ExpectedTree, Step, Work};
use crate::model::{Outcome, Settings};
use crate::plan::Task;
use crate::template::ValueFiles;
use crate::text::{file_name, one_line};

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
    let Doing { kind, shown, prompt } = Doing::of_task(scope, task, settings)?;
    written.extend(files.take().into_iter().map(|(path, text)| (path, super::Sealed::Plain(text))));
    Ok(Work {
        message: CommitMessage::of(message, description.as_deref(), prompt.as_deref()),
        description: one_line(description.as_deref().unwrap_or(&shown), 120),
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
