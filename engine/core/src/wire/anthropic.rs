//! Anthropic Messages, streaming.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::api::{Api, StreamDecoder};
use super::{Block, Delta, Message, ModelError, Reply, Request, Role, SseEvent, StopReason, failure, stop};
use crate::model::{Effort, ProviderKind, Usage};
use crate::text::parse_json;

pub(super) const API: Api = Api {
    kind: ProviderKind("anthropic"),
    default_base: "https://api.anthropic.com",
    path: "/v1/messages",
    key_env: "ANTHROPIC_API_KEY",
    has_model: |id| id.starts_with("claude-"),
    middle_model: "sonnet",
    // As Anthropic has them in November 2026.
    aliases: &[("sonnet", "claude-sonnet-5-5"), ("opus", "claude-opus-5-5"), ("haiku", "claude-haiku-5-5")],
    headers,
    encode,
    error: failure::from_body,
    stream: || Box::<Stream>::default(),
};

/// The least thinking that the API takes.
const LEAST_THINKING: u32 = 1024;

fn headers(key: &str) -> Vec<(&'static str, String)> {
    let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
    if !key.is_empty() {
        headers.push(("x-api-key", key.to_owned()));
    }
    headers
}

fn encode(request: &Request) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens));
    body.insert("stream".to_owned(), json!(true));
    if let Some(budget) = thinking_budget(request) {
        body.insert("thinking".to_owned(), json!({ "type": "enabled", "budget_tokens": budget }));
    }
    if !request.system.is_empty() {
        let mut block = json!({ "type": "text", "text": &*request.system });
        mark_cached(&mut block);
        body.insert("system".to_owned(), json!([block]));
    }
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
            })
            .collect();
        tools.last_mut().map(mark_cached);
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    let mut messages: Vec<Value> = request.messages.iter().map(encode_message).collect();
    let last = messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut());
    last.map(mark_cached);
    body.insert("messages".to_owned(), Value::Array(messages));
    Value::Object(body)
}

/// How many of the answer's tokens may be thinking. The answer itself keeps at least a quarter.
fn thinking_budget(request: &Request) -> Option<u32> {
    let wanted = match request.effort? {
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 16_384,
        Effort::Xhigh => 32_768,
        Effort::Max => 65_536,
    };
    let budget = wanted.min(request.max_tokens / 4 * 3);
    (budget >= LEAST_THINKING).then_some(budget)
}

fn mark_cached(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn encode_message(message: &Message) -> Value {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content: Vec<Value> = message.content.iter().filter_map(encode_block).collect();
    json!({ "role": role, "content": content })
}

/// A block as the API wants it back, or nothing where it would refuse the block.
fn encode_block(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text } if text.is_empty() => None,
        Block::Text { text } => Some(json!({ "type": "text", "text": text })),
        // Thinking of another API has no seal and would be refused.
        Block::Thinking { signature, .. } if signature.is_empty() => None,
        Block::Thinking { thinking, signature } => {
            Some(json!({ "type": "thinking", "thinking": thinking, "signature": signature }))
        }
        Block::RedactedThinking { data } => Some(json!({ "type": "redacted_thinking", "data": data })),
        Block::ToolUse { id, name, input } => {
            // The API takes objects only; the call's error result quotes what the model had written instead.
            let input = if input.is_object() { input.clone() } else { json!({}) };
            Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            let mut result = json!({ "type": "tool_result", "tool_use_id": tool_use_id, "content": content });
            if *is_error {
                result["is_error"] = json!(true);
            }
            Some(result)
        }
    }
}

/// An answer in the making.
#[derive(Debug, Default)]
struct Stream {
    blocks: BTreeMap<u32, Part>,
    usage: Usage,
    stop: Option<StopReason>,
    done: bool,
}

#[derive(Debug)]
enum Part {
    Open(Open),
    Closed(Block),
    /// A kind of block that only concerns the provider's own tools.
    Foreign,
}

#[derive(Debug)]
enum Open {
    Text(String),
    Thinking { thinking: String, signature: String },
    Redacted(String),
    Tool { id: String, name: String, input: Value, json: String },
}

#[derive(Deserialize)]
struct BlockStart {
    index: u32,
    content_block: ContentBlock,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Foreign,
}

#[derive(Deserialize)]
struct BlockDelta {
    index: u32,
    delta: ContentDelta,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentDelta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Foreign,
}

#[derive(Deserialize)]
struct TokenCounts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

impl StreamDecoder for Stream {
    fn event(&mut self, event: &SseEvent) -> Result<Vec<Delta>, ModelError> {
        if self.done {
            return Ok(Vec::new());
        }
        let value: Value = parse(&event.data)?;
        // The data repeats the event's name; servers that speak this API don't all send the field `event`.
        match value["type"].as_str().unwrap_or_default() {
            "ping" => return Ok(vec![Delta::Ping]),
            "message_start" => {
                let message = &value["message"];
                if let Some(model) = message["model"].as_str() {
                    self.usage.model = model.to_owned();
                }
                self.count(&message["usage"])?;
            }
            "content_block_start" => return self.start(shape(value)?),
            "content_block_delta" => return self.delta(shape(value)?),
            "content_block_stop" => self.close(value["index"].as_u64())?,
            "message_delta" => {
                self.count(&value["usage"])?;
                if let Some(reason) =
                    value["delta"]["stop_reason"].as_str().filter(|reason| !reason.is_empty())
                {
                    self.stop = Some(stop::reason(reason)?);
                }
            }
            "message_stop" => self.done = true,
            "error" => return Err(stream_error(&value)),
            _ => {}
        }
        Ok(Vec::new())
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Result<Reply, ModelError> {
        if !self.done {
            return Err(failure::broken("the stream ended before `message_stop`"));
        }
        let Some(stop) = self.stop else {
            return Err(failure::broken("the stream gave no stop reason"));
        };
        let mut content = Vec::new();
        for (index, part) in self.blocks {
            match part {
                Part::Closed(block) => content.push(block),
                Part::Foreign => {}
                Part::Open(_) => return Err(failure::broken(format!("the stream left block {index} open"))),
            }
        }
        Ok(Reply { content, stop, usage: self.usage })
    }
}

impl Stream {
    /// Takes counts over: they are totals, and a later event may leave some out.
    fn count(&mut self, usage: &Value) -> Result<(), ModelError> {
        let Some(counts) = shape::<Option<TokenCounts>>(usage.clone())? else { return Ok(()) };
        for (total, count) in [
            (&mut self.usage.input_tokens, counts.input_tokens),
            (&mut self.usage.output_tokens, counts.output_tokens),
            (&mut self.usage.cache_read_tokens, counts.cache_read_input_tokens),
            (&mut self.usage.cache_write_tokens, counts.cache_creation_input_tokens),
        ] {
            *total = count.unwrap_or(*total);
        }
        Ok(())
    }

    fn start(&mut self, start: BlockStart) -> Result<Vec<Delta>, ModelError> {
        let (part, deltas) = match start.content_block {
            ContentBlock::Text { text } => {
                let deltas = text_delta(&text);
                (Part::Open(Open::Text(text)), deltas)
            }
            ContentBlock::Thinking { thinking, signature } => {
                (Part::Open(Open::Thinking { thinking, signature }), Vec::new())
            }
            ContentBlock::RedactedThinking { data } => (Part::Open(Open::Redacted(data)), Vec::new()),
            ContentBlock::ToolUse { id, name, input } => {
                let deltas = vec![Delta::ToolUse(name.clone())];
                (Part::Open(Open::Tool { id, name, input, json: String::new() }), deltas)
            }
            ContentBlock::Foreign => (Part::Foreign, Vec::new()),
        };
        match self.blocks.insert(start.index, part) {
            None => Ok(deltas),
            Some(_) => Err(failure::broken(format!("the stream begins block {} twice", start.index))),
        }
    }

    fn delta(&mut self, delta: BlockDelta) -> Result<Vec<Delta>, ModelError> {
        let stray =
            || failure::broken(format!("the stream adds to block {}, which is not open", delta.index));
        let open = match self.blocks.get_mut(&delta.index) {
            Some(Part::Open(open)) => open,
            Some(Part::Foreign) => return Ok(Vec::new()),
            Some(Part::Closed(_)) | None => return Err(stray()),
        };
        match (open, delta.delta) {
            (Open::Text(whole), ContentDelta::TextDelta { text }) => {
                whole.push_str(&text);
                Ok(text_delta(&text))
            }
            (Open::Thinking { thinking: whole, .. }, ContentDelta::ThinkingDelta { thinking }) => {
                whole.push_str(&thinking);
                Ok(vec![Delta::Thinking(thinking)])
            }
            (Open::Thinking { signature: whole, .. }, ContentDelta::SignatureDelta { signature }) => {
                whole.push_str(&signature);
                Ok(Vec::new())
            }
            (Open::Tool { json, .. }, ContentDelta::InputJsonDelta { partial_json }) => {
                json.push_str(&partial_json);
                Ok(Vec::new())
            }
            (_, ContentDelta::Foreign) => Ok(Vec::new()),
            (_, _) => Err(failure::broken(format!("the stream adds another kind to block {}", delta.index))),
        }
    }

    fn close(&mut self, index: Option<u64>) -> Result<(), ModelError> {
        let part = index.and_then(|index| self.blocks.get_mut(&u32::try_from(index).ok()?));
        match part {
            Some(part @ Part::Open(_)) => {
                if let Part::Open(open) = std::mem::replace(part, Part::Foreign) {
                    *part = Part::Closed(close_block(open));
                }
                Ok(())
            }
            Some(Part::Foreign) => Ok(()),
            Some(Part::Closed(_)) | None => Err(failure::broken("the stream ends a block that is not open")),
        }
    }
}

fn text_delta(text: &str) -> Vec<Delta> {
    if text.is_empty() { Vec::new() } else { vec![Delta::Text(text.to_owned())] }
}

fn close_block(open: Open) -> Block {
    match open {
        Open::Text(text) => Block::Text { text },
        Open::Thinking { thinking, signature } => Block::Thinking { thinking, signature },
        Open::Redacted(data) => Block::RedactedThinking { data },
        Open::Tool { id, name, input, json } if json.is_empty() => {
            let input = if input.is_null() { json!({}) } else { input };
            Block::ToolUse { id, name, input }
        }
        Open::Tool { id, name, json, .. } => {
            let input = parse_json(&json).unwrap_or(Value::String(json));
            Block::ToolUse { id, name, input }
        }
    }
}

/// An error in the middle of a stream has no status of its own; its kind has one everywhere else.
fn stream_error(value: &Value) -> ModelError {
    let status = match value["error"]["type"].as_str().unwrap_or_default() {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    };
    failure::from_value(status, value)
}

fn parse(data: &str) -> Result<Value, ModelError> {
    serde_json::from_str(data).map_err(|error| failure::broken(format!("the stream holds bad JSON: {error}")))
}

fn shape<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, ModelError> {
    serde_json::from_value(value)
        .map_err(|error| failure::broken(format!("the stream holds an event of another shape: {error}")))
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
