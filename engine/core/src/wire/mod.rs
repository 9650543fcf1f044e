//! What is said between an agent and a model, and the codecs of the APIs that carry it. Pure: bytes in, values out.
//!
//! To add an API: one file with its `API`, and its line in [`APIS`] and in [`api`].

mod anthropic;
mod api;
#[cfg(test)]
mod docs_tests;
mod failure;
mod message;
mod openai;
mod retry_after;
mod script;
mod sse;
mod stop;
#[cfg(test)]
mod testing;

pub use api::{Api, Decoder};
pub use message::{
    Block, Delta, Message, ModelError, ModelErrorKind, Reply, Request, Role, StopReason, ToolSpec,
};
pub use retry_after::retry_after;
pub use script::{ModelScript, Played, ScriptTurn, ScriptTurns, script_ended};
pub use sse::{SseDecoder, SseEvent};

use crate::model::ProviderKind;

/// Every model API.
pub const APIS: &[Api] = &[anthropic::API, openai::API];

/// The API of a kind.
pub fn api(kind: ProviderKind) -> &'static Api {
    match kind {
        ProviderKind::Anthropic => &anthropic::API,
        ProviderKind::Openai => &openai::API,
    }
}
