//! `flow run`.

use std::num::NonZeroU32;
use std::sync::Arc;

use flow_core::report::Fold;
use flow_core::schedule::{Limits, NodeSpec, Scheduler};
use flow_run::store::RunFolder;
use flow_run::sys::clock;

use super::engine::{self, Engine, Opening};
use crate::args::{ListHow, RunArgs};
use crate::kept;
use crate::session::{Prepared, Session};

/// Tasks at once when neither flag nor plan nor settings say.
const CONCURRENCY: u32 = 4;

pub(super) fn run(session: &Session, args: &RunArgs) -> anyhow::Result<u8> {
    let prepared = session.compile(&args.plan, &args.inputs.input)?;
    if args.dry_run {
        return super::plan::show(&prepared, ListHow::Text);
    }
    session.refuse_strangers(&prepared)?;
    let reports = engine::reports(&args.engine.report)?;
    let providers = engine::providers(session, &prepared, &args.engine)?;
    let limits = Limits {
        concurrency: concurrency(args.jobs, &prepared),
        fail_fast: args.fail_fast,
        seed: engine::seed()?,
    };
    let folder = RunFolder::create(&session.state()?, clock::now())?;
    let lock = folder.lock()?;
    kept::keep(folder.path(), &prepared)?;
    let journal = engine::create_journal(&folder, &args.engine)?;
    let started = engine::run_started(session, &prepared, &folder, limits);
    Engine {
        scheduler: Scheduler::new(NodeSpec::of(&prepared.plan), limits),
        so_far: Fold::default(),
        opening: Opening { event: started, earlier: Vec::new() },
        session,
        prepared,
        folder: Arc::new(folder),
        journal,
        lock,
        limits,
        providers,
        reports,
        args: &args.engine,
    }
    .run()
}

fn concurrency(jobs: Option<NonZeroU32>, prepared: &Prepared) -> NonZeroU32 {
    let settings = prepared.settings.concurrency.and_then(NonZeroU32::new);
    jobs.or(prepared.plan.concurrency)
        .or(settings)
        .or(NonZeroU32::new(CONCURRENCY))
        .unwrap_or(NonZeroU32::MIN)
}
