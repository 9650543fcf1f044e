//! The runs of a project, and what one of them left: its journal, its reports, what its tasks said.

use std::io;
use std::path::Path;
use std::sync::Arc;

use flow_core::converse::LogLine;
use flow_core::event::Entry;
use flow_core::ids::{Address, RunId};
use flow_core::model::{Command, OutputSlice, RunStatus};
use flow_core::plan::Plan;
use flow_core::report::{Fold, Format, RunReport, Texts};

use super::error::EngineError;
use super::project::Engine;
use super::{AgentLog, LiveOutput, reconcile, snapshot};
use crate::drive::FolderTexts;
use crate::execute::conversation_log;
use crate::store::{RunFolder, StateDir, check_slice, copy_slice, read_journal, tail_of_slice, unended};
use crate::sys::files;

/// A run, whoever runs it or has run it.
#[derive(Clone, Debug)]
pub struct Run {
    pub(super) folder: Arc<RunFolder>,
}

impl Engine {
    /// Every run, newest first. Without a state folder there are none, and none is made.
    pub fn runs(&self) -> Result<Vec<Run>, EngineError> {
        Ok(self.folders()?.into_iter().map(Run::new).collect())
    }

    pub(super) fn folders(&self) -> Result<Vec<RunFolder>, EngineError> {
        let Some(state) = StateDir::existing(&self.project.state_dir)? else { return Ok(Vec::new()) };
        let mut runs = RunFolder::list(&state)?;
        runs.reverse();
        Ok(runs)
    }

    /// A run by id, unique beginning, or `latest`.
    pub fn find_run(&self, name: &str) -> Result<Run, EngineError> {
        let Some(state) = StateDir::existing(&self.project.state_dir)? else {
            return Err(EngineError::NoRuns { shown: self.project.show(&self.project.state_dir) });
        };
        Ok(Run::new(RunFolder::find(&state, name)?))
    }

    /// The newest runs whose engine died, looked after or not.
    pub fn dead_runs(&self) -> Result<Vec<Run>, EngineError> {
        let newest = self.runs()?.into_iter().take(reconcile::NEWEST);
        let is_lost = |run: &Run| run.report().is_ok_and(|report| report.status == RunStatus::Lost);
        Ok(newest.filter(|run| reconcile::is_open(&run.folder) && is_lost(run)).collect())
    }

    /// The plan that a run has kept, for looking at the run; `None` where it can't be compiled any more.
    pub fn plan_of_run(&self, run: &Run) -> Option<Plan> {
        self.plan_of(snapshot::read(run.path()).ok()?)
    }
}

impl Run {
    pub(super) fn new(folder: RunFolder) -> Run {
        Run { folder: Arc::new(folder) }
    }

    /// Its id.
    pub fn id(&self) -> &RunId {
        self.folder.id()
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Whether some process runs it right now.
    pub fn is_live(&self) -> Result<bool, EngineError> {
        Ok(self.folder.owner_alive()?)
    }

    /// The process that runs it, or did last.
    pub fn owner(&self) -> Option<i32> {
        Some(self.folder.last_owner()?.pid)
    }

    /// What happened so far.
    pub fn entries(&self) -> Result<Vec<Entry>, EngineError> {
        Ok(read_journal(&self.folder.events())?.entries)
    }

    /// The report as it stands in the journal, dead engines included.
    pub fn report(&self) -> Result<RunReport, EngineError> {
        let report = RunReport::fold(&self.entries()?);
        let report = report.ok_or_else(|| EngineError::EmptyJournal(self.id().clone()))?;
        let orphaned = report.status == RunStatus::Running && !self.is_live()?;
        Ok(if orphaned { report.without_owner() } else { report })
    }

    /// The report in a format.
    pub fn render(&self, format: &Format) -> Result<String, EngineError> {
        Ok((format.render)(&self.report()?, &self.texts()))
    }

    /// What its tasks wrote, for reports.
    pub fn texts(&self) -> impl Texts + use<> {
        FolderTexts(Arc::clone(&self.folder))
    }

    /// The last lines of an output.
    pub fn tail(&self, slice: &OutputSlice, lines: usize) -> io::Result<Vec<u8>> {
        tail_of_slice(&self.folder, slice, lines)
    }

    /// Whether an output still is what was written.
    pub fn check(&self, slice: &OutputSlice) -> io::Result<()> {
        check_slice(&self.folder, slice, u64::MAX).map_err(io::Error::other)
    }

    /// Copies an output as it is.
    pub fn copy(&self, slice: &OutputSlice, to: &mut impl io::Write) -> io::Result<()> {
        copy_slice(&self.folder, slice, to)
    }

    /// What commands that have not ended have printed so far.
    pub fn live_outputs(&self) -> Result<Vec<LiveOutput>, EngineError> {
        let mut run = Fold::default();
        self.entries()?.iter().for_each(|entry| run.take(entry));
        Ok(unended(&self.folder, &run))
    }

    /// The log of a task's agent, from its beginning.
    pub fn agent_log(&self, task: &Address) -> AgentLog {
        AgentLog::new(&self.folder.task(task))
    }

    /// The conversation of a task's agent, of whatever version of flow.
    pub fn conversation(&self, task: &Address) -> io::Result<Vec<LogLine>> {
        conversation_log(&self.folder.task(task))
    }

    /// Leaves `report.json` and `report.md` in its folder. The journal is what must survive the machine; a report can be
    /// made again.
    pub(super) fn write_reports(&self, report: &RunReport) -> Result<(), EngineError> {
        for format in ["json", "md"].iter().filter_map(|name| Format::find(name)) {
            let path = self.folder.report(format.name);
            let text = (format.render)(report, &self.texts());
            files::replace(&path, text.as_bytes())
                .map_err(|source| EngineError::Write { path: path.clone(), source })?;
        }
        Ok(())
    }

    /// Sends a command to whoever runs it. The answer stands in the journal.
    pub fn command(&self, command: &Command) -> Result<(), EngineError> {
        let failed = |source| EngineError::Write { path: self.folder.control(), source };
        self.folder.send(command).map_err(failed)
    }
}
