//! The driver: one loop that feeds the scheduler and does what it says.
//!
//! 1. Every event is in the journal before its effect begins.
//! 2. An attempt that was launched reports its end exactly once, whatever happens to it.
//! 3. Nothing that was started lives when `run` returns.
//! 4. Watchers hear of what is written, never of what is only intended.

mod artifacts;
mod attempt;
mod command;
mod driver;
mod facts;
mod finish;
mod judge;
mod launch;
mod launch_agent;
mod orders;
mod prepare_tree;
mod setup;
mod texts;

pub use driver::{DriveError, RunEnd};
pub use facts::{git_facts, process_facts};
pub use orders::follow_commands;
pub use setup::{RunSetup, run};
pub use texts::FolderTexts;
