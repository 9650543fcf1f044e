//! Going on with a run: the same plan, what is finished stays finished.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use flow_core::event::{Entry, Event};
use flow_core::ids::{Address, NodeId};
use flow_core::model::{RunStatus, TaskState};
use flow_core::plan::{Plan, Task};
use flow_core::report::{Fold, RunReport};
use flow_core::schedule::{Limits, Scheduler};
use flow_core::text::{did_you_mean, list_some};

use super::error::EngineError;
use super::live::{Epoch, RunHandle};
use super::lost_outputs::Left;
use super::models::{Models, providers};
use super::notice::{Notice, Tell};
use super::project::Engine;
use super::runs::Run;
use super::snapshot::{self, Answering};
use super::start::{RunOptions, open_journal, specs};
use crate::drive::FolderTexts;
use crate::store::read_journal;

impl Engine {
    /// Goes on with a run that failed, was stopped or lost its engine. `None`: nothing is left to do.
    pub fn resume(
        &self,
        run: &Run,
        (said, options): (&Answering, RunOptions),
        tell: Tell<'_>,
    ) -> Result<Option<RunHandle>, EngineError> {
        self.go_on(run, &[], (said, options), tell)
    }

    /// Runs these tasks of a run again, with what needs them; without names all that did not end well.
    pub fn retry(
        &self,
        run: &Run,
        tasks: &[String],
        (said, options): (&Answering, RunOptions),
        tell: Tell<'_>,
    ) -> Result<Option<RunHandle>, EngineError> {
        self.go_on(run, tasks, (said, options), tell)
    }

    fn go_on(
        &self,
        run: &Run,
        names: &[String],
        (said, options): (&Answering, RunOptions),
        tell: Tell<'_>,
    ) -> Result<Option<RunHandle>, EngineError> {
        let folder = &run.folder;
        let lock = folder.lock()?;
        self.reconcile_before(folder, &lock).into_iter().for_each(&mut *tell);
        let read = read_journal(&folder.events())?;
        if let Some(torn) = &read.torn {
            tell(Notice::TornJournal { bytes: torn.bytes });
        }
        let kept = snapshot::read(folder.path())?;
        let changed = kept.changed_since(&self.project);
        let selected = kept.selected.clone();
        let options = RunOptions { strict: options.strict || kept.strict, ..options };
        let answering = self.answering(said, Some(kept.answering.clone()));
        let (prepared, findings) = self.plan_kept(kept);
        tell(Notice::Settings { findings });
        let prepared = prepared?;
        self.refuse_strangers(&prepared)?;
        let limits = limits(&read.entries, &options)?;
        let scheduler = Scheduler::replay(specs(&prepared.plan, selected.as_ref()), limits, &read.entries)
            .map_err(|source| EngineError::Replay { run: run.id().clone(), source })?;
        if names.is_empty() && finished_well(&read.entries) {
            tell(Notice::Complete { run: run.id().clone() });
            return Ok(None);
        }
        let plan_lock = self.plan_lock(&prepared)?;
        if let Some(lock) = &plan_lock {
            lock.hold_for(run.id())?;
        }
        let mut so_far = Fold::default();
        read.entries.iter().for_each(|entry| so_far.take(entry));
        let left = Left {
            plan: &prepared.plan,
            scheduler: &scheduler,
            run: &so_far,
            texts: FolderTexts(Arc::clone(folder)),
            id: run.id(),
        };
        let resumed = match names {
            [] => left.opening(None, Vec::new(), tell),
            names => {
                let (named, again) = named(&left, &read.entries, names)?;
                left.opening(Some(&named), again, tell)
            }
        };
        let providers = providers(&prepared, &answering)?;
        let to_run = to_run(&prepared.plan, &scheduler, &resumed);
        let models =
            Models { engine: self, plan: &prepared.plan, providers: &providers, tasks: Some(&to_run) };
        models.refuse_missing()?;
        tell(Notice::Models { plan: prepared.file.name.clone(), findings: models.findings() });
        if let Event::RunResumed { epoch, lost, reset, given_up } = resumed.clone() {
            tell(Notice::Resuming { run: run.id().clone(), epoch, lost, given_up, reset });
        }
        if !changed.is_empty() {
            tell(Notice::Changed { files: changed });
        }
        let journal = open_journal(folder, &read, &options)?;
        let epoch = Epoch {
            run: run.clone(),
            journal,
            lock,
            plan_lock,
            limits,
            scheduler,
            so_far,
            opening: resumed,
            earlier: read.entries,
            prepared,
            providers,
        };
        self.begin(epoch, &options, tell).map(Some)
    }
}

/// The tasks that a person wants to run again: each must have ended badly, or what it wrote must be lost.
fn named(
    left: &Left<'_>,
    entries: &[Entry],
    names: &[String],
) -> Result<(Vec<NodeId>, Vec<NodeId>), EngineError> {
    let scheduler = left.scheduler;
    let (mut all, mut again) = (Vec::new(), Vec::new());
    for name in names {
        let Some(id) = scheduler.find(&Address::from(name.as_str())) else {
            let report = RunReport::fold(entries);
            let report = report.ok_or_else(|| EngineError::EmptyJournal(left.id.clone()))?;
            return Err(no_task(&report, name));
        };
        let state = scheduler.node(id).state;
        let lost = if state == TaskState::Completed { left.lost_of(id) } else { Vec::new() };
        let may_run_again = match state {
            TaskState::Failed | TaskState::Killed | TaskState::Lost => true,
            // Its engine died, else nobody could own the run now.
            TaskState::Starting | TaskState::Running => true,
            TaskState::Completed => !lost.is_empty(),
            TaskState::Skipped | TaskState::Blocked | TaskState::Created => false,
        };
        if !may_run_again {
            return Err(EngineError::NothingToRetry { task: name.clone(), state });
        }
        all.push(id);
        again.extend(lost);
    }
    Ok((all, again))
}

/// What to say of a task that a run doesn't have.
pub fn no_task(report: &RunReport, wanted: &str) -> EngineError {
    let names = report.tasks.iter().map(|task| task.address.as_str());
    let help = match did_you_mean(wanted, names.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("tasks: {}", list_some(names, 10)),
    };
    EngineError::NoTask { task: wanted.to_owned(), help }
}

/// For each task whether it, or an instance of it, is still to run.
pub(super) fn to_run(plan: &Plan, scheduler: &Scheduler, resumed: &Event) -> Vec<bool> {
    let Event::RunResumed { lost, reset, .. } = resumed else { return Vec::new() };
    let again: HashSet<String> = lost.iter().chain(reset).map(Address::without_keys).collect();
    let is_new = |task: &Task| scheduler.node(scheduler.node_of(task.id)).state == TaskState::Created;
    plan.tasks.iter().map(|task| is_new(task) || again.contains(task.address.as_str())).collect()
}

fn limits(entries: &[Entry], options: &RunOptions) -> Result<Limits, EngineError> {
    match entries.first().map(|entry| &entry.event) {
        Some(Event::RunStarted { concurrency, seed, .. }) => Ok(Limits {
            concurrency: options.jobs.or(NonZeroU32::new(*concurrency)).unwrap_or(NonZeroU32::MIN),
            fail_fast: options.fail_fast,
            seed: *seed,
        }),
        _ => Err(EngineError::NoBeginning),
    }
}

fn finished_well(entries: &[Entry]) -> bool {
    matches!(
        entries.last().map(|entry| &entry.event),
        Some(Event::RunEnded { status: RunStatus::Completed, .. })
    )
}
