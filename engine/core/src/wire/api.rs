//! What every model API is, and a decoder in the middle of one of its streams.

use serde_json::Value;

use super::{Delta, ModelError, Reply, Request, SseEvent, anthropic, failure, openai};
use crate::model::ProviderKind;

/// The most bytes of all events of one answer.
const MOST: usize = 64 * 1024 * 1024;

/// A model API as data and functions.
#[derive(Debug)]
pub struct Api {
    /// Which one.
    pub kind: ProviderKind,
    /// The vendor's own address.
    pub default_base: &'static str,
    /// What follows the base in the URL of a request.
    pub path: &'static str,
    /// The environment variable that holds the vendor's key.
    pub key_env: &'static str,
    /// The headers that carry a key; an empty key gives those that need none.
    pub headers: fn(&str) -> Vec<(&'static str, String)>,
    /// The body of a request.
    pub encode: fn(&Request) -> Value,
    /// A decoder for its answer.
    pub decoder: fn() -> Decoder,
    /// What an answer with another status than 200 means.
    pub error: fn(u16, &str) -> ModelError,
}

/// A decoder in the middle of an answer.
#[derive(Debug)]
pub struct Decoder {
    stream: Stream,
    bytes: usize,
}

#[derive(Debug)]
enum Stream {
    Anthropic(anthropic::Stream),
    Openai(openai::Stream),
}

impl Decoder {
    pub(super) fn anthropic() -> Self {
        Decoder { stream: Stream::Anthropic(anthropic::Stream::default()), bytes: 0 }
    }

    pub(super) fn openai() -> Self {
        Decoder { stream: Stream::Openai(openai::Stream::default()), bytes: 0 }
    }

    /// Takes an event and tells what it brought. Events that the API may still add are ignored.
    pub fn event(&mut self, event: &SseEvent) -> Result<Vec<Delta>, ModelError> {
        self.bytes += event.data.len();
        if self.bytes > MOST {
            return Err(failure::broken(format!("the answer is larger than {} MiB", MOST >> 20)));
        }
        match &mut self.stream {
            Stream::Anthropic(stream) => stream.event(event),
            Stream::Openai(stream) => stream.event(event),
        }
    }

    /// Whether the end marker has come: what follows can be left unread.
    pub fn is_done(&self) -> bool {
        match &self.stream {
            Stream::Anthropic(stream) => stream.is_done(),
            Stream::Openai(stream) => stream.is_done(),
        }
    }

    /// The whole answer. A stream that ended before its end marker is broken: a part of a turn is never acted on.
    pub fn finish(self) -> Result<Reply, ModelError> {
        match self.stream {
            Stream::Anthropic(stream) => stream.finish(),
            Stream::Openai(stream) => stream.finish(),
        }
    }
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
