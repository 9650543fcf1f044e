//! What a provider's refusal means, whatever API it speaks.

use serde_json::Value;

use super::{ModelError, ModelErrorKind};
use crate::text::one_line;

/// Words by which servers say that the conversation is too long for the model.
const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "exceed context limit",
    "exceeds the context window",
    "exceeds the context length",
    "exceeds the available context size",
    "exceed_context_size",
    "context window of this model",
    "input is too long for requested model",
];

/// An error about a stream that is not what its API promises.
pub(super) fn broken(message: impl Into<String>) -> ModelError {
    ModelError { kind: ModelErrorKind::Broken, status: None, message: message.into(), retry_after: None }
}

/// What an answer with this status and body means. Both APIs put `error.type`, `error.code` and `error.message`
/// into a JSON body; proxies in front of them send anything.
pub(super) fn from_body(status: u16, body: &str) -> ModelError {
    match serde_json::from_str::<Value>(body) {
        Ok(value) => from_value(status, &value),
        Err(_) => by_status(status, "", body),
    }
}

/// The same for an error object, with the status that its kind would have had.
pub(super) fn from_value(status: u16, value: &Value) -> ModelError {
    let error = value.get("error").unwrap_or(value);
    let word = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let kind = format!("{} {}", word("type"), word("code"));
    let message = match error.get("message").and_then(Value::as_str).or_else(|| error.as_str()) {
        Some(message) => message.to_owned(),
        None => error.to_string(),
    };
    by_status(status, &kind, &message)
}

/// What a status means, together with the provider's own words for the kind of failure.
pub(super) fn by_status(status: u16, kind: &str, message: &str) -> ModelError {
    let said = format!("{kind} {message}").to_lowercase();
    let overflow =
        matches!(status, 400 | 413 | 422 | 500) && OVERFLOW.iter().any(|words| said.contains(words));
    let kind = match status {
        _ if overflow => ModelErrorKind::ContextOverflow,
        413 => ModelErrorKind::ContextOverflow,
        // The account is empty: waiting does not help.
        429 if said.contains("insufficient_quota") => ModelErrorKind::Refused,
        429 => ModelErrorKind::RateLimit,
        503 | 529 => ModelErrorKind::Overloaded,
        408 | 500..=599 => ModelErrorKind::Server,
        _ => ModelErrorKind::Refused,
    };
    let message = mask_keys(&one_line(message, 300));
    let message = if message.is_empty() { "no further words".to_owned() } else { message };
    ModelError { kind, status: Some(status), message, retry_after: None }
}

/// The text with everything that looks like an API key cut short. Some vendors repeat the key that they refuse.
fn mask_keys(text: &str) -> String {
    const SHOWN: usize = 3;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("sk-") {
        let starts_word = !rest[..at].ends_with(|c: char| c.is_alphanumeric());
        let (before, key) = rest.split_at(at);
        let length =
            key.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '*'))).unwrap_or(key.len());
        out.push_str(before);
        if starts_word && length > 8 {
            out.push_str(&key[..SHOWN]);
            out.push('…');
        } else {
            out.push_str(&key[..length]);
        }
        rest = &key[length..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
