//! Whether those who are to answer a run can be asked.

use flow_core::plan::TaskKind;
use flow_core::text::list_some;
use flow_core::values::model_of;
use flow_run::provider::Providers;
use indexmap::IndexMap;

use crate::exit::{Exit, Failure};
use crate::session::Prepared;
use crate::ui;

/// How many tasks a message names.
const NAMED: usize = 4;

/// Refuses a run with agents that have no model: the key that is missing after an hour of work is missing now. An agent
/// that may never be asked refuses nothing.
pub(super) fn refuse_missing(
    prepared: &Prepared,
    providers: &Providers,
    selected: Option<&[bool]>,
) -> anyhow::Result<()> {
    let plan = &prepared.plan;
    let mut missing: IndexMap<(String, Option<String>), Vec<&str>> = IndexMap::new();
    for (task, starts) in plan.tasks.iter().zip(plan.starts_when_all_goes_well()) {
        let TaskKind::Agent(agent) = &task.kind else { continue };
        if !starts || selected.is_some_and(|selected| !selected[task.id.index()]) {
            continue;
        }
        if let Err(error) = providers.resolve(model_of(&plan.agents[agent.agent], agent)) {
            let why = (error.to_string(), error.help());
            missing.entry(why).or_default().push(task.address.as_str());
        }
    }
    let Some(((last, help), tasks)) = missing.pop() else { return Ok(()) };
    let message = |why: &str, tasks: Vec<&str>| format!("{} would not start: {why}", list_some(tasks, NAMED));
    for ((why, own), tasks) in missing {
        ui::error(&message(&why, tasks), own.filter(|own| Some(own) != help.as_ref()).as_deref());
    }
    let failure = Failure::new(Exit::Invalid, message(&last, tasks));
    Err(match help {
        Some(help) => failure.help(help).into(),
        None => failure.into(),
    })
}
