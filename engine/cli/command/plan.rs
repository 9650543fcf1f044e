//! `flow plan`, and `flow run -n`.

use std::fmt::Write;

use flow_core::graph::EdgeKind;
use flow_core::model::{Isolation, Merge};
use flow_core::plan::{Items, Output, Over, Plan, Task, TaskKind};
use flow_core::template::{Script, ScriptPart};
use flow_core::text::{format_duration, one_line};
use serde_json::{Value, json};

use crate::args::{ListHow, PlanArgs};
use crate::exit::Exit;
use crate::session::{Prepared, Session};
use crate::ui;

pub(super) fn run(session: &Session, args: &PlanArgs) -> anyhow::Result<u8> {
    show(&session.compile(&args.plan, &args.inputs.input)?, args.output)
}

/// Shows what a run would do.
pub(super) fn show(prepared: &Prepared, how: ListHow) -> anyhow::Result<u8> {
    match how {
        ListHow::Json => ui::print_json(&as_json(&prepared.plan))?,
        ListHow::Text => ui::print(&as_text(&prepared.plan))?,
    }
    Ok(Exit::Success.code())
}

fn as_text(plan: &Plan) -> String {
    let mut text = format!("{}: {} tasks\n", plan.name, plan.tasks.len());
    for (name, value) in &plan.inputs {
        let _ = writeln!(text, "  input {name} = {value}");
    }
    for id in plan.graph.order() {
        let task = &plan.tasks[id.index()];
        let _ = writeln!(text, "\n{}{}", task.address, count(task));
        for (word, said) in lines(plan, task) {
            let mut rows = said.lines();
            let _ = writeln!(text, "  {word:<10} {}", rows.next().unwrap_or_default());
            for row in rows {
                let _ = writeln!(text, "  {:<10} {row}", "");
            }
        }
    }
    text
}

/// ` ×3` where the number is known, ` ×?` where the run decides.
fn count(task: &Task) -> String {
    let Some(expansion) = &task.expansion else { return String::new() };
    let of = |items: &Items| match items {
        Items::List(items) => Some(items.len()),
        Items::Expression(_) => None,
    };
    let number = match &expansion.over {
        Over::ForEach { items, .. } => of(items),
        // What `exclude` takes out depends on values that may be templates.
        Over::Matrix { exclude, .. } if !exclude.is_empty() => None,
        Over::Matrix { axes, include, .. } => axes
            .iter()
            .map(|(_, items)| of(items))
            .try_fold(1, |all, one| Some(all * one?))
            .map(|all| all + include.len()),
    };
    number.map_or(" ×?".to_owned(), |number| format!(" ×{number}"))
}

fn lines(plan: &Plan, task: &Task) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let needs = needs(plan, task);
    if !needs.is_empty() {
        all.push(("needs", needs));
    }
    if let Some(condition) = &task.condition {
        all.push(("if", condition.source.to_string()));
    }
    match &task.kind {
        TaskKind::Shell(shell) => {
            all.push(("run", source(&shell.script)));
        }
        TaskKind::Agent(agent) => {
            let definition = &plan.agents[agent.agent];
            all.push((
                "agent",
                format!("{} ({}, {})", definition.name, definition.source.as_str(), definition.path),
            ));
            let tools = flow_core::values::tools_of(definition, agent);
            all.push(("tools", if tools.is_empty() { "none".to_owned() } else { tools.join(", ") }));
            if let Some(model) = &agent.model {
                all.push(("model", model.clone()));
            }
            all.push(("prompt", one_line(&agent.prompt.source, 400)));
        }
    }
    match task.isolation {
        Isolation::None => {}
        Isolation::Worktree => {
            let base = task.base.as_ref().map_or("head", |base| &base.source);
            all.push(("worktree", format!("from {base}; {}", homecoming(task))));
        }
        Isolation::Copy => all.push(("copy", format!("of the tree as it is; {}", homecoming(task)))),
    }
    if let Some(preparation) = &task.preparation {
        if !preparation.include.is_empty() {
            all.push(("include", preparation.include.join(", ")));
        }
        for command in &preparation.setup {
            all.push(("setup", source(&command.script)));
        }
    }
    match &task.output {
        Output::Text => {}
        Output::Json => all.push(("output", "json".to_owned())),
        Output::Lines => all.push(("output", "lines".to_owned())),
        Output::Schema(_) => all.push(("output", "JSON that fits its schema".to_owned())),
    }
    if task.retry.max > 0 {
        all.push(("retry", format!("up to {} further attempts", task.retry.max)));
    }
    if let Some(limit) = task.timeout.run {
        all.push(("timeout", format_duration(limit)));
    }
    if let Some(that) = &task.expect.that {
        all.push(("expect", that.source.to_string()));
    }
    all
}

/// A script as it was written.
fn source(script: &Script) -> String {
    let written = script.parts.iter().map(|part| match part {
        ScriptPart::Text(text) => text.to_string(),
        ScriptPart::Hole(hole) => hole.template.source.to_string(),
    });
    written.collect::<String>().trim_end().to_owned()
}

/// How the work of a private tree comes home.
fn homecoming(task: &Task) -> &'static str {
    match (task.merge, task.isolation) {
        (Merge::None, Isolation::Copy) => "kept when it has changes",
        (Merge::None, _) => "its branch is kept when it has commits",
        (Merge::Branch, _) => "comes home as a branch",
        (Merge::Patch, _) => "comes home as a patch",
        (Merge::Apply, _) => "comes home as uncommitted changes",
        (Merge::Squash, _) => "comes home as one commit",
        (Merge::CherryPick, _) => "comes home as its commits",
    }
}

fn needs(plan: &Plan, task: &Task) -> String {
    let edges = &plan.graph.needs[task.id.index()];
    let name = |kind: EdgeKind| match kind {
        EdgeKind::Success => "",
        EdgeKind::Completed => " (completed)",
        EdgeKind::Failure => " (failure)",
        EdgeKind::Done => " (done)",
    };
    edges
        .iter()
        .map(|edge| format!("{}{}", plan.tasks[edge.from.index()].address, name(edge.kind)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn as_json(plan: &Plan) -> Value {
    let tasks: Vec<Value> = plan
        .graph
        .order()
        .into_iter()
        .map(|id| {
            let task = &plan.tasks[id.index()];
            let needs: Vec<Value> = plan.graph.needs[id.index()]
                .iter()
                .map(|edge| json!({ "task": plan.tasks[edge.from.index()].address, "edge": edge.kind }))
                .collect();
            let details: serde_json::Map<String, Value> = lines(plan, task)
                .into_iter()
                .filter(|(word, _)| *word != "needs")
                .map(|(word, said)| (word.to_owned(), said.into()))
                .collect();
            json!({
                "address": task.address,
                "kind": task.kind.as_str(),
                "needs": needs,
                "expands": task.expansion.is_some(),
                "isolation": task.isolation,
                "details": details,
            })
        })
        .collect();
    json!({ "name": plan.name, "inputs": plan.inputs, "tasks": tasks })
}
