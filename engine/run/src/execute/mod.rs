//! Executors: one attempt from launch to outcome.

mod agent;
mod agent_ask;
mod agent_checks;
mod agent_files;
mod agent_idle;
mod agent_log;
mod shell;
mod shell_mask;
mod shell_pipe;
mod shell_signal;
mod shell_spawn;
mod shell_watch;
mod stop;

pub use agent::{AgentLaunch, AgentPlace, AgentStart, Reported, new_agent_id, run_agent};
pub use agent_checks::AgentChecks;
pub use agent_files::{Recorded, has_conversation, recorded, recorded_calls};
pub use agent_log::{LogReader, conversation_log};
pub use shell::{Environment, ShellLaunch, run_shell};
pub use shell_mask::Mask;
pub use stop::{Progress, StopOrder, StopSignal, StopSwitch, stop_pair};
