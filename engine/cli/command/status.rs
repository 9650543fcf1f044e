//! `flow status`: one run.

use std::fmt::Write;
use std::time::Duration;

use flow_core::ids::Millis;
use flow_core::model::{RunStatus, TaskState};
use flow_core::report::{RunReport, TaskReport};
use flow_core::text::{format_duration, one_line, visible};
use flow_run::sys::clock;
use serde_json::{Value, json};

use super::{reconcile, report};
use crate::args::{ListHow, StatusArgs};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui;

pub(super) fn run(session: &Session, args: &StatusArgs) -> anyhow::Result<u8> {
    let folder = session.find_run(&args.run)?;
    reconcile::one(session, &folder);
    let report = report::fold(&folder)?;
    let now = clock::now();
    match args.output {
        ListHow::Json => {
            let mut value = as_json(&report, now);
            value["dir"] = folder.path().display().to_string().into();
            ui::print_json(&value)?;
        }
        ListHow::Text => ui::print(&as_text(&report, now))?,
    }
    Ok(Exit::Success.code())
}

/// The time of the run: up to now while it lives, else what its engines were at work.
fn elapsed(report: &RunReport, now: Millis) -> Duration {
    match report.status {
        RunStatus::Running => now.since(report.started),
        RunStatus::Completed | RunStatus::Failed | RunStatus::Killed | RunStatus::Lost => {
            Duration::from_millis(report.duration_ms)
        }
    }
}

fn is_running(task: &TaskReport) -> bool {
    task.instances.is_none() && matches!(task.state, TaskState::Starting | TaskState::Running)
}

/// The time of a task: of the live attempt up to now, else of those that ended.
fn task_elapsed(task: &TaskReport, now: Millis) -> Duration {
    match task.attempts.last().filter(|attempt| is_running(task) && attempt.end.is_none()) {
        Some(attempt) => now.since(attempt.started),
        None => Duration::from_millis(task.duration_ms),
    }
}

fn tokens(task: &TaskReport) -> u64 {
    task.usage.as_ref().map_or(0, flow_core::model::Usage::total_tokens)
}

fn as_json(report: &RunReport, now: Millis) -> Value {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let tasks: Vec<Value> = report
        .tasks
        .iter()
        .map(|task| {
            json!({
                "address": task.address,
                "state": task.state,
                "reason": task.reason,
                "message": task.message,
                "allowed": task.allowed,
                "attempts": task.attempts.len(),
                "elapsed_ms": millis(task_elapsed(task, now)),
                "tokens": tokens(task),
                "description": task.description,
            })
        })
        .collect();
    let running = report.tasks.iter().filter(|task| is_running(task));
    json!({
        "run": report.run,
        "plan": report.plan,
        "status": report.status,
        "exit": report.exit,
        "epoch": report.epoch,
        "started": report.started,
        "ended": report.ended,
        "elapsed_ms": millis(elapsed(report, now)),
        "counts": report.counts,
        "total_tokens": report.total_tokens,
        "running": running.map(|task| &task.address).collect::<Vec<_>>(),
        "tasks": tasks,
    })
}

fn as_text(report: &RunReport, now: Millis) -> String {
    let time = elapsed(report, now);
    // How long a run lived whose engine died at once nobody knows.
    let unknown = report.status == RunStatus::Lost && time.is_zero();
    let time = if unknown { String::new() } else { format!(", {}", format_duration(time)) };
    let mut text = format!(
        "run {} of {}: {}{time}\n{}",
        report.run,
        visible(&one_line(&report.plan, 60)),
        report.status.as_str(),
        report.counts.in_words(),
    );
    if report.total_tokens > 0 {
        let _ = write!(text, "; {} tokens", report.total_tokens);
    }
    text.push('\n');
    let _ = writeln!(text);
    text.push_str(&table(&report.tasks, now, ui::width()));
    text
}

/// `width`: of the terminal. What a task does takes what the others leave.
fn table(tasks: &[TaskReport], now: Millis, width: Option<usize>) -> String {
    let state_of = |task: &TaskReport| match task.reason {
        Some(reason) => format!("{} ({})", task.state.as_str(), reason.as_str()),
        None => task.state.as_str().to_owned(),
    };
    let names = tasks.iter().map(|task| task.address.as_str().chars().count());
    let name = names.max().unwrap_or(0).clamp(4, 40);
    let state = tasks.iter().map(|task| state_of(task).len()).max().unwrap_or(0).max(5);
    let room = width.map_or(60, |width| width.saturating_sub(name + state + 20).clamp(20, 60));
    let mut text = format!("{:<name$}  {:<state$} {:>5} {:>8}  WHAT\n", "TASK", "STATE", "TRIES", "TIME");
    for task in tasks {
        let tries = if task.attempts.is_empty() { String::new() } else { task.attempts.len().to_string() };
        let time = task_elapsed(task, now);
        // How long a lost attempt ran nobody knows.
        let unknown = task.attempts.is_empty() || (task.state == TaskState::Lost && time.is_zero());
        let line = format!(
            "{:<name$}  {:<state$} {tries:>5} {:>8}  {}",
            visible(task.address.as_str()),
            state_of(task),
            if unknown { String::new() } else { format_duration(time) },
            visible(&one_line(task.description.as_deref().unwrap_or_default(), room))
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
