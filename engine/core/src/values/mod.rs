//! What tasks can read of a run, and what one attempt runs.
//!
//! Pure like the rest: the run so far is a [`crate::report::Fold`], output files come through [`crate::report::Texts`], the
//! process environment through [`Facts`].

mod agent;
mod argv;
mod commit;
mod context;
mod expand;
mod field;
mod launch;
mod limits;
mod lock;
mod output;
mod pairs;
mod preview;
mod surroundings;
#[cfg(test)]
mod testing;

pub use agent::{
    Whereabouts, Workplace, first_message, max_turns_of, model_of, notifications_of_needs, origin,
    output_form, permissions_of, system_prompt, tools_of,
};
pub use commit::CommitMessage;
pub use context::{Facts, GitFacts, Scope};
pub use expand::instances;
pub use field::unreadable;
pub use launch::{
    Common, Launchable, PreparedAgent, PreparedCheck, PreparedCommand, PreparedSetup, PreparedShell, prepare,
};
pub use lock::lock_name;
pub use output::{Settled, settle_output};
pub use preview::{Preview, known_instances, preview};
pub use surroundings::redirecting;
