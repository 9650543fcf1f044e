//! The one way to run a command: from its start to the end of all that it has started.
//!
//! 1. A command leads a process group of its own and has an empty standard input.
//! 2. It is over when its own process ends, whoever holds its output open.
//! 3. Told to end, its group gets TERM; after the grace, or told to hurry, KILL. The first order decides what is said of it,
//!    whatever the command does afterwards.
//! 4. After `run` nothing of the group lives, as far as we may signal it; nor does what left the group, where the tag is this
//!    command's alone. All that they printed has been taken.
//! 5. A short command costs a spawn, a wait and a handful of cheap calls; watching begins when it takes longer.

mod command;
mod pipes;
mod run;
mod spawn;
mod watch;

pub use command::{Command, Environment, Limits, Orphans, Output, Printing, Taker};
pub use run::{Cut, Limit, NotRun, Ran, run};
pub use spawn::is_shortage;
