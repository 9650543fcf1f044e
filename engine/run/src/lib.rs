//! The acting half of flow: processes, files, git, models, and the driver that does what flow-core decides.
//!
//! | row | modules | must not know |
//! |---|---|---|
//! | 0 | `sys` | plans |
//! | 1 | `store`, `load`, `workspace`, `provider` | each other |
//! | 2 | `tool` | agents, scheduler |
//! | 3 | `execute` | graph, other tasks, store's journal |
//! | 4 | `watch` | drive's insides |
//! | 5 | `drive` | terminals |
//! | 6 | `engine` | who shows what it says |

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
