//! The run folder: journal, output files, ownership.
//!
//! 1. An event is in the journal before its effect begins. A line that is not whole was never accepted.
//! 2. One process at a time owns a run, for as long as it lives and no longer.
//! 3. Everything here is readable by its owner only, and nothing is read through a path that leaves the run's folder.

mod control;
mod intact;
mod journal;
mod journal_line;
mod journal_read;
mod journal_sync;
mod journal_tail;
mod own_output;
mod owner;
mod plan_lock;
mod run_find;
mod run_folder;
mod slice;
mod slots;
mod state_dir;
mod unended;

pub use control::ControlReader;
pub use intact::{Hashing, OutputError, check_artifact, check_slice, read_whole};
pub use journal::{Durability, Journal};
pub use journal_read::{JournalError, JournalRead, TornTail, read_journal};
pub use journal_tail::JournalTail;
pub use own_output::give_own_file;
pub use owner::{OwnerError, OwnerLock};
pub use plan_lock::{Holder, PlanLock, PlanLockError};
pub use run_find::FindError;
pub use run_folder::RunFolder;
pub use slice::{copy_slice, read_slice, tail_of_slice};
pub use slots::{SlotFile, SlotFiles, Slots};
pub use state_dir::{StateDir, StateError};
pub use unended::{Unended, unended};
