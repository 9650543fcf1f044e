//! The acting half of flow: processes, files, git, models, and the driver that does what flow-core decides.
//!
//! The modules stand in the rows of `engine/ARCHITECTURE.md`: each knows only what stands before it.

pub mod drive;
pub mod engine;
pub mod execute;
pub mod load;
pub mod provider;
pub mod store;
pub mod sys;
pub mod tool;
pub mod watch;
pub mod workspace;
