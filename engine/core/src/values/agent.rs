//! An agent of the plan as the work of an attempt: the resolution of definition, task and settings.

use std::sync::Arc;

use super::context::Scope;
use super::field::told;
use super::named::{NamedOutput, PromptTexts};
use super::render::{render, shell_script};
use super::work::{AgentName, AgentRules, AgentWork, Beginning, ForkOf, NewConversation, Step};
use crate::converse::OutputForm;
use crate::ids::TaskId;
use crate::model::{
    AgentDef, AgentSource, Isolation, ModelRef, ModelWish, Outcome, PermissionRules, Reason, Settings,
    SettingsLayer, ToolRule,
};
use crate::plan::{AgentTask, Output, Plan, Task};
use crate::policy::ModeSource;
use crate::text::one_line;

/// The turn limit of an agent whose task and definition set none.
const MAX_TURNS: u32 = 200;

/// Readers at once unless the settings say otherwise.
const TOOLS_AT_ONCE: u32 = 10;

/// The task in which a conversation began: a fork's, followed back to one that is none; else the task itself.
fn origin<'p>(plan: &'p Plan, task: &'p Task, agent: &'p AgentTask) -> (&'p Task, &'p AgentTask) {
    let mut origin = (task, agent);
    while let Some(from) = origin.1.fork {
        let task = &plan.tasks[from.index()];
        // The compiler lets a fork name agents only.
        let Some(agent) = task.kind.agent() else { break };
        origin = (task, agent);
    }
    origin
}

/// An agent of the plan.
pub(super) fn agent_work(
    scope: &Scope<'_>,
    task: &Task,
    agent: &AgentTask,
    settings: &Settings,
) -> Result<AgentWork, Box<Outcome>> {
    let definition = &scope.plan.agents[agent.agent];
    // A fork is offered what its conversation was begun with, and refused what its own place forbids.
    let (began, began_as) = origin(scope.plan, task, agent);
    let tools: Vec<&str> = began_as.offered(definition, began.background).collect();
    let refused = tools.iter().filter(|tool| !agent.has_tool(definition, tool, task.background));
    let mut rules = rules_of(definition, agent, settings);
    rules.disallowed.extend(refused.map(|tool| ToolRule::parse(tool)));
    let texts = PromptTexts::of(scope.texts);
    let (prompt, beginning) = {
        let scope = &Scope { texts: &texts, env: scope.env.clone(), ..*scope };
        (render(scope, "prompt", &agent.prompt)?, beginning(scope, task, agent, &began.output)?)
    };
    Ok(AgentWork {
        agent: AgentName {
            name: definition.name.clone(),
            source: definition.source,
            path: definition.path.clone(),
            hash: definition.hash.clone(),
            version: definition.version.clone(),
        },
        model: model_of(definition, agent).map(str::to_owned),
        effort: definition.effort,
        named: named_in(texts, &prompt, &beginning),
        prompt,
        beginning,
        tools: tools.into_iter().map(Arc::from).collect(),
        rules,
        checks: checks(scope, agent)?,
        output: output_form(&task.output),
        repair: agent.repair,
        max_turns: max_turns_of(definition, agent),
        max_tool_concurrency: settings.max_tool_concurrency.unwrap_or(TOOLS_AT_ONCE),
    })
}

/// What it is told of other tasks' outputs, in its prompt or before it.
fn named_in(texts: PromptTexts<'_>, prompt: &str, beginning: &Beginning) -> Vec<NamedOutput> {
    let known = match beginning {
        Beginning::New(conversation) => conversation.known.as_slice(),
        Beginning::Fork(_) => &[],
    };
    let parts: Vec<&str> = known.iter().map(String::as_str).chain([prompt]).collect();
    texts.named_in(&parts)
}

/// How its conversation begins; `output` is the form that a fork's began with.
fn beginning(
    scope: &Scope<'_>,
    task: &Task,
    agent: &AgentTask,
    output: &Output,
) -> Result<Beginning, Box<Outcome>> {
    if let Some(from) = agent.fork {
        let task = scope.plan.tasks[from.index()].address.clone();
        let dir = scope.run.task(&task).and_then(|task| task.dir.clone());
        return Ok(Beginning::Fork(ForkOf { task, dir, output: output_form(output) }));
    }
    let definition = &scope.plan.agents[agent.agent];
    let known = match task.isolation {
        Isolation::Fork => notifications_of_needs(scope, task.id)
            .map_err(|why| Box::new(Outcome::failed(Reason::Resource, why)))?,
        Isolation::None | Isolation::Worktree | Isolation::Copy => Vec::new(),
    };
    Ok(Beginning::New(NewConversation {
        body: definition.body.clone(),
        system_has_place: is_ours(definition.source),
        briefing: scope.plan.briefing.clone(),
        known,
        opening: definition.initial_prompt.clone(),
    }))
}

fn checks(scope: &Scope<'_>, agent: &AgentTask) -> Result<Vec<Step>, Box<Outcome>> {
    let Some(checks) = &agent.checks else { return Ok(Vec::new()) };
    let steps = checks.checks.iter().map(|check| {
        let script = shell_script(scope, "checks", &checks.shell, &check.script)?;
        // As the person wrote it, like the description of a command.
        Ok(Step { shown: one_line(&check.script.source(), 80), script, timeout: check.timeout })
    });
    steps.collect()
}

/// Whether a definition is one of flow's own.
fn is_ours(source: AgentSource) -> bool {
    match source {
        AgentSource::BuiltIn => true,
        AgentSource::Plugin
        | AgentSource::User
        | AgentSource::Project
        | AgentSource::Flag
        | AgentSource::Policy => false,
    }
}

/// The rules over its calls.
fn rules_of(definition: &AgentDef, task: &AgentTask, settings: &Settings) -> AgentRules {
    // The person wrote the plan: its `tools` grant as well as narrow.
    let mut allow = task.permissions.allow.clone();
    allow.extend(task.tools.iter().flatten().cloned());
    AgentRules {
        mode: task.mode(definition),
        mode_source: if task.permission_mode.is_some() { ModeSource::Person } else { ModeSource::Definition },
        layers: settings.permissions.clone(),
        task: PermissionRules {
            layer: SettingsLayer::Flag,
            allow,
            ask: task.permissions.ask.clone(),
            deny: task.permissions.deny.clone(),
        },
        definition: definition.tools.clone(),
        disallowed: definition.disallowed_tools.iter().chain(&task.disallowed_tools).cloned().collect(),
    }
}

/// The form in which the loop has to bring its output.
fn output_form(output: &Output) -> OutputForm {
    match output {
        // The compiler leaves `pairs` to shell tasks.
        Output::Text | Output::Pairs => OutputForm::Text,
        Output::Json => OutputForm::Json,
        Output::Lines => OutputForm::Lines,
        Output::Schema(schema) => OutputForm::Schema(Arc::clone(schema)),
    }
}

/// The model that is asked for: the task's, else the definition's.
pub fn model_of<'a>(definition: &'a AgentDef, task: &'a AgentTask) -> ModelWish<&'a str> {
    match (&task.model, &definition.model) {
        (Some(name), _) => ModelWish::Plan(name),
        (None, ModelRef::Named(name)) => ModelWish::Definition(name),
        (None, ModelRef::Inherit) => ModelWish::Default,
    }
}

/// The turn limit.
fn max_turns_of(definition: &AgentDef, task: &AgentTask) -> u32 {
    task.max_turns.or(definition.max_turns).unwrap_or(MAX_TURNS)
}

/// The notifications of what a task needs, in the order of its edges; one for each instance.
fn notifications_of_needs(scope: &Scope<'_>, task: TaskId) -> Result<Vec<String>, String> {
    let needs = scope.plan.graph.needs[task.index()].iter();
    let found = needs.filter_map(|edge| scope.run.task(&scope.plan.tasks[edge.from.index()].address));
    let launched = found.flat_map(|task| match &task.instances {
        None => vec![task],
        Some(all) => all.iter().filter_map(|one| scope.run.task(one)).collect(),
    });
    let told = launched.map(|one| {
        told(one, scope.texts)
            .map_err(|why| format!("the notification of `{}` can't be read: {why}", one.address))
    });
    let told = told.filter_map(Result::transpose);
    told.map(|text| text.map(|text| text.trim_end().to_owned())).collect()
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
