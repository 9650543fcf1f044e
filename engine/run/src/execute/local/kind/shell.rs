//! A command as the work of an attempt.

use std::sync::Arc;

use flow_core::event::LaunchAgent;
use flow_core::model::{Outcome, Reason};
use flow_core::plan::Output;
use flow_core::values::{Program, ShellWork, WorkKind};

use super::super::command::set;
use super::super::frame::Ready;
use super::super::judge::{Checks, PairsFile};
use super::super::site::{Refused, Site, refused};
use crate::execute::sink::Sink;
use crate::execute::{ShellLaunch, run_shell};
use crate::store::{RunFolder, SlotFiles, tail_of_slice};
use crate::sys::stop::StopSignal;

/// Where a command says why it failed.
const HINT_LINES: usize = 10;

/// What bash makes of SIGPIPE. It depends on who is faster, so it comes and goes.
const CLOSED_PIPE: i32 = 128 + 13;

/// A command that is ready to run.
pub(super) struct Shell {
    launch: ShellLaunch,
    folder: Arc<RunFolder>,
}

impl Ready for Shell {
    fn of(site: &Site<'_>, checks: &mut Checks) -> Result<Self, Refused> {
        let WorkKind::Shell(work) = &site.packet.work.kind else {
            return Err(refused(Reason::Internal, "bug: the work of another kind was handed to the shell"));
        };
        let mut launch = match &work.program {
            Program::Words(words) => site.command(words.iter().map(Into::into).collect()),
            Program::Script(script) => site.script("script", script)?,
        };
        site.declare(&mut launch)?;
        if let Program::Script(script) = &work.program {
            set(&mut launch, script.env.iter().cloned());
        }
        launch.idle = site.packet.work.timeout.idle;
        launch.max_output = work.max_output.unwrap_or(ShellLaunch::MAX_OUTPUT);
        if work.output == Output::Pairs {
            let pairs = pairs_file(site, work)?;
            launch.env.set.push(("FLOW_OUTPUT".into(), pairs.path.clone().into()));
            checks.pairs = Some(pairs);
        }
        checks.output = work.output.clone();
        Ok(Shell { launch, folder: Arc::clone(&site.host.folder) })
    }

    fn agent(&self) -> Option<LaunchAgent> {
        None
    }

    fn note(&self) -> Option<String> {
        None
    }

    fn prints(&self) -> bool {
        true
    }

    async fn run(self, files: Option<SlotFiles>, stop: StopSignal, _: &Sink) -> Outcome {
        let Some(files) = files else {
            return Outcome::failed(Reason::Internal, "bug: a command has no files to print to");
        };
        explained(run_shell(self.launch, files, stop).await, &self.folder)
    }
}

/// The empty file that `$FLOW_OUTPUT` names.
fn pairs_file(site: &Site<'_>, work: &ShellWork) -> Result<PairsFile, Refused> {
    let name = format!("{}.pairs", site.packet.attempt);
    let made = site.make_folder().map(|folder| folder.join(name)).and_then(|path| {
        std::fs::write(&path, "")?;
        Ok(path)
    });
    let path = made.map_err(|error| {
        refused(Reason::Resource, format!("can't make the file of `$FLOW_OUTPUT`: {error}"))
    })?;
    let limit = work.max_output.unwrap_or(ShellLaunch::MAX_OUTPUT);
    Ok(PairsFile { path, limit, mask: site.host.mask.clone() })
}

/// Says what to do about what people meet again and again.
fn explained(mut outcome: Outcome, folder: &RunFolder) -> Outcome {
    if outcome.reason != Some(Reason::ExitCode) {
        return outcome;
    }
    if outcome.exit_code == Some(CLOSED_PIPE) {
        outcome.message = Some(
            "exit code 141: a program wrote into a pipe whose reader had gone, as `head` goes; \
             let the reader take all of it, or put `|| true` behind"
                .to_owned(),
        );
    }
    let said = outcome.stderr.as_ref().and_then(|slice| tail_of_slice(folder, slice, HINT_LINES).ok());
    if said.is_some_and(|said| String::from_utf8_lossy(&said).contains("index.lock")) {
        outcome.message = Some(
            "git's index.lock was held: tasks that write to one checkout collide; \
             give them `isolation: worktree`, or an order with `needs`"
                .to_owned(),
        );
    }
    outcome
}
