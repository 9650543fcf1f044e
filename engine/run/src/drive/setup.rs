//! What a run needs before its loop can start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::compile::AgentRegistry;
use flow_core::model::{Command, Settings};
use flow_core::plan::Plan;
use flow_core::report::Fold;
use flow_core::schedule::{Limits, Scheduler};
use flow_core::values::Facts;
use tokio::sync::mpsc;

use super::driver::{DriveError, Driver, RunEnd};
use crate::execute::Host;
use crate::provider::Providers;
use crate::store::{Journal, RunFolder};
use crate::sys::process::sweep_orphans;
use crate::watch::Publisher;
use crate::workspace::Trees;

/// Everything that a run is made of. A new run and a resumed one differ only in what the journal already holds.
pub struct RunSetup {
    /// What is run.
    pub plan: Arc<Plan>,
    /// The definitions that the run knows, beyond those that its plan names.
    pub agents: Arc<AgentRegistry>,
    /// The settings of all layers.
    pub settings: Arc<Settings>,
    /// What bounds it.
    pub limits: Limits,
    /// What doesn't change while it lives.
    pub facts: Arc<Facts>,
    /// Variables that tasks must not inherit: declared secrets, provider keys, and what redirects git.
    pub hidden_env: Vec<String>,
    /// The scheduler, replayed to the end of the journal.
    pub scheduler: Scheduler,
    /// The run so far, folded to the end of the journal.
    pub run: Fold,
    /// The journal, open for appending, with the events that start this epoch in it.
    pub journal: Journal,
    /// The run folder, owned by this process.
    pub folder: Arc<RunFolder>,
    /// The models.
    pub providers: Arc<Providers>,
    /// `[worktrees] dir`.
    pub worktrees_dir: Option<PathBuf>,
    /// Who watches.
    pub publisher: Publisher,
    /// Whether every refused call of an agent is a failure, and allowed failures of tasks count: `--strict`.
    pub strict: bool,
    /// Whether this process is there for the run alone, so that what falls to it was the run's.
    pub owns_process: bool,
}

/// Runs to the end, with every attempt on this machine.
pub async fn run(setup: RunSetup, mut commands: mpsc::Receiver<Command>) -> Result<RunEnd, DriveError> {
    let trees = Trees::new(Path::new(&setup.facts.root), setup.worktrees_dir.clone(), setup.folder.id());
    let trees = Arc::new(trees.landing_on(setup.run.branch()));
    let host = Host::new(
        Arc::clone(&setup.facts),
        Arc::clone(&setup.folder),
        Arc::clone(&trees),
        Arc::clone(&setup.providers),
        &setup.plan.secrets,
        setup.limits.concurrency.get(),
    );
    let owns_process = setup.owns_process;
    let mut driver = Driver::new(setup, trees, host.executors());
    let ended = driver.drive(&mut commands).await;
    // What had left its group and hidden its mark is still a child of ours.
    if owns_process {
        sweep_orphans().await;
    }
    driver.finish(ended?)
}
