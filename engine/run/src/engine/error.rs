//! Why the engine can't do what it was asked. Who shows it decides what to say beside it.

use std::io;
use std::path::PathBuf;

use flow_core::diagnostic::Diagnostic;
use flow_core::ids::RunId;
use flow_core::model::TaskState;
use flow_core::plan::SelectError;
use flow_core::schedule::ReplayError;
use flow_core::text::{chain, list_some};

use crate::drive::DriveError;
use crate::provider::ProviderError;
use crate::store::{FindError, JournalError, OwnerError, PlanLockError, StateError};
use crate::workspace::WorkspaceError;

/// How many tasks a message names.
pub(super) const NAMED: usize = 4;

/// Why the engine refused, or what was in its way.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The process has no folder to work in.
    #[error("the current folder can't be used")]
    NoCurrentFolder(#[source] io::Error),
    /// The folder that was named is none to work in.
    #[error("can't work in `{}`", dir.display())]
    NoFolder {
        /// The folder.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A text of the person is wrong: the plan, an agent, settings, inputs.
    #[error("{}; nothing was run", errors(.0))]
    Invalid(Vec<Diagnostic>),
    /// The selection fits nothing.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// No instance of a task fits a pattern of the selection.
    #[error("no instance fits `{pattern}`")]
    NoInstance {
        /// The pattern.
        pattern: String,
        /// What to do.
        help: String,
    },
    /// Tasks that take part read values of tasks that don't.
    #[error("{}, and {} takes no part in this run", some(reads), list_some(left_out.iter().map(String::as_str), 3))]
    LeftOut {
        /// Who reads what, in words.
        reads: Vec<String>,
        /// The tasks that take no part.
        left_out: Vec<String>,
        /// Whether the selection names each task that does.
        only: bool,
    },
    /// The models of the settings can't be used at all.
    #[error(transparent)]
    Models(#[from] ProviderError),
    /// Tasks that would not start, since nobody answers their agents. Never empty.
    #[error("{}", .0.last().map(NoModel::to_string).unwrap_or_default())]
    NoModel(Vec<NoModel>),
    /// A task that would not start, for its script or prompt can't be rendered.
    #[error("`{task}` would not start: {why}")]
    WouldNotStart {
        /// The task.
        task: String,
        /// Why.
        why: String,
    },
    /// The plan's `lock` can't be rendered.
    #[error("{0}")]
    LockName(String),
    /// There is no state folder, and so no run.
    #[error("there are no runs here: `{shown}` does not exist")]
    NoRuns {
        /// The state folder, as a person would write it.
        shown: String,
    },
    /// A task that a run doesn't have.
    #[error("the run has no task `{task}`")]
    NoTask {
        /// What was asked for.
        task: String,
        /// What to do.
        help: String,
    },
    /// A task whose state leaves nothing to run again.
    #[error("`{task}` is {}, so there is nothing to retry", state.as_str())]
    NothingToRetry {
        /// The task.
        task: String,
        /// Its state.
        state: TaskState,
    },
    /// The journal holds no run.
    #[error("the journal of {0} is empty")]
    EmptyJournal(RunId),
    /// The journal begins with something else than a run does.
    #[error("the journal does not begin with `run_started`; nothing of this run can be resumed")]
    NoBeginning,
    /// Journal and kept plan don't fit.
    #[error("the journal of {run} can't be replayed")]
    Replay {
        /// The run.
        run: RunId,
        /// Why.
        source: ReplayError,
    },
    /// What a run keeps of its plan can't be written.
    #[error("can't keep the plan in `{}`", folder.display())]
    Keep {
        /// The run folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What a run keeps of its plan can't be read.
    #[error("can't read the plan kept in `{}`", folder.display())]
    Kept {
        /// The run folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the run folder can't be written.
    #[error("can't write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The journal can't be written.
    #[error("can't write the journal `{}`", path.display())]
    WriteJournal {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No thread is to be had.
    #[error("can't start a thread")]
    Thread(#[source] io::Error),
    /// The system refuses something that every run needs.
    #[error("{what}")]
    System {
        /// What could not be done.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The run could not be driven to its end.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The state folder can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// No run is meant.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Somebody else runs the run.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    /// The plan's `lock` can't be taken.
    #[error(transparent)]
    PlanLock(#[from] PlanLockError),
    /// The journal can't be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Private trees can't be made or looked at.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The system refuses to look at a file of a run.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why agents of a run have no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoModel {
    /// The tasks.
    pub tasks: Vec<String>,
    /// Why.
    pub why: String,
    /// What to do.
    pub help: Option<String>,
}

impl std::fmt::Display for NoModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tasks = list_some(self.tasks.iter().map(String::as_str), NAMED);
        write!(f, "{tasks} would not start: {}", self.why)
    }
}

impl EngineError {
    /// The error with its causes, on one line.
    pub fn in_full(&self) -> String {
        chain(self)
    }
}

fn errors(findings: &[Diagnostic]) -> String {
    match findings.iter().filter(|finding| finding.is_error()).count() {
        1 => "1 error".to_owned(),
        many => format!("{many} errors"),
    }
}

fn some(reads: &[String]) -> String {
    let shown = reads.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    match reads.len().saturating_sub(3) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
