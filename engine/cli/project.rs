//! What a command finds in the project, with its findings shown.

use std::path::Path;

use flow_core::compile::{AgentRegistry, Purpose};
use flow_core::diagnostic::Diagnostic;
use flow_core::model::Settings;
use flow_run::engine::{Engine, EngineError, Prepared};

use crate::args::InputArgs;
use crate::inputs::plan_request;
use crate::ui;

/// The settings for plans of a folder; errors end the command.
pub fn settings(engine: &Engine, plan_dir: &Path) -> anyhow::Result<Settings> {
    let (settings, findings) = engine.settings(plan_dir);
    refuse(findings)?;
    Ok(settings)
}

/// The agents for plans of a folder; flags and policies that can't be read end the command.
pub fn agents(engine: &Engine, plan_dir: &Path, settings: &Settings) -> anyhow::Result<AgentRegistry> {
    let (agents, findings) = engine.agents(plan_dir, settings);
    refuse(findings)?;
    Ok(agents)
}

/// A plan that is to be run or shown; warnings alone are shown in brief.
pub fn plan(engine: &Engine, plan: &str, inputs: &InputArgs, purpose: Purpose) -> anyhow::Result<Prepared> {
    let (prepared, warnings) = engine.plan(&plan_request(engine, plan, inputs, purpose)?)?;
    ui::in_brief(&warnings, plan);
    Ok(prepared)
}

/// Shows findings; errors end the command.
fn refuse(findings: Vec<Diagnostic>) -> anyhow::Result<()> {
    if findings.iter().any(Diagnostic::is_error) {
        return Err(EngineError::Invalid(findings).into());
    }
    ui::diagnostics(&findings);
    Ok(())
}
