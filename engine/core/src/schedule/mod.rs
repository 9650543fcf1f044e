//! The scheduler: a pure state machine over events.

mod spec;

pub use spec::{Answer, Cancel, Decision, Effect, Input, Limits, NodeSpec, Question, RetrySpec, TaskValues};
