//! Diagnostics as lines, as JSON and as annotations.

use std::collections::HashSet;
use std::io::Write;

use flow_core::diagnostic::{Diagnostic, render};
use flow_core::report::{github_data, github_property};
use flow_core::text::{one_line, shell_word, visible};
use indexmap::IndexMap;

use super::layout::folded;

/// So many findings are shown; nobody reads more at once.
const MOST: usize = 50;

/// Every diagnostic as it stands in the reference: code, message, place, help. Under GitHub Actions each is an annotation,
/// which the log shows as well: there a warning is nothing else. A plan of twenty agents may earn one warning twenty
/// times; what to do about it is said with the first.
pub fn diagnostics(all: &[Diagnostic]) {
    let mut out = anstream::stderr().lock();
    let annotate = super::in_github_actions();
    let mut advised = HashSet::new();
    let shown = foremost(all);
    for diagnostic in &shown {
        let is_new = advised.insert((diagnostic.code, &diagnostic.help));
        let shown = match is_new || diagnostic.is_error() {
            true => render(diagnostic, true),
            false => render(&Diagnostic { help: None, ..(*diagnostic).clone() }, true),
        };
        if !annotate || diagnostic.is_error() {
            let _ = writeln!(out, "{shown}\n");
        }
        if annotate {
            let _ = writeln!(out, "{}", annotation(diagnostic));
        }
    }
    if shown.len() < all.len() {
        let left = super::many(all.len() - shown.len(), "finding", "findings");
        let _ = writeln!(out, "{left} more, not shown; `-o json` of `flow check` has them all\n");
    }
}

/// The findings that are worth reading at once, in their order: where there are too many, errors go before warnings.
fn foremost(all: &[Diagnostic]) -> Vec<&Diagnostic> {
    let errors = all.iter().filter(|finding| finding.is_error()).count();
    let (mut errors, mut warnings) = (MOST.min(errors), MOST.saturating_sub(errors));
    let take = |finding: &&Diagnostic| {
        let room = if finding.is_error() { &mut errors } else { &mut warnings };
        let fits = *room > 0;
        *room -= usize::from(fits);
        fits
    };
    all.iter().filter(take).collect()
}

/// Warnings before something that matters more: one of each kind, its place, how many are like it, and how to see them all.
/// Under GitHub Actions each is an annotation instead.
pub fn in_brief(all: &[Diagnostic], plan: &str) {
    let check = format!("{} check {}", super::program(), shell_word(plan));
    // Between words where there is a terminal, and not at all elsewhere.
    let columns = console::Term::stderr().size_checked().map_or(usize::MAX, |(_, columns)| columns.into());
    let lines = match super::in_github_actions() {
        true => all.iter().map(annotation).collect(),
        false => brief_lines(all, &check).iter().flat_map(|line| folded(line, columns)).collect::<Vec<_>>(),
    };
    let mut out = anstream::stderr().lock();
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
}

fn brief_lines(all: &[Diagnostic], check: &str) -> Vec<String> {
    let mut kinds: IndexMap<_, Vec<&Diagnostic>> = IndexMap::new();
    for diagnostic in all {
        let kind = (diagnostic.code, without_names(&diagnostic.message), &diagnostic.help);
        kinds.entry(kind).or_default().push(diagnostic);
    }
    let mut lines = Vec::new();
    for alike in kinds.values() {
        let first = alike[0];
        let bare = Diagnostic { labels: Vec::new(), help: None, ..first.clone() };
        lines.push(render(&bare, true).trim_end().to_owned());
        let place = first.labels.first().map(|label| label.file.at(label.span.start)).unwrap_or_default();
        let more = match alike.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more like it: {check}"),
        };
        if !place.is_empty() || !more.is_empty() {
            lines.push(format!("  --> {}{more}", visible(&place)));
        }
        lines.extend(first.help.as_ref().map(|help| format!("  help: {}", visible(help))));
    }
    lines
}

/// What a message says, whatever it says it of.
fn without_names(message: &str) -> String {
    message.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Diagnostics of agent files, each on a line of its own: a folder may have as many oddities as files.
pub fn finding_lines(all: &[Diagnostic]) {
    let mut out = anstream::stderr().lock();
    let annotate = super::in_github_actions();
    for diagnostic in all {
        let line = if annotate { annotation(diagnostic) } else { finding_line(diagnostic) };
        let _ = writeln!(out, "{line}");
    }
}

/// `file:line:column: warning[W0501]: message; help`, on one line.
pub fn finding_line(diagnostic: &Diagnostic) -> String {
    let first = diagnostic.labels.first();
    let place = first.map(|label| format!("{}: ", label.file.at(label.span.start)));
    // What else the finding points at in this file: ` (first here: line 3)`.
    let others: String = diagnostic
        .labels
        .iter()
        .skip(1)
        .filter(|label| first.is_some_and(|first| first.file.name == label.file.name))
        .map(|label| format!(" ({}: line {})", label.text, label.file.line_column(label.span.start).0))
        .collect();
    let help = diagnostic.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    let said = one_line(&format!("{}{others}{help}", diagnostic.message), 600);
    let line = format!(
        "{}{}[{}]: {said}",
        place.unwrap_or_default(),
        diagnostic.severity().as_str(),
        diagnostic.code.as_str()
    );
    visible(&line).into_owned()
}

fn annotation(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.labels.first().and_then(|label| {
        let (line, column) = label.file.line_column(label.span.start);
        let path = super::path_in_repository(&label.file.name)?;
        Some(format!("file={},line={line},col={column},", github_property(&path)))
    });
    let help = diagnostic.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
    format!(
        "::{} {}title={}::{}",
        diagnostic.severity().as_str(),
        place.unwrap_or_default(),
        diagnostic.code.as_str(),
        github_data(&visible(&format!("{}{help}", diagnostic.message)))
    )
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
