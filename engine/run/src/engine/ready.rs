//! From a plan to a run that could begin: which tasks take part, and who answers.

use std::collections::BTreeSet;

use flow_core::diagnostic::Diagnostic;
use flow_core::ids::Address;
use flow_core::plan::{AgentTask, InstanceLimit, Plan, Read, Selected, Selection, Task};
use flow_core::text::{did_you_mean, list_some};
use flow_core::values::{known_instances, preview};

use super::error::EngineError;
use super::models::{Models, providers};
use super::notice::{Notice, Tell};
use super::prepare::{PlanRequest, Prepared};
use super::project::Engine;
use super::snapshot::Answering;
use crate::provider::Providers;
use crate::store::StateDir;

/// A plan, the part of it that is meant, and who answers its agents.
pub struct Ready {
    pub(super) prepared: Prepared,
    pub(super) selected: Option<Selected>,
    pub(super) answering: Answering,
    pub(super) providers: Providers,
}

impl Ready {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.prepared.plan
    }

    /// Whether a task takes part.
    pub fn includes(&self, task: &Task) -> bool {
        self.tasks().is_none_or(|tasks| tasks[task.id.index()])
    }

    pub(super) fn tasks(&self) -> Option<&[bool]> {
        self.selected.as_ref().map(|selected| selected.tasks.as_slice())
    }

    fn models<'a>(&'a self, engine: &'a Engine) -> Models<'a> {
        Models { engine, plan: &self.prepared.plan, providers: &self.providers, tasks: self.tasks() }
    }

    /// What would be odd about the answers: models that stand in for what a definition names, and written ones that have
    /// nothing to say to a task.
    pub fn oddities(&self, engine: &Engine) -> Vec<Diagnostic> {
        self.models(engine).expected()
    }

    /// Models that the plan names and that mean nothing here.
    pub fn unknown_models(&self, engine: &Engine) -> Vec<Diagnostic> {
        self.models(engine).unknown()
    }

    /// The model of a task's agent as a plan shows it.
    pub fn model_of(&self, engine: &Engine, agent: &AgentTask) -> String {
        self.models(engine).shown(agent)
    }

    /// What a run finds out task by task: whether scripts and prompts can be rendered. A task that may be skipped refuses
    /// nothing.
    pub fn refuse_what_would_not_start(&self, engine: &Engine) -> Result<(), EngineError> {
        // A run needs its place.
        StateDir::existing(&engine.project.state_dir)?;
        let plan = self.plan();
        let starts = |task: &&Task| self.includes(task) && task.condition.is_none();
        for task in plan.tasks.iter().filter(starts) {
            if let Err(why) = preview(plan, task) {
                return Err(EngineError::WouldNotStart { task: task.address.to_string(), why });
            }
        }
        Ok(())
    }
}

impl Engine {
    /// A plan with those who would answer it. Nobody is refused for an answer that is missing.
    pub fn answered(&self, prepared: Prepared, said: &Answering) -> Result<Ready, EngineError> {
        let answering = self.answering(said, None);
        let providers = providers(&prepared, &answering)?;
        Ok(Ready { prepared, selected: None, answering, providers })
    }

    /// Everything that can be wrong with a run before it begins; what a person should know all the same is told.
    pub fn prepare(
        &self,
        request: &PlanRequest,
        (selection, said): (&Selection, &Answering),
        tell: Tell<'_>,
    ) -> Result<Ready, EngineError> {
        let (prepared, warnings) = self.plan(request)?;
        tell(Notice::Plan { plan: request.plan.clone(), findings: warnings });
        self.refuse_strangers(&prepared)?;
        let selected = selected(&prepared.plan, selection)?;
        let ready = Ready { selected, ..self.answered(prepared, said)? };
        ready.models(self).refuse_missing()?;
        let findings = ready.models(self).findings();
        tell(Notice::Models { plan: request.plan.clone(), findings });
        Ok(ready)
    }
}

/// What takes part; `None` when all tasks do.
fn selected(plan: &Plan, selection: &Selection) -> Result<Option<Selected>, EngineError> {
    if selection.is_everything() {
        return Ok(None);
    }
    let selected = selection.select(plan)?;
    refuse_unknown_instances(plan, &selected)?;
    refuse_missing_values(plan, &selected, !selection.only.is_empty())?;
    Ok(Some(selected))
}

/// Instances that are written out are known before the run; the others are looked for in it.
fn refuse_unknown_instances(plan: &Plan, selected: &Selected) -> Result<(), EngineError> {
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
                return Err(EngineError::NoInstance { pattern: pattern.clone(), help });
            }
        }
    }
    Ok(())
}

/// A value of a task that is left out would be empty, and a script made of it another one.
fn refuse_missing_values(plan: &Plan, selected: &Selected, only: bool) -> Result<(), EngineError> {
    let missing = selected.missing(plan);
    if missing.is_empty() {
        return Ok(());
    }
    let name = |read: &Read<'_>| plan.tasks[read.from.index()].address.as_str();
    let reads = missing
        .iter()
        .map(|(reader, read)| format!("`{}` reads `tasks.{}.{}`", reader.address, name(read), read.field));
    let left_out: BTreeSet<&str> = missing.iter().map(|(_, read)| name(read)).collect();
    let left_out = left_out.into_iter().map(str::to_owned).collect();
    Err(EngineError::LeftOut { reads: reads.collect(), left_out, only })
}
