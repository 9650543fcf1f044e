//! What goes into the agent loop and what comes out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Letter, LetterKey};
use crate::model::{Denial, Effort, Reason, Usage, known_tool};
use crate::policy::Permissions;
use crate::text::one_line;
use crate::wire::{Message, ModelError, Reply, Request, StopReason, ToolSpec};

/// What an agent is, once everything is resolved.
#[derive(Clone, Debug)]
pub struct AgentSpec {
    /// The model as its provider calls it.
    pub model: String,
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools it is offered, in a stable order; `StructuredOutput` is added by the loop, but not to those of a fork.
    pub tools: Arc<[ToolSpec]>,
    /// Whether it goes on with another agent's conversation: then its tools are that one's, whatever its own output is.
    pub forked: bool,
    /// Which calls pass.
    pub permissions: Arc<Permissions>,
    /// The most model turns.
    pub max_turns: u32,
    /// The most tokens of one answer.
    pub max_tokens: u32,
    /// Thinking.
    pub effort: Option<Effort>,
    /// The form of its output.
    pub output: OutputForm,
    /// Turns in which it may mend an output that doesn't fit.
    pub repair: u32,
    /// Readers at once.
    pub max_tool_concurrency: u32,
    /// Whether it works in the background: what would ask is refused.
    pub background: bool,
    /// Whether its work is checked once it says that it is done.
    pub checked: bool,
}

/// The form of an agent's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// The final text.
    Text,
    /// A list of lines.
    Lines,
    /// One JSON value in the final text, fenced or not.
    Json,
    /// One JSON value that fits, by the tool `StructuredOutput` or in the final text.
    Schema(Arc<Value>),
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin with this prompt.
    Begin(String),
    /// Go on: the transcript was restored.
    Continue,
    /// The model answered.
    Replied(Reply),
    /// The model did not answer, and waiting and trying again are used up.
    ModelFailed(ModelError),
    /// The request under way ends without an answer, whose text came as far as this: it failed, or the agent was stopped.
    Unanswered(String),
    /// The check that was ordered is done; the error is what the agent is told of it.
    Checked(Result<(), CheckFault>),
    /// Letters came, whatever the agent is doing. One that was offered before is dropped.
    Offered(Vec<Letter>),
    /// A call came back.
    Returned {
        /// The call's id.
        id: String,
        /// What came of it.
        result: CallResult,
        /// That it may be made by its text, and was refused once its path was followed.
        refused: Option<Denial>,
    },
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFault {
    /// One line: which, and how.
    pub message: String,
    /// The end of what it printed.
    pub output: String,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Text for the model, bounded.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool, which is one of the agent's own.
    pub tool: String,
    /// Its arguments: an object.
    pub input: Value,
}

impl Call {
    /// The call on one line, for people.
    pub fn line(&self) -> String {
        call_line(&self.tool, &self.input)
    }
}

/// What a call is about on one line: the argument by which people tell calls of its tool apart, else all of them.
pub(super) fn call_line(tool: &str, input: &Value) -> String {
    const WIDTH: usize = 200;
    let label = label(tool).and_then(|key| input.get(key)).and_then(Value::as_str);
    one_line(&label.map_or_else(|| input.to_string(), str::to_owned), WIDTH)
}

/// The argument by which people tell calls of a tool apart.
pub(super) fn label(tool: &str) -> Option<&'static str> {
    known_tool(tool).and_then(|tool| tool.label)
}

/// What the executor has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append to `context.jsonl`, before what follows.
    Record(Item),
    /// Ask the model.
    Ask(Request),
    /// Make a call; `Input::Returned` must follow. Calls ordered together may run at once.
    Call(Call),
    /// Check the work; `Input::Checked` must follow.
    Check,
    /// A call was refused; for progress and counting.
    Denied(Denial),
    /// The agent is done.
    Finish(Box<AgentEnd>),
}

/// A line of `context.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum Item {
    /// The conversation that this one was forked from, and what comes of it here: one item, so that there is all of it or
    /// nothing.
    Forked {
        /// The messages.
        messages: Vec<Message>,
    },
    /// A message, or some of the results of a turn, which are one message once there are all.
    Message {
        /// The message.
        message: Message,
        /// Of an answer of the model: what it used, its calls counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Of an answer of the model: why it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<StopReason>,
        /// Of the result of a call that was refused: which, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        denial: Option<Denial>,
    },
    /// Letters were read: they go to the end of what the agent is told before its next turn.
    Delivered {
        /// Which ones.
        keys: Vec<LetterKey>,
        /// What they say.
        message: Message,
    },
    /// An answer without a message. Earlier versions wrote it behind every answer.
    Turn {
        /// What it used, its calls counted.
        usage: Usage,
        /// Why it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<StopReason>,
    },
    /// A request without an answer: it failed, or the agent was stopped.
    Unanswered {
        /// The text that had come.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// A call of the turn was refused. Earlier versions wrote it beside the result.
    Denied {
        /// Which, and why.
        denial: Denial,
    },
    /// The output of the turn did not fit; one of the turns to mend it is used up.
    Repair,
    /// A check of the work failed; the agent got its one chance to mend it.
    CheckFailed,
    /// Nothing in the turn could be acted on.
    Spoiled {
        /// How.
        by: Spoil,
    },
}

impl Item {
    /// A message of the user's side.
    pub fn said(message: Message) -> Self {
        Item::Message { message, usage: None, stop: None, denial: None }
    }
}

/// Why nothing in a turn could be acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spoil {
    /// Calls that the limit of tokens may have cut.
    Cut,
    /// Only calls of unknown tools, or with arguments that don't fit.
    BadCalls,
}

/// How an agent ended.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentEnd {
    /// Why it failed; `None`: completed.
    pub reason: Option<Reason>,
    /// One line for people.
    pub message: Option<String>,
    /// The last text, partial when it failed.
    pub text: String,
    /// The output in its declared form, when that is not text.
    pub output: Option<Value>,
    /// What it used.
    pub usage: Usage,
    /// What was refused.
    pub denials: Vec<Denial>,
}
