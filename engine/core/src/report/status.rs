//! A run as a page for a terminal: a row a task, none wider than the screen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::brief::{cause_line, said};
use super::format::Texts;
use super::run_report::{RunReport, TaskReport, counts_of};
use crate::converse::Activity;
use crate::ids::{Address, Millis};
use crate::model::{RunStatus, TaskState, Usage};
use crate::text::{format_count, format_duration, format_tokens, middle, one_line, visible};

/// The least columns for the name of a task and for what it does.
const NAME: usize = 16;
const WHAT: usize = 16;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

/// What a page is made for.
pub struct Screen<'a> {
    /// Now, for what is under way.
    pub now: Millis,
    /// Its columns.
    pub width: usize,
    /// The outputs of tasks.
    pub texts: &'a dyn Texts,
    /// What agents that work have come to.
    pub live: &'a HashMap<Address, Activity>,
}

/// The time of the run: up to now while it lives, else what its engines were at work.
pub fn elapsed(report: &RunReport, now: Millis) -> Duration {
    match report.status {
        RunStatus::Running => now.since(report.started),
        RunStatus::Completed | RunStatus::Failed | RunStatus::Killed | RunStatus::Lost => {
            Duration::from_millis(report.duration_ms)
        }
    }
}

/// The time of a task: of the live attempt up to now, else of those that ended; of what became many that of its work.
pub fn task_elapsed(task: &TaskReport, now: Millis) -> Duration {
    match task.attempts.last().filter(|attempt| task.is_under_way() && attempt.end.is_none()) {
        Some(attempt) => now.since(attempt.started),
        None => Duration::from_millis(task.wall_ms.unwrap_or(task.duration_ms)),
    }
}

/// The page.
pub fn status_page(report: &RunReport, screen: &Screen<'_>) -> String {
    let time = elapsed(report, screen.now);
    // How long a run lived whose engine died at once nobody knows.
    let unknown = report.status == RunStatus::Lost && time.is_zero();
    let time = if unknown { String::new() } else { format!(", {}", format_duration(time)) };
    let (status, plan) = (report.status.in_words(), visible(&report.plan).into_owned());
    let room = screen.width.saturating_sub(report.run.as_str().len() + status.len() + time.len() + 10);
    let mut text = format!("run {} of {}: {status}{time}\n", report.run, one_line(&plan, room.max(8)));
    text.push_str(&report.counts.in_words());
    let mut usage = report.usage.clone();
    screen.live.values().for_each(|activity| usage += &activity.usage);
    if usage.total_tokens() > 0 {
        let tokens = format_tokens(usage.fresh_tokens(), usage.cache_read_tokens);
        let _ = write!(text, "; {tokens}");
    }
    text.push_str("\n\n");
    if !report.tasks.is_empty() {
        text.push_str(&table(report, screen));
    }
    text
}

/// The cells of a task.
struct Row {
    name: String,
    state: &'static str,
    tries: String,
    time: String,
    tokens: String,
    what: String,
}

fn table(report: &RunReport, screen: &Screen<'_>) -> String {
    let rows: Vec<Row> = report.tasks.iter().map(|task| row(report, task, screen)).collect();
    let longest =
        |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    // A column in which nobody has anything is none.
    let column = |cell: fn(&Row) -> &str, title: &str| match longest(cell) {
        0 => 0,
        width => width.max(title.len()),
    };
    let (tries, tokens) = (column(|row| &row.tries, "TRIES"), column(|row| &row.tokens, "TOKENS"));
    let (state, time) = (longest(|row| row.state).max(5), longest(|row| &row.time).max(4));
    let fixed = [state, tries, time, tokens].into_iter().filter(|width| *width > 0).map(|width| width + 2);
    let rest = screen.width.saturating_sub(fixed.sum::<usize>() + 2);
    let what = longest(|row| &row.what).max(4);
    // A third is for names, more where what tasks do is short.
    let name =
        longest(|row| &row.name).max(4).min((screen.width * 3 / 10).max(rest.saturating_sub(what)).max(NAME));
    let room = rest.saturating_sub(name).max(WHAT);
    let mut text = String::new();
    let head = Row {
        name: "TASK".to_owned(),
        state: "STATE",
        tries: "TRIES".to_owned(),
        time: "TIME".to_owned(),
        tokens: "TOKENS".to_owned(),
        what: "WHAT".to_owned(),
    };
    for row in std::iter::once(&head).chain(&rows) {
        let mut line = format!("{:<name$}  {:<state$}", middle(&row.name, name), row.state);
        for (width, cell) in [(tries, &row.tries), (time, &row.time), (tokens, &row.tokens)] {
            if width > 0 {
                let _ = write!(line, "  {cell:>width$}");
            }
        }
        let _ = write!(line, "  {}", one_line(&row.what, room));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn row(report: &RunReport, task: &TaskReport, screen: &Screen<'_>) -> Row {
    let time = task_elapsed(task, screen.now);
    // How long a lost attempt ran nobody knows.
    let began = !task.attempts.is_empty() || task.wall_ms.is_some_and(|wall| wall > 0);
    let unknown = !began || (task.state == TaskState::Lost && time.is_zero());
    let live = screen.live.get(&task.address).map_or(0, |activity| activity.usage.fresh_tokens());
    let tokens = task.usage.as_ref().map_or(0, Usage::fresh_tokens) + live;
    Row {
        name: visible(task.address.as_str()).replace('\n', "\\n"),
        state: match task.state {
            TaskState::Failed if task.allowed => "allowed",
            state => state.in_words(!task.never_began()),
        },
        tries: if task.attempts.len() > 1 { task.attempts.len().to_string() } else { String::new() },
        time: if unknown { String::new() } else { format_duration(time) },
        tokens: if tokens > 0 { format_count(tokens) } else { String::new() },
        what: visible(&what(report, task, screen)).into_owned(),
    }
}

/// Why a task ended badly, else what it does; of what became many how its instances stand.
fn what(report: &RunReport, task: &TaskReport, screen: &Screen<'_>) -> String {
    if let Some(instances) = task.instances.as_ref().filter(|all| !all.is_empty()) {
        let own = report.tasks.iter().filter(|one| one.parent.as_ref() == Some(&task.address));
        return counts_of(own.take(instances.len())).in_words();
    }
    if let Some(Activity { turn, doing: Some(doing), .. }) = screen.live.get(&task.address) {
        return format!("turn {turn}: {doing}");
    }
    let why = match task.state {
        TaskState::Completed | TaskState::Created | TaskState::Starting | TaskState::Running => String::new(),
        TaskState::Failed | TaskState::Killed | TaskState::Lost | TaskState::Skipped | TaskState::Blocked => {
            // Its state says that it failed, and there is little room.
            said(task, screen.texts).unwrap_or_else(|| cause_line(task, screen.texts))
        }
    };
    if why.is_empty() { task.description.clone().unwrap_or_default() } else { why }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
