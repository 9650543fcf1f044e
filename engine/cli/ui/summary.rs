//! The last words of a run.

use std::io::Write;
use std::time::Duration;

use flow_core::model::RunStatus;
use flow_core::text::format_duration;
use flow_run::store::RunFolder;
use flow_run::watch::View;

use super::words;

/// Says how the run ended, where its report is, and what to do next.
pub fn summary(status: RunStatus, view: &View, took: Duration, folder: &RunFolder, shown: &str) {
    let mut out = anstream::stderr().lock();
    let run = folder.id();
    let tokens =
        if view.tokens > 0 { format!("; {} tokens", words::count(view.tokens)) } else { String::new() };
    let said = words::counts(&view.ended);
    let _ = writeln!(
        out,
        "run {run}: {} in {}: {said}{tokens}",
        words::run_status(status),
        format_duration(took)
    );
    let _ = writeln!(out, "report: {shown}/report.md");
    match status {
        RunStatus::Completed | RunStatus::Running => {}
        RunStatus::Failed | RunStatus::Killed | RunStatus::Lost => {
            let _ = writeln!(out, "Output: flow logs {run}");
            let _ = writeln!(out, "Resume with: flow resume {run}");
        }
    }
}
