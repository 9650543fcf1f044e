//! `flow resume`.

use std::sync::Arc;

use anyhow::Context;
use flow_core::event::{Entry, Event};
use flow_core::model::RunStatus;
use flow_core::report::Fold;
use flow_core::schedule::{Limits, NodeSpec, Scheduler};
use flow_run::store::{RunFolder, read_journal};
use flow_run::workspace::{Recorded, Trees};

use super::engine::{self, Engine, Opening};
use crate::args::ResumeArgs;
use crate::exit::{Exit, Failure};
use crate::kept;
use crate::session::Session;
use crate::ui;

pub(super) fn run(session: &Session, args: &ResumeArgs) -> anyhow::Result<u8> {
    let folder = session.find_run(&args.run)?;
    let lock = folder.lock()?;
    let read = read_journal(&folder.events())?;
    if let Some(torn) = &read.torn {
        ui::warning(&format!("the journal's last line ({} bytes) was torn and is cut off", torn.bytes));
    }
    let prepared = session.compile_kept(kept::read(folder.path())?)?;
    session.refuse_strangers(&prepared)?;
    let limits = limits(&read.entries, args)?;
    let scheduler =
        Scheduler::replay(NodeSpec::of(&prepared.plan), limits, &read.entries).map_err(|error| {
            Failure::new(Exit::Io, format!("the journal of {} can't be replayed: {error}", folder.id()))
        })?;
    if finished_well(&read.entries) {
        ui::note(&format!("run {} is complete; nothing is left to do", folder.id()));
        return Ok(Exit::Success.code());
    }
    let resumed = scheduler.resume();
    end_orphans(&folder)?;
    say_what_runs_again(&folder, &resumed);
    let mut so_far = Fold::default();
    read.entries.iter().for_each(|entry| so_far.take(entry));
    reclaim_trees(session, &prepared, &folder, &read.entries);
    let reports = engine::reports(&args.engine.report)?;
    let providers = engine::providers(session, &prepared, &args.engine)?;
    let journal = engine::open_journal(&folder, &read, &args.engine)?;
    Engine {
        session,
        prepared,
        folder: Arc::new(folder),
        journal,
        lock,
        limits,
        scheduler,
        so_far,
        opening: Opening { event: resumed, earlier: read.entries },
        providers,
        reports,
        args: &args.engine,
    }
    .run()
}

fn limits(entries: &[Entry], args: &ResumeArgs) -> anyhow::Result<Limits> {
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
            Exit::Io,
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

/// Ends what a dead engine left behind: only processes that carry the run's own mark.
pub(super) fn end_orphans(folder: &RunFolder) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("can't start the runtime")?;
    if runtime.block_on(flow_run::sys::process::sweep_everywhere(folder.id().as_str())) {
        ui::note(&format!("processes that the last engine of {} left behind were ended", folder.id()));
    }
    Ok(())
}

fn say_what_runs_again(folder: &RunFolder, resumed: &Event) {
    let Event::RunResumed { epoch, lost, reset } = resumed else { return };
    let names = |addresses: &[flow_core::ids::Address]| {
        flow_core::text::list_some(addresses.iter().map(flow_core::ids::Address::as_str), 8)
    };
    let mut said = format!("resuming {} (epoch {epoch})", folder.id());
    if !lost.is_empty() {
        said.push_str(&format!("; lost with the last engine: {}", names(lost)));
    }
    if !reset.is_empty() {
        said.push_str(&format!("; to run: {}", names(reset)));
    }
    ui::note(&said);
}

/// Private trees of lost attempts: what is in them is committed to their branches, what is clean is removed.
fn reclaim_trees(
    session: &Session,
    prepared: &crate::session::Prepared,
    folder: &RunFolder,
    entries: &[Entry],
) {
    let mut open = indexmap::IndexMap::new();
    for entry in entries {
        match &entry.event {
            Event::WorktreeMade { task, attempt, path, branch, base } => {
                open.insert((task.clone(), *attempt), (path.clone(), branch.clone(), base.clone()));
            }
            Event::WorktreeEnded { task, attempt, .. } => {
                open.shift_remove(&(task.clone(), *attempt));
            }
            _ => {}
        }
    }
    if open.is_empty() {
        return;
    }
    let trees = Trees::new(&session.project.root, prepared.worktrees_dir.clone(), folder.id());
    match trees.recover() {
        Ok(undone) if undone.is_empty() => {}
        Ok(undone) => {
            ui::note(&format!("what the last engine had half merged was undone: {}", undone.join(", ")))
        }
        Err(error) => ui::warning(&format!("an unfinished merge could not be undone: {}", error.one_line())),
    }
    for ((task, _), (path, branch, base)) in open {
        let recorded = Recorded { path: path.clone().into(), branch: branch.clone(), base };
        match trees.reclaim(&recorded) {
            Ok(outcome) if outcome.branch.is_some() => {
                ui::note(&format!("what `{task}` had done in its tree is on branch {branch}"));
            }
            Ok(outcome) if outcome.path.is_some() => {
                ui::note(&format!("what `{task}` had done is in {path}"));
            }
            Ok(_) => {}
            Err(error) => ui::warning(&format!("the tree of `{task}` stays in {path}: {}", error.one_line())),
        }
    }
}
