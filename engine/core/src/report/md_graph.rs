//! The graph in the report for people, as GitHub draws it, with the state of each task.

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::run_report::{RunReport, TaskReport};
use crate::ids::Address;
use crate::model::TaskState;
use crate::text::{mermaid_label, one_line, visible};

/// More than this nobody can read, and mermaid refuses more than 500 edges.
const NODES: usize = 150;
const EDGES: usize = 400;

/// The longest name in a node, in characters.
const NAME: usize = 60;

/// The looks of a state, readable on light and dark pages.
const LOOKS: [(&str, &str); 5] = [
    ("completed", "fill:#dafbe1,stroke:#1a7f37,color:#1f2328"),
    ("failed", "fill:#ffebe9,stroke:#cf222e,color:#1f2328"),
    ("odd", "fill:#fff8c5,stroke:#9a6700,color:#1f2328"),
    ("running", "fill:#ddf4ff,stroke:#0969da,color:#1f2328"),
    ("idle", "fill:#f6f8fa,stroke:#818b98,color:#59636e,stroke-dasharray:4 3"),
];

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

pub(super) fn graph(out: &mut String, report: &RunReport) {
    let nodes: IndexMap<&Address, &TaskReport> =
        report.tasks.iter().filter(|task| task.parent.is_none()).map(|task| (&task.address, task)).collect();
    let edges: usize = nodes.values().map(|task| task.needs.len()).sum();
    if edges == 0 || nodes.len() > NODES || edges > EDGES {
        return;
    }
    out.push_str("\n```mermaid\nflowchart TD\n");
    let mut used = Vec::new();
    for (at, task) in nodes.values().enumerate() {
        let look = look(task);
        used.push(look);
        let many = task.instances.as_ref().map(|all| format!(" ×{}", all.len())).unwrap_or_default();
        let name = mermaid_label(&one_line(&visible(task.address.as_str()), NAME));
        let _ = writeln!(out, "  t{at}[\"{name}{many}\"]:::{look}");
    }
    for (at, task) in nodes.values().enumerate() {
        for need in &task.needs {
            let Some(from) = nodes.get_index_of(&need.task) else { continue };
            let _ = match need.on.as_str() {
                "" => writeln!(out, "  t{from} --> t{at}"),
                word => writeln!(out, "  t{from} -. {word} .-> t{at}"),
            };
        }
    }
    for (look, style) in LOOKS.iter().filter(|(look, _)| used.contains(look)) {
        let _ = writeln!(out, "  classDef {look} {style}");
    }
    out.push_str("```\n");
}

fn look(task: &TaskReport) -> &'static str {
    match task.state {
        TaskState::Completed => "completed",
        TaskState::Failed if task.allowed => "odd",
        TaskState::Failed | TaskState::Lost => "failed",
        TaskState::Killed if !task.never_began() => "odd",
        TaskState::Starting | TaskState::Running => "running",
        TaskState::Killed | TaskState::Created | TaskState::Skipped | TaskState::Blocked => "idle",
    }
}
