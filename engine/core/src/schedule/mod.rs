//! The scheduler: a pure state machine over events.
//!
//! [`Scheduler::handle`] decides; what it decides it says as events and applies them itself. [`Scheduler::apply`] is
//! the only function that changes the book of a run, so replaying the journal gives the same book. What is not in the
//! book (open questions, running clocks, orders to stop) belongs to one engine and dies with it.
//!
//! A [`TaskId`](crate::ids::TaskId) is a place in the plan, a [`NodeId`](crate::ids::NodeId) one in the run. A node names
//! the task of the plan that it has the spec of, and its [`Origin`]; neither is computed from the other, or from its
//! number. `Wiring` is about tasks alone and never changes, and `NodeId::of_plan` is the one way from a task to its node.
//! So a list of tasks that runs more than once, or inside of another (a group, a round of a loop, a called plan), is a
//! frame: the wiring of that list, which all its frames share, the node that it stands for, and its first node, from which
//! `of_plan` counts. What an agent starts is in no list: it brings its own spec.
//!
//! Invariants, played with random plans in random worlds by `play_tests.rs`:
//!
//! 1. Never more than `concurrency` attempts live, and no two of them share a slot.
//! 2. Never more than `max_parallel` attempts of one expanded task live.
//! 3. An attempt starts only when every edge of its task holds and its condition, if it has one, was answered with yes:
//!    that of the task before it expands, that of an instance after.
//! 4. Every attempt that starts ends at most once, and exactly once unless its engine died.
//! 5. Attempt numbers of an address only grow, and no task has more attempts in one epoch than `retry` allows.
//! 6. A terminal state is left by none within an epoch; a task ends once.
//! 7. `Finish` comes exactly once, when every task has ended, and nothing comes after it.
//! 8. Replaying the events gives the same book after every step.
//! 9. Nothing starts once the run was told to stop, nor in a group or task that was.
//! 10. A resume runs no task again that had ended well, unless something that it needs runs again.
//! 11. Every run ends in a bounded number of steps.
//! 12. The scheduler asks to be woken only for moments that lie ahead.
//! 13. Never more attempts of a pool live than it has slots, and a full pool holds up nobody else.
//! 14. What must not run twice does not start again in the resume that finds it lost.
//! 15. What an agent starts begins while the attempt of its starter lives, and takes no slot, neither of the run nor of a
//!     pool.
//! 16. It counts as no task and fails nothing, and the run ends only after the last of it.
//! 17. A resume starts nothing before all of it that was under way has ended as lost.

mod apply;
mod book;
mod clock;
mod decide;
mod origin;
mod queue;
mod replay;
mod resume;
mod retry;
mod scheduler;
mod slots;
mod spec;
#[cfg(test)]
mod testing;
mod wiring;

#[cfg(test)]
mod docs_tests;
#[cfg(test)]
mod play_children;
#[cfg(test)]
mod play_model;
#[cfg(test)]
mod play_tests;

pub use origin::{Child, Origin};
#[cfg(test)]
pub(crate) use play_tests::played;
pub use replay::ReplayError;
pub use scheduler::{NodeView, Scheduler};
pub use spec::{Answer, Cancel, Decision, Effect, Input, Limits, NodeSpec, PoolSpec, Question};
#[cfg(test)]
pub(crate) use testing::child_started;
