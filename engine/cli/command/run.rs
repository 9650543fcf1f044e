//! `flow run`.

use flow_core::compile::Purpose;
use flow_core::model::Cause;
use flow_core::plan::Selection;
use flow_core::text::{list_some, shell_word};
use flow_run::engine::Engine;

use super::{detach, live, plan};
use crate::args::{ListHow, RunArgs};
use crate::exit::Failure;
use crate::inputs::plan_request;
use crate::ui;

pub(super) fn run(engine: &Engine, args: &RunArgs) -> anyhow::Result<u8> {
    if args.detach && !args.detached {
        return detach::start();
    }
    if args.detached {
        detach::leave_session()?;
    }
    let plan = args.plan.as_deref().ok_or_else(|| which_plan(engine))?;
    let reports = live::reports(&args.engine.report)?;
    let request = plan_request(engine, plan, &args.inputs, Purpose::Run)?;
    let selection = Selection { only: args.only.clone(), from: args.from.clone(), until: args.until.clone() };
    let tell = &mut |notice| ui::notice(&notice);
    let ready = engine.prepare(&request, (&selection, &live::answering(&args.engine.models)), tell)?;
    if args.dry_run {
        ready.refuse_what_would_not_start(engine)?;
        return plan::show(engine, &ready, ListHow::Text);
    }
    let handle = engine.start(ready, &live::options(&args.engine, args.jobs, args.fail_fast), tell)?;
    live::show(engine, handle, &args.engine, reports, args.detached)
}

/// Nobody runs a plan by chance: what there is is named, and not run.
fn which_plan(engine: &Engine) -> anyhow::Error {
    let failure =
        Failure::new(Cause::Usage, "which plan? `flow run` takes its file, or its name in `workflows/`");
    let (own, shipped) = engine.nameable_plans();
    let lead = if own.is_empty() { "write one with `flow init`, or try " } else { "" };
    let names = own.iter().map(String::as_str).chain(shipped);
    let commands: Vec<String> =
        names.map(|name| format!("{} run {}", ui::program(), shell_word(name))).collect();
    failure.help(format!("{lead}{}", list_some(commands.iter().map(String::as_str), 6))).into()
}
