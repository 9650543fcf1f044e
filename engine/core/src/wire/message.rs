//! A conversation, apart from any API.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Effort, ToolClass, Usage};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, tool results, deliveries.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What.
    pub content: Vec<Block>,
}

impl Message {
    /// All its text.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// A user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Message { role: Role::User, content: vec![Block::Text { text: text.into() }] }
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// The model's thinking, which some APIs want back unchanged.
    Thinking {
        /// The text.
        thinking: String,
        /// The provider's seal over it.
        #[serde(default)]
        signature: String,
    },
    /// Thinking that the provider shows to nobody and wants back unchanged.
    RedactedThinking {
        /// The sealed text.
        data: String,
    },
    /// A call that the model wants made.
    ToolUse {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments: an object, or the text as it came when that was no JSON.
        input: Value,
    },
    /// What came of a call.
    ToolResult {
        /// The call's id.
        tool_use_id: String,
        /// Text.
        content: String,
        /// Whether it failed or was refused.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// A tool as it is offered to the model. Its name need not be known before the run: that of a server's tool is not.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// How its calls go together. The model is not told.
    pub class: ToolClass,
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The model as its provider calls it.
    pub model: String,
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools, in a stable order.
    pub tools: Arc<[ToolSpec]>,
    /// The conversation; the last message is a user's.
    pub messages: Vec<Message>,
    /// The most tokens of the answer.
    pub max_tokens: u32,
    /// Thinking.
    pub effort: Option<Effort>,
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said all.
    EndTurn,
    /// It wants calls made.
    ToolUse,
    /// Its answer reached the limit of tokens.
    MaxTokens,
    /// It refused.
    Refusal,
    /// Its window was full.
    WindowFull,
    /// It paused, and goes on when it is asked again.
    Paused,
}

/// A whole answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Text, thinking, calls.
    pub content: Vec<Block>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost; `turns` and `tool_uses` are 0.
    pub usage: Usage,
}

impl Reply {
    /// All its text.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

/// The text of what was said, parts joined by a newline.
fn text_of(content: &[Block]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        Block::Thinking { .. }
        | Block::RedactedThinking { .. }
        | Block::ToolUse { .. }
        | Block::ToolResult { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A piece of an answer as it arrives: for progress, never for acting on.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// Text.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// A call has begun.
    ToolUse(String),
    /// A sign of life without content.
    Ping,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// Which kind.
    pub kind: ModelErrorKind,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// What the provider says, one line, secrets masked.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
}

/// The kinds of failure that are treated differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// 429.
    RateLimit,
    /// 529, 503.
    Overloaded,
    /// Other 5xx, 408.
    Server,
    /// 400, 401, 403, 404 and other answers that a second try won't change.
    Refused,
    /// The conversation is too long for the model.
    ContextOverflow,
    /// No connection, or none in time.
    Connection,
    /// The stream broke off, or what came isn't the API's language.
    Broken,
    /// A script has no more turns.
    ScriptEnded,
}

impl ModelErrorKind {
    /// Whether the same request may well succeed later.
    pub fn is_passing(self) -> bool {
        match self {
            ModelErrorKind::RateLimit
            | ModelErrorKind::Overloaded
            | ModelErrorKind::Server
            | ModelErrorKind::Connection
            | ModelErrorKind::Broken => true,
            ModelErrorKind::Refused | ModelErrorKind::ContextOverflow | ModelErrorKind::ScriptEnded => false,
        }
    }
}
