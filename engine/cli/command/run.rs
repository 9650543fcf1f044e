//! `flow run`.

use std::num::NonZeroU32;
use std::sync::Arc;

use flow_core::compile::Purpose;
use flow_core::plan::{SelectError, Selection};
use flow_core::report::Fold;
use flow_core::schedule::{Limits, NodeSpec, Scheduler};
use flow_core::text::{list_some, shell_word};
use flow_run::load;
use flow_run::store::RunFolder;
use flow_run::sys::clock;

use super::engine::{self, Engine, Opening};
use super::{detach, models, plan, reconcile};
use crate::args::{ListHow, RunArgs};
use crate::exit::{Exit, Failure};
use crate::kept;
use crate::session::{Prepared, Session};
use crate::ui;

/// Tasks at once when neither flag nor plan nor settings say.
const CONCURRENCY: u32 = 4;

pub(super) fn run(session: &Session, args: &RunArgs) -> anyhow::Result<u8> {
    if args.detach && !args.detached {
        return detach::start();
    }
    if args.detached {
        detach::leave_session()?;
    }
    let plan = args.plan.as_deref().ok_or_else(|| which_plan(session))?;
    let prepared = session.compile(plan, &args.inputs, Purpose::Run)?;
    session.refuse_strangers(&prepared)?;
    let selected = selected(&prepared, args)?;
    let reports = engine::reports(&args.engine.report)?;
    let answering = models::answering(session, &args.engine.models, None);
    let providers = models::providers(&prepared, &answering)?;
    models::refuse_missing(&prepared, &providers, selected.as_deref())?;
    ui::in_brief(&models::findings(session, &prepared, &providers, selected.as_deref()), plan);
    if args.dry_run {
        plan::refuse_what_would_not_start(session, &prepared, selected.as_deref())?;
        return plan::show(session, &prepared, &providers, selected.as_deref(), ListHow::Text);
    }
    reconcile::all(session)?;
    let limits = Limits {
        concurrency: concurrency(args.jobs, &prepared),
        fail_fast: args.fail_fast,
        seed: engine::seed()?,
    };
    let plan_lock = engine::plan_lock(session, &prepared)?;
    let folder = RunFolder::create(&session.state()?, clock::now())?;
    if let Some(lock) = &plan_lock {
        lock.hold_for(folder.id())?;
    }
    let lock = folder.lock()?;
    kept::keep(folder.path(), &prepared, selected.as_deref(), (&answering, args.engine.strict))?;
    let journal = engine::create_journal(&folder, &args.engine)?;
    let started = engine::run_started(session, &prepared, &folder, limits);
    if args.detached {
        detach::announce(&folder)?;
    }
    Engine {
        scheduler: Scheduler::new(specs(&prepared, selected.as_deref()), limits),
        so_far: Fold::default(),
        opening: Opening { event: started, earlier: Vec::new() },
        session,
        prepared,
        folder: Arc::new(folder),
        journal,
        lock,
        plan_lock,
        limits,
        providers,
        reports,
        strict: args.engine.strict,
        args: &args.engine,
    }
    .run()
}

/// Nobody runs a plan by chance: what there is is named, and not run.
fn which_plan(session: &Session) -> anyhow::Error {
    let failure =
        Failure::new(Exit::Usage, "which plan? `flow run` takes its file, or its name in `workflows/`");
    let mut names = load::own_plans(&session.project);
    let lead = if names.is_empty() { "write one with `flow init`, or try " } else { "" };
    names.extend(load::shipped_plans().map(str::to_owned));
    let commands: Vec<String> =
        names.iter().map(|name| format!("{} run {}", ui::program(), shell_word(name))).collect();
    failure.help(format!("{lead}{}", list_some(commands.iter().map(String::as_str), 6))).into()
}

/// The tasks as the scheduler sees them, without those that the person left out.
pub(super) fn specs(prepared: &Prepared, selected: Option<&[bool]>) -> Vec<NodeSpec> {
    let mut specs = NodeSpec::of(&prepared.plan);
    if let Some(selected) = selected {
        NodeSpec::leave_out(&mut specs, selected);
    }
    specs
}

/// `--only`, `--from`, `--until`; `None` when all tasks take part.
fn selected(prepared: &Prepared, args: &RunArgs) -> anyhow::Result<Option<Vec<bool>>> {
    let selection = Selection { only: args.only.clone(), from: args.from.clone(), until: args.until.clone() };
    if selection.is_everything() {
        return Ok(None);
    }
    selection.select(&prepared.plan).map(Some).map_err(|error| {
        let failure = Failure::new(Exit::NothingSelected, error.to_string());
        match error {
            SelectError::NoTask { help, .. } => failure.help(help).into(),
            SelectError::Nothing => failure.into(),
        }
    })
}

fn concurrency(jobs: Option<NonZeroU32>, prepared: &Prepared) -> NonZeroU32 {
    let settings = prepared.settings.concurrency.and_then(NonZeroU32::new);
    jobs.or(prepared.plan.concurrency)
        .or(settings)
        .or(NonZeroU32::new(CONCURRENCY))
        .unwrap_or(NonZeroU32::MIN)
}
