//! Forks: whose conversation a task goes on with, and what holds of that task here too.
//!
//! 1. A fork is the agent of the task that it names, going on: definition, model and tools are that task's, so that what was
//!    said stays in the provider's cache.
//! 2. What restrained that task or was granted to it holds for the fork. Its own keys replace a value, and add to rules.

use std::collections::{HashMap, HashSet};

use super::findings::Findings;
use super::references::{report, unknown_task};
use super::words::literal;
use crate::diagnostic::Code;
use crate::graph::Graph;
use crate::ids::TaskId;
use crate::plan::{Task, TaskKind};
use crate::syntax::{TaskFile, Text, WorkflowFile};

/// A task that goes on with a conversation.
pub(super) struct Fork {
    /// The task that it names.
    pub task: TaskId,
    /// The task in which the conversation began, which says who the agent is; `None` when forks name each other in a circle.
    pub origin: Option<TaskId>,
}

/// The forks of a plan.
pub(super) type Forks = HashMap<TaskId, Fork>;

/// Finds whose conversation each fork goes on with; reports those that there can't be.
pub(super) fn forks(findings: &mut Findings, workflow: &WorkflowFile, ids: &HashMap<&str, TaskId>) -> Forks {
    let named =
        |file: &TaskFile| file.keys.fork.as_ref().and_then(|fork| ids.get(fork.value.as_str()).copied());
    let mut forks = Forks::new();
    for (index, file) in workflow.tasks.iter().enumerate() {
        let Some(written) = &file.keys.fork else { continue };
        let Some(task) = named(file) else {
            if literal(findings, "fork", written) {
                let names = workflow.tasks.iter().map(|file| file.id.value.as_str());
                let problem = unknown_task(findings, names, &written.value);
                findings.push(report(findings, problem, written.span));
            }
            continue;
        };
        check_target(findings, written, &workflow.tasks[task.index()]);
        let mut seen = HashSet::from([TaskId::at(index)]);
        let mut origin = Some(task);
        while let Some(next) = origin.and_then(|at| named(&workflow.tasks[at.index()])) {
            origin = origin.filter(|at| seen.insert(*at)).map(|_| next);
        }
        forks.insert(TaskId::at(index), Fork { task, origin });
    }
    forks
}

/// Reports a task that has no conversation, or many.
fn check_target(findings: &mut Findings, fork: &Text, target: &TaskFile) {
    let (id, keys) = (&target.id.value, &target.keys);
    let (message, place, what, help) = if let Some(run) = &keys.run {
        let help =
            "name an agent task; the output of a command can stand in a prompt: `${{ tasks.NAME.output }}`";
        (
            format!("`{id}` is a shell task and has no conversation to go on with"),
            run.span(),
            "the command",
            help,
        )
    } else if keys.for_each.is_some() || keys.matrix.is_some() {
        let help = "name a task that doesn't expand, or let the prompt name what the instances found: \
                    `${{ tasks.NAME.results }}`";
        (
            format!("`{id}` becomes many, and each has a conversation of its own"),
            target.id.span,
            "becomes many",
            help,
        )
    } else {
        return;
    };
    let finding = findings.at(Code::KeyConflict, fork.span, message).help(help);
    findings.push(findings.related(finding, place, what));
}

/// Gives each fork what holds for the task that it names.
pub(super) fn settle(tasks: &mut [Task], forks: &Forks, graph: &Graph) {
    if forks.is_empty() {
        return;
    }
    for id in graph.order() {
        let Some(fork) = forks.get(&id) else { continue };
        let TaskKind::Agent(parent) = &tasks[fork.task.index()].kind else { continue };
        let (model, tools) = (parent.model.clone(), parent.tools.clone());
        let (max_turns, mode) = (parent.max_turns, parent.permission_mode);
        let (mut disallowed, mut rules) = (parent.disallowed_tools.clone(), parent.permissions.clone());
        let TaskKind::Agent(own) = &mut tasks[id.index()].kind else { continue };
        (own.model, own.tools) = (model, tools);
        own.max_turns = own.max_turns.or(max_turns);
        own.permission_mode = own.permission_mode.or(mode);
        disallowed.append(&mut own.disallowed_tools);
        own.disallowed_tools = disallowed;
        rules.allow.append(&mut own.permissions.allow);
        rules.ask.append(&mut own.permissions.ask);
        rules.deny.append(&mut own.permissions.deny);
        own.permissions = rules;
    }
}

#[cfg(test)]
#[path = "fork_tests.rs"]
mod tests;
