//! The agent loop: a pure state machine over a transcript.
//!
//! 1. Every call of a turn has exactly one result in the user message that follows, in the order of the calls.
//! 2. Readers of a turn run at once, up to a limit; a writer runs alone, after all before it and before all behind it.
//! 3. What is recorded says everything: a loop restored from its items goes on as the first would have.
//! 4. What is asked is the fold of what was recorded before. A result is recorded when it comes: where the record breaks off in a
//!    turn, only the calls without one are closed.
//! 5. After `Finish` nothing follows.
//! 6. A letter is read at most once, and at the beginning of a turn.

mod activity;
mod batch;
mod fork;
mod inbox;
mod judge;
mod log;
mod machine;
mod output;
#[cfg(test)]
mod random_tests;
mod record;
mod spec;
mod tell;
#[cfg(test)]
mod testing;
mod turn;

pub use activity::{Activity, Lines, last_line};
pub use fork::{Differences, PLACEHOLDER, directive, fork};
pub use inbox::{Letter, LetterKey};
pub use log::{Answered, LogLine, Logbook, Logged, NoAnswer, called, tool_event};
pub use machine::Converse;
pub use output::{hand_in_tool, violations};
pub use spec::{AgentEnd, AgentSpec, Call, CallResult, CheckFault, Effect, Input, Item, OutputForm, Spoil};
pub use tell::{Teller, ended, last_words, told_by};
