//! The log of a conversation (`wire.jsonl`): what happened, as it happened, in the words that people are shown.
//!
//! Nothing is restored from it; it is read by those who look on, while the agent works or after it has ended badly. Texts
//! are whole; arguments and results are kept in short, since the transcript has them whole.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::record::calls_of;
use super::spec::call_line;
use super::{Call, Item};
use crate::ids::{Address, Attempt, Millis};
use crate::model::{AttemptEnd, Denial, DenialReason, Reason, Usage};
use crate::wire::{Block, Message, Role};

/// How much of an argument is kept.
const ARGUMENT: usize = 400;

/// How much of a result is kept.
const RESULT: usize = 4 * 1024;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    /// When it was written.
    pub at: Millis,
    /// What happened.
    #[serde(flatten)]
    pub line: LogLine,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ev", rename_all = "snake_case")]
pub enum LogLine {
    /// An attempt has begun, or goes on with the conversation of the one before.
    Began {
        /// The conversation.
        agent_id: String,
        /// The definition's name.
        agent: String,
        /// Provider and model.
        model: String,
        /// Which try.
        attempt: Attempt,
        /// Whether it goes on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        continued: bool,
    },
    /// What the agent was told first.
    Prompt {
        /// All of it.
        text: String,
    },
    /// The model is asked.
    RequestBegan {
        /// For which turn; tries of one turn share it.
        turn: u32,
    },
    /// The model has answered, or has not.
    RequestEnded {
        /// For which turn.
        turn: u32,
        /// How.
        status: Answered,
        /// How long it took.
        ms: u64,
        /// What it cost, when it was answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// What went wrong, when it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The agent says something: whole lines, or the rest of a text.
    Text {
        /// In which turn.
        turn: u32,
        /// What, with its newlines.
        text: String,
        /// Whether the answer broke off here: then this and what came before it in this request was for nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    /// A call is being made.
    ToolCalled {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// What it is about, on one line.
        call: String,
        /// Its arguments; long texts are cut.
        input: Value,
    },
    /// A call has a result.
    ToolEnded {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// What it is about, on one line.
        call: String,
        /// The beginning of the result.
        text: String,
        /// How long the result is.
        bytes: u64,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A call was refused.
    ToolRefused {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// What it is about, on one line.
        call: String,
        /// Why.
        reason: DenialReason,
        /// What the agent was told.
        text: String,
    },
    /// The work was checked.
    Checked {
        /// What failed; nothing: it passed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The attempt has ended.
    Ended {
        /// How.
        end: AttemptEnd,
        /// Why, unless completed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
        /// One line for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answered {
    /// There was an answer with this HTTP status.
    Http(u16),
    /// There was none.
    No(NoAnswer),
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// None came.
    NoAnswer,
    /// The agent was stopped first.
    Stopped,
}

impl Answered {
    /// Whether there was an answer that counts.
    pub fn is_ok(self) -> bool {
        matches!(self, Answered::Http(200))
    }
}

impl Logged {
    /// Whether it is about a call.
    pub fn is_call(&self) -> bool {
        match self.line {
            LogLine::ToolCalled { .. } | LogLine::ToolEnded { .. } | LogLine::ToolRefused { .. } => true,
            LogLine::Began { .. }
            | LogLine::Prompt { .. }
            | LogLine::RequestBegan { .. }
            | LogLine::RequestEnded { .. }
            | LogLine::Text { .. }
            | LogLine::Checked { .. }
            | LogLine::Ended { .. } => false,
        }
    }

    /// Reads a line; one of a later version that isn't known is none. Earlier versions wrote only how requests ended.
    pub fn read(line: &str) -> Option<Logged> {
        let mut value: Value = serde_json::from_str(line).ok()?;
        let fields = value.as_object_mut()?;
        fields.entry("ev").or_insert_with(|| "request_ended".into());
        serde_json::from_value(value).ok()
    }
}

/// A line about a call as an event of its run; `None` for any other line. Such events stand in the logs of their agents, not
/// in the journal, so they have no place in its numbering.
pub fn tool_event(task: &Address, logged: &Logged) -> Option<Value> {
    let Ok(Value::Object(fields)) = serde_json::to_value(Some(logged).filter(|logged| logged.is_call()))
    else {
        return None;
    };
    let mut event = Map::from_iter([("v".to_owned(), 1.into())]);
    for (name, value) in fields {
        let after = name == "ev";
        event.insert(name, value);
        if after {
            event.insert("task".to_owned(), task.as_str().into());
        }
    }
    Some(Value::Object(event))
}

/// Makes lines of what is recorded: it knows whose result a result is.
#[derive(Debug, Default)]
pub struct Logbook {
    /// Tool and line of each call of the last turn.
    calls: HashMap<String, (String, String)>,
}

impl Logbook {
    /// One that goes on behind these items.
    pub fn after(items: &[Item]) -> Self {
        let mut book = Logbook::default();
        items.iter().for_each(|item| book.learn(item));
        book
    }

    /// What an item says to those who look on.
    pub fn item(&mut self, item: &Item) -> Vec<LogLine> {
        self.learn(item);
        let Item::Message { message, denial, .. } = item else { return Vec::new() };
        message.content.iter().filter_map(|block| self.result(block, denial.as_ref())).collect()
    }

    fn learn(&mut self, item: &Item) {
        if let Item::Message { message: message @ Message { role: Role::Assistant, .. }, .. } = item {
            let calls = calls_of(message);
            self.calls = calls
                .map(|(id, name, input)| (id.to_owned(), (name.to_owned(), call_line(name, input))))
                .collect();
        }
    }

    fn result(&self, block: &Block, denial: Option<&Denial>) -> Option<LogLine> {
        let Block::ToolResult { tool_use_id, content, is_error } = block else { return None };
        let (tool, call) = self.calls.get(tool_use_id).cloned()?;
        let (id, text) = (tool_use_id.clone(), cut(content, RESULT));
        Some(match denial {
            Some(denial) => LogLine::ToolRefused { id, tool, call, reason: denial.reason, text },
            None => {
                let bytes = content.len() as u64;
                LogLine::ToolEnded { id, tool, call, text, bytes, is_error: *is_error }
            }
        })
    }
}

/// That a call is being made.
pub fn called(call: &Call) -> LogLine {
    let input = match &call.input {
        Value::Object(fields) => {
            let short = fields.iter().map(|(name, value)| (name.clone(), short(value)));
            Value::Object(short.collect::<Map<_, _>>())
        }
        other => short(other),
    };
    LogLine::ToolCalled { id: call.id.clone(), tool: call.tool.clone(), call: call.line(), input }
}

/// An argument of which a long text, or a long value as text, is cut.
fn short(value: &Value) -> Value {
    match value {
        Value::String(text) => cut(text, ARGUMENT).into(),
        Value::Array(_) | Value::Object(_) => match value.to_string() {
            text if text.len() > ARGUMENT => cut(&text, ARGUMENT).into(),
            _ => value.clone(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The beginning of a text; that there is more is said by an ellipsis.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
