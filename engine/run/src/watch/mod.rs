//! What watchers are told. They can be slow or fail; they never slow or fail a run.

mod channel;
mod view;

pub use channel::{Publisher, Update, Updates, channel};
pub use view::{Counts, Line, RunningTask, Spent, View, telling_output};
