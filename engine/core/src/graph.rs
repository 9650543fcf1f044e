//! Who waits for whom.

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;

/// What must be true of a task before one that needs it may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Completed, skipped, or failed with `continue_on_error`.
    #[default]
    Success,
    /// It really ran, and well.
    Completed,
    /// Failed, killed or lost.
    Failure,
    /// It ended, whatever the way.
    Done,
}

/// An edge to what a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The task that must end first.
    pub from: TaskId,
    /// How it must end.
    pub kind: EdgeKind,
}

/// A directed graph without cycles, one node a plan task.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// `needs[task]`: what it waits for, each task once, in manifest order.
    pub needs: Vec<Vec<Edge>>,
}
