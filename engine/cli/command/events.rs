//! `flow events`: the journal and the calls of agents, for people or as they are.

use std::time::Duration;

use flow_core::converse::{LogLine, tool_event};
use flow_core::event::Event;
use flow_core::ids::{Address, Attempt, Millis};
use flow_core::model::{Cause, MergeOutcome};
use flow_core::text::{format_duration, list_some, one_line, visible};
use flow_run::engine::{Engine, Happened};

use crate::args::{EventsArgs, ListHow};
use crate::ui;

/// Between two looks at a live run.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(engine: &Engine, args: &EventsArgs) -> anyhow::Result<u8> {
    let run = engine.find_run(&args.run)?;
    let mut history = run.history();
    let mut began = None;
    loop {
        let alive = run.is_live()?;
        for happened in history.more()? {
            if let Happened::Event(entry) = &happened {
                began = began.or(Some(entry.at));
            }
            show(&happened, args.output, began.unwrap_or(Millis(0)))?;
        }
        if !(args.follow && alive) {
            return Ok(Cause::Success.code());
        }
        std::thread::sleep(LOOK);
    }
}

fn show(happened: &Happened, how: ListHow, began: Millis) -> anyhow::Result<()> {
    match (happened, how) {
        (Happened::Event(entry), ListHow::Json) => ui::print_line(entry),
        (Happened::Call(task, logged), ListHow::Json) => ui::print_line(&tool_event(task, logged)),
        (Happened::Event(entry), ListHow::Text) => {
            ui::print(&line(entry.at, began, words(&entry.event, entry.at)))
        }
        (Happened::Call(task, logged), ListHow::Text) => {
            ui::print(&line(logged.at, began, call_words(task, &logged.line)))
        }
    }
}

/// What is said of a call.
fn call_words<'a>(task: &'a Address, line: &LogLine) -> Words<'a> {
    match line {
        LogLine::ToolCalled { tool, call, .. } => ("tool called", Some(task), format!("{tool} {call}")),
        LogLine::ToolEnded { tool, call, bytes, is_error, .. } => {
            let how = if *is_error { "failed" } else { "ended" };
            ("tool ended", Some(task), format!("{tool} {how}, {bytes} bytes: {call}"))
        }
        LogLine::ToolRefused { tool, call, text, .. } => {
            ("tool refused", Some(task), format!("{tool} {call}: {text}"))
        }
        // No other line is a call.
        _ => ("", Some(task), String::new()),
    }
}

fn line(at: Millis, began: Millis, (word, task, said): Words<'_>) -> String {
    let millis = at.0.saturating_sub(began.0);
    let said = one_line(&said, 160);
    let text = format!(
        "{:>6}.{:03}  {word:<16} {:<24} {}",
        millis / 1000,
        millis % 1000,
        visible(task.map_or("", Address::as_str)),
        visible(&said)
    );
    format!("{}\n", text.trim_end())
}

type Words<'a> = (&'static str, Option<&'a Address>, String);

fn words(event: &Event, at: Millis) -> Words<'_> {
    let number = |attempt: &Attempt| format!("attempt {attempt}");
    let names = |all: &[Address]| list_some(all.iter().map(Address::as_str), 8);
    match event {
        Event::RunStarted { plan, tasks, concurrency, .. } => {
            ("run started", None, format!("{plan}: {} tasks, {concurrency} at once", tasks.len()))
        }
        Event::RunResumed { epoch, lost, reset, given_up } => {
            let lost = if lost.is_empty() { String::new() } else { format!("; lost: {}", names(lost)) };
            let reset = if reset.is_empty() { String::new() } else { format!("; to run: {}", names(reset)) };
            let once = match given_up.as_slice() {
                [] => String::new(),
                given_up => format!("; lost and not run twice: {}", names(given_up)),
            };
            ("run resumed", None, format!("epoch {epoch}{lost}{once}{reset}"))
        }
        Event::TaskExpanded { task, instances } => {
            let keys = list_some(instances.iter().map(|instance| instance.key.as_str()), 8);
            ("task expanded", Some(task), format!("{} instances: {keys}", instances.len()))
        }
        Event::TaskReady { task } => ("task ready", Some(task), String::new()),
        Event::ChildStarted { task, kind, description, .. } => {
            ("child started", Some(task), format!("{}: {description}", kind.info().word))
        }
        Event::AttemptStarting { task, attempt, .. } => ("attempt starting", Some(task), number(attempt)),
        Event::AttemptRunning { task, launch, .. } => {
            ("attempt running", Some(task), launch.description.clone())
        }
        Event::AttemptEnded { task, attempt, outcome } => {
            let reason = outcome.reason.map(|reason| format!(", {}", reason.as_str())).unwrap_or_default();
            let code = outcome.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
            let time = format_duration(Duration::from_millis(outcome.duration_ms));
            ("attempt ended", Some(task), format!("{} after {time}{reason}{code}", number(attempt)))
        }
        Event::TaskRetry { task, attempt, due } => {
            ("task retry", Some(task), format!("{} in {}", number(attempt), format_duration(due.since(at))))
        }
        Event::TaskEnded { task, state, reason, message, allowed } => {
            let reason = reason.map(|reason| format!(" ({})", reason.as_str())).unwrap_or_default();
            let allowed = if *allowed { ", allowed" } else { "" };
            let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
            ("task ended", Some(task), format!("{}{reason}{allowed}{message}", state.as_str()))
        }
        Event::KillRequested { task, reason, force } => {
            let force = if *force { ", at once" } else { "" };
            ("kill requested", task.as_ref(), format!("{}{force}", reason.as_str()))
        }
        Event::WorktreeMade { task, path, branch, .. } => {
            ("worktree made", Some(task), format!("{branch} in {path}"))
        }
        Event::MergeStarted { task, attempt, .. } => ("merge started", Some(task), number(attempt)),
        Event::MergeEnded { task, merge, .. } => {
            let said = match merge {
                None => "not tried".to_owned(),
                Some(merge) if !merge.is_refused() => format!("{} files came home", merge.files.len()),
                Some(MergeOutcome { moved: Some(moved), .. }) => moved.in_words(),
                Some(merge) => {
                    let paths = merge.conflicts.iter().map(|conflict| conflict.path.as_str());
                    format!("conflicts in {}", list_some(paths, 8))
                }
            };
            ("merge ended", Some(task), said)
        }
        Event::WorktreeEnded { task, kept, .. } => {
            ("worktree ended", Some(task), if *kept { "kept" } else { "removed" }.to_owned())
        }
        Event::ProviderParked { provider, until, reason } => (
            "provider parked",
            None,
            format!("{provider} for {}: {reason}", format_duration(until.since(at))),
        ),
        Event::RunEnded { status, exit, message, .. } => {
            let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
            ("run ended", None, format!("{}, exit code {exit}{message}", status.as_str()))
        }
    }
}
