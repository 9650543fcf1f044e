//! The report for people: how it ended and what came of it, then how, then what a program or a later reader wants.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::format::{Format, Texts};
use super::markdown::{cell, code, plain};
use super::md_failures::{allowed_failures, blocked, failures};
use super::md_graph::graph;
use super::md_left_out::left_out;
use super::md_tasks::tasks;
use super::md_values::{answers, outputs, results};
use super::md_work::{artifacts, denials, merges, trees};
use super::run_report::RunReport;
use crate::model::OutputSlice;
use crate::text::{format_duration, format_tokens};

pub(super) const FORMAT: Format =
    Format { name: "md", file: "report.md", about: "Markdown, for people", render };

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

/// What writes a section, if there is something to say.
type Section = fn(&mut String, &RunReport, &dyn Texts);

/// The sections in the order in which a reviewer wants them, and whether one is worth a link at the top.
const SECTIONS: &[(&str, bool, Section)] = &[
    ("Outputs", false, |out, report, _| outputs(out, report)),
    ("Results", false, |out, report, texts| results(out, report, texts)),
    ("Tasks", false, |out, report, _| tasks(out, report)),
    ("Failures", true, |out, report, texts| failures(out, report, texts)),
    ("Allowed failures", true, |out, report, texts| allowed_failures(out, report, texts)),
    ("Blocked", true, |out, report, _| blocked(out, report)),
    ("Refused calls", true, |out, report, _| denials(out, report)),
    ("Merges", true, |out, report, _| merges(out, report)),
    ("Kept trees", true, |out, report, texts| trees(out, report, texts)),
    ("Left out", true, |out, report, _| left_out(out, report)),
    ("Artifacts", true, |out, report, texts| artifacts(out, report, texts)),
    ("Answers", true, |out, report, texts| answers(out, report, texts)),
    ("Graph", true, |out, report, _| graph(out, report)),
    ("Run", false, |out, report, texts| technical(out, report, texts)),
];

/// What the links and the line about what was left out take at most.
const REMARK: usize = 700;

fn render(report: &RunReport, texts: &dyn Texts) -> String {
    page_within(report, texts, usize::MAX)
}

/// The report in at most `most` bytes: a section that doesn't fit is named and left out as a whole, so that nothing is cut
/// in the middle of a fence.
pub fn page_within(report: &RunReport, texts: &dyn Texts, most: usize) -> String {
    let mut out = String::new();
    head(&mut out, report);
    let mut body = String::new();
    let (mut links, mut left) = (Vec::new(), Vec::new());
    for (title, linked, write) in SECTIONS {
        let mut section = String::new();
        write(&mut section, report, texts);
        if section.is_empty() {
            continue;
        }
        if out.len() + body.len() + section.len() > most.saturating_sub(REMARK) {
            left.push(*title);
            continue;
        }
        if *linked {
            links.push(format!("[{title}](#{})", title.to_lowercase().replace(' ', "-")));
        }
        let _ = write!(body, "\n## {title}\n{section}");
    }
    if !links.is_empty() {
        let _ = writeln!(out, "\n{}", links.join(" · "));
    }
    if !left.is_empty() {
        let _ = writeln!(body, "\nToo long for this page: {}.", left.join(", "));
    }
    out + &body
}

fn head(out: &mut String, report: &RunReport) {
    let _ = writeln!(out, "# {}: {}{}\n", plain(&report.plan), report.status.in_words(), written(report));
    let mut facts =
        vec![report.counts.in_words(), format_duration(Duration::from_millis(report.duration_ms))];
    if report.usage.turns > 0 {
        facts.push(format_tokens(report.usage.fresh_tokens(), report.usage.cache_read_tokens));
    }
    facts.extend(report.exit.map(|exit| format!("exit code {exit}")));
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

/// What tells this run from others, and its agents from others of their names.
fn technical(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    let folder = texts.path(&OutputSlice::new("", 0, 0));
    let _ = writeln!(out, "\n- run {}, flow {}", code(report.run.as_str()), plain(&report.flow));
    if report.epoch > 1 {
        let _ = writeln!(out, "- epoch {}", report.epoch);
    }
    let _ = writeln!(out, "- plan {} in {}", code(&report.path), code(&report.root));
    let _ = writeln!(out, "- folder {}", code(folder.trim_end_matches('/')));
    for (name, value) in &report.inputs {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(
            out,
            "- input {}: {}",
            code(name),
            if text.is_empty() { "*empty*".to_owned() } else { code(&text) }
        );
    }
    agents(out, report);
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
        out.push_str("\n| agent | model | source | definition | BLAKE3 |\n|---|---|---|---|---|\n");
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

#[cfg(test)]
#[path = "md_tests.rs"]
mod tests;
