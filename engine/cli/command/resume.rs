//! `flow resume` and `flow retry`.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Context;
use flow_core::event::{Entry, Event};
use flow_core::ids::{Address, NodeId};
use flow_core::model::{Cause, RunStatus, TaskState};
use flow_core::report::{Fold, RunReport};
use flow_core::schedule::{Limits, Scheduler};
use flow_core::text::list_some;
use flow_run::drive::FolderTexts;
use flow_run::store::{RunFolder, read_journal};

use super::engine::{self, Engine, Opening};
use super::lost_outputs::Left;
use super::run::specs;
use super::{logs, models, reconcile};
use crate::args::{GoOnArgs, ResumeArgs, RetryArgs};
use crate::exit::Failure;
use crate::kept;
use crate::session::{Prepared, Session};
use crate::ui;

pub(super) fn run(session: &Session, args: &ResumeArgs) -> anyhow::Result<u8> {
    go_on(session, &args.run, &[], &args.go_on)
}

pub(super) fn retry(session: &Session, args: &RetryArgs) -> anyhow::Result<u8> {
    go_on(session, &args.run, &args.tasks, &args.go_on)
}

/// Goes on with a run. With names only these tasks run again, else everything that did not end well.
fn go_on(session: &Session, run: &str, names: &[String], args: &GoOnArgs) -> anyhow::Result<u8> {
    let folder = session.find_run(run)?;
    let lock = folder.lock()?;
    reconcile::before_going_on(session, &folder, &lock);
    let read = read_journal(&folder.events())?;
    if let Some(torn) = &read.torn {
        ui::warning(&format!("the journal's last line ({} bytes) was torn and is cut off", torn.bytes));
    }
    let kept = kept::read(folder.path())?;
    let changed = kept.changed_since(&session.project);
    let selected = kept.selected.clone();
    let strict = args.engine.strict || kept.strict;
    let answering = models::answering(session, &args.engine.models, Some(kept.answering.clone()));
    let prepared = session.compile_kept(kept)?;
    session.refuse_strangers(&prepared)?;
    let limits = limits(&read.entries, args)?;
    let specs = specs(&prepared, selected.as_ref());
    let scheduler = Scheduler::replay(specs, limits, &read.entries).map_err(|error| {
        Failure::new(Cause::Io, format!("the journal of {} can't be replayed: {error}", folder.id()))
    })?;
    if names.is_empty() && finished_well(&read.entries) {
        ui::note(&format!("run {} is complete; nothing is left to do", folder.id()));
        return Ok(Cause::Success.code());
    }
    let plan_lock = engine::plan_lock(session, &prepared)?;
    if let Some(lock) = &plan_lock {
        lock.hold_for(folder.id())?;
    }
    let folder = Arc::new(folder);
    let mut so_far = Fold::default();
    read.entries.iter().for_each(|entry| so_far.take(entry));
    let left = Left {
        prepared: &prepared,
        scheduler: &scheduler,
        run: &so_far,
        texts: FolderTexts(Arc::clone(&folder)),
        id: folder.id().as_str(),
    };
    let resumed = match names {
        [] => left.opening(None, Vec::new()),
        names => {
            let (named, again) = named(&left, &read.entries, names)?;
            left.opening(Some(&named), again)
        }
    };
    let providers = models::providers(&prepared, &answering)?;
    let to_run = to_run(&prepared, &scheduler, &resumed);
    models::refuse_missing(&prepared, &providers, Some(&to_run))?;
    ui::in_brief(&models::findings(session, &prepared, &providers, Some(&to_run)), &prepared.file.name);
    say_what_runs_again(&folder, &resumed);
    say_what_changed(&changed);
    let reports = engine::reports(&args.engine.report)?;
    let journal = engine::open_journal(&folder, &read, &args.engine)?;
    Engine {
        session,
        prepared,
        folder,
        journal,
        lock,
        plan_lock,
        limits,
        scheduler,
        so_far,
        opening: Opening { event: resumed, earlier: read.entries },
        detached: false,
        providers,
        reports,
        strict,
        args: &args.engine,
    }
    .run()
}

/// The tasks that a person wants to run again: each must have ended badly, or what it wrote must be lost.
fn named(left: &Left<'_>, entries: &[Entry], names: &[String]) -> anyhow::Result<(Vec<NodeId>, Vec<NodeId>)> {
    let scheduler = left.scheduler;
    let (mut all, mut again) = (Vec::new(), Vec::new());
    for name in names {
        let Some(id) = scheduler.find(&Address::from(name.as_str())) else {
            let report = RunReport::fold(entries).context("bug: a journal without a run")?;
            return Err(logs::no_task(&report, name));
        };
        let task = scheduler.node(id);
        let lost = if task.state == TaskState::Completed { left.lost_of(id) } else { Vec::new() };
        let help = match task.state {
            TaskState::Failed | TaskState::Killed | TaskState::Lost => None,
            // Its engine died, else nobody could own the run now.
            TaskState::Starting | TaskState::Running => None,
            TaskState::Completed if !lost.is_empty() => None,
            TaskState::Completed => Some("only what did not end well is run again"),
            TaskState::Skipped => Some("it was skipped; only what did not end well is run again"),
            TaskState::Blocked => Some("retry what it needs; it runs after that"),
            TaskState::Created => Some("it has not begun; `flow resume` goes on with it"),
        };
        if let Some(help) = help {
            let message = format!("`{name}` is {}, so there is nothing to retry", task.state.as_str());
            return Err(Failure::new(Cause::Invalid, message).help(help).into());
        }
        all.push(id);
        again.extend(lost);
    }
    Ok((all, again))
}

/// For each task whether it, or an instance of it, is still to run.
pub(super) fn to_run(prepared: &Prepared, scheduler: &Scheduler, resumed: &Event) -> Vec<bool> {
    let Event::RunResumed { lost, reset, .. } = resumed else { return Vec::new() };
    let again: HashSet<String> = lost.iter().chain(reset).map(Address::without_keys).collect();
    let tasks = prepared.plan.tasks.iter();
    tasks
        .map(|task| {
            let is_new = scheduler.node(scheduler.node_of(task.id)).state == TaskState::Created;
            is_new || again.contains(task.address.as_str())
        })
        .collect()
}

fn limits(entries: &[Entry], args: &GoOnArgs) -> anyhow::Result<Limits> {
    match entries.first().map(|entry| &entry.event) {
        Some(Event::RunStarted { concurrency, seed, .. }) => Ok(Limits {
            concurrency: args
                .jobs
                .or(std::num::NonZeroU32::new(*concurrency))
                .unwrap_or(std::num::NonZeroU32::MIN),
            fail_fast: args.fail_fast,
            seed: *seed,
        }),
        _ => Err(Failure::new(
            Cause::Io,
            "the journal does not begin with `run_started`; nothing of this run can be resumed",
        )
        .into()),
    }
}

fn finished_well(entries: &[Entry]) -> bool {
    matches!(
        entries.last().map(|entry| &entry.event),
        Some(Event::RunEnded { status: RunStatus::Completed, .. })
    )
}

fn say_what_runs_again(folder: &RunFolder, resumed: &Event) {
    let Event::RunResumed { epoch, lost, reset, given_up } = resumed else { return };
    let names = |addresses: &[Address]| list_some(addresses.iter().map(Address::as_str), 8);
    let mut said = format!("resuming {} (epoch {epoch})", folder.id());
    if !lost.is_empty() {
        said.push_str(&format!("; lost with the last engine: {}", names(lost)));
    }
    if !given_up.is_empty() {
        said.push_str(&format!("; lost and not run twice: {}", names(given_up)));
    }
    if !reset.is_empty() {
        said.push_str(&format!("; to run: {}", names(reset)));
    }
    ui::note(&said);
}

/// A person who has mended the plan expects that to count.
fn say_what_changed(changed: &[String]) {
    if changed.is_empty() {
        return;
    }
    let names = list_some(changed.iter().map(String::as_str), 4);
    ui::warning(&format!(
        "changed since the run began: {names}; this run goes on with what it began with, `flow run` takes the change"
    ));
}
