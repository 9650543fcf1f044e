//! Executors: one attempt from launch to outcome.

mod agent;
mod agent_ask;
mod agent_checks;
mod agent_files;
mod agent_idle;
mod agent_log;
mod executor;
mod local;
mod mask;
mod progress;
mod shell;
mod sink;

pub use agent::{AgentLaunch, AgentPlace, AgentStart, Reported, new_agent_id, run_agent};
pub use agent_checks::AgentChecks;
pub use agent_files::{Recorded, has_conversation, recorded, recorded_calls};
pub use agent_log::{LogReader, conversation_log};
pub use executor::{Attempting, Executor, Executors};
pub use local::Host;
pub use mask::Mask;
pub use progress::Progress;
pub use shell::{ShellLaunch, run_shell};
pub use sink::{Announced, Announcement, Message, NotWritten, Said, Sink, Written};

pub use crate::sys::process::Environment;
pub use crate::sys::stop::{StopOrder, StopSignal, StopSwitch, stop_pair};
