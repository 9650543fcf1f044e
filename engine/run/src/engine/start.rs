//! A new run: its folder, its locks, its first event.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use flow_core::event::{Event, PlanEdge};
use flow_core::plan::{Plan, Selected};
use flow_core::report::Fold;
use flow_core::schedule::{Limits, NodeSpec, Scheduler};
use flow_core::values::{Facts, lock_name};

use super::error::EngineError;
use super::live::{Epoch, RunHandle};
use super::notice::Tell;
use super::place::in_ci;
use super::prepare::Prepared;
use super::project::Engine;
use super::ready::Ready;
use super::runs::Run;
use super::snapshot::{Definitions, Said, keep};
use crate::drive::{git_facts, process_facts};
use crate::store::{Durability, Journal, JournalRead, PlanLock, RunFolder};
use crate::sys::{clock, files};
use crate::workspace;

/// Tasks at once when neither the person nor plan nor settings say.
const CONCURRENCY: u32 = 4;

/// How a run is run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Tasks at once.
    pub jobs: Option<NonZeroU32>,
    /// Whether the first failure that is not allowed stops the run.
    pub fail_fast: bool,
    /// Whether a refused call of an agent is a failure, and allowed failures of tasks count.
    pub strict: bool,
    /// How surely the journal is on disk before a task starts.
    pub durability: Durability,
    /// Whether this process is there for the run alone: then its signals are commands to the run, and processes that
    /// leave their group fall to it and are ended with the run.
    pub owns_process: bool,
}

impl Engine {
    /// Begins a run. It can be found from now on; runs whose engine died are looked after first.
    pub fn start(
        &self,
        ready: Ready,
        options: &RunOptions,
        tell: Tell<'_>,
    ) -> Result<RunHandle, EngineError> {
        self.reconcile()?.into_iter().for_each(&mut *tell);
        let Ready { prepared, selected, answering, providers } = ready;
        let limits = Limits {
            concurrency: concurrency(options.jobs, &prepared),
            fail_fast: options.fail_fast,
            seed: seed()?,
        };
        let plan_lock = self.plan_lock(&prepared)?;
        let folder = RunFolder::create(&self.state()?, clock::now())?;
        if let Some(lock) = &plan_lock {
            lock.hold_for(folder.id())?;
        }
        let lock = folder.lock()?;
        let said = Said { selected: selected.as_ref(), answering: &answering, strict: options.strict };
        keep(folder.path(), &prepared, &Definitions::of_plan(&prepared.plan), said)?;
        let failed = |source| EngineError::WriteJournal { path: folder.events(), source };
        let journal = Journal::create(&folder.events(), options.durability).map_err(failed)?;
        let epoch = Epoch {
            opening: self.run_started(&prepared, &folder, limits),
            earlier: Vec::new(),
            scheduler: Scheduler::new(specs(&prepared.plan, selected.as_ref()), limits),
            so_far: Fold::default(),
            run: Run::new(folder),
            journal,
            lock,
            plan_lock,
            limits,
            prepared,
            providers,
        };
        self.begin(epoch, options, tell)
    }

    /// Takes the plan's `lock`, if it has one.
    pub(super) fn plan_lock(&self, prepared: &Prepared) -> Result<Option<PlanLock>, EngineError> {
        // What a run knows of itself can't name its lock: the compiler refuses it.
        let facts = self.facts(&prepared.plan, String::new(), String::new());
        let name = lock_name(&prepared.plan, &facts).map_err(EngineError::LockName)?;
        name.map(|name| Ok(self.state()?.lock(&name)?)).transpose()
    }

    /// What doesn't change while a run lives.
    pub(super) fn facts(&self, plan: &Plan, run: String, run_dir: String) -> Facts {
        Facts {
            run,
            run_dir,
            root: self.project.root.display().to_string(),
            ci: in_ci(),
            git: match plan.speaks_of("git") {
                true => git_facts(&self.project.root),
                false => Default::default(),
            },
            env: process_facts(),
        }
    }

    fn run_started(&self, prepared: &Prepared, folder: &RunFolder, limits: Limits) -> Event {
        let plan = &prepared.plan;
        // Nothing else has a branch to land on.
        let private = plan.tasks.iter().any(|task| task.isolation.is_private());
        Event::RunStarted {
            run: folder.id().clone(),
            plan: plan.name.clone(),
            path: prepared.file.name.clone(),
            root: self.project.root.display().to_string(),
            tasks: plan.tasks.iter().map(|task| task.address.clone()).collect(),
            edges: edges(plan),
            concurrency: limits.concurrency.get(),
            inputs: plan
                .inputs
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<BTreeMap<_, _>>(),
            seed: limits.seed,
            flow: env!("CARGO_PKG_VERSION").to_owned(),
            branch: private.then(|| workspace::branch(&self.project.root)).flatten(),
        }
    }
}

/// The tasks as the scheduler sees them, without those that the person left out.
pub(super) fn specs(plan: &Plan, selected: Option<&Selected>) -> Vec<NodeSpec> {
    let mut specs = NodeSpec::of(plan);
    if let Some(selected) = selected {
        NodeSpec::leave_out(&mut specs, selected);
    }
    specs
}

/// The journal of a run that is gone on with.
pub(super) fn open_journal(
    folder: &RunFolder,
    read: &JournalRead,
    options: &RunOptions,
) -> Result<Journal, EngineError> {
    Journal::open_for_append(&folder.events(), read, options.durability)
        .map_err(|source| EngineError::WriteJournal { path: folder.events(), source })
}

fn concurrency(jobs: Option<NonZeroU32>, prepared: &Prepared) -> NonZeroU32 {
    let settings = prepared.settings.concurrency.and_then(NonZeroU32::new);
    jobs.or(prepared.plan.concurrency)
        .or(settings)
        .or(NonZeroU32::new(CONCURRENCY))
        .unwrap_or(NonZeroU32::MIN)
}

fn edges(plan: &Plan) -> Vec<PlanEdge> {
    let at = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let edges = plan.graph.needs.iter().enumerate().flat_map(|(to, needs)| {
        needs.iter().map(move |edge| PlanEdge { from: at(edge.from.index()), to: at(to), on: edge.kind })
    });
    edges.collect()
}

fn seed() -> Result<u64, EngineError> {
    let random =
        || files::random_u32().map_err(|source| EngineError::System { what: "no random numbers", source });
    Ok(u64::from(random()?) << 32 | u64::from(random()?))
}
