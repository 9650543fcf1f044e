//! `flow agents`.

use std::borrow::Cow;
use std::fmt::Write;

use flow_core::compile::AgentRegistry;
use flow_core::diagnostic::Diagnostic;
use flow_core::model::{AgentDef, AgentSource, Cause, ModelRef, ToolPolicy, ToolRule};
use flow_core::text::{alike, did_you_mean, list_some, one_line, visible};
use flow_run::engine::Engine;
use serde_json::{Value, json};

use crate::args::{AgentsCommand, ListHow};
use crate::exit::Failure;
use crate::project;
use crate::ui;

pub(super) fn run(engine: &Engine, command: &AgentsCommand) -> anyhow::Result<u8> {
    let settings = project::settings(engine, &engine.project().here)?;
    let registry = project::agents(engine, &engine.project().here, &settings)?;
    match command {
        AgentsCommand::List { output } => {
            let winners: Vec<&AgentDef> = registry.winners().collect();
            match output {
                ListHow::Json => {
                    ui::print_json(&winners.iter().map(|agent| as_json(agent)).collect::<Vec<_>>())?
                }
                ListHow::Text => {
                    ui::print(&table(&winners, ui::width()))?;
                    hint(&registry);
                }
            }
        }
        AgentsCommand::Why { name, output } => why(&registry, name, *output)?,
        AgentsCommand::Check { output } => return check(&registry, *output),
        AgentsCommand::Show { name, output } => {
            let agent = find(&registry, name)?;
            match output {
                ListHow::Json => {
                    let mut value = as_json(agent);
                    value["prompt"] = agent.body.clone().into();
                    ui::print_json(&value)?;
                }
                ListHow::Text => ui::print(&page(agent))?,
            }
        }
    }
    Ok(Cause::Success.code())
}

fn find<'a>(registry: &'a AgentRegistry, name: &str) -> anyhow::Result<&'a AgentDef> {
    if let Some(agent) = registry.get(name) {
        return Ok(agent);
    }
    if let Some(found) = registry.broken(name) {
        ui::finding_lines(found);
        return Err(Failure::new(Cause::Invalid, format!("the definition of `{name}` can't be used")).into());
    }
    let part = alike(name, registry.names());
    let help = match did_you_mean(name, registry.names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if !part.is_empty() => format!("there are {}", list_some(part, 8)),
        None => format!("there are {}: see `flow agents list`", list_some(registry.names(), 8)),
    };
    Err(Failure::new(Cause::Invalid, format!("no agent is called `{name}`")).help(help).into())
}

/// The winner and what it replaces, the strongest first.
fn why(registry: &AgentRegistry, name: &str, how: ListHow) -> anyhow::Result<()> {
    let winner = find(registry, name)?;
    let shadowed = registry.shadowed(name);
    if how == ListHow::Json {
        let shadowed: Vec<Value> = shadowed.iter().map(as_json).collect();
        return ui::print_json(&json!({ "name": name, "winner": as_json(winner), "shadowed": shadowed }));
    }
    let mut text = String::new();
    let rows = [("counts", winner)].into_iter().chain(shadowed.iter().map(|agent| ("replaced", agent)));
    for (word, agent) in rows {
        let version = agent.version.as_ref().map(|version| format!(", {version}")).unwrap_or_default();
        let row = format!("{word:<9} {:<9} {}{version}", agent.source.as_str(), agent.path);
        let _ = writeln!(text, "{}", visible(&row));
    }
    ui::print(&text)
}

/// Every oddity on a line of its own; errors make the exit code.
fn check(registry: &AgentRegistry, how: ListHow) -> anyhow::Result<u8> {
    let all: Vec<Diagnostic> = registry.findings().into_iter().cloned().collect();
    match how {
        ListHow::Json => ui::print_json(&all)?,
        ListHow::Text => {
            let lines: String = all.iter().map(|found| ui::finding_line(found) + "\n").collect();
            ui::print(&lines)?;
            let errors = all.iter().filter(|found| found.is_error()).count();
            let (usable, broken) = (own(registry), registry.broken_names().count());
            ui::note(&format!(
                "{} can be used, {broken} can't; {}, {}",
                ui::many(usable, "agent of your own", "agents of your own"),
                ui::many(errors, "error", "errors"),
                ui::many(all.len() - errors, "warning", "warnings")
            ));
        }
    }
    let broken = all.iter().any(Diagnostic::is_error);
    Ok(if broken { Cause::Invalid } else { Cause::Success }.code())
}

/// What a list of the agents that can be used doesn't show.
fn hint(registry: &AgentRegistry) {
    let broken: Vec<&str> = registry.broken_names().collect();
    if !broken.is_empty() {
        let agents = ui::many(broken.len(), "agent", "agents");
        let names = list_some(broken, 8);
        ui::warning(&format!("{agents} can't be used: {names}; `flow agents check` says why"));
    }
    let odd = registry.findings().iter().filter(|found| !found.is_error()).count();
    if odd > 0 {
        let warnings = ui::many(odd, "warning", "warnings");
        ui::note(&format!("{warnings} about agent files: see `flow agents check`"));
    }
}

fn own(registry: &AgentRegistry) -> usize {
    registry.winners().filter(|agent| agent.source != AgentSource::BuiltIn).count()
}

fn rules(rules: &[ToolRule]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

/// The names of its tools; `None`: all that its place has.
fn tools(agent: &AgentDef) -> Option<Vec<String>> {
    match &agent.tools {
        ToolPolicy::Inherit => None,
        ToolPolicy::Only(only) => Some(rules(only)),
    }
}

fn model(agent: &AgentDef) -> &str {
    match &agent.model {
        ModelRef::Inherit => "inherit",
        ModelRef::Named(name) => name,
    }
}

fn as_json(agent: &AgentDef) -> Value {
    json!({
        "name": agent.name,
        "description": agent.description,
        "model": model(agent),
        "tools": tools(agent),
        "disallowed_tools": rules(&agent.disallowed_tools),
        "source": agent.source.as_str(),
        "path": agent.path,
        "hash": agent.hash,
        "version": agent.version,
        "warnings": agent.warnings,
        "when_to_use": agent.when_to_use,
        "supports_background": agent.supports_background,
    })
}

/// `width`: of the terminal. The description takes what the others leave.
fn table(agents: &[&AgentDef], width: Option<usize>) -> String {
    let row = |name: &str, source: &str, model: &str, description: &str| {
        [visible(name), visible(source), visible(model), visible(description)].map(Cow::into_owned)
    };
    let mut rows = vec![row("NAME", "SOURCE", "MODEL", "DESCRIPTION")];
    rows.extend(agents.iter().map(|agent| {
        row(&agent.name, agent.source.as_str(), model(agent), &one_line(&agent.description, 70))
    }));
    let longest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [name, source, model] = [longest(0), longest(1), longest(2)];
    let room = width.map_or(70, |width| width.saturating_sub(name + source + model + 6).clamp(20, 70));
    let line = |[called, from, of, says]: &[String; 4]| {
        let line = format!("{called:<name$}  {from:<source$}  {of:<model$}  {}", one_line(says, room));
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// `project, agents/a.md`; one that is compiled in has no file.
pub(super) fn source(agent: &AgentDef) -> String {
    match agent.source.as_str() {
        source if source == agent.path => source.to_owned(),
        source => format!("{source}, {}", agent.path),
    }
}

fn page(agent: &AgentDef) -> String {
    let mut text = String::new();
    let tools = tools(agent).map_or("all".to_owned(), |tools| tools.join(", "));
    let rows = [
        ("name", agent.name.clone()),
        ("description", agent.description.clone()),
        ("source", source(agent)),
        ("hash", agent.hash.clone()),
        ("model", model(agent).to_owned()),
        ("tools", if tools.is_empty() { "none".to_owned() } else { tools }),
        ("not", rules(&agent.disallowed_tools).join(", ")),
        ("turns", agent.max_turns.map(|turns| turns.to_string()).unwrap_or_default()),
        ("version", agent.version.clone().unwrap_or_default()),
        ("warnings", agent.warnings.join("\n")),
    ];
    for (word, said) in rows.iter().filter(|(_, said)| !said.is_empty()) {
        let indented = said.replace('\n', "\n             ");
        let _ = writeln!(text, "{word:<12} {}", visible(&indented));
    }
    text.push('\n');
    text.push_str(&visible(&agent.body));
    text
}
