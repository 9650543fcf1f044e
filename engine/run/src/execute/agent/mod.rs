//! An attempt of an agent: the loop's decisions carried out, from the first prompt to the outcome.
//!
//! 1. A line of the transcript is on disk before what follows from it begins.
//! 2. After an order to stop no call of the model begins, and none of a tool. What is under way is ended before the
//!    outcome is there.
//! 3. What happens stands in `wire.jsonl` before anybody is told of it; every request leaves its beginning and its end there.

mod ask;
mod checks;
mod files;
mod idle;
mod launch;
mod log;
mod outcome;
mod session;
#[cfg(test)]
mod testing;

pub use checks::AgentChecks;
pub use files::{Recorded, has_conversation, recorded, recorded_calls};
pub use launch::{AgentLaunch, AgentPlace, AgentStart, Reported, new_agent_id};
pub use log::{LogReader, conversation_log};
pub use session::{AgentHandle, run_agent, start_agent};
