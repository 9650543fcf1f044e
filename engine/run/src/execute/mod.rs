//! Executors: one attempt from launch to outcome.

mod agent;
mod agent_ask;
mod agent_files;
mod stop;

pub use agent::{AgentLaunch, AgentPlace, AgentStart, run_agent};
pub use agent_files::recorded_calls;
pub use stop::{Progress, StopOrder, StopSignal, StopSwitch, stop_pair};
