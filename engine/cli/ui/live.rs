//! The live view of a terminal: a line per running task and a status line, redrawn in place; what ended scrolls above.

use std::sync::Arc;
use std::time::Duration;

use flow_core::ids::Address;
use flow_core::text::{format_duration, one_line, visible};
use flow_run::store::RunFolder;
use flow_run::sys::clock;
use flow_run::watch::{Line, RunningTask, Update, View};
use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::watcher::Screen;
use super::words;

/// Rows of running tasks; the rest is counted.
const ROWS: usize = 12;

/// Redraws a second.
const RATE: u8 = 10;

pub(super) struct Live {
    folder: Arc<RunFolder>,
    area: MultiProgress,
    status: ProgressBar,
    rows: IndexMap<Address, ProgressBar>,
}

impl Live {
    pub(super) fn new(folder: Arc<RunFolder>) -> Self {
        let area = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(RATE));
        let status = area.add(bar("{wide_msg}"));
        Live { folder, area, status, rows: IndexMap::new() }
    }

    fn rows(&mut self, view: &View) {
        let gone: Vec<_> =
            self.rows.keys().filter(|task| !view.running.contains_key(*task)).cloned().collect();
        for task in gone {
            if let Some(row) = self.rows.shift_remove(&task) {
                row.finish_and_clear();
                self.area.remove(&row);
            }
        }
        for (task, running) in view.running.iter().take(ROWS) {
            let row = self
                .rows
                .entry(task.clone())
                .or_insert_with(|| self.area.insert_before(&self.status, bar("{spinner} {wide_msg}")));
            row.set_message(describe(task, running));
            row.tick();
        }
    }
}

impl Screen for Live {
    fn show(&mut self, _: &Update, line: Option<&Line>, view: &View) {
        self.rows(view);
        if let Some(line) = line {
            for text in super::plain::lines(line, &self.folder) {
                let _ = self.area.println(styled(&text));
            }
        }
    }

    fn tick(&mut self, view: &View, since: Duration) {
        self.rows(view);
        let hidden = view.running.len().saturating_sub(self.rows.len());
        let more = if hidden > 0 { format!(" · {hidden} more not shown") } else { String::new() };
        self.status.set_message(styled(&format!("{}{more}", words::status(view, since))));
        self.status.tick();
    }

    fn close(&mut self) {
        let _ = self.area.clear();
    }
}

fn bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

fn describe(task: &Address, running: &RunningTask) -> String {
    let since = format_duration(clock::now().since(running.since));
    let mut parts = vec![format!("{:<28} {since:>7}", visible(task.as_str()))];
    if running.attempt.0 > 1 {
        parts.push(format!("attempt {}", running.attempt));
    }
    if running.turn > 0 {
        parts.push(format!("turn {}", running.turn));
    }
    if running.tokens > 0 {
        parts.push(format!("{} tokens", words::count(running.tokens)));
    }
    parts.push(if running.waiting {
        "waits for the provider".to_owned()
    } else {
        one_line(&running.activity, 160)
    });
    visible(&parts.join("  ")).into_owned()
}

/// Colours as the person wants them: what anstream decides for standard error holds here too.
fn styled(text: &str) -> String {
    match anstream::AutoStream::choice(&std::io::stderr()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        _ => text.to_owned(),
    }
}
