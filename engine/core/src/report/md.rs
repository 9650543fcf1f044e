//! The report for people: what happened at a glance, then what to do about it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::by_hand::by_hand;
use super::format::{Format, Texts};
use super::run_report::{AttemptReport, RunReport, TaskReport};
use crate::model::{DenialReason, OutputSlice, Reason, WorktreeOutcome};
use crate::text::{format_duration, one_line, shell_word, shown_line, visible};

pub(super) const FORMAT: Format =
    Format { name: "md", file: "report.md", about: "Markdown, for people", render };

/// Lines of output shown of a failed task.
const LINES: usize = 40;

/// The longest of those lines, in characters; the whole is in the run folder.
const LINE: usize = 500;

/// The longest text in a table or a sentence, in characters: a message names branches and folders at its end.
const WIDTH: usize = 400;

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

fn merges(out: &mut String, report: &RunReport) {
    let tasks = report.tasks.iter().chain(&report.dropped);
    let all: Vec<_> = tasks
        .flat_map(|task| task.attempts.iter().map(move |attempt| (task, attempt)))
        .filter_map(|(task, attempt)| Some((task, attempt, attempt.worktree.as_ref()?.merged.as_ref()?)))
        .collect();
    if !all.is_empty() {
        out.push_str("\n## Merges\n\n");
    }
    for (task, attempt, merge) in all {
        let how = code(&format!("merge: {}", merge.how.as_str()));
        let _ = write!(out, "- {}, attempt {}: {how} ", code(task.address.as_str()), attempt.attempt);
        if merge.conflicts.is_empty() {
            let files = if merge.files.len() == 1 { "file" } else { "files" };
            let _ = write!(out, "wrote {} {files}", merge.files.len());
            let commits: Vec<String> = merge.commits.iter().map(|commit| code(commit)).collect();
            let made = if commits.is_empty() { String::new() } else { format!(" as {}", commits.join(", ")) };
            let _ = writeln!(out, "{made}");
            continue;
        }
        let _ = writeln!(out, "was refused, nothing was written:");
        for conflict in &merge.conflicts {
            let other = conflict.other.as_ref().map(|other| format!(", by {}", code(other.as_str())));
            let _ = writeln!(
                out,
                "  - {} {}{}",
                code(&conflict.path),
                conflict.kind.in_words(),
                other.unwrap_or_default()
            );
        }
    }
}

fn artifacts(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    let all: Vec<_> =
        report.tasks.iter().flat_map(|task| task.artifacts.iter().map(move |one| (task, one))).collect();
    if !all.is_empty() {
        out.push_str("\n## Artifacts\n\n| task | file | bytes | kept as |\n|---|---|---:|---|\n");
    }
    for (task, artifact) in all {
        let (name, path) = (cell(task.address.as_str()), cell(&artifact.path));
        let kept = cell(&texts.path(&artifact.slice()));
        let _ = writeln!(out, "| {name} | {path} | {} | {kept} |", artifact.bytes);
    }
}

fn trees(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    let all: Vec<(&TaskReport, &AttemptReport, &WorktreeOutcome)> = report.kept_trees().collect();
    if !all.is_empty() {
        out.push_str("\n## Kept trees\n");
    }
    for (task, attempt, tree) in all {
        let files = if tree.files_changed == 1 { "file" } else { "files" };
        let name = code(task.address.as_str());
        let commit = tree.commit.as_ref().map(|commit| format!(", commit {}", code(commit)));
        let _ = writeln!(
            out,
            "\n{name}, attempt {}: {} {files} changed{}\n",
            attempt.attempt,
            tree.files_changed,
            commit.unwrap_or_default()
        );
        let mut commands = String::new();
        if let Some(branch) = &tree.branch {
            let branch = shell_word(branch);
            let _ = writeln!(commands, "git diff {}...{branch}\ngit merge {branch}", shell_word(&tree.base));
        }
        if let Some(path) = &tree.path {
            let path = shell_word(path);
            // A copy is no checkout; it begins from no commit.
            let _ = match tree.base.is_empty() {
                true => writeln!(commands, "diff -ruN --exclude=.git --exclude=.flow . {path}"),
                false => writeln!(commands, "git -C {path} status"),
            };
        }
        if let Some(patch) = &tree.patch {
            let path = texts.path(&OutputSlice { file: patch.clone(), start: 0, len: 0 });
            let command = by_hand(tree, &path).unwrap_or_else(|| format!("git apply {}", shell_word(&path)));
            let _ = writeln!(commands, "{command}");
        }
        let _ = writeln!(out, "{}", fenced(&commands, "sh"));
        if !tree.lacked.is_empty() {
            let lacked: Vec<String> = tree.lacked.iter().take(20).map(|path| code(path)).collect();
            let more = tree.lacked.len().saturating_sub(lacked.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ =
                writeln!(out, "\nNot in the tree, since it was not committed: {}{more}.", lacked.join(", "));
        }
    }
}

fn denials(out: &mut String, report: &RunReport) {
    let all: Vec<_> =
        report.tasks.iter().flat_map(|task| task.denials.iter().map(move |denial| (task, denial))).collect();
    if !all.is_empty() {
        out.push_str("\n## Refused calls\n\n");
    }
    for (task, denial) in all {
        let why = match denial.reason {
            DenialReason::Rule => "a rule denies it",
            DenialReason::NobodyToAsk => "nobody could be asked",
            DenialReason::AsyncAgent => "a background agent asks nobody",
            DenialReason::Mode => "the mode refuses it",
            DenialReason::NotAvailable => "the agent doesn't have the tool",
            DenialReason::UnknownTool => "there is no such tool",
        };
        let (name, tool) = (code(task.address.as_str()), code(&denial.tool));
        let _ = writeln!(out, "- {name}: {tool} {} ({why})", code(&denial.call));
    }
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

/// Text that stays text: on one line, without anything that Markdown or HTML would read.
fn plain(text: &str) -> String {
    let line = one_line(&visible(text), WIDTH);
    let mut out = String::with_capacity(line.len());
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    for (at, c) in line.char_indices() {
        match c {
            // What would make a list, a heading or a rule of the line.
            '-' | '+' | '=' if at == 0 => out.extend(['\\', c]),
            '.' | ')' if at == digits => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // `@` would call on a person where the report is posted.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '|' | '~' | '#' | '!' | '$' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// A code span in a table cell, which ends at a bar even there.
fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Text as it is, on one line, in a code span that it can't end.
fn code(text: &str) -> String {
    let line = one_line(&visible(text), WIDTH);
    let fence = "`".repeat(longest_run(&line) + 1);
    match line.starts_with('`') || line.ends_with('`') || line.is_empty() {
        true => format!("{fence} {line} {fence}"),
        false => format!("{fence}{line}{fence}"),
    }
}

/// Text as it is, in a block whose fence is longer than any it has.
fn fenced(text: &str, language: &str) -> String {
    let text = visible(text.trim_end_matches('\n'));
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
#[path = "md_tests.rs"]
mod tests;
