//! Executors: one attempt from launch to outcome.

mod agent;
mod executor;
mod local;
mod mask;
mod progress;
mod shell;
mod sink;

pub use agent::{
    AgentChecks, AgentHandle, AgentLaunch, AgentPlace, AgentStart, LogReader, Recorded, Reported,
    conversation_log, has_conversation, new_agent_id, recorded, recorded_calls, run_agent, start_agent,
};
pub use executor::{Attempting, Executor, Executors};
pub use local::Host;
pub use mask::Mask;
pub use progress::Progress;
pub use shell::{ShellLaunch, run_shell};
pub use sink::{Announced, Announcement, Message, NotWritten, Said, Sink, Written};
