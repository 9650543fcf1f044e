//! From errors to what a person reads and to the cause, whose code the program ends with.

use std::fmt;
use std::process::ExitCode;

use flow_core::model::Cause;
use flow_run::store::{FindError, JournalError, OwnerError, PlanLockError, StateError};
use flow_run::workspace::WorkspaceError;

/// An error that knows what it is the cause of; everything else is a defect.
#[derive(Debug)]
pub struct Failure {
    cause: Cause,
    message: String,
    help: Option<String>,
}

impl Failure {
    /// A failure with its message; empty when all has been said already.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Failure { cause, message: message.into(), help: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Why the command ended.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// What to do.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// Ends the program with the code of a cause.
pub fn with(cause: Cause) -> ExitCode {
    ExitCode::from(cause.code())
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

/// The cause that is a folder that can't be used.
fn of_state(error: &StateError) -> Cause {
    if error.is_distrust() { Cause::NotTrusted } else { Cause::Io }
}

/// The cause that is any error that reaches `main`: its own, that of the run folder's errors, else a defect.
pub fn of(error: &anyhow::Error) -> Cause {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.cause();
    }
    match error.downcast_ref::<WorkspaceError>() {
        Some(WorkspaceError::Foreign { .. }) => return Cause::NotTrusted,
        Some(_) => return Cause::Io,
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
            return Cause::Invalid;
        }
        None => {}
    }
    match error.downcast_ref::<OwnerError>() {
        Some(OwnerError::Owned { .. }) => return Cause::Locked,
        Some(OwnerError::Io { .. }) => return Cause::Io,
        None => {}
    }
    match error.downcast_ref::<PlanLockError>() {
        Some(PlanLockError::Held { .. }) => return Cause::Locked,
        Some(PlanLockError::State(error)) => return of_state(error),
        Some(PlanLockError::Io { .. }) => return Cause::Io,
        None => {}
    }
    let io = error.is::<JournalError>() || error.is::<std::io::Error>();
    if io { Cause::Io } else { Cause::Bug }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
