//! What is said between an agent and a model, and the codecs of the APIs that carry it. Pure: bytes in, values out.

mod message;

pub use message::{
    Block, Delta, Message, ModelError, ModelErrorKind, Reply, Request, Role, StopReason, ToolSpec,
};
