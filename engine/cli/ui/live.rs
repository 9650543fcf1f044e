//! The live view of a terminal: a line per running task and a status line, redrawn in place; what ended scrolls above.
//!
//! 1. No drawn line is longer than the terminal is wide, and all of them together leave room for one line that scrolls.
//! 2. All of it is drawn at once, on every tick and only then, so that nothing flickers and no task shows twice.

use std::sync::Arc;
use std::time::Duration;

use console::Term;
use flow_core::ids::Address;
use flow_core::text::{format_tokens, one_line, visible};
use flow_run::store::RunFolder;
use flow_run::sys::clock;
use flow_run::watch::{Line, RunningTask, Update, View};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::watcher::Screen;
use super::words;

/// Rows of running tasks; the rest is counted.
const ROWS: usize = 12;

/// Redraws a second.
const RATE: u8 = 20;

/// Lines that may wait for the next tick; a run that says more scrolls at once.
const WAITING: usize = 200;

/// One turn of the sign that something runs.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

pub(super) struct Live {
    folder: Arc<RunFolder>,
    area: ProgressBar,
    scrolls: Vec<String>,
}

impl Live {
    pub(super) fn new(folder: Arc<RunFolder>) -> Self {
        let area =
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(RATE)).with_style(style());
        Live { folder, area, scrolls: Vec::new() }
    }

    fn scroll(&mut self) {
        if !self.scrolls.is_empty() {
            self.area.println(styled(&self.scrolls.join("\n")));
            self.scrolls.clear();
        }
    }
}

impl Screen for Live {
    fn show(&mut self, _: &Update, line: Option<&Line>, _: &View) {
        let Some(line) = line else { return };
        let (_, columns) = size();
        self.scrolls.extend(super::plain::lines(line, &self.folder, columns));
        if self.scrolls.len() > WAITING {
            self.scroll();
        }
    }

    fn tick(&mut self, view: &View, since: Duration) {
        let (lines, columns) = size();
        self.area.set_message(styled(&area(view, since, lines, columns)));
        self.scroll();
    }

    fn close(&mut self) {
        self.area.set_message("");
        self.scroll();
        self.area.finish_and_clear();
    }
}

/// Lines and columns of the terminal.
fn size() -> (usize, usize) {
    let (lines, columns) = Term::stderr().size_checked().unwrap_or((24, 80));
    (usize::from(lines), usize::from(columns))
}

fn style() -> ProgressStyle {
    // A template without a fault never falls back.
    ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// What is drawn in place.
fn area(view: &View, since: Duration, lines: usize, columns: usize) -> String {
    let most = ROWS.min(lines.saturating_sub(3)).max(1);
    let frame = FRAMES[usize::try_from(since.as_millis() / 100).unwrap_or(0) % FRAMES.len()];
    let shown: Vec<_> = view.running.iter().take(most).collect();
    let names = shown.iter().map(|(task, _)| visible(task.as_str()).chars().count()).max().unwrap_or(0);
    // At least as wide as in the lines that stay, at most half the terminal.
    let width = names.clamp(words::ADDRESS, words::ADDRESS.max(columns / 2));
    let mut text: Vec<String> =
        shown.iter().map(|(task, running)| format!("{frame} {}", describe(task, running, width))).collect();
    let hidden = view.running.len() - shown.len();
    let more = if hidden > 0 { format!(" · {hidden} more not shown") } else { String::new() };
    text.push(format!("{}{more}", words::status(view, since)));
    // The last column stays free: some terminals wrap when it is written.
    let room = columns.saturating_sub(1);
    text.iter().map(|line| console::truncate_str(line, room, "…")).collect::<Vec<_>>().join("\n")
}

fn describe(task: &Address, running: &RunningTask, width: usize) -> String {
    let since = words::clock(clock::now().since(running.since));
    let name = one_line(&visible(task.as_str()), width);
    let mut parts = vec![format!("{name:<width$} {since:>7}")];
    if running.attempt.0 > 1 {
        parts.push(format!("attempt {}", running.attempt));
    }
    if running.turn > 0 {
        parts.push(format!("turn {}", running.turn));
    }
    if !running.spent.is_none() {
        parts.push(format_tokens(running.spent.fresh, running.spent.cached));
    }
    parts.push(if running.waiting {
        "waits for the provider".to_owned()
    } else {
        one_line(&visible(&running.activity), 160)
    });
    parts.join("  ")
}

/// Colours as the person wants them: what anstream decides for standard error holds here too.
fn styled(text: &str) -> String {
    match anstream::AutoStream::choice(&std::io::stderr()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
