//! What a person should know and what stops nothing, as data: who shows it finds the words.

use flow_core::diagnostic::Diagnostic;
use flow_core::ids::{Address, RunId};
use serde::Serialize;

/// Where notices go as they come up.
pub type Tell<'a> = &'a mut dyn FnMut(Notice);

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// What is odd about a plan that is about to run. May be empty.
    Plan {
        /// The plan as it was named.
        plan: String,
        /// Warnings.
        findings: Vec<Diagnostic>,
    },
    /// What is odd about the settings with which a run goes on. May be empty.
    Settings {
        /// Warnings.
        findings: Vec<Diagnostic>,
    },
    /// What has to be known about those who answer. May be empty.
    Models {
        /// The plan as it was named.
        plan: String,
        /// Warnings.
        findings: Vec<Diagnostic>,
    },
    /// A run whose engine died was looked after.
    Reconciled {
        /// The run.
        run: RunId,
        /// Whether processes of it still ran and were ended.
        ended: bool,
        /// Its private trees.
        trees: Vec<TreeLeft>,
        /// Bytes of a torn last line of the journal that was cut off.
        torn: Option<u64>,
    },
    /// What a dead engine left behind can't be looked at.
    NotReconciled {
        /// The run.
        run: RunId,
        /// Why.
        why: String,
    },
    /// The last line of a journal was torn, and is cut off.
    TornJournal {
        /// Its length.
        bytes: u64,
    },
    /// The run has nothing left to do.
    Complete {
        /// The run.
        run: RunId,
    },
    /// What a task wrote can't be read any more, and somebody still has to read it.
    OutputLost {
        /// The run.
        run: RunId,
        /// The task.
        task: Address,
        /// What can't be read, and why.
        why: String,
        /// Whether the task runs again for it; else only a person may say so.
        runs_again: bool,
    },
    /// A run goes on.
    Resuming {
        /// The run.
        run: RunId,
        /// Which epoch begins.
        epoch: u32,
        /// What was under way when the last engine died, and runs again.
        lost: Vec<Address>,
        /// The same, of what may not run twice.
        given_up: Vec<Address>,
        /// What runs again with it.
        reset: Vec<Address>,
    },
    /// Files that the run keeps as they were have changed since it began.
    Changed {
        /// The files, as a person would write them.
        files: Vec<String>,
    },
    /// A merge that a dead engine had half done was undone.
    MergeUndone {
        /// What.
        what: String,
    },
    /// Processes that leave their group will not be found when the run ends.
    CantFollow {
        /// Why.
        why: String,
    },
}

/// What became of a private tree whose engine died.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "left", rename_all = "snake_case")]
pub enum TreeLeft {
    /// Its work is on a branch.
    OnBranch {
        /// The task.
        task: Address,
        /// The branch.
        branch: String,
    },
    /// There was nothing in it.
    Removed {
        /// The task.
        task: Address,
    },
    /// It could not be taken down.
    Stays {
        /// The task.
        task: Address,
        /// The folder.
        path: String,
        /// Why.
        why: String,
    },
}
