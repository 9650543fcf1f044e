//! `flow run --detach`: the same command line again, in a session of its own.
//!
//! The background half says its run's id on standard output, which is a pipe to the foreground half, once nothing more can
//! be wrong with the command; until then its messages are the person's.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};

use anyhow::Context;
use flow_core::model::Cause;
use flow_run::engine::Run;

use crate::exit::Failure;
use crate::ui;

/// Starts the background half and waits for the id of its run.
pub(super) fn start() -> anyhow::Result<u8> {
    let program = std::env::current_exe().context("can't find this program")?;
    let mut child = Command::new(program)
        .args(std::env::args_os().skip(1))
        .arg("--detached")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("can't start the background half")?;
    let mut run = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut run).context("can't hear the background half")?;
    }
    if run.trim().is_empty() {
        // It ended before there was a run, and has said why.
        let status = child.wait().context("can't wait for the background half")?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        return Ok(code.unwrap_or(Cause::Bug.code()));
    }
    let run = run.trim();
    ui::note(&format!(
        "runs in the background; see it with `{flow} attach {run}`, end it with `{flow} stop {run}`",
        flow = ui::program()
    ));
    ui::print(&format!("{run}\n"))?;
    Ok(Cause::Success.code())
}

/// Leaves the terminal and its signals.
pub(super) fn leave_session() -> anyhow::Result<()> {
    rustix::process::setsid().context("can't leave the session")?;
    Ok(())
}

/// Says the run's id to the foreground half; from then on all that is said goes to the run's folder.
pub(super) fn announce(run: &Run) -> anyhow::Result<()> {
    let path = run.path().join("engine.log");
    let failed =
        |error: io::Error| Failure::new(Cause::Io, format!("can't write `{}`: {error}", path.display()));
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(&path).map_err(failed)?;
    ui::print(&format!("{}\n", run.id()))?;
    rustix::stdio::dup2_stdout(&log).map_err(|error| failed(error.into()))?;
    rustix::stdio::dup2_stderr(&log).map_err(|error| failed(error.into()))?;
    Ok(())
}
