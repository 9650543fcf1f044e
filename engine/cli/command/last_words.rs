//! `flow logs --failed`: the last words and calls of what did not go well, and why it ended.

use std::io;

use flow_core::converse::{LogLine, Teller, last_words};
use flow_core::model::{Cause, OutputSlice, TaskState};
use flow_core::report::TaskReport;
use flow_core::text::shown_line;
use flow_run::engine::Run;

use super::conversation::end_of;
use crate::exit::Failure;
use crate::ui;

/// Lines of what a command printed that are shown.
const TAIL: usize = 20;

/// The longest of them.
const WIDTH: usize = 400;

/// Refusals that are shown beside the last calls.
const REFUSALS: usize = 8;

/// Whether something about a task needs an explanation.
pub(super) fn tells(task: &TaskReport) -> bool {
    let bad = match task.state {
        TaskState::Failed | TaskState::Lost => true,
        TaskState::Killed => !task.attempts.is_empty(),
        TaskState::Completed => !task.denials.is_empty(),
        TaskState::Created
        | TaskState::Starting
        | TaskState::Running
        | TaskState::Skipped
        | TaskState::Blocked => false,
    };
    // What became many says nothing that its instances don't.
    bad && task.counts_itself()
}

/// Shows those of the tasks.
pub(super) fn show(run: &Run, tasks: &[&TaskReport]) -> anyhow::Result<()> {
    let mut any = false;
    for task in tasks.iter().filter(|task| tells(task)) {
        any = true;
        let text = of_task(run, task).map_err(|error| {
            Failure::new(Cause::Io, format!("can't show the output of `{}`: {error}", task.address))
        })?;
        ui::print(&format!("==> {} <==\n{text}", task.address))?;
    }
    if !any {
        ui::note(&format!("nothing of run {} failed or was refused", run.id()));
    }
    Ok(())
}

fn of_task(run: &Run, task: &TaskReport) -> io::Result<String> {
    let lines = run.conversation(&task.address)?;
    let mut text = String::new();
    if let Some(slice) = printed(task) {
        let tail = run.tail(slice, TAIL)?;
        for line in String::from_utf8_lossy(&tail).lines() {
            text.push_str(&format!("{}\n", shown_line(line, WIDTH)));
        }
    }
    let mut last = match task.state {
        TaskState::Completed => lines.iter().filter(|line| is_refusal(line)).cloned().collect(),
        _ => last_words(&lines),
    };
    last.retain(|line| !matches!(line, LogLine::Ended { .. }));
    // The task's own end says it too.
    if let Some(LogLine::RequestEnded { error: Some(error), .. }) = last.last()
        && task.message.as_ref().is_some_and(|message| message.contains(error))
    {
        last.pop();
    }
    let earlier = lines.iter().filter(|line| is_refusal(line) && !last.contains(line)).take(REFUSALS);
    let mut teller = Teller::default();
    let told = earlier.chain(&last).map(|line| teller.line(line)).collect::<String>();
    Ok(told + &text + &end_of(task))
}

fn is_refusal(line: &LogLine) -> bool {
    matches!(line, LogLine::ToolRefused { .. })
}

/// What the last attempt printed, if it did not go well: the stream that says most.
fn printed(task: &TaskReport) -> Option<&OutputSlice> {
    let last = task.attempts.last().filter(|_| task.state != TaskState::Completed)?;
    [&last.stderr, &last.stdout].into_iter().flatten().find(|slice| slice.len > 0)
}
