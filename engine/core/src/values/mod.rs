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
mod kind;
mod limits;
mod lock;
mod named;
mod output;
mod packet;
mod pairs;
mod preview;
mod render;
mod sealed;
mod surroundings;
#[cfg(test)]
mod testing;
mod told;
mod variables;
mod work;
mod work_of_task;

pub use agent::model_of;
pub use commit::CommitMessage;
pub use context::{Facts, GitFacts, Scope};
pub use expand::instances;
pub use field::unreadable;
pub use kind::WorkKind;
pub use lock::lock_name;
pub use named::NamedOutput;
pub use output::{Settled, settle_output};
pub use packet::{AttemptPacket, Earlier, EarlierTree, Shared, TreeOrder};
pub use preview::{Preview, known_instances, preview};
pub use sealed::{MissingSecret, Sealed};
pub use surroundings::redirecting;
pub use told::{Whereabouts, Workplace};
pub use work::{
    AgentName, AgentRules, AgentWork, Beginning, ExpectedTree, ForkOf, NewConversation, Program, ShellScript,
    ShellWork, Step, Work,
};
pub use work_of_task::work_of_task;
