//! Exit codes: the one place where an end becomes a number.

use std::fmt;
use std::process::ExitCode;

use flow_run::store::{FindError, JournalError, OwnerError, PlanLockError, StateError};
use flow_run::workspace::WorkspaceError;

/// The exit codes of `flow`, as `flow --help` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
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
    /// Told to terminate.
    Terminated,
    /// Standard output was closed.
    Closed,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::TaskFailed => 1,
            Exit::Usage => 2,
            Exit::Invalid => 3,
            Exit::NothingSelected => 4,
            Exit::AllowedFailures => 5,
            Exit::Rejected => 8,
            Exit::Locked => 9,
            Exit::Bug => 70,
            Exit::Io => 74,
            Exit::NotTrusted => 77,
            Exit::HungUp => 129,
            Exit::Interrupted => 130,
            Exit::Closed => 141,
            Exit::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// An error that knows its exit code; everything else is a defect.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
    help: Option<String>,
}

impl Failure {
    /// A failure with its message; empty when all has been said already.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Failure { exit, message: message.into(), help: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// What to do.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// What to do about an error.
pub fn help(error: &anyhow::Error) -> Option<&str> {
    match error.downcast_ref::<Failure>() {
        Some(failure) => failure.help_text(),
        None if error.is::<StateError>() => {
            Some("another place for runs: `--state-dir DIR` or `FLOW_STATE_DIR`")
        }
        None => None,
    }
}

/// The exit code of a folder that can't be used.
fn of_state(error: &StateError) -> Exit {
    if error.is_distrust() { Exit::NotTrusted } else { Exit::Io }
}

/// The exit code of any error that reaches `main`: its own, that of the run folder's errors, else a defect.
pub fn of(error: &anyhow::Error) -> Exit {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.exit();
    }
    match error.downcast_ref::<WorkspaceError>() {
        Some(WorkspaceError::Foreign { .. }) => return Exit::NotTrusted,
        Some(_) => return Exit::Io,
        None => {}
    }
    if let Some(error) = error.downcast_ref::<StateError>() {
        return of_state(error);
    }
    match error.downcast_ref::<FindError>() {
        Some(FindError::State(error)) => return of_state(error),
        Some(
            FindError::NoRuns { .. }
            | FindError::NotAnId { .. }
            | FindError::Unknown { .. }
            | FindError::Ambiguous { .. },
        ) => {
            return Exit::Invalid;
        }
        None => {}
    }
    match error.downcast_ref::<OwnerError>() {
        Some(OwnerError::Owned { .. }) => return Exit::Locked,
        Some(OwnerError::Io { .. }) => return Exit::Io,
        None => {}
    }
    match error.downcast_ref::<PlanLockError>() {
        Some(PlanLockError::Held { .. }) => return Exit::Locked,
        Some(PlanLockError::State(error)) => return of_state(error),
        Some(PlanLockError::Io { .. }) => return Exit::Io,
        None => {}
    }
    let io = error.is::<JournalError>() || error.is::<std::io::Error>();
    if io { Exit::Io } else { Exit::Bug }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
