//! What `run` and `resume` share: from a prepared plan to an exit code.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use flow_core::event::{Entry, Event, PlanEdge};
use flow_core::model::{Cause, Command, Signal};
use flow_core::plan::Plan;
use flow_core::report::{Fold, denied_lines};
use flow_core::schedule::{Limits, Scheduler};
use flow_core::values::{Facts, lock_name};
use flow_run::drive::{self, RunSetup, git_facts, process_facts};
use flow_run::provider::Providers;
use flow_run::store::{ControlReader, Durability, Journal, JournalRead, OwnerLock, PlanLock, RunFolder};
use flow_run::sys::signals::{Order, Orders};
use flow_run::watch;
use serde_json::Value;
use tokio::sync::mpsc;

use super::detach;
use crate::args::{DurabilityHow, EngineArgs, OutputHow};
use crate::exit::Failure;
use crate::session::{Prepared, Session, in_ci};
use crate::ui;

/// Threads of the runtime beside its one: some that wait for files and git.
const THREADS: usize = 3;

/// The event that opens this epoch, and what the journal held before.
pub(super) struct Opening {
    pub(super) event: Event,
    pub(super) earlier: Vec<Entry>,
}

/// A run about to live.
pub(super) struct Engine<'a> {
    pub(super) session: &'a Session,
    pub(super) prepared: Prepared,
    pub(super) folder: Arc<RunFolder>,
    pub(super) journal: Journal,
    pub(super) lock: OwnerLock,
    /// The plan's `lock`.
    pub(super) plan_lock: Option<PlanLock>,
    pub(super) limits: Limits,
    pub(super) scheduler: Scheduler,
    pub(super) so_far: Fold,
    pub(super) opening: Opening,
    /// Whether a foreground half waits for the id of the run.
    pub(super) detached: bool,
    pub(super) providers: Providers,
    pub(super) reports: Vec<WantedReport>,
    /// `--strict`, of this epoch or an earlier one.
    pub(super) strict: bool,
    pub(super) args: &'a EngineArgs,
}

impl Engine<'_> {
    /// Lives, reports, and says with which code to exit.
    pub(super) fn run(self) -> anyhow::Result<u8> {
        let began = Instant::now();
        let (publisher, updates) = watch::channel();
        // The terminal is the foreground half's, until that has the id and from then on.
        let redraws = !self.detached && ui::can_redraw();
        let how = how(self.args.output, self.args.verbose, self.args.quiet, redraws);
        let (folder, reports) = (Arc::clone(&self.folder), self.reports);
        let shown = self.session.show(folder.path());
        if !self.detached && matches!(how, ui::How::Live { .. } | ui::How::Plain | ui::How::Verbose) {
            ui::note(&format!(
                "run {} of `{}`, {} at once",
                folder.id(),
                self.prepared.plan.name,
                self.limits.concurrency
            ));
        }
        let Opening { event: opening, earlier } = self.opening;
        let detached = self.detached;
        let limits = watch::Limits::of(&self.prepared.plan, self.limits.concurrency.get());
        let watched = ui::Watched { folder: Arc::clone(&self.folder), earlier, limits, ours: true };
        let watcher = ui::Watcher::start(how, updates, watched).map_err(no_thread)?;
        let (facts, hidden_env) = (facts(self.session, &self.prepared, &folder), hidden_env(&self.prepared));
        let plan = Arc::new(self.prepared.plan);
        let setup = RunSetup {
            facts: Arc::new(facts),
            hidden_env,
            plan: Arc::clone(&plan),
            settings: Arc::new(self.prepared.settings),
            limits: self.limits,
            scheduler: self.scheduler,
            run: self.so_far,
            journal: self.journal,
            folder: self.folder,
            providers: Arc::new(self.providers),
            worktrees_dir: self.prepared.worktrees_dir,
            publisher,
            strict: self.strict,
        };
        let ended = live(setup, opening, detached);
        watcher.finish();
        let report = match ended.as_ref().ok().and_then(|ended| ended.run.report()) {
            Some(report) => Ok(report),
            // The run could not write its journal, and knows more than what happened.
            None => super::report::fold(&folder),
        };
        let made = report.as_ref().map_or(Ok(()), |report| super::report::write_both(&folder, report));
        drop((self.lock, self.plan_lock));
        let ended = ended?;
        let report = report?;
        if how == ui::How::Github {
            super::report::tell_github(&folder, &report)?;
        }
        ui::denied(&denied_lines(&report, &plan));
        if how != ui::How::Quiet {
            ui::summary(how, &ui::Ended { report: &report, took: began.elapsed(), folder: &shown });
        }
        made?;
        // Who asked for a report on standard output reads that, and nothing behind it.
        let report_is_printed = reports.iter().any(|report| report.path.is_none());
        for report in reports {
            report.write(&folder)?;
        }
        if !report_is_printed {
            print_outputs(how, ended.outputs)?;
        }
        Ok(ended.cause.code())
    }
}

/// Writes the outputs of a run to standard output, unless its events stand there.
pub(super) fn print_outputs(how: ui::How, outputs: Option<Value>) -> anyhow::Result<()> {
    // What reads a pipe gets an object in any case; a person of a plan without outputs has nothing to read.
    let nothing = outputs.is_none() && std::io::stdout().is_terminal();
    if how == ui::How::Json || nothing {
        return Ok(());
    }
    ui::print_json(&outputs.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
}

fn live(mut setup: RunSetup, opening: Event, detached: bool) -> anyhow::Result<drive::RunEnd> {
    threads_are_to_be_had(THREADS).map_err(no_thread)?;
    // The subreaper inherits what escapes its group, so that it can be ended.
    if let Err(error) = flow_run::sys::process::become_subreaper() {
        ui::warning(&format!("processes that leave their group can't be followed: {error}"));
    }
    // One thread: what blocks has threads of its own, and handing each message of each attempt from thread to thread
    // costs more than all that is done with it.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("can't start the runtime")?;
    runtime.block_on(async move {
        let mut orders = Orders::listen().context("can't listen for signals")?;
        let (sender, commands) = mpsc::channel(8);
        let reader = ControlReader::from_now(&setup.folder);
        tokio::spawn(drive::follow_commands(reader, sender.clone()));
        tokio::spawn(async move {
            let mut signalled = false;
            loop {
                let signal = match orders.next().await {
                    Order::Interrupt => Some(Signal::Interrupt),
                    Order::Terminate => Some(Signal::Terminate),
                    Order::HangUp => Some(Signal::HangUp),
                    Order::Suspend => None,
                };
                let command = match signal {
                    // Who says it twice means it.
                    Some(_) => Command::StopRun { force: std::mem::replace(&mut signalled, true), signal },
                    None => Command::Suspend,
                };
                if sender.send(command).await.is_err() {
                    return;
                }
            }
        });
        open(&mut setup, opening, detached)?;
        drive::run(setup, commands)
            .await
            .map_err(|error| Failure::new(Cause::Io, format!("{:#}", anyhow::Error::new(error))).into())
    })
}

/// Whether so many threads can live at once; the runtime would panic where they can't.
fn threads_are_to_be_had(count: usize) -> std::io::Result<()> {
    let (hold, held) = std::sync::mpsc::channel::<()>();
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

fn no_thread(error: std::io::Error) -> anyhow::Error {
    Failure::new(Cause::Io, format!("can't start a thread: {error}"))
        .help("too many processes of this user, or too small a limit (`ulimit -u`)")
        .into()
}

/// Writes the opening event and takes it in.
fn open(setup: &mut RunSetup, opening: Event, detached: bool) -> anyhow::Result<()> {
    let entries = setup
        .journal
        .append(flow_run::sys::clock::now(), [opening])
        .map_err(|error| Failure::new(Cause::Io, format!("can't write the journal: {error}")))?;
    // Not before: until its first event is written nobody finds the run.
    if detached {
        detach::announce(&setup.folder)?;
    }
    for entry in entries {
        setup.scheduler.apply(&entry.event, entry.at);
        setup.run.take(&entry);
        setup.publisher.publish(watch::Update::Event(Arc::new(entry)));
    }
    Ok(())
}

/// How a run is shown.
pub(super) fn how(output: OutputHow, verbose: bool, quiet: bool, redraws: bool) -> ui::How {
    let plain = if verbose { ui::How::Verbose } else { ui::How::Plain };
    // Where nothing can be redrawn, lines are told.
    let live = match redraws {
        true => ui::How::Live { verbose },
        false => plain,
    };
    match output {
        _ if quiet => ui::How::Quiet,
        OutputHow::Tui => live,
        OutputHow::Plain => plain,
        OutputHow::Json => ui::How::Json,
        OutputHow::Github => ui::How::Github,
        OutputHow::Quiet => ui::How::Quiet,
        OutputHow::Auto if in_ci() && verbose => plain,
        OutputHow::Auto if ui::in_github_actions() => ui::How::Github,
        OutputHow::Auto if in_ci() => ui::How::Ci,
        OutputHow::Auto => live,
    }
}

/// Takes the plan's `lock`, if it has one.
pub(super) fn plan_lock(session: &Session, prepared: &Prepared) -> anyhow::Result<Option<PlanLock>> {
    // What a run knows of itself can't name its lock: the compiler refuses it.
    let facts = facts_of(session, prepared, String::new(), String::new());
    let name = lock_name(&prepared.plan, &facts).map_err(|error| Failure::new(Cause::Invalid, error))?;
    name.map(|name| session.state()?.lock(&name).map_err(anyhow::Error::new)).transpose()
}

fn facts(session: &Session, prepared: &Prepared, folder: &RunFolder) -> Facts {
    facts_of(session, prepared, folder.id().to_string(), folder.path().display().to_string())
}

fn facts_of(session: &Session, prepared: &Prepared, run: String, run_dir: String) -> Facts {
    Facts {
        run,
        run_dir,
        root: session.project.root.display().to_string(),
        ci: in_ci(),
        git: match prepared.plan.speaks_of("git") {
            true => git_facts(&session.project.root),
            false => Default::default(),
        },
        env: process_facts(),
    }
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

pub(super) fn run_started(
    session: &Session,
    prepared: &Prepared,
    folder: &RunFolder,
    limits: Limits,
) -> Event {
    // Nothing else has a branch to land on.
    let private = prepared.plan.tasks.iter().any(|task| task.isolation.is_private());
    Event::RunStarted {
        run: folder.id().clone(),
        plan: prepared.plan.name.clone(),
        path: prepared.file.name.clone(),
        root: session.project.root.display().to_string(),
        tasks: prepared.plan.tasks.iter().map(|task| task.address.clone()).collect(),
        edges: edges(&prepared.plan),
        concurrency: limits.concurrency.get(),
        inputs: prepared
            .plan
            .inputs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<BTreeMap<_, _>>(),
        seed: limits.seed,
        flow: env!("CARGO_PKG_VERSION").to_owned(),
        branch: private.then(|| flow_run::workspace::branch(&session.project.root)).flatten(),
    }
}

fn edges(plan: &Plan) -> Vec<PlanEdge> {
    let at = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let edges = plan.graph.needs.iter().enumerate().flat_map(|(to, needs)| {
        needs.iter().map(move |edge| PlanEdge { from: at(edge.from.index()), to: at(to), on: edge.kind })
    });
    edges.collect()
}

pub(super) fn seed() -> anyhow::Result<u64> {
    let high = u64::from(flow_run::sys::files::random_u32().context("no random numbers")?);
    Ok(high << 32 | u64::from(flow_run::sys::files::random_u32().context("no random numbers")?))
}

pub(super) fn create_journal(folder: &RunFolder, args: &EngineArgs) -> anyhow::Result<Journal> {
    Journal::create(&folder.events(), durability(args)).map_err(|error| journal_failure(folder, &error))
}

pub(super) fn open_journal(
    folder: &RunFolder,
    read: &JournalRead,
    args: &EngineArgs,
) -> anyhow::Result<Journal> {
    Journal::open_for_append(&folder.events(), read, durability(args))
        .map_err(|error| journal_failure(folder, &error))
}

fn journal_failure(folder: &RunFolder, error: &std::io::Error) -> anyhow::Error {
    Failure::new(Cause::Io, format!("can't write the journal `{}`: {error}", folder.events().display()))
        .into()
}

fn durability(args: &EngineArgs) -> Durability {
    match args.durability {
        DurabilityHow::None => Durability::None,
        DurabilityHow::Batch => Durability::Batch,
        DurabilityHow::Always => Durability::Always,
    }
}

/// `--report FMT=PATH`, checked before anything runs.
pub(super) struct WantedReport {
    format: &'static flow_core::report::Format,
    path: Option<PathBuf>,
}

pub(super) fn reports(wanted: &[String]) -> anyhow::Result<Vec<WantedReport>> {
    wanted
        .iter()
        .map(|text| {
            let (name, path) = text.split_once('=').unwrap_or((text, "-"));
            let format = super::report::format(name)?;
            Ok(WantedReport { format, path: (path != "-").then(|| PathBuf::from(path)) })
        })
        .collect()
}

impl WantedReport {
    fn write(&self, folder: &Arc<RunFolder>) -> anyhow::Result<()> {
        let text = super::report::render(folder, self.format)?;
        match &self.path {
            None => ui::print(&text),
            Some(path) => std::fs::write(path, text).map_err(|error| {
                Failure::new(Cause::Io, format!("can't write the report `{}`: {error}", path.display()))
                    .into()
            }),
        }
    }
}
