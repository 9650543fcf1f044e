//! The report for people: what happened at a glance, then what to do about it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::format::{Format, Texts};
use super::markdown::{cell, code, fenced, plain};
use super::md_work::{artifacts, denials, merges, trees};
use super::run_report::{AttemptReport, RunReport, TaskReport};
use crate::model::Reason;
use crate::text::{format_duration, shown_line};

pub(super) const FORMAT: Format =
    Format { name: "md", file: "report.md", about: "Markdown, for people", render };

/// Lines of output shown of a failed task.
const LINES: usize = 40;

/// The longest of those lines, in characters; the whole is in the run folder.
const LINE: usize = 500;

fn render(report: &RunReport, texts: &dyn Texts) -> String {
    let mut out = String::new();
    head(&mut out, report);
    table(&mut out, report);
    for task in report.failures() {
        failure(&mut out, task, texts);
    }
    merges(&mut out, report);
    artifacts(&mut out, report, texts);
    trees(&mut out, report, texts);
    denials(&mut out, report);
    agents(&mut out, report);
    outputs(&mut out, report);
    out
}

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

fn head(out: &mut String, report: &RunReport) {
    let _ = writeln!(out, "# {}: {}{}\n", plain(&report.plan), report.status.as_str(), written(report));
    let mut facts = vec![
        report.counts.in_words(),
        format_duration(Duration::from_millis(report.duration_ms)),
        format!("run {}", code(report.run.as_str())),
        code(&report.path),
    ];
    if report.epoch > 1 {
        facts.push(format!("epoch {}", report.epoch));
    }
    if let Some(exit) = report.exit {
        facts.push(format!("exit code {exit}"));
    }
    if report.usage.turns > 0 {
        facts.push(format!("{} turns, {} tokens", report.usage.turns, report.total_tokens));
    }
    let _ = writeln!(out, "{}", facts.join(" · "));
    if let Some(message) = &report.message {
        let _ = writeln!(out, "\n> {}", plain(message));
    }
}

/// Answers that somebody wrote down beforehand must not pass for those of a model: the title says so.
fn written(report: &RunReport) -> String {
    let files: Vec<String> = report.written_models.iter().map(|file| code(file)).collect();
    match files.as_slice() {
        [] => String::new(),
        [file] => format!(" (answers of the written model {file})"),
        files => format!(" (answers of the written models {})", files.join(", ")),
    }
}

fn table(out: &mut String, report: &RunReport) {
    if report.tasks.is_empty() {
        return;
    }
    out.push_str("\n| task | state | attempts | time | what |\n|---|---|---:|---:|---|\n");
    for task in &report.tasks {
        let indent = if task.parent.is_some() { "↳ " } else { "" };
        let time = format_duration(Duration::from_millis(task.duration_ms));
        let attempts = task.attempts.len().to_string();
        let (attempts, time) = match task.attempts.is_empty() && task.instances.is_none() {
            true => ("", ""),
            false => (if task.instances.is_some() { "" } else { attempts.as_str() }, time.as_str()),
        };
        let what = task.description.as_deref().map(plain).unwrap_or_default();
        let name = cell(task.address.as_str());
        let _ = writeln!(out, "| {indent}{name} | {} | {attempts} | {time} | {what} |", state(task));
    }
}

fn state(task: &TaskReport) -> String {
    let mut text = task.state.as_str().to_owned();
    if let Some(reason) = task.reason {
        let _ = write!(text, " ({}{})", reason.as_str(), if task.allowed { ", allowed" } else { "" });
    }
    text
}

fn failure(out: &mut String, task: &TaskReport, texts: &dyn Texts) {
    let _ = writeln!(out, "\n## {} {}\n", code(task.address.as_str()), state(task));
    if let Some(message) = &task.message {
        let _ = writeln!(out, "{}\n", plain(message));
    }
    if task.attempts.len() > 1 {
        for attempt in &task.attempts {
            let _ = writeln!(out, "- {}", one_attempt(attempt));
        }
        out.push('\n');
    }
    let Some(last) = task.attempts.last() else { return };
    if task.attempts.len() == 1 {
        let _ = writeln!(out, "{}\n", one_attempt(last));
    }
    let all =
        [("final text", &last.text), ("standard output", &last.stdout), ("standard error", &last.stderr)];
    for (name, slice) in all {
        let Some(slice) = slice.as_ref().filter(|slice| slice.len > 0) else { continue };
        let tail = texts.tail(slice, LINES);
        if !tail.trim().is_empty() {
            let lines: Vec<String> = tail.lines().map(|line| shown_line(line, LINE)).collect();
            let _ = writeln!(out, "End of {name}:\n\n{}\n", fenced(&lines.join("\n"), "text"));
        }
    }
    if task.leaky {
        out.push_str("Processes had left their group and were ended.\n\n");
    }
    while out.ends_with("\n\n") {
        out.pop();
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

fn agents(out: &mut String, report: &RunReport) {
    let mut seen = BTreeSet::new();
    let used: Vec<_> = report
        .tasks
        .iter()
        .filter_map(|task| task.agent.as_ref())
        .filter(|agent| seen.insert((&agent.name, &agent.path, &agent.hash, &agent.model)))
        .collect();
    if !used.is_empty() {
        out.push_str(
            "\n## Agents\n\n| agent | model | source | definition | BLAKE3 |\n|---|---|---|---|---|\n",
        );
    }
    for agent in used {
        let version =
            agent.version.as_deref().map(|version| format!(" {}", plain(version))).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {}{version} | {} | {} | {} | {} |",
            cell(&agent.name),
            cell(&agent.model),
            plain(&agent.source),
            cell(&agent.path),
            cell(&agent.hash)
        );
    }
}

fn outputs(out: &mut String, report: &RunReport) {
    let Some(outputs) = &report.outputs else { return };
    if let Ok(json) = serde_json::to_string_pretty(outputs) {
        let _ = writeln!(out, "\n## Outputs\n\n{}", fenced(&json, "json"));
    }
}

#[cfg(test)]
#[path = "md_tests.rs"]
mod tests;
