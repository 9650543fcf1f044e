//! What every model API is, and a decoder in the middle of one of its streams.

use std::fmt;

use serde_json::Value;

use super::{APIS, Delta, ModelError, Reply, Request, SseEvent, failure};
use crate::model::ProviderKind;

/// The most bytes of all events of one answer.
const MOST: usize = 64 * 1024 * 1024;

/// A model API as data and functions, and the vendor whose API it is.
#[derive(Debug)]
pub struct Api {
    /// Which one, by the word of flow.toml. The vendor has the same name as a provider.
    pub kind: ProviderKind,
    /// The vendor's own address.
    pub default_base: &'static str,
    /// What follows the base in the URL of a request.
    pub path: &'static str,
    /// The environment variable that holds the vendor's key.
    pub key_env: &'static str,
    /// Whether an id is that of a model of the vendor.
    pub has_model: fn(&str) -> bool,
    /// The vendor's middle model, which stands in where nothing is configured.
    pub middle_model: &'static str,
    /// Short names and the ids behind them, which mean a model without any flow.toml.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The headers that carry a key; an empty key gives those that need none.
    pub headers: fn(&str) -> Vec<(&'static str, String)>,
    /// The body of a request.
    pub encode: fn(&Request) -> Value,
    /// What an answer with another status than 200 means.
    pub error: fn(u16, &str) -> ModelError,
    /// What reads the stream of an answer.
    pub(super) stream: fn() -> Box<dyn StreamDecoder>,
}

impl Api {
    /// A decoder for the answer to a request.
    pub fn decoder(&self) -> Decoder {
        Decoder { stream: (self.stream)(), bytes: 0 }
    }
}

/// The API of this word of flow.toml, exact case.
pub fn api(word: &str) -> Option<&'static Api> {
    APIS.iter().find(|api| api.kind.0 == word)
}

/// The API of the vendor who has a model of this id.
pub fn api_of_model(id: &str) -> Option<&'static Api> {
    APIS.iter().find(|api| (api.has_model)(id))
}

/// Every short name with its API and the id that it means there.
pub fn aliases() -> impl Iterator<Item = (&'static str, &'static Api, &'static str)> {
    APIS.iter().flat_map(|api| api.aliases.iter().map(move |(alias, id)| (*alias, api, *id)))
}

/// How an API streams its answers.
pub(super) trait StreamDecoder: fmt::Debug + Send {
    /// Takes an event and tells what it brought. Events that the API may still add are ignored.
    fn event(&mut self, event: &SseEvent) -> Result<Vec<Delta>, ModelError>;

    /// Whether the end marker has come.
    fn is_done(&self) -> bool;

    /// The whole answer. A stream that ended before its end marker is broken.
    fn finish(self: Box<Self>) -> Result<Reply, ModelError>;
}

/// A decoder in the middle of an answer.
#[derive(Debug)]
pub struct Decoder {
    stream: Box<dyn StreamDecoder>,
    bytes: usize,
}

impl Decoder {
    /// Takes an event and tells what it brought. Events that the API may still add are ignored.
    pub fn event(&mut self, event: &SseEvent) -> Result<Vec<Delta>, ModelError> {
        self.bytes += event.data.len();
        if self.bytes > MOST {
            return Err(failure::broken(format!("the answer is larger than {} MiB", MOST >> 20)));
        }
        self.stream.event(event)
    }

    /// Whether the end marker has come: what follows can be left unread.
    pub fn is_done(&self) -> bool {
        self.stream.is_done()
    }

    /// The whole answer. A stream that ended before its end marker is broken: a part of a turn is never acted on.
    pub fn finish(self) -> Result<Reply, ModelError> {
        self.stream.finish()
    }
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
