//! `flow check`.

use flow_core::compile::AgentRegistry;
use flow_core::diagnostic::Diagnostic;
use flow_core::model::AgentSource;

use crate::args::{CheckArgs, ListHow};
use crate::exit::{Exit, Failure};
use crate::session::Session;
use crate::ui;

pub(super) fn run(session: &Session, args: &CheckArgs) -> anyhow::Result<u8> {
    let plans = match &args.plan {
        Some(plan) => vec![plan.clone()],
        None => session.plans(),
    };
    let mut all = Vec::new();
    let mut tasks = 0;
    for plan in &plans {
        let (prepared, diagnostics) = session.examine(plan, &args.inputs)?;
        tasks += prepared.map_or(0, |prepared| prepared.plan.tasks.len());
        all.extend(diagnostics);
    }
    if args.plan.is_none() {
        let (settings, found) = session.find_settings(&session.project.here);
        all.extend(found);
        let (agents, found) = session.find_agents(&session.project.here, &settings);
        all.extend(found);
        let odd = agents.diagnostics();
        if plans.is_empty() && all.is_empty() && odd.is_empty() && !has_own(&agents) {
            return Err(nothing_here());
        }
        all.extend(odd);
    }
    // Settings and agents are the same for many plans.
    let mut once: Vec<Diagnostic> = Vec::with_capacity(all.len());
    all.into_iter().for_each(|found| {
        if !once.contains(&found) {
            once.push(found)
        }
    });
    let errors = once.iter().filter(|found| found.is_error()).count();
    let exit = if errors > 0 { Exit::Invalid } else { Exit::Success };
    match args.output {
        ListHow::Json => ui::print_json(&ui::findings_json(&once))?,
        ListHow::Text => {
            ui::diagnostics(&once);
            let warnings = many(once.len() - errors, "warning");
            if errors > 0 {
                let said = format!("{}, {} checked", many(errors, "error"), many(plans.len(), "plan"));
                ui::error(&format!("{said}; {warnings}"), None);
            } else {
                let plans = plans.join(", ");
                let what = if plans.is_empty() {
                    "the agents".to_owned()
                } else {
                    format!("{plans}: {}", many(tasks, "task"))
                };
                ui::note(&format!("{what} fine; {warnings}"));
            }
        }
    }
    Ok(exit.code())
}

fn has_own(agents: &AgentRegistry) -> bool {
    agents.winners().any(|agent| agent.source != AgentSource::BuiltIn)
}

fn nothing_here() -> anyhow::Error {
    let message = "there is nothing to check here: no `plan.yaml`, no `workflows/`, no agent of your own";
    Failure::new(Exit::NothingSelected, message).help("name a plan: `flow check PLAN`").into()
}

fn many(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
