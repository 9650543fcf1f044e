//! `flow check`.

use flow_core::diagnostic::Diagnostic;

use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::session::Session;
use crate::ui;

pub(super) fn run(session: &Session, args: &CheckArgs) -> anyhow::Result<u8> {
    let plans = match &args.plan {
        Some(plan) => vec![plan.clone()],
        None => session.plans(),
    };
    if plans.is_empty() && session.own_agents()? == 0 {
        return Err(Failure::new(
            Exit::NothingSelected,
            "there is nothing to check here: no `plan.yaml`, no `workflows/`, no agent",
        )
        .help("name a plan: `flow check PLAN`")
        .into());
    }
    let mut all = Vec::new();
    let mut tasks = 0;
    for plan in &plans {
        let (prepared, diagnostics) = session.examine(plan, &args.inputs.input)?;
        tasks += prepared.map_or(0, |prepared| prepared.plan.tasks.len());
        all.extend(diagnostics);
    }
    if args.plan.is_none() {
        let settings = session.settings(&session.project.here)?;
        all.extend(session.agents(&session.project.here, &settings)?.diagnostics);
    }
    ui::diagnostics(&all);
    let errors = all.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let said = format!("{}, {} checked", many(errors, "error"), many(plans.len(), "plan"));
    let warnings = many(all.iter().filter(|diagnostic| !Diagnostic::is_error(diagnostic)).count(), "warning");
    if errors > 0 {
        ui::error(&format!("{said}; {warnings}"), None);
        return Ok(Exit::Invalid.code());
    }
    let what = if plans.is_empty() {
        "the agents".to_owned()
    } else {
        plans.join(", ") + ": " + &many(tasks, "task")
    };
    ui::note(&format!("{what} fine; {warnings}"));
    Ok(Exit::Success.code())
}

fn many(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
