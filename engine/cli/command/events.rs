//! `flow events`: the journal and the calls of agents, for people or as they are.

use std::time::Duration;

use flow_core::converse::{LogLine, tool_event};
use flow_core::event::EventWords;
use flow_core::ids::{Address, Millis};
use flow_core::model::Cause;
use flow_core::text::{one_line, visible};
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
            ui::print(&line(entry.at, began, entry.event.in_words(entry.at)))
        }
        (Happened::Call(task, logged), ListHow::Text) => {
            ui::print(&line(logged.at, began, call_words(task, &logged.line)))
        }
    }
}

/// What is said of a call.
fn call_words<'a>(task: &'a Address, line: &LogLine) -> EventWords<'a> {
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

fn line(at: Millis, began: Millis, (word, task, said): EventWords<'_>) -> String {
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
