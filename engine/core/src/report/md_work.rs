//! What the report for people says of the work: what came home, what is kept and where, and which calls were refused.

use std::fmt::Write as _;

use super::by_hand::by_hand;
use super::format::Texts;
use super::markdown::{cell, code, fenced, plain};
use super::run_report::{AttemptReport, RunReport, TaskReport};
use crate::model::{DenialReason, OutputSlice, WorktreeOutcome};
use crate::text::shell_word;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

pub(super) fn merges(out: &mut String, report: &RunReport) {
    let tasks = report.rows();
    let all: Vec<_> = tasks
        .flat_map(|task| task.attempts.iter().map(move |attempt| (task, attempt)))
        .filter_map(|(task, attempt)| Some((task, attempt, attempt.worktree.as_ref()?.merged.as_ref()?)))
        .collect();
    if !all.is_empty() {
        out.push('\n');
    }
    for (task, attempt, merge) in all {
        let how = code(&format!("merge: {}", merge.how.as_str()));
        let _ = write!(out, "- {}, attempt {}: {how} ", code(task.address.as_str()), attempt.attempt);
        if !merge.is_refused() {
            let files = if merge.files.len() == 1 { "file" } else { "files" };
            let _ = write!(out, "wrote {} {files}", merge.files.len());
            let commits: Vec<String> = merge.commits.iter().map(|commit| code(commit)).collect();
            let made = if commits.is_empty() { String::new() } else { format!(" as {}", commits.join(", ")) };
            let _ = writeln!(out, "{made}");
            continue;
        }
        let _ = writeln!(out, "was refused, nothing was written:");
        if let Some(moved) = &merge.moved {
            let _ = writeln!(out, "  - {}", moved.in_words());
        }
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

pub(super) fn artifacts(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    let all: Vec<_> =
        report.tasks.iter().flat_map(|task| task.artifacts.iter().map(move |one| (task, one))).collect();
    if !all.is_empty() {
        out.push_str("\n| task | file | bytes | kept as |\n|---|---|---:|---|\n");
    }
    for (task, artifact) in all {
        let (name, path) = (cell(task.address.as_str()), cell(&artifact.path));
        let kept = cell(&texts.path(&artifact.slice()));
        let _ = writeln!(out, "| {name} | {path} | {} | {kept} |", artifact.bytes);
    }
}

pub(super) fn trees(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    let all: Vec<(&TaskReport, &AttemptReport, &WorktreeOutcome)> = report.kept_trees().collect();
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
        if let (Some(branch), Some(base)) = (&tree.branch, &tree.base) {
            let branch = shell_word(branch);
            let _ = writeln!(commands, "git diff {}...{branch}\ngit merge {branch}", shell_word(base));
        }
        if let Some(path) = &tree.path {
            let path = shell_word(path);
            // A copy is no checkout; it begins from no commit.
            let _ = match tree.base {
                None => writeln!(commands, "diff -ruN --exclude=.git --exclude=.flow . {path}"),
                Some(_) => writeln!(commands, "git -C {path} status"),
            };
        }
        if let Some(patch) = &tree.patch {
            let path = texts.path(&OutputSlice::new(patch.clone(), 0, 0));
            let command = by_hand(tree, &path).unwrap_or_else(|| format!("git apply {}", shell_word(&path)));
            let _ = writeln!(commands, "{command}");
        }
        let _ = writeln!(out, "{}", fenced(&commands, "sh"));
    }
}

pub(super) fn denials(out: &mut String, report: &RunReport) {
    let all: Vec<_> =
        report.tasks.iter().flat_map(|task| task.denials.iter().map(move |denial| (task, denial))).collect();
    if !all.is_empty() {
        out.push('\n');
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
        let why = denial.why.as_deref().map_or_else(|| why.to_owned(), plain);
        let (name, tool) = (code(task.address.as_str()), code(&denial.tool));
        let _ = writeln!(out, "- {name}: {tool} {} ({why})", code(&denial.call));
    }
}
