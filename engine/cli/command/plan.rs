//! `flow plan`, and `flow run -n`.

use std::fmt::Write;

use flow_core::compile::Purpose;
use flow_core::graph::EdgeKind;
use flow_core::model::{Cause, Isolation, Merge};
use flow_core::plan::{
    AgentTask, ConditionAt, Item, Items, OnLost, Output, Over, Plan, Task, Written, combinations,
};
use flow_core::text::{format_duration, one_line};
use flow_core::values::preview;
use flow_run::engine::{Engine, Ready};
use serde_json::{Value, json};

use super::live;
use crate::args::{ListHow, PlanArgs};
use crate::project;
use crate::ui;

pub(super) fn run(engine: &Engine, args: &PlanArgs) -> anyhow::Result<u8> {
    let prepared = project::plan(engine, &args.plan, &args.inputs, Purpose::Run)?;
    let ready = engine.answered(prepared, &live::answering(&args.models))?;
    ui::in_brief(&ready.oddities(engine), &args.plan);
    show(engine, &ready, args.output)
}

/// Shows what a run would do.
pub(super) fn show(engine: &Engine, ready: &Ready, how: ListHow) -> anyhow::Result<u8> {
    let model = |agent: &AgentTask| ready.model_of(engine, agent);
    let is_in = |task: &Task| ready.includes(task);
    match how {
        ListHow::Json => ui::print_json(&as_json(ready.plan(), &is_in, &model))?,
        ListHow::Text => ui::print(&as_text(ready.plan(), &is_in, &model))?,
    }
    Ok(Cause::Success.code())
}

type IsIn<'a> = &'a dyn Fn(&Task) -> bool;

/// The model of a task's agent, in words.
type ModelOf<'a> = &'a dyn Fn(&AgentTask) -> String;

fn as_text(plan: &Plan, is_in: IsIn<'_>, model: ModelOf<'_>) -> String {
    let tasks = plan.tasks.iter().filter(|task| is_in(task)).count();
    let mut text = match plan.tasks.len() {
        1 => format!("{}: 1 task\n", plan.name),
        all if all == tasks => format!("{}: {all} tasks\n", plan.name),
        all => format!("{}: {tasks} of {all} tasks\n", plan.name),
    };
    for (name, value) in &plan.inputs {
        let _ = writeln!(text, "  input {name} = {value}");
    }
    if let Some(lock) = &plan.lock {
        let _ = writeln!(text, "  lock {}", lock.source);
    }
    for id in plan.graph.order() {
        let task = &plan.tasks[id.index()];
        if !is_in(task) {
            continue;
        }
        let _ = writeln!(text, "\n{}{}", task.address, count(task));
        for (word, said) in lines(plan, task, model) {
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
    let number = match &expansion.over {
        Over::ForEach { items, .. } => length(items),
        Over::Matrix { axes, include, exclude } => {
            let values: Option<Vec<_>> =
                axes.iter().map(|(name, items)| Some((name.clone(), literal(items)?))).collect();
            match values {
                Some(values) => combinations(&values, include, exclude).ok().map(|all| all.len()),
                // What these take out, add to or add depends on values that the run finds.
                None if !exclude.is_empty() || !include.is_empty() => None,
                None => axes.iter().map(|(_, items)| length(items)).try_fold(1, |all, one| Some(all * one?)),
            }
        }
    };
    number.map_or(" ×?".to_owned(), |number| format!(" ×{number}"))
}

fn length(items: &Items) -> Option<usize> {
    match items {
        Items::List(items) => Some(items.len()),
        Items::Expression(_) => None,
    }
}

/// The values, when all of them are written out.
fn literal(items: &Items) -> Option<Vec<Value>> {
    let Items::List(items) = items else { return None };
    items
        .iter()
        .map(|item| match item {
            Item::Value(value) => Some(value.clone()),
            Item::Text(_) | Item::List(_) | Item::Object(_) => None,
        })
        .collect()
}

/// Rows shown of the instances of one task.
const INSTANCES: usize = 20;

/// The script or the prompt of a task, or of each instance that is known; then what only the run knows.
fn rendered(plan: &Plan, task: &Task) -> Vec<(&'static str, String)> {
    let word = task.kind.info().key();
    let rows = match preview(plan, task) {
        Ok(rows) => rows,
        Err(message) => return vec![("fails", message)],
    };
    let shown = |text: &str| match task.kind.written() {
        Written::Script(_) | Written::Words(_) => text.trim_end().to_owned(),
        Written::Text(_) => one_line(text, 400),
    };
    let mut all = Vec::new();
    for row in rows.iter().take(INSTANCES) {
        all.push((
            word,
            match &row.key {
                Some(key) => format!("[{key}] {}", shown(&row.text)),
                None => shown(&row.text),
            },
        ));
    }
    if rows.len() > INSTANCES {
        all.push((word, format!("and {} more", rows.len() - INSTANCES)));
    }
    let mut later: Vec<&str> = rows.iter().flat_map(|row| &row.later).map(String::as_str).collect();
    later.sort_unstable();
    later.dedup();
    if !later.is_empty() {
        all.push(("later", format!("known at run time: {}", later.join(", "))));
    }
    all
}

fn lines(plan: &Plan, task: &Task, model: ModelOf<'_>) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let needs = needs(plan, task);
    if !needs.is_empty() {
        all.push(("needs", needs));
    }
    if let Some(condition) = &task.condition {
        let word = match condition.at {
            ConditionAt::Task => "if",
            ConditionAt::Instance => "each if",
        };
        all.push((word, condition.expression.source.to_string()));
    }
    if let Some(agent) = task.kind.agent() {
        let definition = &plan.agents[agent.agent];
        all.push(("agent", format!("{} ({})", definition.name, super::agents::source(definition))));
        if let Some(from) = agent.fork {
            let from = &plan.tasks[from.index()].address;
            all.push(("fork", format!("goes on with the conversation of `{from}`")));
        }
        let tools: Vec<&str> = agent.offered(definition, task.background).collect();
        all.push(("tools", if tools.is_empty() { "none".to_owned() } else { tools.join(", ") }));
        all.push(("model", model(agent)));
    }
    all.extend(rendered(plan, task));
    match task.isolation {
        Isolation::None => {}
        Isolation::Fork => {
            all.push(("begins", "with the briefing and the notifications of what it needs".to_owned()))
        }
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
            all.push(("setup", command.script.source().trim_end().to_owned()));
        }
    }
    match &task.output {
        Output::Text => {}
        Output::Json => all.push(("output", "json".to_owned())),
        Output::Lines => all.push(("output", "lines".to_owned())),
        Output::Pairs => all.push(("output", "pairs, from $FLOW_OUTPUT".to_owned())),
        Output::Schema(_) => all.push(("output", "JSON that fits its schema".to_owned())),
    }
    if let Some(checks) = task.kind.agent().and_then(|agent| agent.checks.as_ref()) {
        let scripts: Vec<String> =
            checks.checks.iter().map(|check| check.script.source().trim_end().to_owned()).collect();
        all.push(("checks", scripts.join("\n")));
    }
    if let Some((name, slots)) = task.pool.and_then(|pool| plan.pools.get_index(pool)) {
        all.push(("pool", format!("{name}, {slots} at once")));
    }
    if task.background {
        all.push(("background", "what would ask is refused".to_owned()));
    }
    if task.on_lost != task.kind.info().on_lost {
        let word = match task.on_lost {
            OnLost::Retry => "retry",
            OnLost::Fail => "fail",
        };
        all.push(("on_lost", word.to_owned()));
    }
    if task.retry.policy.max > 0 {
        let attempts = if task.retry.policy.max == 1 { "attempt" } else { "attempts" };
        all.push(("retry", format!("up to {} further {attempts}", task.retry.policy.max)));
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

fn as_json(plan: &Plan, is_in: IsIn<'_>, model: ModelOf<'_>) -> Value {
    let order = plan.graph.order().into_iter().map(|id| (id, &plan.tasks[id.index()]));
    let tasks: Vec<Value> = order
        .filter(|(_, task)| is_in(task))
        .map(|(id, task)| {
            let needs: Vec<Value> = plan.graph.needs[id.index()]
                .iter()
                .map(|edge| json!({ "task": plan.tasks[edge.from.index()].address, "edge": edge.kind }))
                .collect();
            let mut details = serde_json::Map::new();
            for (word, said) in lines(plan, task, model).into_iter().filter(|(word, _)| *word != "needs") {
                // The instances of one task have a row each.
                let entry = details.entry(word).or_insert_with(|| Value::String(String::new()));
                if let Value::String(text) = entry {
                    text.push_str(if text.is_empty() { "" } else { "\n" });
                    text.push_str(&said);
                }
            }
            json!({
                "address": task.address,
                "kind": task.kind.info().word,
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
