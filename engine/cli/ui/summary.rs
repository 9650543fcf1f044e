//! The last words of a run.

use std::io::Write;
use std::time::Duration;

use flow_core::model::RunStatus;
use flow_core::report::{RunReport, TaskReport, next_steps};
use flow_core::text::{format_duration, format_tokens};

use super::How;
use super::words;

/// How many failed tasks are listed, and how many places of kept work.
const LISTED: usize = 10;
const KEPT: usize = 20;

/// A run that is over.
pub struct Ended<'a> {
    /// What happened.
    pub report: &'a RunReport,
    /// How long this epoch took.
    pub took: Duration,
    /// The run folder as the person would write it.
    pub folder: &'a str,
}

/// Says how the run ended, where its report is, and what to do next. In CI a success is one line.
pub fn summary(how: How, ended: &Ended<'_>) {
    let Ended { report, took, folder } = ended;
    let mut out = anstream::stderr().lock();
    let run = &report.run;
    let tokens = match report.total_tokens {
        0 => String::new(),
        _ => format!("; {}", format_tokens(report.usage.fresh_tokens(), report.usage.cache_read_tokens)),
    };
    let _ = writeln!(
        out,
        "run {run}: {} in {}: {}{tokens}",
        words::run_status(report.status),
        format_duration(*took),
        report.counts.in_words()
    );
    let in_ci = matches!(how, How::Ci | How::Github);
    if in_ci && report.status == RunStatus::Completed {
        return;
    }
    let failed: Vec<&TaskReport> =
        report.failures().filter(|task| task.state.is_failure(task.allowed)).collect();
    // The annotations above say the same.
    if how != How::Github && (in_ci || failed.len() > 1) {
        list(&mut out, &failed);
    }
    let _ = writeln!(out, "report: {folder}/report.md");
    say_what_is_kept(&mut out, report, folder);
    // Who reads the log of a CI job has no run folder: its machine is gone.
    if !in_ci {
        for (words, command) in next_steps(report, &super::place()) {
            let _ = writeln!(out, "{words}: {command}");
        }
    }
}

/// Where the work is that did not come home; a failure has said it already.
fn say_what_is_kept(out: &mut impl Write, report: &RunReport, folder: &str) {
    let said = |task: &TaskReport, place: &str| {
        task.message.as_deref().is_some_and(|message| message.contains(place))
    };
    let mut lines = Vec::new();
    for (task, _, tree) in report.kept_trees() {
        let place = match (&tree.patch, &tree.branch, &tree.path) {
            // A branch that lacks a part is not where the work is.
            (_, _, Some(path)) if !tree.undelivered.is_empty() => format!("folder {path}"),
            (Some(patch), ..) if !said(task, patch) => format!("patch {folder}/{patch}"),
            (None, Some(branch), _) if !said(task, branch) => format!("branch {branch}"),
            (None, None, Some(path)) if !said(task, path) => format!("folder {path}"),
            (Some(_) | None, ..) => continue,
        };
        let files = if tree.files_changed == 1 { "file" } else { "files" };
        let (task, count) = (words::name(task.address.as_str()), tree.files_changed);
        lines.push(format!("kept: {} ({task}: {count} {files})", words::name(&place)));
    }
    // A line that says "1 more" is as long as the one that it stands for.
    let shown = if lines.len() == KEPT + 1 { KEPT + 1 } else { KEPT };
    for line in lines.iter().take(shown) {
        let _ = writeln!(out, "{line}");
    }
    if lines.len() > shown {
        let _ = writeln!(out, "kept: {} more, see the report", lines.len() - shown);
    }
}

fn list(out: &mut impl Write, failed: &[&TaskReport]) {
    if failed.is_empty() {
        return;
    }
    let _ = writeln!(out, "failed:");
    for task in failed.iter().take(LISTED) {
        let end = words::End {
            reason: task.reason,
            exit_code: task.exit_code,
            signal: task.signal.as_deref(),
            message: task.message.as_deref(),
        };
        let _ = writeln!(out, "  {:<27}{}", words::name(task.address.as_str()), words::cause(&end));
    }
    if failed.len() > LISTED {
        let _ = writeln!(out, "  and {} more", failed.len() - LISTED);
    }
}
