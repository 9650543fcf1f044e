//! A conversation as people read it: a word for each thing that happened, and what there is to say of it.

use serde_json::Value;

use super::log::{Answered, LogLine, NoAnswer};
use super::record::owned_calls;
use super::spec::label;
use super::{Call, Item, Logbook, called};
use crate::model::{AttemptEnd, Reason};
use crate::text::{one_line, visible};
use crate::wire::Role;

/// Columns of the word.
const WORD: usize = 8;

/// Lines of a prompt that are shown.
const PROMPT: usize = 8;

/// Lines of a result that are shown.
const RESULT: usize = 3;

/// Lines of what went wrong that are shown.
const ERROR: usize = 8;

/// The longest line of what is shown in short.
const WIDTH: usize = 160;

/// How many things are the last ones.
const LAST: usize = 12;

/// Lines of a text that are shown of a last one.
const LAST_TEXT: usize = 20;

/// Tells what happened, line of the log by line of the log.
#[derive(Debug, Default)]
pub struct Teller {
    /// Whether a text is being told, whose next lines go on with it.
    saying: bool,
    /// The call that was told last, as long as nothing came after it.
    call: Option<String>,
}

impl Teller {
    /// What is to be shown of a line: whole lines, or nothing.
    pub fn line(&mut self, line: &LogLine) -> String {
        let said = match line {
            LogLine::RequestBegan { .. } => return String::new(),
            LogLine::RequestEnded { status, error: None, .. } if status.is_ok() => return String::new(),
            LogLine::Text { text, partial, .. } => return self.text(text, *partial),
            LogLine::Began { agent, model, attempt, continued, .. } => {
                let again = if attempt.0 > 1 { format!("; attempt {attempt}") } else { String::new() };
                let on = if *continued { ", goes on where it was cut off" } else { "" };
                told("agent", &format!("{agent} ({model}){again}{on}"))
            }
            LogLine::Prompt { text } => told("prompt", &first_lines(text, PROMPT)),
            LogLine::RequestEnded { status, error, .. } => {
                told("model", &no_answer(*status, error.as_deref()))
            }
            LogLine::ToolCalled { tool, call, input, .. } => {
                told("call", &format!("{tool} {call}{}", others(tool, input)))
            }
            LogLine::ToolEnded { id, tool, call, text, bytes, is_error } => {
                let (word, most) = if *is_error { ("error", ERROR) } else { ("result", RESULT) };
                let shown = first_lines(text, most);
                let kept = text.trim_end_matches('…').len() as u64;
                let all = if kept < *bytes { format!("\n({bytes} bytes in all)") } else { String::new() };
                let whose = match self.call.as_ref() == Some(id) {
                    true => String::new(),
                    false => format!("of {tool} {call}\n"),
                };
                told(word, &format!("{whose}{shown}{all}"))
            }
            LogLine::ToolRefused { tool, call, text, .. } => {
                told("denied", &format!("{tool} {call}: {}", one_line(text, 2 * WIDTH)))
            }
            LogLine::Checked { message } => told("check", message.as_deref().unwrap_or("passed")),
            LogLine::Ended { end, reason, message } => ended(end_word(*end), *reason, message.as_deref()),
        };
        self.saying = false;
        self.call = match line {
            LogLine::ToolCalled { id, .. } => Some(id.clone()),
            _ => None,
        };
        said
    }

    fn text(&mut self, text: &str, partial: bool) -> String {
        let mut said = String::new();
        // A model often begins with an empty line, and ends with one.
        if self.saying || !text.trim().is_empty() {
            let word = if self.saying { "" } else { "says" };
            let text = if self.saying { text } else { text.trim_start_matches('\n') };
            said = told(word, text.strip_suffix('\n').unwrap_or(text));
            (self.saying, self.call) = (true, None);
        }
        if partial {
            said.push_str(&told("", "(broke off here)"));
            self.saying = false;
        }
        said
    }
}

/// How an attempt, or its task, ended.
pub fn ended(how: &str, reason: Option<Reason>, message: Option<&str>) -> String {
    let reason = reason.map(|reason| format!(" ({})", reason.as_str())).unwrap_or_default();
    let message = message.map(|message| format!(": {message}")).unwrap_or_default();
    told("end", &format!("{how}{reason}{message}"))
}

/// The end of a conversation: its last words and calls.
pub fn last_words(lines: &[LogLine]) -> Vec<LogLine> {
    let begun = lines.iter().rposition(|line| matches!(line, LogLine::Began { .. }));
    let mut groups: Vec<LogLine> = Vec::new();
    for line in &lines[begun.unwrap_or(0)..] {
        match (line, groups.last_mut()) {
            (
                LogLine::Text { text, partial, .. },
                Some(LogLine::Text { text: before, partial: broken, .. }),
            ) if !*broken => {
                before.push_str(text);
                *broken = *partial;
            }
            (LogLine::Began { .. } | LogLine::Prompt { .. } | LogLine::RequestBegan { .. }, _) => {}
            (LogLine::RequestEnded { status, .. }, _) if status.is_ok() => {}
            (line, _) => groups.push(line.clone()),
        }
    }
    let is_text = |line: &LogLine| matches!(line, LogLine::Text { text, .. } if !text.trim().is_empty());
    let first = groups.len().saturating_sub(LAST);
    let mut last = groups.split_off(first);
    // What it said last counts, however long ago that was.
    if !last.iter().any(is_text) {
        last.splice(0..0, groups.into_iter().rfind(is_text));
    }
    for line in &mut last {
        if let LogLine::Text { text, .. } = line {
            let count = text.trim_end().lines().count();
            if count > LAST_TEXT {
                let kept: Vec<&str> = text.trim_end().lines().skip(count - LAST_TEXT).collect();
                *text = format!("… {} lines before …\n{}", count - LAST_TEXT, kept.join("\n"));
            }
        }
    }
    last
}

/// The log that a version without one would have written, as far as the transcript knows it.
pub fn told_by(items: &[Item]) -> Vec<LogLine> {
    let mut book = Logbook::default();
    let mut lines = Vec::new();
    for item in items {
        if let Item::Message { message, .. } = item {
            let text = message.text();
            match message.role {
                Role::User if lines.is_empty() => lines.push(LogLine::Prompt { text }),
                Role::User if text.is_empty() => {}
                Role::User => lines.push(LogLine::Prompt { text }),
                Role::Assistant if text.is_empty() => {}
                Role::Assistant => lines.push(LogLine::Text { turn: 0, text, partial: false }),
            }
            if message.role == Role::Assistant {
                let calls = owned_calls(message);
                lines.extend(calls.into_iter().map(|(id, tool, input)| called(&Call { id, tool, input })));
            }
        }
        lines.extend(book.item(item));
    }
    lines
}

/// Text behind a word; further lines stand below the first.
fn told(word: &str, text: &str) -> String {
    let text = visible(text);
    let mut out = String::new();
    let mut word = word;
    for line in text.split('\n') {
        let line = format!("{word:<WORD$}{line}");
        out.push_str(line.trim_end());
        out.push('\n');
        word = "";
    }
    out
}

fn first_lines(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let mut shown: Vec<String> = lines.iter().take(most).map(|line| short(line)).collect();
    match lines.len().saturating_sub(most) {
        0 => {}
        1 => shown.push(short(lines[most])),
        more => shown.push(format!("… {more} more lines")),
    }
    if shown.is_empty() { "(nothing)".to_owned() } else { shown.join("\n") }
}

/// A line that keeps its indentation.
fn short(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The arguments that the line of a call does not say.
fn others(tool: &str, input: &Value) -> String {
    let (Some(label), Some(fields)) = (label(tool), input.as_object()) else { return String::new() };
    let rest = fields.iter().filter(|(name, _)| *name != label).map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("  {name}={}", one_line(&value, 60))
    });
    rest.collect()
}

fn no_answer(status: Answered, error: Option<&str>) -> String {
    let error = error.map(|error| format!(": {}", one_line(error, 2 * WIDTH))).unwrap_or_default();
    match status {
        Answered::Http(200) | Answered::No(NoAnswer::NoAnswer) => format!("gave no answer{error}"),
        Answered::Http(status) => format!("answered {status}{error}"),
        Answered::No(NoAnswer::Stopped) => format!("had not answered yet{error}"),
    }
}

fn end_word(end: AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Completed => "completed",
        AttemptEnd::Failed => "failed",
        AttemptEnd::Killed => "stopped",
        AttemptEnd::Lost => "lost",
    }
}

#[cfg(test)]
#[path = "tell_tests.rs"]
mod tests;
