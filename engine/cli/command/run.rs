//! `flow run`.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use flow_core::compile::Purpose;
use flow_core::ids::Address;
use flow_core::model::Cause;
use flow_core::plan::{InstanceLimit, Plan, Read, SelectError, Selected, Selection};
use flow_core::report::Fold;
use flow_core::schedule::{Limits, NodeSpec, Scheduler};
use flow_core::text::{did_you_mean, list_some, shell_word};
use flow_core::values::known_instances;
use flow_run::load;
use flow_run::store::RunFolder;
use flow_run::sys::clock;

use super::engine::{self, Engine, Opening};
use super::{detach, models, plan, reconcile};
use crate::args::{ListHow, RunArgs};
use crate::exit::Failure;
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
    let tasks = selected.as_ref().map(|selected| selected.tasks.as_slice());
    let reports = engine::reports(&args.engine.report)?;
    let answering = models::answering(session, &args.engine.models, None);
    let providers = models::providers(&prepared, &answering)?;
    models::refuse_missing(&prepared, &providers, tasks)?;
    ui::in_brief(&models::findings(session, &prepared, &providers, tasks), plan);
    if args.dry_run {
        plan::refuse_what_would_not_start(session, &prepared, tasks)?;
        return plan::show(session, &prepared, &providers, tasks, ListHow::Text);
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
    kept::keep(folder.path(), &prepared, selected.as_ref(), (&answering, args.engine.strict))?;
    let journal = engine::create_journal(&folder, &args.engine)?;
    let started = engine::run_started(session, &prepared, &folder, limits);
    Engine {
        scheduler: Scheduler::new(specs(&prepared, selected.as_ref()), limits),
        so_far: Fold::default(),
        opening: Opening { event: started, earlier: Vec::new() },
        detached: args.detached,
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
        Failure::new(Cause::Usage, "which plan? `flow run` takes its file, or its name in `workflows/`");
    let mut names = load::own_plans(&session.project);
    let lead = if names.is_empty() { "write one with `flow init`, or try " } else { "" };
    names.extend(load::shipped_plans().map(str::to_owned));
    let commands: Vec<String> =
        names.iter().map(|name| format!("{} run {}", ui::program(), shell_word(name))).collect();
    failure.help(format!("{lead}{}", list_some(commands.iter().map(String::as_str), 6))).into()
}

/// The tasks as the scheduler sees them, without those that the person left out.
pub(super) fn specs(prepared: &Prepared, selected: Option<&Selected>) -> Vec<NodeSpec> {
    let mut specs = NodeSpec::of(&prepared.plan);
    if let Some(selected) = selected {
        NodeSpec::leave_out(&mut specs, selected);
    }
    specs
}

/// `--only`, `--from`, `--until`; `None` when all tasks take part.
fn selected(prepared: &Prepared, args: &RunArgs) -> anyhow::Result<Option<Selected>> {
    let selection = Selection { only: args.only.clone(), from: args.from.clone(), until: args.until.clone() };
    if selection.is_everything() {
        return Ok(None);
    }
    let plan = &prepared.plan;
    let selected = selection.select(plan).map_err(|error| {
        let failure = Failure::new(Cause::NothingSelected, error.to_string());
        match error {
            SelectError::NoTask { help, .. } => failure.help(help),
            SelectError::Nothing => failure,
        }
    })?;
    refuse_unknown_instances(plan, &selected)?;
    refuse_missing_values(plan, &selected, args)?;
    Ok(Some(selected))
}

/// Instances that are written out are known before the run; the others are looked for in it.
fn refuse_unknown_instances(plan: &Plan, selected: &Selected) -> anyhow::Result<()> {
    for limit in &selected.limits {
        let Some(task) = plan.tasks.iter().find(|task| task.address == limit.task) else { continue };
        let Some(known) = known_instances(plan, task) else { continue };
        let known: Vec<Address> = known.iter().map(|one| task.address.instance(&one.key)).collect();
        for pattern in &limit.patterns {
            let fits = InstanceLimit { task: limit.task.clone(), patterns: vec![pattern.clone()] };
            if !known.iter().any(|one| fits.lets(one)) {
                let names = || known.iter().map(Address::as_str);
                let help = match did_you_mean(pattern, names()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("`{}` has {}", task.address, list_some(names(), 10)),
                };
                let message = format!("no instance fits `{pattern}`");
                return Err(Failure::new(Cause::NothingSelected, message).help(help).into());
            }
        }
    }
    Ok(())
}

/// A value of a task that is left out would be empty, and a script made of it another one.
fn refuse_missing_values(plan: &Plan, selected: &Selected, args: &RunArgs) -> anyhow::Result<()> {
    let missing = selected.missing(plan);
    if missing.is_empty() {
        return Ok(());
    }
    let name = |read: &Read<'_>| plan.tasks[read.from.index()].address.as_str();
    let said: Vec<String> = missing
        .iter()
        .map(|(reader, read)| format!("`{}` reads `tasks.{}.{}`", reader.address, name(read), read.field))
        .collect();
    let left_out: BTreeSet<&str> = missing.iter().map(|(_, read)| name(read)).collect();
    let flag = if args.only.is_empty() { "--from" } else { "--only" };
    let flags: Vec<String> = left_out.iter().take(3).map(|name| format!("{flag} {name}")).collect();
    let shown = said.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = said.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message =
        format!("{shown}{more}, and {} takes no part in this run", list_some(left_out.iter().copied(), 3));
    let help =
        format!("let it take part: `{}`; or let the text cope without: `| default(...)`", flags.join(" "));
    Err(Failure::new(Cause::Invalid, message).help(help).into())
}

fn concurrency(jobs: Option<NonZeroU32>, prepared: &Prepared) -> NonZeroU32 {
    let settings = prepared.settings.concurrency.and_then(NonZeroU32::new);
    jobs.or(prepared.plan.concurrency)
        .or(settings)
        .or(NonZeroU32::new(CONCURRENCY))
        .unwrap_or(NonZeroU32::MIN)
}
