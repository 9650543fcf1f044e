//! Private trees: git worktrees and copies, made, checked and taken down without losing work.
//!
//! 1. Every tree has a folder and a branch of its own; nothing that exists already is ever taken over, but by the task
//!    itself that was cut off in it.
//! 2. Before git is called in a tree, the chain from its `.git` file to the repository is what it was when the tree was
//!    made; else git is not called.
//! 3. The checkout, index, HEAD, config and hooks of the person are never written, but by `merge: apply | squash |
//!    cherry_pick`, which write only files that nobody changed meanwhile, all of them or none.
//! 4. Work that no branch reaches is never deleted; on an error everything is kept and the error says where it is.
//! 5. Git's own locks are waited for and never deleted.
//!
//! Everything here blocks; an async caller goes through `spawn_blocking`.

mod abandoned;
mod baseline;
mod chain;
mod changes;
mod checkout_index;
mod collect;
mod copies;
mod copy_file;
mod copy_patch;
mod error;
mod finish;
mod git;
mod home;
mod include;
mod lacked;
mod landed;
mod landing;
mod lock;
mod materialize;
mod merge_home;
mod names;
mod owner;
mod patch;
mod pick;
mod reclaim;
mod references;
mod repository;
mod resume;
mod snapshot;
mod trees;
mod version;
mod worktree;

#[cfg(test)]
#[path = "faults_tests.rs"]
mod faults;
#[cfg(test)]
pub(crate) mod testing;

pub use abandoned::{Abandoned, abandoned};
pub use collect::{Collector, Leftover, Standing};
pub use copies::CopiedTree;
pub use error::WorkspaceError;
pub use repository::{branch, check_owner, depth, git_place};
pub use snapshot::Snapshot;
pub use trees::{HeldTree, PrivateTree, TreeEnd, Trees};
pub use worktree::{Worktree, Worktrees};
