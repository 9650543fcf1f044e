//! What is said between an agent and a model, and the codecs of the APIs that carry it. Pure: bytes in, values out.
//!
//! To add an API: one file with its `API`, and its line in [`APIS`].

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

pub use api::{Api, Decoder, aliases, api, api_of_model};
pub use message::{
    Block, Delta, Message, ModelError, ModelErrorKind, Reply, Request, Role, StopReason, ToolSpec,
};
pub use retry_after::retry_after;
pub use script::{ModelScript, Played, ScriptTurn, ScriptTurns, script_ended};
pub use sse::{SseDecoder, SseEvent};

/// Every model API, one row each.
pub const APIS: &[Api] = &[anthropic::API, openai::API];
