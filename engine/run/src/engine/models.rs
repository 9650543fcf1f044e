//! Who is to answer a run: whether they can be asked, and what the person has to know about them.

use flow_core::diagnostic::{Code, Diagnostic};
use flow_core::model::ModelWish;
use flow_core::plan::{AgentTask, Plan, Task};
use flow_core::text::list_some;
use flow_core::values::model_of;
use flow_core::wire::APIS;
use indexmap::IndexMap;

use super::error::{EngineError, NAMED, NoModel};
use super::prepare::Prepared;
use super::project::Engine;
use super::snapshot::Answering;
use crate::provider::{Chosen, Lookup, ProviderConfig, ProviderError, Providers, Written};

/// Some tasks of a plan and those who answer their agents.
#[derive(Clone, Copy)]
pub(super) struct Models<'a> {
    pub(super) engine: &'a Engine,
    pub(super) plan: &'a Plan,
    pub(super) providers: &'a Providers,
    /// For each task whether it is among them; `None`: all are.
    pub(super) tasks: Option<&'a [bool]>,
}

impl Engine {
    /// Who the person wants to answer; a run that goes on asks whom it asked before unless they say otherwise.
    pub(super) fn answering(&self, said: &Answering, before: Option<Answering>) -> Answering {
        let model_script = said.model_script.as_ref().map(|path| self.project.here.join(path));
        let said = Answering { model: said.model.clone(), model_script };
        before.filter(|_| said == Answering::default()).unwrap_or(said)
    }
}

pub(super) fn providers(prepared: &Prepared, answering: &Answering) -> Result<Providers, EngineError> {
    let config = ProviderConfig {
        settings: prepared.settings.clone(),
        script: answering.model_script.clone(),
        model: answering.model.clone(),
        env: env(),
    };
    Ok(Providers::new(config)?)
}

/// The variables of this process.
pub(super) fn env() -> Lookup {
    Box::new(|name| std::env::var(name).ok())
}

impl<'a> Models<'a> {
    /// Refuses a run with agents that have no model: the key that is missing after an hour of work is missing now. An agent
    /// that may never be asked refuses nothing.
    pub(super) fn refuse_missing(self) -> Result<(), EngineError> {
        let plan = self.plan;
        let starts = plan.starts_when_all_goes_well();
        let faults = self
            .agents()
            .filter(|(task, _)| starts[task.id.index()])
            .filter_map(|(task, agent)| Some((task, agent, self.choose(agent).err()?)));
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
        let missing: Vec<NoModel> = missing
            .into_iter()
            .map(|((why, help), tasks)| NoModel {
                tasks: tasks.into_iter().map(str::to_owned).collect(),
                why,
                help,
            })
            .collect();
        if missing.is_empty() { Ok(()) } else { Err(EngineError::NoModel(missing)) }
    }

    /// What a person has to know before the models of a run are asked: models that stand in for what a definition names, and
    /// written ones, whose answers must not pass for those of a real one.
    pub(super) fn findings(self) -> Vec<Diagnostic> {
        let mut all = self.expected();
        all.extend(self.written());
        all
    }

    /// What would be odd about the answers of a run: models that answer in place of what a definition names, and written ones
    /// that have nothing to say to a task.
    pub(super) fn expected(self) -> Vec<Diagnostic> {
        let mut all = self.stand_ins();
        all.extend(self.without_turns());
        all
    }

    /// Models that a plan names and that mean nothing here: the run would refuse them. One that is all but another name is
    /// misspelt; any other may mean something where the plan is run.
    pub(super) fn unknown(self) -> Vec<Diagnostic> {
        let mut all: IndexMap<String, (ProviderError, Vec<&str>)> = IndexMap::new();
        for (task, agent) in self.agents() {
            let Err(error) = self.choose(agent) else { continue };
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
    fn without_turns(self) -> Vec<Diagnostic> {
        let plan = self.plan;
        let mut all: IndexMap<String, Vec<&str>> = IndexMap::new();
        for (task, agent) in self.agents().filter(|(task, _)| task.expansion.is_none()) {
            let Ok(Chosen { model, .. }) = self.choose(agent) else { continue };
            let Some(written) = model.written() else { continue };
            if !model.has_turns_for(&task.address, &plan.agents[agent.agent].name) {
                all.entry(self.engine.show(&written.file)).or_default().push(task.address.as_str());
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
    fn stand_ins(self) -> Vec<Diagnostic> {
        let plan = self.plan;
        let mut instead: IndexMap<(String, String, Option<String>), Vec<&str>> = IndexMap::new();
        for (_, agent) in self.agents() {
            let Ok(Chosen { model, instead_of: Some(why) }) = self.choose(agent) else { continue };
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

    fn written(self) -> Vec<Diagnostic> {
        let mut all: IndexMap<Written, Vec<&str>> = IndexMap::new();
        for (task, agent) in self.agents() {
            if let Ok(chosen) = self.choose(agent)
                && let Some(written) = chosen.model.written()
            {
                all.entry(written.clone()).or_default().push(task.address.as_str());
            }
        }
        let finding = |(written, tasks): (Written, Vec<&str>)| {
            let message = format!(
                "the written model `{}` answers for {}: what it says was written down beforehand",
                self.engine.show(&written.file),
                list_some(tasks, NAMED)
            );
            let help = match (written.layer, written.lacking.as_slice()) {
                // Whoever asks for one knows.
                (None, _) => None,
                (Some(_), []) => Some(format!(
                    "for a real one say `--model`, or name it as `default` under `[models]` in `{}`",
                    self.engine.own_settings()
                )),
                (Some(_), keys) => Some(format!("for a real one set {}", one_of(keys))),
            };
            Diagnostic::at_no_place(Code::WrittenModel, message).maybe_help(help)
        };
        all.into_iter().map(finding).collect()
    }

    /// The model of a task's agent as a plan shows it.
    pub(super) fn shown(self, agent: &AgentTask) -> String {
        let wish = wish(self.plan, agent);
        let named = |model: &str| match wish.name() {
            Some(name) if name != model => format!("{model} ({name})"),
            Some(_) | None => model.to_owned(),
        };
        match self.choose(agent) {
            Err(error) => format!("none: {error}"),
            Ok(chosen) => match (chosen.model.written(), &chosen.instead_of) {
                (Some(written), _) => format!("written model {}", self.engine.show(&written.file)),
                (None, Some(_)) => {
                    format!("{} (in place of {})", chosen.model.name(), wish.name().unwrap_or_default())
                }
                (None, None) => named(&chosen.model.name()),
            },
        }
    }

    fn agents(self) -> impl Iterator<Item = (&'a Task, &'a AgentTask)> {
        self.plan
            .tasks
            .iter()
            .filter(move |task| self.tasks.is_none_or(|tasks| tasks[task.id.index()]))
            .filter_map(|task| Some((task, task.kind.agent()?)))
    }

    fn choose(self, agent: &AgentTask) -> Result<Chosen, ProviderError> {
        self.providers.resolve(wish(self.plan, agent))
    }
}

/// The model that an agent wishes.
fn wish<'p>(plan: &'p Plan, agent: &'p AgentTask) -> ModelWish<&'p str> {
    model_of(&plan.agents[agent.agent], agent)
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

fn one_of(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
