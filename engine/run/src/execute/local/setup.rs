//! The commands of `setup`, which run before the work of an attempt.

use flow_core::model::{AttemptEnd, Outcome, Reason};

use super::site::{Refused, refused};
use crate::execute::{ShellLaunch, run_shell};
use crate::store::SlotFiles;
use crate::sys::stop::StopSignal;

/// Runs the commands one after the other; the first that fails is the end of the attempt. Gives the files for what follows.
pub(super) async fn run_setup(
    setup: Vec<(String, ShellLaunch)>,
    files: Option<SlotFiles>,
    stop: &StopSignal,
) -> Result<Option<SlotFiles>, Refused> {
    let Some(mut files) = files else { return Ok(None) };
    for (shown, launch) in setup {
        let next = files.next();
        let outcome = run_shell(launch, files, stop.clone()).await;
        match outcome.end {
            AttemptEnd::Completed => {}
            AttemptEnd::Failed => return Err(Box::new(failed(outcome, &shown))),
            AttemptEnd::Killed | AttemptEnd::Lost => return Err(Box::new(outcome)),
        }
        // Where the next command's output begins.
        files = next
            .and_then(|files| files.next())
            .map_err(|error| refused(Reason::Resource, format!("can't use the output files: {error}")))?;
    }
    Ok(Some(files))
}

fn failed(outcome: Outcome, shown: &str) -> Outcome {
    let why = match (&outcome.message, outcome.exit_code) {
        (Some(message), _) => message.clone(),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => outcome.reason.map_or("failed", Reason::as_str).to_owned(),
    };
    let at = if shown.is_empty() { String::new() } else { format!(" at `{shown}`") };
    let message = format!("`setup` failed{at}: {why}");
    Outcome { reason: Some(Reason::Setup), message: Some(message), ..outcome }
}
