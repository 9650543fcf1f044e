//! What watchers are told. They can be slow or fail; they never slow or fail a run.

mod channel;
mod follow;
mod group;
mod held;
mod line;
mod outputs;
mod view;

pub use crate::execute::Progress;
pub use channel::{Publisher, Update, Updates, channel};
pub use follow::Follower;
pub use group::{Group, Spent};
pub use held::{Limits, Pool};
pub use line::{Line, telling_output};
pub use outputs::Stream;
pub use view::{RunningTask, Stopping, View};
