//! Processes: each attempt a group of its own, nothing outlives its group, nothing that is not ours is touched.
//!
//! 1. A command is spawned without code between fork and exec, so that `vfork` stays possible whatever our size.
//! 2. Its group has the leader's process id. The leader is reaped by `Leader::wait` alone.
//! 3. What leaves the group is found again among our children, because we are a subreaper, by `FLOW_ATTEMPT` in its
//!    environment.
//!    One that cleared its environment is found at the end of the engine, by its session.
//! 4. A signal goes to a process only while it can't be another one under the same number: to a group that still has
//!    members, to a child that we have not reaped, or through a pidfd that was open before we looked who it is.

mod group;
mod identity;
mod procfs;
mod runner;
mod stray;

pub use group::{Leader, Remnant, continue_all, signal_all, stop_all};
pub use identity::ProcessIdentity;
pub use runner::{
    Command, Cut, Environment, Limit, Limits, NotRun, Orphans, Output, Printing, Ran, Taker, is_shortage, run,
};
pub use stray::{
    ATTEMPT_VARIABLE, Swept, become_subreaper, processes_tagged, sweep, sweep_everywhere, sweep_orphans,
    tag_value,
};
