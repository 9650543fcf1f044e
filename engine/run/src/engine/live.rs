//! A run that lives in this process: a thread of its own, from the first event of an epoch to its reports on disk.
//!
//! 1. When `begin` returns, the run can be found and its first event is written.
//! 2. The thread ends when the run has, with its reports written and its locks given back.
//! 3. Dropping the handle lets the run go on.

use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;

use flow_core::event::{Entry, Event};
use flow_core::model::Cause;
use flow_core::plan::Plan;
use flow_core::report::{Fold, RunReport};
use flow_core::schedule::{Limits, Scheduler};
use serde_json::Value;
use tokio::sync::mpsc;

use super::error::EngineError;
use super::notice::{Notice, Tell};
use super::prepare::Prepared;
use super::project::Engine;
use super::runs::Run;
use super::signals::{listen, obey};
use super::start::RunOptions;
use crate::drive::{self, RunSetup, follow_commands};
use crate::provider::Providers;
use crate::store::{ControlReader, Journal, OwnerLock, PlanLock};
use crate::sys::clock;
use crate::sys::process::become_subreaper;
use crate::watch::{self, Update, Updates};

/// Threads of a run: its own, some that wait for files and git, and that of who watches.
const THREADS: usize = 5;

/// As much as a main thread has: what is evaluated can be deep.
const STACK: usize = 8 << 20;

/// A run about to live, for the first time or again.
pub(super) struct Epoch {
    pub(super) run: Run,
    pub(super) prepared: Prepared,
    pub(super) providers: Providers,
    pub(super) journal: Journal,
    pub(super) lock: OwnerLock,
    /// The plan's `lock`.
    pub(super) plan_lock: Option<PlanLock>,
    pub(super) limits: Limits,
    /// Replayed to the end of the journal.
    pub(super) scheduler: Scheduler,
    /// Folded to the end of the journal.
    pub(super) so_far: Fold,
    /// The event that opens the epoch.
    pub(super) opening: Event,
    /// What the journal held before.
    pub(super) earlier: Vec<Entry>,
}

/// A run that lives in this process.
#[derive(Debug)]
pub struct RunHandle {
    run: Run,
    plan: Arc<Plan>,
    limits: Limits,
    earlier: Vec<Entry>,
    updates: Updates,
    thread: JoinHandle<Result<Ended, EngineError>>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// Why, and so with which exit code.
    pub cause: Cause,
    /// The plan's `outputs`.
    pub outputs: Option<Value>,
    /// What happened.
    pub report: RunReport,
    /// Why the reports that every run leaves could not be written.
    pub unwritten: Option<EngineError>,
}

/// What a live view needs.
#[derive(Debug)]
pub struct Watched {
    /// What happens from now on.
    pub updates: Updates,
    /// What the journal held before.
    pub earlier: Vec<Entry>,
    /// How much of what may run at once.
    pub limits: watch::Limits,
}

impl RunHandle {
    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Tasks at once.
    pub fn concurrency(&self) -> u32 {
        self.limits.concurrency.get()
    }

    /// Splits off what a view of this process needs, which hears of everything at once. Others subscribe to the run.
    pub fn watch(self) -> (Watched, Running) {
        let limits = watch::Limits::of(&self.plan, self.concurrency());
        let watched = Watched { updates: self.updates, earlier: self.earlier, limits };
        (watched, Running { thread: self.thread })
    }

    /// Waits for the end of the run.
    pub fn wait(self) -> Result<Ended, EngineError> {
        Running { thread: self.thread }.wait()
    }
}

/// A run that is waited for.
#[derive(Debug)]
pub struct Running {
    thread: JoinHandle<Result<Ended, EngineError>>,
}

impl Running {
    /// Waits for the end of the run.
    pub fn wait(self) -> Result<Ended, EngineError> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Engine {
    /// Lets a run live, in a thread of its own.
    pub(super) fn begin(
        &self,
        epoch: Epoch,
        options: &RunOptions,
        tell: Tell<'_>,
    ) -> Result<RunHandle, EngineError> {
        let Epoch { run, prepared, limits, earlier, .. } = epoch;
        let (publisher, updates) = watch::channel();
        let worktrees_dir = prepared.worktrees_dir();
        let hidden_env = hidden_env(&prepared);
        let plan = Arc::new(prepared.plan);
        let facts = self.facts(&plan, run.id().to_string(), run.path().display().to_string());
        let setup = RunSetup {
            facts: Arc::new(facts),
            hidden_env,
            plan: Arc::clone(&plan),
            agents: prepared.agents,
            settings: Arc::new(prepared.settings),
            limits,
            scheduler: epoch.scheduler,
            run: epoch.so_far,
            journal: epoch.journal,
            folder: Arc::clone(&run.folder),
            providers: Arc::new(epoch.providers),
            worktrees_dir,
            publisher,
            strict: options.strict,
            owns_process: options.owns_process,
        };
        threads_are_to_be_had(THREADS).map_err(EngineError::Thread)?;
        // The subreaper inherits what escapes its group, so that it can be ended.
        if options.owns_process
            && let Err(error) = become_subreaper()
        {
            tell(Notice::CantFollow { why: error.to_string() });
        }
        let (begun, hears) = std_mpsc::sync_channel(1);
        let life = Life { run: run.clone(), setup, opening: epoch.opening, begun };
        let locks = (epoch.lock, epoch.plan_lock);
        let thread = std::thread::Builder::new()
            .name("run".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                let ended = life.live();
                // Not before its reports are written: whoever finds the run without an owner reads them.
                drop(locks);
                ended
            })
            .map_err(EngineError::Thread)?;
        match hears.recv() {
            Ok(()) => Ok(RunHandle { run, plan, limits, earlier, updates, thread }),
            // It ended before it began, and says why.
            Err(_) => match (Running { thread }).wait() {
                Ok(_) => Err(EngineError::EmptyJournal(run.id().clone())),
                Err(error) => Err(error),
            },
        }
    }
}

/// What the thread of a run is given.
struct Life {
    run: Run,
    setup: RunSetup,
    opening: Event,
    begun: std_mpsc::SyncSender<()>,
}

impl Life {
    fn live(self) -> Result<Ended, EngineError> {
        let run = self.run.clone();
        let ended = self.drive();
        let report = match ended.as_ref().ok().and_then(|ended| ended.run.report()) {
            Some(report) => Ok(report),
            // The run could not write its journal, and knows more than what happened.
            None => run.report(),
        };
        let unwritten = report.as_ref().ok().and_then(|report| run.write_reports(report).err());
        let ended = ended?;
        Ok(Ended { cause: ended.cause, outputs: ended.outputs, report: report?, unwritten })
    }

    fn drive(self) -> Result<drive::RunEnd, EngineError> {
        let Life { mut setup, opening, begun, .. } = self;
        // One thread: what blocks has threads of its own, and handing each message of each attempt from thread to thread
        // costs more than all that is done with it.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|source| EngineError::System { what: "can't start the runtime", source })?;
        runtime.block_on(async move {
            let (sender, commands) = mpsc::channel(8);
            if setup.owns_process {
                tokio::spawn(obey(listen()?, sender.clone()));
            }
            tokio::spawn(follow_commands(ControlReader::from_now(&setup.folder), sender));
            open(&mut setup, opening)?;
            // Who began it may have gone.
            let _ = begun.send(());
            Ok(drive::run(setup, commands).await?)
        })
    }
}

/// Writes the opening event and takes it in.
fn open(setup: &mut RunSetup, opening: Event) -> Result<(), EngineError> {
    let entries = setup
        .journal
        .append(clock::now(), [opening])
        .map_err(|source| EngineError::WriteJournal { path: setup.folder.events(), source })?;
    for entry in entries {
        setup.scheduler.apply(&entry.event, entry.at);
        setup.run.take(&entry);
        setup.publisher.publish(Update::Event(Arc::new(entry)));
    }
    Ok(())
}

/// Declared secrets, the keys of providers and what would lead git out of a task's folder: no task inherits them.
fn hidden_env(prepared: &Prepared) -> Vec<String> {
    let variables: Vec<_> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect();
    let elsewhere =
        flow_core::values::redirecting(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let own = prepared.settings.providers.values().filter_map(|provider| provider.api_key_env.clone());
    let known = flow_core::wire::APIS.iter().map(|api| api.key_env.to_owned());
    prepared.plan.secrets.iter().cloned().chain(own).chain(known).chain(elsewhere).collect()
}

/// Whether so many threads can live at once; the runtime would panic where they can't.
fn threads_are_to_be_had(count: usize) -> std::io::Result<()> {
    let (hold, held) = std_mpsc::channel::<()>();
    let held = Arc::new(std::sync::Mutex::new(held));
    let mut threads = Vec::with_capacity(count);
    let mut failure = Ok(());
    for _ in 0..count {
        let held = Arc::clone(&held);
        let wait = move || drop(held.lock().map(|held| held.recv()));
        match std::thread::Builder::new().stack_size(64 << 10).spawn(wait) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                failure = Err(error);
                break;
            }
        }
    }
    drop(hold);
    threads.into_iter().for_each(|thread| drop(thread.join()));
    failure
}
