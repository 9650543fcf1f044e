//! Executors: one attempt from launch to outcome.

mod shell;
mod shell_mask;
mod shell_pipe;
mod shell_signal;
mod shell_spawn;
mod shell_watch;
mod stop;

pub use shell::{Environment, ShellLaunch, run_shell};
pub use shell_mask::Mask;
pub use stop::{Progress, StopOrder, StopSignal, StopSwitch, stop_pair};
