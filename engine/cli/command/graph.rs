//! `flow graph`.

use std::fmt::Write;

use flow_core::compile::Purpose;
use flow_core::ids::TaskId;
use flow_core::model::Cause;
use flow_core::plan::Plan;
use flow_core::text::{mermaid_label, mermaid_name};
use flow_run::engine::Engine;
use serde_json::{Value, json};

use crate::args::{GraphArgs, GraphFormat};
use crate::project;
use crate::ui;

pub(super) fn run(engine: &Engine, args: &GraphArgs) -> anyhow::Result<u8> {
    let plan = project::plan(engine, &args.plan, &args.inputs, Purpose::Look)?.plan;
    match args.format {
        GraphFormat::Ascii => ui::print(&ascii(&plan))?,
        GraphFormat::Mermaid => ui::print(&mermaid(&plan))?,
        GraphFormat::Dot => ui::print(&dot(&plan))?,
        GraphFormat::Json => ui::print_json(&as_json(&plan))?,
    }
    Ok(Cause::Success.code())
}

fn label(plan: &Plan, id: TaskId) -> String {
    let task = &plan.tasks[id.index()];
    let kind = match task.kind.agent() {
        None => task.kind.info().key().to_owned(),
        Some(agent) => match agent.fork {
            Some(from) => format!("fork of {}", plan.tasks[from.index()].address),
            None => plan.agents[agent.agent].name.clone(),
        },
    };
    let many = if task.expansion.is_some() { " ×n" } else { "" };
    format!("{}{many} ({kind})", task.address)
}

/// A tree in which each task stands once, below the last of what it needs; its other needs are named beside it.
fn ascii(plan: &Plan) -> String {
    let order = plan.graph.order();
    let mut place = vec![0; plan.tasks.len()];
    let mut depth = vec![0usize; plan.tasks.len()];
    order.iter().enumerate().for_each(|(at, id)| place[id.index()] = at);
    let mut below: Vec<Vec<TaskId>> = vec![Vec::new(); plan.tasks.len()];
    let mut roots = Vec::new();
    for id in &order {
        let needs = &plan.graph.needs[id.index()];
        let parent =
            needs.iter().map(|edge| edge.from).max_by_key(|from| (depth[from.index()], place[from.index()]));
        match parent {
            Some(parent) => {
                depth[id.index()] = depth[parent.index()] + 1;
                below[parent.index()].push(*id);
            }
            None => roots.push(*id),
        }
    }
    let mut text = String::new();
    // (task, what stands before it, whether it is the last of its siblings); a stack, since chains can be long.
    let mut stack: Vec<(TaskId, String, Option<bool>)> =
        roots.into_iter().rev().map(|id| (id, String::new(), None)).collect();
    while let Some((id, indent, last)) = stack.pop() {
        let (branch, inner) = match last {
            None => ("", ""),
            Some(false) => ("├── ", "│   "),
            Some(true) => ("└── ", "    "),
        };
        let _ = writeln!(text, "{indent}{branch}{}{}", label(plan, id), beside(plan, id, &depth, &place));
        let children = &below[id.index()];
        for (at, child) in children.iter().enumerate().rev() {
            stack.push((*child, format!("{indent}{inner}"), Some(at + 1 == children.len())));
        }
    }
    text
}

fn beside(plan: &Plan, id: TaskId, depth: &[usize], place: &[usize]) -> String {
    let needs = &plan.graph.needs[id.index()];
    let parent =
        needs.iter().map(|edge| edge.from).max_by_key(|from| (depth[from.index()], place[from.index()]));
    let (mut own, mut also) = (String::new(), Vec::new());
    for edge in needs {
        let name = plan.tasks[edge.from.index()].address.as_str();
        match (Some(edge.from) == parent, edge.kind.as_str()) {
            (true, "") => {}
            (true, word) => own = format!("on {word}"),
            (false, "") => also.push(name.to_owned()),
            (false, word) => also.push(format!("{name} on {word}")),
        }
    }
    let also = if also.is_empty() { String::new() } else { format!("also needs {}", also.join(", ")) };
    match (own.as_str(), also.as_str()) {
        ("", "") => String::new(),
        ("", one) | (one, "") => format!("  [{one}]"),
        (own, also) => format!("  [{own}, {also}]"),
    }
}

fn mermaid(plan: &Plan) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for task in &plan.tasks {
        let name = mermaid_name(task.address.as_str());
        let _ = writeln!(text, "  {name}[\"{}\"]", mermaid_label(&label(plan, task.id)));
    }
    for (from, to, kind) in edges(plan) {
        let (from, to) = (mermaid_name(from), mermaid_name(to));
        let arrow = if kind.is_empty() { "-->".to_owned() } else { format!("-. {kind} .->") };
        let _ = writeln!(text, "  {from} {arrow} {to}");
    }
    text
}

fn dot(plan: &Plan) -> String {
    let mut text = format!("digraph {} {{\n  node [shape=box];\n", quoted(&plan.name));
    for task in &plan.tasks {
        let name = dot_name(task.address.as_str());
        let _ = writeln!(text, "  {name} [label={}];", quoted(&label(plan, task.id)));
    }
    for (from, to, kind) in edges(plan) {
        let style = if kind.is_empty() { String::new() } else { format!(" [label={kind:?}, style=dashed]") };
        let _ = writeln!(text, "  {} -> {}{style};", dot_name(from), dot_name(to));
    }
    text + "}\n"
}

/// A name as DOT reads it: a word of its own only in quotes.
fn dot_name(name: &str) -> String {
    const RESERVED: &[&str] = &["digraph", "edge", "graph", "node", "strict", "subgraph"];
    let reserved = RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name));
    if reserved { quoted(name) } else { name.to_owned() }
}

/// Text in the quotes of DOT.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn edges(plan: &Plan) -> impl Iterator<Item = (&str, &str, &'static str)> {
    plan.graph.needs.iter().enumerate().flat_map(move |(to, needs)| {
        needs.iter().map(move |edge| {
            let name = |at: usize| plan.tasks[at].address.as_str();
            (name(edge.from.index()), name(to), edge.kind.as_str())
        })
    })
}

fn as_json(plan: &Plan) -> Value {
    let nodes: Vec<Value> = plan
        .tasks
        .iter()
        .map(|task| json!({ "id": task.address, "kind": task.kind.info().word, "expands": task.expansion.is_some() }))
        .collect();
    let edges: Vec<Value> = plan
        .graph
        .needs
        .iter()
        .enumerate()
        .flat_map(|(to, needs)| {
            needs.iter().map(move |edge| {
                json!({ "from": plan.tasks[edge.from.index()].address, "to": plan.tasks[to].address, "edge": edge.kind })
            })
        })
        .collect();
    json!({ "name": plan.name, "nodes": nodes, "edges": edges })
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
