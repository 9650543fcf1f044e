//! The tasks in the report for people: a row each, what became many in one, its instances folded below.

use std::fmt::Write as _;
use std::time::Duration;

use super::brief::cause;
use super::markdown::{cell, plain, short};
use super::run_report::{RunReport, TaskReport, counts_of};
use crate::ids::Address;
use crate::model::{TaskState, Usage};
use crate::text::{escape_xml, format_count, format_duration};

/// Rows of a table; the rest is counted.
const ROWS: usize = 200;

/// The longest description, in characters.
const WHAT: usize = 60;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

/// A row of the table.
struct Row<'a> {
    task: &'a TaskReport,
    state: String,
    /// Agent and model, where all instances have the same.
    agent: Option<(&'a str, &'a str)>,
    usage: Usage,
    time: Option<Duration>,
}

pub(super) fn tasks(out: &mut String, report: &RunReport) {
    if report.tasks.is_empty() {
        return;
    }
    let rows: Vec<Row<'_>> = report
        .tasks
        .iter()
        .filter(|task| task.parent.is_none())
        .map(|task| match task.instances.as_deref() {
            Some(instances) => Row::of_many(task, &of(report, instances)),
            None => Row::of_one(task),
        })
        .collect();
    let columns = Columns::of(&rows);
    let _ = writeln!(out, "\n{}", columns.table(&rows));
    for task in &report.tasks {
        let Some(addresses) = task.instances.as_deref().filter(|all| !all.is_empty()) else { continue };
        let instances: Vec<Row<'_>> = of(report, addresses).into_iter().map(Row::of_one).collect();
        let name = escape_xml(task.address.as_str());
        let _ = writeln!(
            out,
            "\n<details><summary><code>{name}</code>: {}</summary>\n\n{}\n\n</details>",
            many(instances.len()),
            columns.table(&instances)
        );
    }
}

fn of<'a>(report: &'a RunReport, addresses: &[Address]) -> Vec<&'a TaskReport> {
    let Some(first) = addresses.first() else { return Vec::new() };
    // They stand behind each other.
    let at = report.tasks.iter().position(|task| task.address == *first);
    at.map(|at| report.tasks[at..].iter().take(addresses.len()).collect()).unwrap_or_default()
}

fn many(count: usize) -> String {
    if count == 1 { "1 instance".to_owned() } else { format!("{count} instances") }
}

impl<'a> Row<'a> {
    fn of_one(task: &'a TaskReport) -> Self {
        let launch = task.launches.last().map(|launch| launch.launch);
        let tries = task.attempts.iter().filter(|attempt| Some(attempt.launch) == launch).count();
        let tries = if tries > 1 { format!(", {tries} attempts") } else { String::new() };
        Row {
            task,
            state: format!("{}{tries}", state(task)),
            agent: task.agent.as_ref().map(|agent| (agent.name.as_str(), agent.model.as_str())),
            usage: task.usage.clone().unwrap_or_default(),
            time: (!task.attempts.is_empty()).then(|| Duration::from_millis(task.duration_ms)),
        }
    }

    fn of_many(task: &'a TaskReport, instances: &[&'a TaskReport]) -> Self {
        let mut usage = task.usage.clone().unwrap_or_default();
        instances.iter().filter_map(|one| one.usage.as_ref()).for_each(|one| usage += one);
        let agent = |task: &&'a TaskReport| {
            task.agent.as_ref().map(|agent| (agent.name.as_str(), agent.model.as_str()))
        };
        let first = instances.iter().find_map(agent);
        let own = instances.iter().filter_map(agent).all(|one| Some(one) == first);
        let counts = counts_of(instances.iter().copied());
        let counts = if instances.is_empty() { "0 instances".to_owned() } else { counts.in_words() };
        let word = match task.state {
            TaskState::Completed if counts.starts_with(&instances.len().to_string()) => String::new(),
            _ => format!("{}: ", state_word(task)),
        };
        Row {
            task,
            state: format!("{word}{counts}"),
            agent: first.filter(|_| own),
            usage,
            time: task.wall_ms.filter(|_| !instances.is_empty()).map(Duration::from_millis),
        }
    }
}

/// Which columns have something to say.
struct Columns {
    agents: bool,
    cached: bool,
}

impl Columns {
    fn of(rows: &[Row<'_>]) -> Self {
        Columns {
            agents: rows.iter().any(|row| row.agent.is_some() || row.usage.turns > 0),
            cached: rows.iter().any(|row| row.usage.cache_read_tokens > 0),
        }
    }

    fn table(&self, rows: &[Row<'_>]) -> String {
        let (mut head, mut rule) = ("| task | state |".to_owned(), "|---|---|".to_owned());
        if self.agents {
            head.push_str(" agent | model | tokens |");
            rule.push_str("---|---|---:|");
        }
        if self.cached {
            head.push_str(" cached |");
            rule.push_str("---:|");
        }
        let mut text = format!("{head} time | what |\n{rule}---:|---|\n");
        for row in rows.iter().take(ROWS) {
            let _ = write!(text, "| {} | {} |", cell(row.task.address.as_str()), row.state);
            let tokens = |count: u64| if row.usage.turns == 0 { String::new() } else { format_count(count) };
            if self.agents {
                let (agent, model) =
                    row.agent.map(|(agent, model)| (plain(agent), plain(model))).unwrap_or_default();
                let _ = write!(text, " {agent} | {model} | {} |", tokens(row.usage.fresh_tokens()));
            }
            if self.cached {
                let _ = write!(text, " {} |", tokens(row.usage.cache_read_tokens));
            }
            let what = row.task.description.as_deref().map(|what| short(what, WHAT)).unwrap_or_default();
            let time = row.time.map(format_duration).unwrap_or_default();
            let _ = writeln!(text, " {time} | {what} |");
        }
        let more = rows.len().saturating_sub(ROWS);
        if more > 0 {
            let _ = write!(text, "\nand {more} more");
        }
        text.trim_end().to_owned()
    }
}

/// How a task stands and why, in a few words.
pub(super) fn state(task: &TaskReport) -> String {
    let word = state_word(task);
    let why = why(task);
    match task.state {
        _ if why.is_empty() => word,
        TaskState::Blocked => format!("{word} {why}"),
        _ => format!("{word}: {why}"),
    }
}

fn state_word(task: &TaskReport) -> String {
    match task.state {
        TaskState::Failed if task.allowed => "failed, allowed".to_owned(),
        TaskState::Failed | TaskState::Lost => format!("**{}**", task.state.as_str()),
        state => state.in_words(!task.never_began()).to_owned(),
    }
}

/// Why a task did not end well: an exit code, a signal or the reason.
pub(super) fn why(task: &TaskReport) -> String {
    plain(&cause(task))
}
