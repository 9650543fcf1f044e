//! The driver: one loop that feeds the scheduler and does what it says.
//!
//! 1. Every event is in the journal before its effect begins.
//! 2. An attempt that was launched reports its end exactly once, whatever happens to it.
//! 3. Nothing that was started lives when `run` returns.
//! 4. Watchers hear of what is written, never of what is only intended.

mod driver;
mod facts;
mod finish;
mod launch;
mod live;
mod orders;
#[cfg(test)]
mod play_tests;
mod settle;
mod setup;
#[cfg(test)]
mod testing;
mod texts;
mod verdict;

pub use driver::{DriveError, RunEnd};
pub use facts::{git_facts, process_facts};
pub use orders::follow_commands;
pub use setup::{RunSetup, run};
pub use texts::FolderTexts;
