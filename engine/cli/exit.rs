//! From errors to what a person reads and to the cause, whose code the program ends with.

use std::borrow::Cow;
use std::fmt;
use std::process::ExitCode;

use flow_core::model::{Cause, TaskState};
use flow_core::plan::SelectError;
use flow_run::engine::{EngineError, FindError, OwnerError, PlanLockError, StateError, WorkspaceError};

use crate::ui;

/// An error of the command line itself, which knows what it is the cause of.
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
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Ends the program with the code of a cause.
pub fn with(cause: Cause) -> ExitCode {
    ExitCode::from(cause.code())
}

/// Says what went wrong.
pub fn tell(error: &anyhow::Error) {
    match error.downcast_ref::<EngineError>() {
        Some(EngineError::Invalid(findings)) => ui::diagnostics(findings),
        Some(EngineError::NoModel(all)) => {
            // What to do is said once where it is the same for the last.
            let last = all.last().and_then(|last| last.help.as_deref());
            for one in all.iter().rev().skip(1).rev() {
                ui::error(&one.to_string(), one.help.as_deref().filter(|own| Some(*own) != last));
            }
        }
        Some(_) | None => {}
    }
    let shown = format!("{error:#}");
    if !shown.is_empty() {
        ui::error(&shown, help(error).as_deref());
    }
}

/// What to do about an error.
fn help(error: &anyhow::Error) -> Option<Cow<'_, str>> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.help.as_deref().map(Cow::Borrowed);
    }
    const ELSEWHERE: &str = "another place for runs: `--state-dir DIR` or `FLOW_STATE_DIR`";
    Some(match error.downcast_ref::<EngineError>()? {
        EngineError::Select(SelectError::NoTask { help, .. })
        | EngineError::NoInstance { help, .. }
        | EngineError::NoTask { help, .. } => Cow::Borrowed(help),
        EngineError::NoModel(all) => Cow::Borrowed(all.last()?.help.as_deref()?),
        EngineError::State(_) => Cow::Borrowed(ELSEWHERE),
        EngineError::NoRuns { .. } => {
            Cow::Borrowed("start one with `flow run PLAN`, or name the project's folder with `-C`")
        }
        EngineError::Thread(_) => {
            Cow::Borrowed("too many processes of this user, or too small a limit (`ulimit -u`)")
        }
        EngineError::LeftOut { left_out, only, .. } => {
            let flag = if *only { "--only" } else { "--from" };
            let flags: Vec<String> = left_out.iter().take(3).map(|name| format!("{flag} {name}")).collect();
            let flags = flags.join(" ");
            Cow::Owned(format!("let it take part: `{flags}`; or let the text cope without: `| default(...)`"))
        }
        EngineError::NothingToRetry { state, .. } => Cow::Borrowed(match state {
            TaskState::Skipped => "it was skipped; only what did not end well is run again",
            TaskState::Blocked => "retry what it needs; it runs after that",
            TaskState::Created => "it has not begun; `flow resume` goes on with it",
            TaskState::Completed
            | TaskState::Starting
            | TaskState::Running
            | TaskState::Failed
            | TaskState::Killed
            | TaskState::Lost => "only what did not end well is run again",
        }),
        _ => return None,
    })
}

/// The cause that is any error: its own, that of what the engine met, else a defect.
pub fn of(error: &anyhow::Error) -> Cause {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.cause;
    }
    match error.downcast_ref::<EngineError>() {
        Some(error) => of_engine(error),
        None if error.is::<std::io::Error>() => Cause::Io,
        None => Cause::Bug,
    }
}

fn of_engine(error: &EngineError) -> Cause {
    match error {
        EngineError::NoCurrentFolder(_) | EngineError::NoFolder { .. } => Cause::Usage,
        EngineError::Invalid(_)
        | EngineError::LeftOut { .. }
        | EngineError::Models(_)
        | EngineError::NoModel(_)
        | EngineError::WouldNotStart { .. }
        | EngineError::LockName(_)
        | EngineError::NoRuns { .. }
        | EngineError::NoTask { .. }
        | EngineError::NothingToRetry { .. } => Cause::Invalid,
        EngineError::Select(_) | EngineError::NoInstance { .. } => Cause::NothingSelected,
        EngineError::EmptyJournal(_)
        | EngineError::NoBeginning
        | EngineError::Replay { .. }
        | EngineError::Keep { .. }
        | EngineError::Kept { .. }
        | EngineError::Write { .. }
        | EngineError::WriteJournal { .. }
        | EngineError::Thread(_)
        | EngineError::System { .. }
        | EngineError::Drive(_)
        | EngineError::Journal(_)
        | EngineError::Io(_) => Cause::Io,
        EngineError::State(error) => of_state(error),
        EngineError::Find(FindError::State(error)) => of_state(error),
        EngineError::Find(
            FindError::NoRuns { .. }
            | FindError::NotAnId { .. }
            | FindError::Unknown { .. }
            | FindError::Ambiguous { .. },
        ) => Cause::Invalid,
        EngineError::Owner(OwnerError::Owned { .. }) => Cause::Locked,
        EngineError::Owner(OwnerError::Io { .. }) => Cause::Io,
        EngineError::PlanLock(PlanLockError::Held { .. }) => Cause::Locked,
        EngineError::PlanLock(PlanLockError::State(error)) => of_state(error),
        EngineError::PlanLock(PlanLockError::Io { .. }) => Cause::Io,
        EngineError::Workspace(WorkspaceError::Foreign { .. }) => Cause::NotTrusted,
        EngineError::Workspace(_) => Cause::Io,
    }
}

/// The cause that is a folder that can't be used.
fn of_state(error: &StateError) -> Cause {
    if error.is_distrust() { Cause::NotTrusted } else { Cause::Io }
}
