//! The agent loop: a pure state machine over a transcript.

mod spec;

pub use spec::{AgentEnd, AgentSpec, Call, CallResult, Effect, Input, Item, OutputForm};
