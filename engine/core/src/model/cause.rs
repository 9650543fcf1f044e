//! Why a command of flow ended, and the exit code that says so. The one table of exit codes.

use super::command::Signal;

/// Why a command ended, a run among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// All well.
    Success,
    /// A task failed.
    TaskFailed,
    /// The command line is off.
    Usage,
    /// Manifest, agent or input invalid.
    Invalid,
    /// No task fits the selection, or nothing lives that could be stopped.
    NothingSelected,
    /// Allowed failures under `--strict`.
    AllowedFailures,
    /// An unmet `expect.that` was the only cause.
    Rejected,
    /// Somebody else owns the run or holds the plan's `lock`, or it can't be resumed.
    Locked,
    /// A defect of flow.
    Bug,
    /// Journal or report can't be read or written.
    Io,
    /// Not trusted.
    NotTrusted,
    /// The terminal went away.
    HungUp,
    /// Ctrl-C.
    Interrupted,
    /// Standard output was closed.
    Closed,
    /// Told to terminate.
    Terminated,
}

impl Cause {
    /// Every cause, by code.
    pub const ALL: [Cause; 15] = [
        Cause::Success,
        Cause::TaskFailed,
        Cause::Usage,
        Cause::Invalid,
        Cause::NothingSelected,
        Cause::AllowedFailures,
        Cause::Rejected,
        Cause::Locked,
        Cause::Bug,
        Cause::Io,
        Cause::NotTrusted,
        Cause::HungUp,
        Cause::Interrupted,
        Cause::Closed,
        Cause::Terminated,
    ];

    /// The exit code.
    pub fn code(self) -> u8 {
        self.row().0
    }

    /// What the exit code means, in the words of `flow --help`.
    pub fn in_words(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (u8, &'static str) {
        match self {
            Cause::Success => (0, "all well"),
            Cause::TaskFailed => (1, "a task failed"),
            Cause::Usage => (2, "usage"),
            Cause::Invalid => (3, "plan, agent, input wrong"),
            Cause::NothingSelected => (4, "nothing selected"),
            Cause::AllowedFailures => (5, "allowed failures under --strict"),
            Cause::Rejected => (8, "an unmet `expect.that` was the only cause"),
            Cause::Locked => (9, "locked, or resume refused"),
            Cause::Bug => (70, "a defect of flow"),
            Cause::Io => (74, "journal or report I/O"),
            Cause::NotTrusted => (77, "not trusted"),
            Cause::HungUp => (129, "hung up"),
            Cause::Interrupted => (130, "interrupted"),
            Cause::Closed => (141, "stdout closed"),
            Cause::Terminated => (143, "terminated"),
        }
    }
}

impl From<Signal> for Cause {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Interrupt => Cause::Interrupted,
            Signal::Terminate => Cause::Terminated,
            Signal::HangUp => Cause::HungUp,
        }
    }
}

#[cfg(test)]
#[path = "cause_tests.rs"]
mod tests;
