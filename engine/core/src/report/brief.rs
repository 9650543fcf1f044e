//! A task in a line: why it ended as it did, and which line of its output says most about that.

use super::format::Texts;
use super::run_report::TaskReport;
use crate::model::{OutputSlice, Reason, TaskState};
use crate::text::shown_line;

/// The last lines of an output in which the telling one is looked for.
const LINES: usize = 40;

/// The longest line, in characters.
const LINE: usize = 400;

/// Why a task did not end well, in a few words: an exit code, a signal or the reason. Empty when it did, and when whoever
/// stopped it knows.
pub(super) fn cause(task: &TaskReport) -> String {
    match (task.reason, task.exit_code, &task.signal) {
        (Some(Reason::ExitCode), Some(code), _) => format!("exit code {code}"),
        (Some(Reason::Signal), _, Some(signal)) => signal.clone(),
        (Some(Reason::Cancelled), ..) | (None, ..) => String::new(),
        (Some(Reason::Upstream), ..) if task.state == TaskState::Blocked => {
            let said = task.message.as_deref().unwrap_or("");
            said.strip_prefix("blocked ").unwrap_or(said).to_owned()
        }
        // What became many says how many of it failed.
        (Some(Reason::Upstream), ..) => String::new(),
        (Some(reason), ..) => reason.as_str().to_owned(),
    }
}

/// The same with what was said: of a command the line of its output that tells most, else the message of the task.
pub(super) fn cause_line(task: &TaskReport, texts: &dyn Texts) -> String {
    let cause = cause(task);
    let message = task.message.as_deref().filter(|_| task.state != TaskState::Blocked);
    match said(task, texts).or_else(|| message.map(str::to_owned)) {
        _ if task.reason == Some(Reason::Cancelled) => String::new(),
        Some(said) if cause.is_empty() || said.contains(&cause) => said,
        // The message says it in more words than the reason.
        Some(said) if message == Some(said.as_str()) => said,
        Some(said) => format!("{cause}: {said}"),
        None if task.reason == Some(Reason::WorkerRestart) => "its engine died".to_owned(),
        None => cause,
    }
}

/// What a command that ended by itself said of its failure.
pub(super) fn said(task: &TaskReport, texts: &dyn Texts) -> Option<String> {
    match task.reason {
        Some(Reason::ExitCode | Reason::Signal) => telling_line(task, texts),
        Some(_) | None => None,
    }
}

/// The last line of the last attempt's output that speaks of an error, else the last line.
fn telling_line(task: &TaskReport, texts: &dyn Texts) -> Option<String> {
    let last = task.attempts.last()?;
    let lines = |slice: &OutputSlice| -> Vec<String> {
        let tail = texts.tail(slice, LINES);
        let lines = tail.lines().map(|line| shown_line(line, LINE).trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let all: Vec<Vec<String>> = [&last.stderr, &last.stdout].into_iter().flatten().map(lines).collect();
    let error = all.iter().find_map(|lines| lines.iter().rev().find(|line| speaks_of_an_error(line)));
    error.or_else(|| all.iter().find_map(|lines| lines.last())).cloned()
}

fn speaks_of_an_error(line: &str) -> bool {
    let line = line.to_lowercase();
    ["error:", "error[", "fatal:", "exception:", "panicked at"].iter().any(|word| line.contains(word))
        || line.starts_with("failed ")
}

#[cfg(test)]
#[path = "brief_tests.rs"]
mod tests;
