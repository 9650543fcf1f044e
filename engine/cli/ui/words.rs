//! The lines of a run, with style; the live and the plain view print the same ones.

use std::fmt::Write;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use flow_core::event::Event;
use flow_core::ids::Address;
use flow_core::model::{Counts, Outcome, Reason, RunStatus, TaskState};
use flow_core::text::{format_duration, format_tokens, middle, one_line, visible};
use flow_run::watch::{Group, Line, Progress, Update, View};

pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const ODD: Style = AnsiColor::Yellow.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();

/// Columns for the word that a line begins with.
pub const SIGN: usize = 7;

/// Columns for the address in plain lines.
const ADDRESS: usize = 28;

/// How a line writes the name of its task.
#[derive(Clone, Copy, Debug)]
pub enum Names {
    /// Whole, whatever that does to the columns behind it.
    Whole,
    /// In exactly so many columns, where there is a screen to fit.
    Fitted(usize),
}

impl Names {
    fn write(self, name: &str) -> String {
        match self {
            Names::Whole => format!("{:<ADDRESS$}", self::name(name)),
            Names::Fitted(width) => fitted(name, width),
        }
    }
}

/// A name on one line, whatever stands in it: a line that it began would be another's.
pub fn name(name: &str) -> String {
    visible(name).replace('\n', "\\n")
}

/// A name in exactly `width` columns: a longer one loses its middle.
pub fn fitted(name: &str, width: usize) -> String {
    let name = middle(&self::name(name), width);
    console::pad_str(&name, width, console::Alignment::Left, None).into_owned()
}

/// A line that stays; empty when there is nothing to say.
pub fn line(line: &Line, names: Names) -> String {
    match line {
        Line::Ended { parent: true, state: TaskState::Completed, .. } => String::new(),
        // Whoever selected tasks knows that the others don't run.
        Line::Ended { reason: Some(Reason::NotSelected), .. } => String::new(),
        Line::Ended { task, state, reason, allowed, outcome, message, parent } => {
            let (sign, style) = sign(*state, *allowed, outcome.is_some() || *parent);
            let said = outcome.as_ref().and_then(|outcome| outcome.message.as_deref()).or(message.as_deref());
            // The sign says the first word.
            let said = said.map(|said| said.strip_prefix("blocked ").unwrap_or(said));
            let mut text = format!("{style}{sign:<SIGN$}{style:#} {}", names.write(task.as_str()));
            let took =
                outcome.as_ref().map(|outcome| format_duration(Duration::from_millis(outcome.duration_ms)));
            let _ = write!(text, " {:>7}", took.unwrap_or_default());
            if let Some(outcome) = outcome {
                text.push_str(&spent(outcome));
                text.push_str(&left_out(outcome));
            }
            // What became its instances says how many; who was stopped knows why.
            let shown = reason.filter(|reason| !parent && *reason != Reason::Cancelled);
            if *state != TaskState::Completed {
                text.push_str(&why(shown, outcome.as_deref(), said));
            }
            text
        }
        Line::Retry { task, attempt, after, outcome } => {
            let said = outcome.as_ref().and_then(|outcome| outcome.message.as_deref());
            let reason = outcome.as_ref().and_then(|outcome| outcome.reason);
            let took =
                outcome.as_ref().map(|outcome| format_duration(Duration::from_millis(outcome.duration_ms)));
            let why = why(reason, outcome.as_deref(), said);
            format!(
                "{ODD}{:<SIGN$}{ODD:#} {} {:>7}{why}; attempt {attempt} in {}",
                "retry",
                names.write(task.as_str()),
                took.unwrap_or_default(),
                format_duration(*after)
            )
        }
        Line::Parked { provider, wait, reason } => {
            let wait = format_duration(*wait);
            format!("{ODD}{:<SIGN$}{ODD:#} {provider} for {wait}: {}", "wait", super::guarded(reason))
        }
        Line::Note { text } => format!("{ODD}{:<SIGN$}{ODD:#} {}", "note", super::guarded(text)),
        Line::Stopping { reason: Reason::FailFast, force: false } => {
            format!(
                "{ODD}{:<SIGN$}{ODD:#} fail fast: nothing more is started, what runs is asked to end",
                "stop"
            )
        }
        Line::Stopping { force: false, .. } => {
            format!("{ODD}{:<SIGN$}{ODD:#} what runs is asked to end; once more kills it", "stop")
        }
        Line::Stopping { force: true, .. } => format!("{BAD}{:<SIGN$}{BAD:#} what runs is killed", "stop"),
        Line::Finished { message, .. } => match message {
            Some(message) => format!("{BAD}error{BAD:#}: {}", super::guarded(message)),
            None => String::new(),
        },
    }
}

/// What begins or goes on, where the person wants to see that too.
pub fn activity(update: &Update, names: Names) -> Option<String> {
    let (word, task, said) = match update {
        Update::Event(entry) => match &entry.event {
            Event::AttemptRunning { task, launch, .. } => ("start", task, launch.description.clone()),
            _ => return None,
        },
        Update::Progress(task, Progress::Tool(tool, call)) => ("tool", task, format!("{tool} {call}")),
        Update::Note(_)
        | Update::Output { .. }
        | Update::Progress(
            _,
            Progress::Waiting(_)
            | Progress::Turn(_)
            | Progress::Tokens { .. }
            | Progress::Text(_)
            | Progress::Logged(_)
            | Progress::Parked { .. },
        ) => return None,
    };
    let said = one_line(&said, 120);
    Some(format!("{FAINT}{word:<SIGN$} {} {}{FAINT:#}", names.write(task.as_str()), visible(&said)))
}

/// `begun`: whether there was an attempt.
fn sign(state: TaskState, allowed: bool, begun: bool) -> (&'static str, Style) {
    match state {
        TaskState::Completed => ("ok", GOOD),
        TaskState::Failed if allowed => ("allowed", ODD),
        TaskState::Failed => ("FAILED", BAD),
        TaskState::Killed => (state.in_words(begun), if begun { ODD } else { FAINT }),
        TaskState::Lost => ("LOST", BAD),
        TaskState::Skipped => ("skipped", FAINT),
        TaskState::Blocked => ("blocked", FAINT),
        TaskState::Created | TaskState::Starting | TaskState::Running => ("", FAINT),
    }
}

fn spent(outcome: &Outcome) -> String {
    let Some(usage) = &outcome.usage else { return String::new() };
    let tokens = format_tokens(usage.fresh_tokens(), usage.cache_read_tokens);
    let mut text = format!("  {}, {tokens}", turns(usage.turns));
    if !outcome.denials.is_empty() {
        let _ = write!(text, ", {ODD}{} denied{ODD:#}", outcome.denials.len());
    }
    text
}

/// What a private tree lacked, and what of it no merge brings home.
fn left_out(outcome: &Outcome) -> String {
    let Some(tree) = &outcome.worktree else { return String::new() };
    let counts = [
        (tree.undelivered.len(), "not delivered"),
        (tree.ignored as usize, "ignored left behind"),
        (tree.uncommitted as usize, "uncommitted not seen"),
    ];
    let said: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if said.is_empty() { String::new() } else { format!("  {}", said.join(", ")) }
}

fn turns(number: u32) -> String {
    if number == 1 { "1 turn".to_owned() } else { format!("{number} turns") }
}

/// What a last attempt says of its end.
pub struct End<'a> {
    pub reason: Option<Reason>,
    pub exit_code: Option<i32>,
    pub signal: Option<&'a str>,
    pub message: Option<&'a str>,
}

fn why(reason: Option<Reason>, outcome: Option<&Outcome>, message: Option<&str>) -> String {
    let exit_code = outcome.and_then(|outcome| outcome.exit_code);
    let signal = outcome.and_then(|outcome| outcome.signal.as_deref());
    cause(&End { reason, exit_code, signal, message })
}

/// Why something ended as it did, said once, after two blanks.
pub fn cause(end: &End<'_>) -> String {
    let End { reason, exit_code, signal, message: said } = *end;
    let short = match (reason, exit_code, signal) {
        (Some(Reason::ExitCode), Some(code), _) => format!("exit code {code}"),
        (Some(Reason::Signal), _, Some(signal)) => signal.to_owned(),
        // It says who.
        (Some(Reason::Upstream), ..) if said.is_some() => String::new(),
        (Some(reason), ..) => reason.as_str().to_owned(),
        (None, ..) => String::new(),
    };
    let said = said.map(|said| one_line(&visible(said), 300)).unwrap_or_default();
    // A message that says the short form itself stands alone.
    let parts = if said.contains(&short) { [String::new(), said] } else { [short, said] };
    parts.iter().filter(|part| !part.is_empty()).map(|part| format!("  {part}")).collect()
}

/// How long something has run: a second is the least that moves, so that a row is calm.
pub fn clock(length: Duration) -> String {
    match length.as_secs() {
        0..60 => format!("{}s", length.as_secs()),
        _ => format_duration(length),
    }
}

/// How far the run is. `cached`: with the tokens that providers had cached.
pub fn status(view: &View, since: Duration, cached: bool) -> String {
    let mut text = format!("{}/{} done", view.ended.total - view.ended.not_run, view.total);
    if view.ended.failed > 0 {
        let _ = write!(text, " · {BAD}{} failed{BAD:#}", view.ended.failed);
    }
    let _ = write!(text, " · {} running", view.running.len());
    for (count, word) in [(view.queued(), "queued"), (view.ended.not_run, "not run")] {
        if count > 0 {
            let _ = write!(text, " · {count} {word}");
        }
    }
    let _ = write!(text, " · {}", clock(since));
    let spent = view.spent();
    if !spent.is_none() {
        let _ = write!(text, " · {}", format_tokens(spent.fresh, if cached { spent.cached } else { 0 }));
    }
    text
}

/// What became of a task that became many: one line for all of its instances.
pub fn group(task: &Address, (state, allowed): (TaskState, bool), group: &Group, names: Names) -> String {
    let (sign, style) = sign(state, allowed, group.began.is_some());
    let took = group.began.map(|began| format_duration(group.last.since(began))).unwrap_or_default();
    let mut text = format!("{style}{sign:<SIGN$}{style:#} {} {took:>7}", names.write(task.as_str()));
    let _ = write!(text, "  {}", in_words(&group.ended));
    if !group.spent.is_none() {
        let _ = write!(text, ", {}", format_tokens(group.spent.fresh, group.spent.cached));
    }
    text
}

fn in_words(counts: &Counts) -> String {
    let all = [
        (counts.completed, "ok"),
        (counts.failed, "failed"),
        (counts.allowed_failures, "failed but allowed"),
        (counts.lost, "lost"),
        (counts.skipped, "skipped"),
        (counts.blocked, "blocked"),
        (counts.stopped(), "stopped"),
        (counts.not_run, "not run"),
    ];
    let said = all.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    said.collect::<Vec<_>>().join(", ")
}

/// A task, or several, that ended before they began.
pub fn not_run(task: &str, names: Names) -> String {
    let (sign, style) = sign(TaskState::Killed, false, false);
    format!("{style}{sign:<SIGN$}{style:#} {}", names.write(task)).trim_end().to_owned()
}

/// How a run ended, in one word with its style.
pub fn run_status(status: RunStatus) -> String {
    let style = match status {
        RunStatus::Completed => GOOD,
        RunStatus::Running => FAINT,
        RunStatus::Killed => ODD,
        RunStatus::Failed | RunStatus::Lost => BAD,
    };
    format!("{style}{}{style:#}", status.in_words())
}
