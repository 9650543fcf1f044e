//! Who is to answer a run: whether they can be asked, and what the person has to know about them.

use flow_core::diagnostic::{Code, Diagnostic};
use flow_core::model::{Cause, ModelWish};
use flow_core::plan::{AgentTask, Plan, Task, TaskKind};
use flow_core::text::list_some;
use flow_core::values::model_of;
use flow_core::wire::APIS;
use flow_run::provider::{Chosen, ProviderConfig, ProviderError, Providers, Written};
use indexmap::IndexMap;

use crate::args::ModelArgs;
use crate::exit::Failure;
use crate::kept::Answering;
use crate::session::{Prepared, Session};
use crate::ui;

/// How many tasks a message names.
const NAMED: usize = 4;

/// Who the person wants to answer; a run that goes on asks whom it asked before unless they say otherwise.
pub(super) fn answering(session: &Session, args: &ModelArgs, before: Option<Answering>) -> Answering {
    let model_script = args.model_script.as_ref().map(|path| session.project.here.join(path));
    let said = Answering { model: args.model.clone(), model_script };
    before.filter(|_| said == Answering::default()).unwrap_or(said)
}

pub(super) fn providers(prepared: &Prepared, answering: &Answering) -> anyhow::Result<Providers> {
    let config = ProviderConfig {
        settings: prepared.settings.clone(),
        script: answering.model_script.clone(),
        model: answering.model.clone(),
        env: Box::new(|name| std::env::var(name).ok()),
    };
    Providers::new(config)
        .map_err(|error| Failure::new(Cause::Invalid, format!("{:#}", anyhow::Error::new(error))).into())
}

/// Refuses a run with agents that have no model: the key that is missing after an hour of work is missing now. An agent
/// that may never be asked refuses nothing.
pub(super) fn refuse_missing(
    prepared: &Prepared,
    providers: &Providers,
    selected: Option<&[bool]>,
) -> anyhow::Result<()> {
    let plan = &prepared.plan;
    let starts = plan.starts_when_all_goes_well();
    let faults = agents(plan, selected)
        .filter(|(task, _)| starts[task.id.index()])
        .filter_map(|(task, agent)| Some((task, agent, choose(plan, agent, providers).err()?)));
    let faults: Vec<(&Task, &AgentTask, ProviderError)> = faults.collect();
    // Any vendor's key gives a default, which stands in for what a definition names: one thing to do is said once.
    let none = faults.iter().find(|(.., error)| matches!(error, ProviderError::NoModel { .. }));
    let any_key_helps = |agent: &AgentTask, error: &ProviderError| match (wish(plan, agent), error) {
        (ModelWish::Definition(_), ProviderError::NoKey { variable, .. }) => {
            APIS.iter().any(|api| api.key_env == variable)
        }
        _ => false,
    };
    let mut missing: IndexMap<(String, Option<String>), Vec<&str>> = IndexMap::new();
    for (task, agent, error) in &faults {
        let said = none.filter(|_| any_key_helps(agent, error)).map_or(error, |(.., none)| none);
        missing.entry((said.to_string(), said.help())).or_default().push(task.address.as_str());
    }
    let Some(((last, help), tasks)) = missing.pop() else { return Ok(()) };
    let message = |why: &str, tasks: Vec<&str>| format!("{} would not start: {why}", list_some(tasks, NAMED));
    for ((why, own), tasks) in missing {
        ui::error(&message(&why, tasks), own.filter(|own| Some(own) != help.as_ref()).as_deref());
    }
    let failure = Failure::new(Cause::Invalid, message(&last, tasks));
    Err(match help {
        Some(help) => failure.help(help).into(),
        None => failure.into(),
    })
}

/// What a person has to know before the models of a run are asked: models that stand in for what a definition names, and
/// written ones, whose answers must not pass for those of a real one.
pub(super) fn findings(
    session: &Session,
    prepared: &Prepared,
    providers: &Providers,
    selected: Option<&[bool]>,
) -> Vec<Diagnostic> {
    let mut all = expected(session, prepared, providers, selected);
    all.extend(written(session, prepared, providers, selected));
    all
}

/// What would be odd about the answers of a run: models that answer in place of what a definition names, and written ones
/// that have nothing to say to a task.
pub(super) fn expected(
    session: &Session,
    prepared: &Prepared,
    providers: &Providers,
    selected: Option<&[bool]>,
) -> Vec<Diagnostic> {
    let mut all = stand_ins(prepared, providers, selected);
    all.extend(without_turns(session, prepared, providers, selected));
    all
}

/// Models that a plan names and that mean nothing here: the run would refuse them. One that is all but another name is
/// misspelt; any other may mean something where the plan is run.
pub(super) fn unknown(prepared: &Prepared, providers: &Providers) -> Vec<Diagnostic> {
    let plan = &prepared.plan;
    let mut all: IndexMap<String, (ProviderError, Vec<&str>)> = IndexMap::new();
    for (task, agent) in agents(plan, None) {
        let Err(error) = choose(plan, agent, providers) else { continue };
        if matches!(error, ProviderError::UnknownModel { .. } | ProviderError::UnknownProvider { .. }) {
            let (_, tasks) = all.entry(error.to_string()).or_insert_with(|| (error, Vec::new()));
            tasks.push(task.address.as_str());
        }
    }
    let finding = |(error, tasks): (ProviderError, Vec<&str>)| {
        let misspelt = match &error {
            ProviderError::UnknownModel { near, .. } | ProviderError::UnknownProvider { near, .. } => {
                near.is_some()
            }
            _ => false,
        };
        let code = if misspelt { Code::UnknownModel } else { Code::OtherModel };
        let message = format!("{} would not start: {error}", list_some(tasks, NAMED));
        Diagnostic::at_no_place(code, message).maybe_help(error.help())
    };
    all.into_values().map(finding).collect()
}

/// Tasks that would fail, since the written model that answers them has no turns for them. An entry may be for an
/// instance alone, so tasks that have some are left to the run.
fn without_turns(
    session: &Session,
    prepared: &Prepared,
    providers: &Providers,
    selected: Option<&[bool]>,
) -> Vec<Diagnostic> {
    let plan = &prepared.plan;
    let mut all: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (task, agent) in agents(plan, selected).filter(|(task, _)| task.expansion.is_none()) {
        let Ok(Chosen { model, .. }) = choose(plan, agent, providers) else { continue };
        let Some(written) = model.written() else { continue };
        if !model.has_turns_for(&task.address, &plan.agents[agent.agent].name) {
            all.entry(session.show(&written.file)).or_default().push(task.address.as_str());
        }
    }
    let finding = |(file, tasks): (String, Vec<&str>)| {
        let help = format!("write an entry `{}`, or one `default` for every task", tasks[0]);
        let message = format!(
            "the written model `{file}` has no turns for {}, which would fail",
            list_some(tasks, NAMED)
        );
        Diagnostic::at_no_place(Code::WrittenModel, message).help(help)
    };
    all.into_iter().map(finding).collect()
}

/// Models that answer in place of what a definition names.
fn stand_ins(prepared: &Prepared, providers: &Providers, selected: Option<&[bool]>) -> Vec<Diagnostic> {
    let plan = &prepared.plan;
    let mut instead: IndexMap<(String, String, Option<String>), Vec<&str>> = IndexMap::new();
    for (_, agent) in agents(plan, selected) {
        let Ok(Chosen { model, instead_of: Some(why) }) = choose(plan, agent, providers) else { continue };
        let name = &plan.agents[agent.agent].name;
        let (default, help) = match model.written() {
            Some(_) => ("the default, a written model,".to_owned(), None),
            None => (format!("the default `{}`", model.name()), meaning(&why, &model.name())),
        };
        let names = instead.entry((why.to_string(), default, help)).or_default();
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let finding = |((why, default, help), names): ((String, String, Option<String>), Vec<&str>)| {
        let word = if names.len() == 1 { "agent" } else { "agents" };
        let message = format!("{why}; {default} answers for {word} {}", list_some(names, NAMED));
        Diagnostic::at_no_place(Code::OtherModel, message).maybe_help(help)
    };
    instead.into_iter().map(finding).collect()
}

/// How a person says for good what stood in.
fn meaning(why: &ProviderError, default: &str) -> Option<String> {
    let (ProviderError::NoKey { model, .. } | ProviderError::UnknownModel { model, .. }) = why else {
        return why.help();
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let key = if model.chars().all(plain) { model.clone() } else { format!("\"{model}\"") };
    Some(format!("say what it means here: `{key} = \"{default}\"` under `[models]` in flow.toml"))
}

fn written(
    session: &Session,
    prepared: &Prepared,
    providers: &Providers,
    selected: Option<&[bool]>,
) -> Vec<Diagnostic> {
    let plan = &prepared.plan;
    let mut all: IndexMap<Written, Vec<&str>> = IndexMap::new();
    for (task, agent) in agents(plan, selected) {
        if let Ok(chosen) = choose(plan, agent, providers)
            && let Some(written) = chosen.model.written()
        {
            all.entry(written.clone()).or_default().push(task.address.as_str());
        }
    }
    let finding = |(written, tasks): (Written, Vec<&str>)| {
        let message = format!(
            "the written model `{}` answers for {}: what it says was written down beforehand",
            session.show(&written.file),
            list_some(tasks, NAMED)
        );
        let help = match (written.layer, written.lacking.as_slice()) {
            // Whoever asks for one knows.
            (None, _) => None,
            (Some(_), []) => Some(format!(
                "for a real one say `--model`, or name it as `default` under `[models]` in `{}`",
                session.own_settings()
            )),
            (Some(_), keys) => Some(format!("for a real one set {}", one_of(keys))),
        };
        Diagnostic::at_no_place(Code::WrittenModel, message).maybe_help(help)
    };
    all.into_iter().map(finding).collect()
}

fn one_of(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

/// The model of a task's agent as a plan shows it.
pub(super) fn shown(session: &Session, plan: &Plan, agent: &AgentTask, providers: &Providers) -> String {
    let wish = wish(plan, agent);
    let named = |model: &str| match wish.name() {
        Some(name) if name != model => format!("{model} ({name})"),
        Some(_) | None => model.to_owned(),
    };
    match choose(plan, agent, providers) {
        Err(error) => format!("none: {error}"),
        Ok(chosen) => match (chosen.model.written(), &chosen.instead_of) {
            (Some(written), _) => format!("written model {}", session.show(&written.file)),
            (None, Some(_)) => {
                format!("{} (in place of {})", chosen.model.name(), wish.name().unwrap_or_default())
            }
            (None, None) => named(&chosen.model.name()),
        },
    }
}

fn agents<'p>(
    plan: &'p Plan,
    selected: Option<&'p [bool]>,
) -> impl Iterator<Item = (&'p Task, &'p AgentTask)> {
    plan.tasks
        .iter()
        .filter(move |task| selected.is_none_or(|selected| selected[task.id.index()]))
        .filter_map(|task| match &task.kind {
            TaskKind::Agent(agent) => Some((task, &**agent)),
            TaskKind::Shell(_) => None,
        })
}

fn choose(plan: &Plan, agent: &AgentTask, providers: &Providers) -> Result<Chosen, ProviderError> {
    providers.resolve(wish(plan, agent))
}

/// The model that an agent wishes.
fn wish<'p>(plan: &'p Plan, agent: &'p AgentTask) -> ModelWish<&'p str> {
    model_of(&plan.agents[agent.agent], agent)
}
