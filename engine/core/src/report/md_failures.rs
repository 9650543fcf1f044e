//! What failed in the report for people, with the last lines of each, and what could not run for it.

use std::fmt::Write as _;
use std::time::Duration;

use super::format::Texts;
use super::markdown::{code, codes, fenced, plain};
use super::md_tasks::{state, why};
use super::run_report::{AttemptReport, RunReport, TaskReport};
use crate::model::{Reason, TaskState};
use crate::text::{format_duration, shown_line};

/// Lines of output shown of a failed task, and of one whose failure is allowed.
const LINES: usize = 40;
const LINES_OF_ALLOWED: usize = 10;

/// The longest of those lines, in characters; the whole is in the run folder.
const LINE: usize = 500;

/// The most of an output that is shown, in bytes.
const LONGEST: usize = 8 << 10;

/// Failures that are shown with their output; the rest is listed.
const SHOWN: usize = 30;
const LISTED: usize = 100;

/// The tasks named that one failure blocks.
const NAMED: usize = 20;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

pub(super) fn failures(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    // What somebody told to end failed by nobody's fault, and the table says it.
    let failed = report.failures().filter(|task| task.reason != Some(Reason::Cancelled));
    each(out, &failed.collect::<Vec<_>>(), texts, LINES);
}

pub(super) fn allowed_failures(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    each(out, &report.allowed_failures().collect::<Vec<_>>(), texts, LINES_OF_ALLOWED);
}

fn each(out: &mut String, failed: &[&TaskReport], texts: &dyn Texts, lines: usize) {
    for task in failed.iter().take(SHOWN) {
        failure(out, task, texts, lines);
    }
    for task in failed.iter().skip(SHOWN).take(LISTED) {
        let _ = write!(out, "\n- {} {}", code(task.address.as_str()), state(task));
    }
    if failed.len() > SHOWN {
        out.push('\n');
    }
    if failed.len() > SHOWN + LISTED {
        let _ = writeln!(out, "\nand {} more", failed.len() - SHOWN - LISTED);
    }
}

fn failure(out: &mut String, task: &TaskReport, texts: &dyn Texts, lines: usize) {
    let why = match why(task) {
        why if why.is_empty() => state(task),
        why => why,
    };
    let _ = writeln!(out, "\n### {}: {why}", code(task.address.as_str()));
    // The title says the exit code.
    if let Some(message) = task.message.as_deref().map(plain).filter(|message| *message != why) {
        let _ = writeln!(out, "\n{message}");
    }
    if task.attempts.len() > 1 {
        out.push('\n');
        for attempt in &task.attempts {
            let _ = writeln!(out, "- {}", one_attempt(attempt));
        }
    }
    let Some(last) = task.attempts.last() else { return };
    let all =
        [("final text", &last.text), ("standard output", &last.stdout), ("standard error", &last.stderr)];
    for (name, slice) in all {
        let Some(slice) = slice.as_ref().filter(|slice| slice.len > 0) else { continue };
        let tail = texts.tail(slice, lines);
        if !tail.trim().is_empty() {
            let lines: Vec<String> = tail.lines().map(|line| shown_line(line, LINE)).collect();
            let mut first = lines.len();
            let mut room = LONGEST;
            while first > 0 && lines[first - 1].len() < room {
                first -= 1;
                room -= lines[first].len() + 1;
            }
            let _ = writeln!(out, "\nEnd of {name}:\n\n{}", fenced(&lines[first..].join("\n"), "text"));
        }
    }
    if task.leaky {
        out.push_str("\nProcesses had left their group and were ended.\n");
    }
}

fn one_attempt(attempt: &AttemptReport) -> String {
    let end = match (attempt.end, attempt.reason) {
        (None, _) => Some("under way"),
        // The code itself says it.
        (Some(_), Some(Reason::ExitCode)) if attempt.exit_code.is_some() => None,
        (Some(_), Some(reason)) => Some(reason.as_str()),
        (Some(_), None) => Some("completed"),
    };
    let code = attempt.exit_code.map(|code| format!("exit code {code}"));
    let facts = [end.map(str::to_owned), code, attempt.signal.as_deref().map(plain)];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let time = format_duration(Duration::from_millis(attempt.duration_ms));
    format!("attempt {}: {} after {time}", attempt.attempt, facts.join(", "))
}

/// Who kept whom from running, each cause once.
pub(super) fn blocked(out: &mut String, report: &RunReport) {
    let mut causes: Vec<(String, Vec<&str>)> = Vec::new();
    for task in report.tasks.iter().filter(|task| task.state == TaskState::Blocked) {
        let cause = match (why(task), task.blocked_by.as_slice()) {
            (said, []) => said,
            (said, _) if !said.is_empty() => said,
            (_, by) => format!("by {}", codes(by.iter().map(|one| one.as_str()), NAMED)),
        };
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, names)) => names.push(task.address.as_str()),
            None => causes.push((cause, vec![task.address.as_str()])),
        }
    }
    if !causes.is_empty() {
        out.push('\n');
    }
    for (cause, names) in causes {
        let cause = if cause.is_empty() { cause } else { format!(": {cause}") };
        let _ = writeln!(out, "- {}{cause}", codes(names.into_iter(), NAMED));
    }
}
