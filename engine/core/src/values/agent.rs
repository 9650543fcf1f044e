//! What an agent of the plan may do and is told: the resolution of definition, task and settings.

use std::path::PathBuf;
use std::sync::Arc;

use super::context::Scope;
use super::field::told;
use crate::converse::OutputForm;
use crate::ids::TaskId;
use crate::model::{
    AgentDef, AgentSource, ModelRef, ModelWish, PermissionMode, PermissionRules, Settings, SettingsLayer,
    ToolPolicy, ToolRule, in_background, offered_tools,
};
use crate::plan::{AgentTask, Output, Plan, Task, TaskKind};
use crate::policy::{ModeSource, Permissions};

/// The turn limit of an agent whose task and definition set none.
const MAX_TURNS: u32 = 200;

/// The tools that the model is offered, in the order of the table: the definition's set, narrowed by the task's, less what
/// either takes away, and less what the background forbids.
pub fn tools_of(definition: &AgentDef, task: &AgentTask, background: bool) -> Vec<Arc<str>> {
    let named =
        |rules: &[ToolRule], tool: &str| rules.iter().any(|rule| rule.tool == tool || rule.tool == "*");
    let offered = |tool: &str| {
        let defined = match &definition.tools {
            ToolPolicy::Inherit => true,
            ToolPolicy::Only(rules) => named(rules, tool),
        };
        let wanted = task.tools.as_ref().is_none_or(|rules| named(rules, tool));
        let denied = named(&definition.disallowed_tools, tool) || named(&task.disallowed_tools, tool);
        defined && wanted && !denied && (!background || in_background(tool))
    };
    offered_tools().map(|tool| tool.name).filter(|name| offered(name)).map(Arc::from).collect()
}

/// The task in which a conversation began: a fork's, followed back to one that is none; else the task itself.
pub fn origin<'p>(plan: &'p Plan, task: &'p Task, agent: &'p AgentTask) -> (&'p Task, &'p AgentTask) {
    let mut origin = (task, agent);
    while let Some(from) = origin.1.fork {
        let task = &plan.tasks[from.index()];
        // The compiler lets a fork name agents only.
        let TaskKind::Agent(agent) = &task.kind else { break };
        origin = (task, agent);
    }
    origin
}

/// Where an agent works; every folder absolute and free of links.
#[derive(Clone, Debug)]
pub struct Workplace {
    /// Its own tree.
    pub tree: PathBuf,
    /// The folder in it where it starts.
    pub dir: PathBuf,
    /// The project, which it may read.
    pub project: PathBuf,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// Whether the tree is its own alone.
    pub private_tree: bool,
}

/// The rules over its calls.
pub fn permissions_of(
    definition: &AgentDef,
    task: &AgentTask,
    settings: &Settings,
    place: Workplace,
) -> Permissions {
    let own = if place.private_tree { PermissionMode::AcceptEdits } else { PermissionMode::Default };
    // The person wrote the plan: its `tools` grant as well as narrow.
    let mut allow = task.permissions.allow.clone();
    allow.extend(task.tools.iter().flatten().cloned());
    Permissions {
        mode: task.permission_mode.or(definition.permission_mode).unwrap_or(own),
        mode_source: if task.permission_mode.is_some() { ModeSource::Person } else { ModeSource::Definition },
        tree: place.tree,
        dir: place.dir,
        home: place.home,
        readable: vec![place.project],
        private_tree: place.private_tree,
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
pub fn output_form(output: &Output) -> OutputForm {
    match output {
        // The compiler leaves `pairs` to shell tasks.
        Output::Text | Output::Pairs => OutputForm::Text,
        Output::Json => OutputForm::Json,
        Output::Lines => OutputForm::Lines,
        Output::Schema(schema) => OutputForm::Schema(Arc::clone(schema)),
    }
}

/// The model that is asked for: the task's, else the definition's.
pub fn model_of<'a>(definition: &'a AgentDef, task: &'a AgentTask) -> ModelWish<'a> {
    match (&task.model, &definition.model) {
        (Some(name), _) => ModelWish::Plan(name),
        (None, ModelRef::Named(name)) => ModelWish::Definition(name),
        (None, ModelRef::Inherit) => ModelWish::Default,
    }
}

/// The turn limit.
pub fn max_turns_of(definition: &AgentDef, task: &AgentTask) -> u32 {
    task.max_turns.or(definition.max_turns).unwrap_or(MAX_TURNS)
}

/// Where and when an agent works, as it is told.
#[derive(Clone, Copy, Debug)]
pub struct Whereabouts<'a> {
    /// The folder in which it starts.
    pub dir: &'a str,
    /// The operating system.
    pub platform: &'a str,
    /// The day.
    pub date: &'a str,
}

impl Whereabouts<'_> {
    fn lines(&self) -> String {
        let Whereabouts { dir, platform, date } = self;
        format!("Working folder: {dir}\nPlatform: {platform}\nDate: {date}")
    }
}

/// Whether the system prompt names the place. That of a person's is its body byte for byte, so there the first message does.
fn system_has_place(definition: &AgentDef) -> bool {
    match definition.source {
        AgentSource::BuiltIn => true,
        AgentSource::Plugin
        | AgentSource::User
        | AgentSource::Project
        | AgentSource::Flag
        | AgentSource::Policy => false,
    }
}

/// The system prompt. A definition of a person's is its body byte for byte; a built-in one also names the place.
pub fn system_prompt(definition: &AgentDef, place: Whereabouts<'_>) -> String {
    match system_has_place(definition) {
        true => format!("{}\n\n# Place\n\n{}\n", definition.body.trim_end(), place.lines()),
        false => definition.body.clone(),
    }
}

/// The first message: the place where the system prompt doesn't name it, the run's briefing, what has happened so far, the
/// definition's own opening, then the task's prompt.
pub fn first_message(
    place: Whereabouts<'_>,
    briefing: Option<&str>,
    notifications: Vec<String>,
    definition: &AgentDef,
    prompt: &str,
) -> String {
    let place = (!system_has_place(definition)).then(|| format!("<place>\n{}\n</place>", place.lines()));
    // No file can end the element that it stands in.
    let whole = |text: &str| text.trim_end().replace("</briefing", "&lt;/briefing");
    let briefing = briefing.map(|text| format!("<briefing>\n{}\n</briefing>", whole(text)));
    let own = [definition.initial_prompt.clone(), Some(prompt.to_owned())].into_iter().flatten();
    place.into_iter().chain(briefing).chain(notifications).chain(own).collect::<Vec<_>>().join("\n\n")
}

/// The notifications of what a task needs, in the order of its edges; one for each instance.
pub fn notifications_of_needs(scope: &Scope<'_>, task: TaskId) -> Result<Vec<String>, String> {
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
