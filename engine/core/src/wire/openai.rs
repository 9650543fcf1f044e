//! OpenAI chat completions, streaming, as OpenAI and compatible servers speak it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::api::{Api, StreamDecoder};
use super::{Block, Delta, Message, ModelError, Reply, Request, Role, SseEvent, StopReason, failure, stop};
use crate::model::{Effort, ProviderKind, Usage};
use crate::text::parse_json;

pub(super) const API: Api = Api {
    kind: ProviderKind("openai"),
    default_base: "https://api.openai.com/v1",
    path: "/chat/completions",
    key_env: "OPENAI_API_KEY",
    has_model,
    middle_model: "gpt-5.4",
    aliases: &[],
    headers,
    encode,
    error: failure::from_body,
    stream: || Box::<Stream>::default(),
};

/// The most calls in one answer.
const MOST_CALLS: usize = 1000;

fn has_model(id: &str) -> bool {
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    id.starts_with("gpt-") || id.starts_with("chatgpt-") || id.strip_prefix('o').is_some_and(numbered)
}

fn headers(key: &str) -> Vec<(&'static str, String)> {
    if key.is_empty() { Vec::new() } else { vec![("authorization", format!("Bearer {key}"))] }
}

fn encode(request: &Request) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    body.insert("max_completion_tokens".to_owned(), json!(request.max_tokens));
    if let Some(effort) = request.effort {
        let word = match effort {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Xhigh | Effort::Max => "xhigh",
        };
        body.insert("reasoning_effort".to_owned(), json!(word));
    }
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": &*request.system }));
    }
    for message in &request.messages {
        match message.role {
            Role::User => encode_user(message, &mut messages),
            Role::Assistant => messages.push(encode_assistant(message)),
        }
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
            } })
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    Value::Object(body)
}

/// Results become messages of their own, which have to follow the calls at once; text comes after them.
fn encode_user(message: &Message, out: &mut Vec<Value>) {
    let mut texts = Vec::new();
    for block in &message.content {
        match block {
            Block::ToolResult { tool_use_id, content, is_error } => {
                // This API has no mark for a failed call.
                let content = if *is_error { format!("Error: {content}") } else { content.clone() };
                out.push(json!({ "role": "tool", "tool_call_id": tool_use_id, "content": content }));
            }
            Block::Text { text } => texts.push(text.as_str()),
            Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolUse { .. } => {}
        }
    }
    if !texts.is_empty() {
        out.push(json!({ "role": "user", "content": texts.join("\n\n") }));
    }
}

fn encode_assistant(message: &Message) -> Value {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for block in &message.content {
        match block {
            Block::Text { text } => texts.push(text.as_str()),
            Block::ToolUse { id, name, input } => {
                let arguments = match input {
                    // What was no JSON goes back as it came.
                    Value::String(raw) => raw.clone(),
                    other => other.to_string(),
                };
                calls.push(json!({
                    "id": id, "type": "function", "function": { "name": name, "arguments": arguments },
                }));
            }
            Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolResult { .. } => {}
        }
    }
    let content = if texts.is_empty() { Value::Null } else { Value::String(texts.join("\n")) };
    let mut encoded = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        encoded["tool_calls"] = Value::Array(calls);
    }
    encoded
}

/// An answer in the making.
#[derive(Debug, Default)]
struct Stream {
    text: String,
    thinking: String,
    calls: Vec<PartCall>,
    usage: Usage,
    stop: Option<StopReason>,
    refused: bool,
    done: bool,
}

#[derive(Debug, Default)]
struct PartCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
struct Chunk {
    model: Option<String>,
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    usage: Option<TokenCounts>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u32,
    delta: Option<ChoiceDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceDelta {
    content: Option<String>,
    refusal: Option<String>,
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct TokenCounts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

impl StreamDecoder for Stream {
    fn event(&mut self, event: &SseEvent) -> Result<Vec<Delta>, ModelError> {
        if self.done {
            return Ok(Vec::new());
        }
        let data = event.data.trim();
        if data == "[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        let value: Value = serde_json::from_str(data)
            .map_err(|error| failure::broken(format!("the stream holds bad JSON: {error}")))?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(stream_error(&value));
        }
        // Servers send chunks of their own (keep-alives, filter results); without choices they say nothing.
        let chunk: Chunk = serde_json::from_value(value).map_err(|error| {
            failure::broken(format!("the stream holds a chunk of another shape: {error}"))
        })?;
        self.usage.model =
            chunk.model.filter(|model| !model.is_empty()).unwrap_or(std::mem::take(&mut self.usage.model));
        if let Some(counts) = chunk.usage {
            self.count(&counts);
        }
        let mut deltas = Vec::new();
        // Only one answer is asked for.
        for choice in chunk.choices.unwrap_or_default().into_iter().filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                self.delta(delta, &mut deltas)?;
            }
            // Some gateways put an empty one into every chunk.
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.stop = Some(stop::reason(&reason)?);
            }
        }
        Ok(deltas)
    }

    fn is_done(&self) -> bool {
        self.done
    }

    /// The answer, if it is whole. With its finish reason everything of it has come: some compatible servers end the
    /// stream there, without `[DONE]`.
    fn finish(self: Box<Self>) -> Result<Reply, ModelError> {
        let Some(stop) = self.stop else {
            return Err(failure::broken("the stream ended without a finish reason"));
        };
        let mut content = Vec::new();
        if !self.thinking.is_empty() {
            content.push(Block::Thinking { thinking: self.thinking, signature: String::new() });
        }
        if !self.text.is_empty() {
            content.push(Block::Text { text: self.text });
        }
        for call in self.calls {
            let input = match call.arguments.trim() {
                "" => json!({}),
                text => parse_json(text).unwrap_or(Value::String(call.arguments)),
            };
            content.push(Block::ToolUse { id: call.id, name: call.name, input });
        }
        let stop = if self.refused { StopReason::Refusal } else { stop };
        Ok(Reply { content, stop, usage: self.usage })
    }
}

impl Stream {
    fn count(&mut self, counts: &TokenCounts) {
        let cached =
            counts.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens).unwrap_or(0);
        self.usage.cache_read_tokens = cached;
        self.usage.input_tokens = counts.prompt_tokens.unwrap_or(0).saturating_sub(cached);
        self.usage.output_tokens = counts.completion_tokens.unwrap_or(0);
    }

    fn delta(&mut self, delta: ChoiceDelta, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if let Some(thinking) = delta.reasoning_content.filter(|text| !text.is_empty()) {
            self.thinking.push_str(&thinking);
            out.push(Delta::Thinking(thinking));
        }
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refused = true;
            self.text.push_str(&refusal);
            out.push(Delta::Text(refusal));
        }
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.text.push_str(&text);
            out.push(Delta::Text(text));
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call, out)?;
        }
        Ok(())
    }

    fn call(&mut self, delta: CallDelta, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let id = delta.id.unwrap_or_default();
        // Some servers number every call 0 or none at all, but give each its own id.
        let known = self.calls.iter().rposition(|call| match delta.index {
            Some(_) => call.index == delta.index && (id.is_empty() || call.id.is_empty() || call.id == id),
            None => id.is_empty() || call.id == id,
        });
        let at = match known {
            Some(at) => at,
            None if self.calls.len() >= MOST_CALLS => {
                return Err(failure::broken(format!("the answer holds more than {MOST_CALLS} calls")));
            }
            None => {
                self.calls.push(PartCall { index: delta.index, ..PartCall::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id;
        }
        let Some(function) = delta.function else { return Ok(()) };
        if let Some(name) = function.name.filter(|name| !name.is_empty() && call.name.is_empty()) {
            out.push(Delta::ToolUse(name.clone()));
            call.name = name;
        }
        call.arguments.push_str(&function.arguments.unwrap_or_default());
        Ok(())
    }
}

/// An error in the middle of a stream: its code is a status with some servers, a word with others.
fn stream_error(value: &Value) -> ModelError {
    let error = &value["error"];
    let number =
        |key: &str| error[key].as_u64().and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
    let words = format!(
        "{} {}",
        error["type"].as_str().unwrap_or_default(),
        error["code"].as_str().unwrap_or_default()
    );
    let status = match number("code").or_else(|| number("status")) {
        Some(status) => status,
        None if words.contains("rate_limit") || words.contains("insufficient_quota") => 429,
        None if words.contains("invalid_request") || words.contains("context_length") => 400,
        None if words.contains("overloaded") => 503,
        None => 500,
    };
    failure::from_value(status, value)
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
