//! The live view of a terminal: a row per running task and a status line, redrawn in place; what ended scrolls above.
//!
//! 1. No drawn line is longer than the terminal is wide, and all of them together leave room for lines that scroll.
//! 2. All of it is drawn at once, on every tick and only then, so that nothing flickers and no task shows twice.
//! 3. Of a task that became many, an instance has a line of its own only when it ended badly; the others are counted.

use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

use console::Term;
use flow_core::ids::Address;
use flow_core::model::TaskState;
use flow_core::text::visible;
use flow_run::engine::{Run, now};
use flow_run::watch::{Line, Update, View};

use super::layout::{self, Frame};
use super::redraw::Redraw;
use super::watcher::Screen;
use super::words::{self, Names};

/// Lines that may wait for the next tick; a run that says more scrolls at once.
const WAITING: usize = 200;

/// A task that became more than so many leaves one line for all that ended well.
const MANY: usize = 10;

/// How many tasks that were not run are named.
const NAMED: usize = 4;

pub(super) struct Live {
    run: Run,
    verbose: bool,
    ours: bool,
    screen: Redraw,
    /// What was drawn last.
    area: Vec<String>,
    scrolls: Vec<String>,
    /// Tasks that ended before they began since the last tick.
    not_run: Vec<Address>,
    /// Models and reasons of waits that were said.
    parked: HashSet<(String, String)>,
}

impl Live {
    /// `verbose`: starts and tool calls scroll above. `ours`: Ctrl-C ends the run.
    pub(super) fn new(run: Run, verbose: bool, ours: bool) -> Self {
        Live {
            run,
            verbose,
            ours,
            screen: Redraw::default(),
            area: Vec::new(),
            scrolls: Vec::new(),
            not_run: Vec::new(),
            parked: HashSet::new(),
        }
    }

    /// What is said of a line, and how; `None`: nothing.
    fn said(&mut self, line: &Line, view: &View, columns: usize) -> Option<Vec<String>> {
        let names = Names::Fitted(layout::name_width(view, columns));
        match line {
            Line::Ended { task, state, allowed, parent: true, .. } => {
                if let Some(group) = view.groups.get(task).filter(|group| group.instances > MANY) {
                    return Some(vec![words::group(task, (*state, *allowed), group, names)]);
                }
            }
            Line::Ended { task, state: TaskState::Killed, outcome: None, .. } => {
                if view.group_of(task).is_none() {
                    self.not_run.push(task.clone());
                }
                return None;
            }
            Line::Ended { task, state, .. } => {
                // Of what was stopped, what was stopped alone; of what failed, also what may.
                let bad = state.is_failure(false) || state.is_bad(false) && view.stopping.is_none();
                let many = view.group_of(task).is_some_and(|(_, group)| group.instances > MANY);
                if many && !bad && !self.verbose {
                    return None;
                }
            }
            Line::Parked { provider, reason, .. } => {
                if !self.parked.insert((provider.clone(), reason.clone())) && !self.verbose {
                    return None;
                }
            }
            // What is drawn says it.
            Line::Stopping { .. } => return None,
            Line::Retry { .. } | Line::Note { .. } | Line::Finished { .. } => {}
        }
        // The last column stays free.
        Some(super::plain::lines(line, &self.run, columns.saturating_sub(1), names))
    }

    fn say_not_run(&mut self, names: Names) {
        if self.not_run.len() <= NAMED {
            self.scrolls.extend(self.not_run.iter().map(|task| words::not_run(task.as_str(), names)));
        } else {
            let named = self.not_run.iter().take(NAMED).map(Address::as_str).collect::<Vec<_>>().join(", ");
            let text = format!("{named} and {} more", self.not_run.len() - NAMED);
            self.scrolls.push(words::not_run(&visible(&text), Names::Whole));
        }
        self.not_run.clear();
    }

    fn draw(&mut self, columns: usize) {
        let above = std::mem::take(&mut self.scrolls);
        let text = self.screen.frame(&above, &self.area, columns);
        // Nobody can be told that standard error is gone.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

impl Screen for Live {
    fn show(&mut self, update: &Update, line: Option<&Line>, view: &View) {
        let (_, columns) = size();
        let names = Names::Fitted(layout::name_width(view, columns));
        if let Some(text) = words::activity(update, names).filter(|_| self.verbose) {
            let text = console::truncate_str(&text, columns.saturating_sub(1), "…");
            self.scrolls.push(styled(&text));
        }
        let said = line.and_then(|line| self.said(line, view, columns));
        let said = said.into_iter().flatten().flat_map(|line| layout::folded(&line, columns));
        self.scrolls.extend(said.map(|line| styled(&line)));
        if self.scrolls.len() > WAITING {
            self.draw(columns);
        }
    }

    fn tick(&mut self, view: &View, since: Duration) {
        let (lines, columns) = size();
        self.say_not_run(Names::Fitted(layout::name_width(view, columns)));
        let frame = Frame { lines, columns, now: now(), since, ours: self.ours };
        self.area = layout::area(view, &frame).iter().map(|line| styled(line)).collect();
        self.draw(columns);
    }

    fn close(&mut self, view: &View) {
        let (_, columns) = size();
        self.say_not_run(Names::Fitted(layout::name_width(view, columns)));
        self.area.clear();
        self.draw(columns);
    }
}

/// Lines and columns of the terminal.
fn size() -> (usize, usize) {
    let (lines, columns) = Term::stderr().size_checked().unwrap_or((24, 80));
    (usize::from(lines), usize::from(columns))
}

/// Colours as the person wants them: what anstream decides for standard error holds here too.
fn styled(text: &str) -> String {
    match anstream::AutoStream::choice(&std::io::stderr()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        _ => text.to_owned(),
    }
}
