//! The engine: from a project to live runs, for whoever shows them.
//!
//! 1. Nothing here prints. What a person should know is a `Notice` or a `Diagnostic`, what is in the way an
//!    `EngineError`; who asked finds the words.

mod error;
mod gc;
mod health;
mod history;
mod live;
mod lost_outputs;
mod models;
mod notice;
mod place;
mod prepare;
mod project;
mod ready;
mod reconcile;
mod resume;
mod runs;
mod signals;
mod snapshot;
mod start;
mod subscribe;
#[cfg(test)]
pub(crate) mod testing;

pub use error::{EngineError, NoModel};
pub use gc::{GcAction, GcOptions, Remains};
pub use health::{DefaultModel, ModelKeys};
pub use history::{Happened, History};
pub use live::{Ended, RunHandle, Running, Watched};
pub use notice::{Notice, Tell, TreeLeft};
pub use place::{has_program, in_ci};
pub use prepare::{PlanRequest, Prepared};
pub use project::{Engine, ProjectOptions};
pub use ready::Ready;
pub use resume::no_task;
pub use runs::Run;
pub use signals::{Listener, Order};
pub use snapshot::Answering;
pub use start::RunOptions;
pub use subscribe::{Look, Subscription};

pub use crate::execute::LogReader as AgentLog;
pub use crate::load::{Dirs, Project};
pub use crate::provider::ProviderError;
pub use crate::store::{Durability, FindError, OwnerError, PlanLockError, StateError, Unended as LiveOutput};
pub use crate::sys::clock::now;
pub use crate::sys::files::random_u32;
pub use crate::workspace::{Abandoned, WorkspaceError};
