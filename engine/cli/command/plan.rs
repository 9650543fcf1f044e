//! `flow plan`, and `flow run -n`.

use std::fmt::Write;

use flow_core::graph::EdgeKind;
use flow_core::model::{Isolation, Merge};
use flow_core::plan::{Command, Items, OnLost, Output, Over, Plan, Task, TaskKind};
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
    if let Some(lock) = &plan.lock {
        let _ = writeln!(text, "  lock {}", lock.source);
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
            let run = match &shell.command {
                Command::Script { script, .. } => script_text(script),
                // One word a line: what is one argument shows.
                Command::Words(words) => {
                    words.iter().map(|word| format!("- {}", word.source)).collect::<Vec<_>>().join("\n")
                }
            };
            all.push(("run", run));
        }
        TaskKind::Agent(agent) => {
            let definition = &plan.agents[agent.agent];
            all.push((
                "agent",
                format!("{} ({}, {})", definition.name, definition.source.as_str(), definition.path),
            ));
            let tools = flow_core::values::tools_of(definition, agent, task.background);
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
            let merge = match task.merge {
                Merge::None => "its branch is kept when it has commits",
                Merge::Branch => "comes home as a branch",
                Merge::Patch => "comes home as a patch",
            };
            all.push(("worktree", format!("from {base}; {merge}")));
        }
    }
    match &task.output {
        Output::Text => {}
        Output::Json => all.push(("output", "json".to_owned())),
        Output::Lines => all.push(("output", "lines".to_owned())),
        Output::Pairs => all.push(("output", "pairs, from $FLOW_OUTPUT".to_owned())),
        Output::Schema(_) => all.push(("output", "JSON that fits its schema".to_owned())),
    }
    if let TaskKind::Agent(agent) = &task.kind
        && let Some(checks) = &agent.checks
    {
        let scripts: Vec<String> = checks.scripts.iter().map(script_text).collect();
        all.push(("checks", scripts.join("\n")));
    }
    if let Some((name, slots)) = task.pool.and_then(|pool| plan.pools.get_index(pool)) {
        all.push(("pool", format!("{name}, {slots} at once")));
    }
    if task.background {
        all.push(("background", "what would ask is refused".to_owned()));
    }
    if task.on_lost == OnLost::Retry && task.kind.as_str() == "local_agent" {
        all.push(("on_lost", "retry".to_owned()));
    }
    if task.on_lost == OnLost::Fail && task.kind.as_str() == "local_bash" {
        all.push(("on_lost", "fail".to_owned()));
    }
    if task.retry.max > 0 {
        all.push(("retry", format!("up to {} further attempts", task.retry.max)));
    }
    if let Some(limit) = task.timeout.run {
        all.push(("timeout", format_duration(limit)));
    }
    if !task.artifacts.is_empty() {
        let paths: Vec<&str> = task.artifacts.iter().map(|path| &*path.source).collect();
        all.push(("artifacts", paths.join(", ")));
    }
    if let Some(that) = &task.expect.that {
        all.push(("expect", that.source.to_string()));
    }
    all
}

fn script_text(script: &Script) -> String {
    let text: String = script
        .parts
        .iter()
        .map(|part| match part {
            ScriptPart::Text(text) => text.to_string(),
            ScriptPart::Hole(hole) => hole.template.source.to_string(),
        })
        .collect();
    text.trim_end().to_owned()
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
    let lock = plan.lock.as_ref().map(|lock| &*lock.source);
    json!({ "name": plan.name, "inputs": plan.inputs, "pools": plan.pools, "lock": lock, "tasks": tasks })
}
