//! `flow check`.

use flow_core::compile::{AgentRegistry, Purpose};
use flow_core::diagnostic::{Code, Diagnostic};
use flow_core::model::{AgentSource, Cause};

use super::live;
use crate::args::{CheckArgs, ListHow};
use crate::exit::Failure;
use crate::inputs::plan_request;
use crate::ui;
use flow_run::engine::Engine;

pub(super) fn run(engine: &Engine, args: &CheckArgs) -> anyhow::Result<u8> {
    let plans = match &args.plan {
        Some(plan) => vec![plan.clone()],
        None => engine.plans(),
    };
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut odd = Vec::new();
    let mut tasks = 0;
    for plan in &plans {
        let (prepared, diagnostics) = engine.check(&plan_request(engine, plan, &args.inputs, Purpose::Look)?);
        all.extend(diagnostics);
        let Some(prepared) = prepared else { continue };
        tasks += prepared.plan.tasks.len();
        let ready = engine.answered(prepared, &live::answering(&args.models))?;
        all.extend(ready.unknown_models(engine));
        all.extend(ready.oddities(engine));
    }
    if args.plan.is_none() {
        let (settings, found) = engine.settings(&engine.project().here);
        all.extend(found);
        let (agents, found) = engine.agents(&engine.project().here, &settings);
        all.extend(found);
        odd = agents.diagnostics();
        if plans.is_empty() && all.is_empty() && odd.is_empty() && !has_own(&agents) {
            return Err(nothing_here());
        }
    }
    // Settings and agents are the same for many plans, and a file that one of them needs may be the odd one.
    let (once, lines) = once_each(all, odd);
    let errors = once.iter().filter(|found| found.is_error()).count();
    let exit = if errors > 0 { Cause::Invalid } else { Cause::Success };
    match args.output {
        ListHow::Json => ui::print_json(&[once, lines].concat())?,
        ListHow::Text => {
            ui::diagnostics(&once);
            ui::finding_lines(&lines);
            let warnings = ui::many(once.len() + lines.len() - errors, "warning", "warnings");
            if errors > 0 {
                let said = format!(
                    "{}, {} checked",
                    ui::many(errors, "error", "errors"),
                    ui::many(plans.len(), "plan", "plans")
                );
                ui::error(&format!("{said}; {warnings}"), None);
            } else {
                let plans = plans.join(", ");
                let what = if plans.is_empty() {
                    "the agents".to_owned()
                } else {
                    format!("{plans}: {}", ui::many(tasks, "task", "tasks"))
                };
                ui::note(&format!("{what} fine; {warnings}"));
            }
        }
    }
    Ok(exit.code())
}

/// Every finding once: those of plans and settings, and those that are only about agent files.
fn once_each(all: Vec<Diagnostic>, odd: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let mut once: Vec<Diagnostic> = Vec::with_capacity(all.len());
    for found in all {
        // An agent file that several plans need is wrong once.
        let same = |earlier: &Diagnostic| {
            let place = found.labels.first();
            earlier == &found
                || place.is_some()
                    && (earlier.code, earlier.labels.first()) == (found.code, place)
                    && earlier.message == found.message
        };
        if !odd.contains(&found) && !once.iter().any(same) {
            once.push(found);
        }
    }
    let told = |odd: &Diagnostic| {
        let same = |earlier: &Diagnostic| {
            (earlier.code == odd.code || odd.code == Code::BrokenAgent)
                && earlier.labels.first() == odd.labels.first()
        };
        once.iter().any(same)
    };
    let lines = odd.into_iter().filter(|odd| !told(odd)).collect();
    (once, lines)
}

fn has_own(agents: &AgentRegistry) -> bool {
    agents.winners().any(|agent| agent.source != AgentSource::BuiltIn)
}

fn nothing_here() -> anyhow::Error {
    let message = "there is nothing to check here: no `plan.yaml`, no `workflows/`, no agent of your own";
    Failure::new(Cause::NothingSelected, message).help("name a plan: `flow check PLAN`").into()
}
