//! Commands of a plan: what `run` says, an agent's `setup` and its `checks`.

mod attempt;
mod launch;
mod refusal;
mod signal;

pub use attempt::run_shell;
pub use launch::ShellLaunch;
