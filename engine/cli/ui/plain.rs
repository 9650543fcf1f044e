//! Lines for logs and pipes.

use std::io::Write;
use std::time::Duration;

use anstyle::Style;
use flow_core::converse::tool_event;
use flow_core::model::TaskState;
use flow_core::text::{shown_line, visible};
use flow_run::engine::Run;
use flow_run::watch::{Line, Progress, Update, View, telling_output};

use super::watcher::Screen;
use super::words::{self, Names};

const FAINT: Style = Style::new().dimmed();

/// The last lines of a failed command that are shown at once.
const TAIL: usize = 10;

/// The longest line of output where there is no terminal to fit it to.
const WIDTH: usize = 400;

/// What stands before a line of output.
const MARGIN: usize = 10;

/// How long nothing may be said while something runs.
const SILENCE: Duration = Duration::from_secs(30);

/// A line per event.
pub(super) struct Plain {
    run: Run,
    verbose: bool,
    spoke: Duration,
}

impl Plain {
    /// `verbose`: starts and tool calls too.
    pub(super) fn new(run: Run, verbose: bool) -> Self {
        Plain { run, verbose, spoke: Duration::ZERO }
    }
}

impl Screen for Plain {
    fn show(&mut self, update: &Update, line: Option<&Line>, _: &View) {
        let mut out = anstream::stderr().lock();
        if let Some(text) = words::activity(update, Names::Whole).filter(|_| self.verbose) {
            let _ = writeln!(out, "{text}");
        }
        let Some(line) = line else { return };
        for text in lines(line, &self.run, WIDTH, Names::Whole) {
            let _ = writeln!(out, "{text}");
        }
    }

    fn tick(&mut self, view: &View, since: Duration) {
        if since.saturating_sub(self.spoke) < SILENCE || view.running.is_empty() {
            return;
        }
        self.spoke = since;
        let mut out = anstream::stderr().lock();
        let _ = writeln!(out, "{FAINT}{:<7}{FAINT:#} {}", "...", words::status(view, since, true));
        for (task, running) in view.running.iter().take(TAIL) {
            let activity = flow_core::text::one_line(&running.activity, 60);
            let _ = writeln!(
                out,
                "{FAINT}{:<7} {:<28} {}{FAINT:#}",
                "",
                words::name(task.as_str()),
                visible(&activity)
            );
        }
    }

    fn close(&mut self, _: &View) {}
}

/// What stays of a line: itself, and the last output of a command that failed, its lines cut to `width` columns.
pub(super) fn lines(line: &Line, run: &Run, width: usize, names: Names) -> Vec<String> {
    let mut all = vec![words::line(line, names)];
    all.retain(|text| !text.is_empty());
    let failed = match line {
        // Whoever stopped the run knows why these ended.
        Line::Ended { reason: Some(reason), .. } if reason.is_deliberate() => None,
        Line::Ended { state: TaskState::Failed | TaskState::Killed, outcome, .. } => outcome.as_deref(),
        Line::Retry { outcome, .. } => outcome.as_deref(),
        Line::Ended { .. }
        | Line::Parked { .. }
        | Line::Note { .. }
        | Line::Stopping { .. }
        | Line::Finished { .. } => None,
    };
    if let Some(slice) = failed.and_then(telling_output) {
        let tail = run.tail(slice, TAIL).unwrap_or_default();
        let tail = String::from_utf8_lossy(&tail);
        let room = width.saturating_sub(MARGIN);
        all.extend(
            tail.lines().map(|text| format!("{FAINT}{:<7} | {}{FAINT:#}", "", shown_line(text, room))),
        );
    }
    all
}

/// Every event as a line of JSON on standard output: what stands in the journal, and the calls of agents.
#[derive(Default)]
pub(super) struct JsonLines {
    closed: bool,
}

impl Screen for JsonLines {
    fn show(&mut self, update: &Update, line: Option<&Line>, _: &View) {
        // No event says it.
        if let Some(Line::Note { text }) = line {
            super::note(text);
        }
        let line = match update {
            Update::Event(entry) => serde_json::to_string(&**entry).ok(),
            Update::Progress(task, Progress::Logged(logged)) => {
                tool_event(task, logged).map(|event| event.to_string())
            }
            Update::Progress(..) | Update::Output { .. } | Update::Note(_) => None,
        };
        if let (Some(line), false) = (line, self.closed) {
            // The reader has gone; the run goes on.
            self.closed = std::io::stdout().lock().write_all((line + "\n").as_bytes()).is_err();
        }
    }

    fn tick(&mut self, _: &View, _: Duration) {
        let _ = std::io::stdout().flush();
    }

    fn close(&mut self, _: &View) {
        let _ = std::io::stdout().flush();
    }
}
