//! The views of CI jobs: nothing on success, the last output of what failed, and for GitHub Actions groups around it.

use std::io::Write;
use std::time::Duration;

use flow_core::model::Outcome;
use flow_core::text::shown_line;
use flow_run::engine::Run;
use flow_run::watch::{Line, Update, View, telling_output};

use super::watcher::Screen;
use super::words;

/// The last lines of a failed task.
const TAIL: usize = 40;

/// How long nothing may be said while something runs: whoever watches a job wants to know that it lives.
const SILENCE: Duration = Duration::from_secs(60);

/// The running tasks that a sign of life names.
const NAMED: usize = 4;

/// Failures only.
pub(super) struct Ci {
    run: Run,
    groups: bool,
    silence: Silence,
}

impl Ci {
    /// `groups`: GitHub Actions folds what stands between two of its commands.
    pub(super) fn new(run: Run, groups: bool) -> Self {
        Ci { run, groups, silence: Silence::default() }
    }

    fn output(&self, outcome: &Outcome) -> Vec<String> {
        let Some(slice) = telling_output(outcome).or(outcome.text.as_ref()) else { return Vec::new() };
        let tail = self.run.tail(slice, TAIL).unwrap_or_default();
        // Behind the bar no line of a task is a command of the CI system.
        let line = |text: &str| format!("        | {}", shown_line(text, 400).replace("##[", "# # ["));
        String::from_utf8_lossy(&tail).lines().map(line).collect()
    }
}

impl Screen for Ci {
    fn show(&mut self, _: &Update, line: Option<&Line>, _: &View) {
        let Some(line) = line.filter(|line| is_worth_it(line)) else { return };
        let said = words::line(line, words::Names::Whole);
        if said.is_empty() {
            return;
        }
        let outcome = match line {
            Line::Ended { outcome, .. } | Line::Retry { outcome, .. } => outcome.as_deref(),
            Line::Parked { .. } | Line::Note { .. } | Line::Stopping { .. } | Line::Finished { .. } => None,
        };
        let output = outcome.map(|outcome| self.output(outcome)).unwrap_or_default();
        self.silence.is_broken();
        let mut out = anstream::stderr().lock();
        let (open, close) = match self.groups && !output.is_empty() {
            true => ("::group::", "::endgroup::\n"),
            false => ("", ""),
        };
        let _ = writeln!(out, "{open}{said}");
        for text in output {
            let _ = writeln!(out, "{text}");
        }
        let _ = write!(out, "{close}");
    }

    fn tick(&mut self, view: &View, since: Duration) {
        if view.running.is_empty() || !self.silence.is_too_long(since) {
            return;
        }
        let mut out = anstream::stderr().lock();
        let _ = writeln!(out, "{}", sign_of_life(view, since));
    }

    fn close(&mut self, _: &View) {}
}

/// Since when nothing has been said.
#[derive(Default)]
struct Silence {
    spoke: Duration,
    /// Whether something was said after the last look at the clock.
    broken: bool,
}

impl Silence {
    fn is_broken(&mut self) {
        self.broken = true;
    }

    /// Whether it is time to say something; then a new silence begins.
    fn is_too_long(&mut self, now: Duration) -> bool {
        let too_long = now.saturating_sub(self.spoke) >= SILENCE;
        if too_long || std::mem::take(&mut self.broken) {
            self.spoke = now;
        }
        too_long
    }
}

/// How far the run is, and what it is at.
fn sign_of_life(view: &View, since: Duration) -> String {
    let names: Vec<String> = view.running.keys().take(NAMED).map(|task| words::name(task.as_str())).collect();
    let more = match view.running.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("...     {}: {}{more}", words::status(view, since, true), names.join(", "))
}

/// What a person who reads a log of hundreds of jobs wants to see.
fn is_worth_it(line: &Line) -> bool {
    match line {
        Line::Ended { state, allowed, parent, .. } => state.is_bad(*allowed) && !parent,
        Line::Retry { .. } | Line::Parked { .. } => false,
        Line::Note { .. } | Line::Stopping { .. } | Line::Finished { .. } => true,
    }
}

#[cfg(test)]
#[path = "ci_tests.rs"]
mod tests;
