//! The part of a plan that a person asks for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Plan, Read, Task};
use crate::graph::Graph;
use crate::ids::{Address, TaskId};
use crate::text::{did_you_mean, list_some};

/// What a person asks for; each entry a task's address or a pattern with `*` and `?`. What is empty limits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// These.
    pub only: Vec<String>,
    /// These and everything that needs them.
    pub from: Vec<String>,
    /// These and everything that they need.
    pub until: Vec<String>,
}

/// Why a selection can't be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// A pattern that no task fits.
    #[error("no task fits `{pattern}`")]
    NoTask {
        /// The pattern.
        pattern: String,
        /// What to do.
        help: String,
    },
    /// Each part names tasks, and no task is in all of them.
    #[error("no task is in every part of the selection")]
    Nothing,
}

impl Selection {
    /// Whether it limits nothing.
    pub fn is_everything(&self) -> bool {
        self.only.is_empty() && self.from.is_empty() && self.until.is_empty()
    }

    /// What of the plan takes part: what is in every part of the selection.
    pub fn select(&self, plan: &Plan) -> Result<Selected, SelectError> {
        let mut selected = Selected { tasks: vec![true; plan.tasks.len()], limits: Vec::new() };
        let mut limit = |part: Vec<bool>| {
            selected.tasks.iter_mut().zip(part).for_each(|(all, one)| *all &= one);
        };
        let mut limits = Vec::new();
        if !self.only.is_empty() {
            limit(matching(plan, &self.only, &mut limits)?);
        }
        if !self.from.is_empty() {
            limit(with_dependents(&plan.graph, matching(plan, &self.from, &mut limits)?));
        }
        if !self.until.is_empty() {
            limit(with_needs(&plan.graph, matching(plan, &self.until, &mut limits)?));
        }
        selected.limits = limits;
        if selected.tasks.contains(&true) { Ok(selected) } else { Err(SelectError::Nothing) }
    }
}

/// What of a plan takes part in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    /// For each task whether it does.
    pub tasks: Vec<bool>,
    /// Of which tasks only some instances do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<InstanceLimit>,
}

/// Some instances of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceLimit {
    /// The task.
    pub task: Address,
    /// The addresses of its instances; each a pattern with `*` and `?`. One must fit.
    pub patterns: Vec<String>,
}

impl InstanceLimit {
    /// Whether an instance takes part.
    pub fn lets(&self, instance: &Address) -> bool {
        self.patterns.iter().any(|pattern| fits(pattern, instance.as_str()))
    }
}

impl Selected {
    /// The values that a task reads of one that is left out, with the reader. How a task ended is known of it as well.
    pub fn missing<'p>(&self, plan: &'p Plan) -> Vec<(&'p Task, Read<'p>)> {
        let is_in = |task: TaskId| self.tasks[task.index()];
        let readers = plan.tasks.iter().zip(plan.reads()).filter(|(reader, _)| is_in(reader.id));
        let missing = |read: &Read<'p>| !is_in(read.from) && !read.defaulted && !read.is_of_the_end();
        readers
            .flat_map(|(reader, reads)| reads.into_iter().filter(missing).map(move |read| (reader, read)))
            .collect()
    }
}

/// The tasks that fit, and the limits of those that fit only by their instances.
fn matching(
    plan: &Plan,
    patterns: &[String],
    limits: &mut Vec<InstanceLimit>,
) -> Result<Vec<bool>, SelectError> {
    let mut whole = vec![false; plan.tasks.len()];
    let mut in_part: BTreeMap<TaskId, Vec<String>> = BTreeMap::new();
    for pattern in patterns {
        let mut found = false;
        for task in plan.tasks.iter().filter(|task| fits(pattern, task.address.as_str())) {
            whole[task.id.index()] = true;
            found = true;
        }
        let task_part = pattern.split_once('[').filter(|_| pattern.ends_with(']')).map(|(task, _)| task);
        let expanded = plan.tasks.iter().filter(|task| task.expansion.is_some());
        for task in expanded.filter(|task| task_part.is_some_and(|part| fits(part, task.address.as_str()))) {
            in_part.entry(task.id).or_default().push(pattern.clone());
            found = true;
        }
        if !found {
            return Err(SelectError::NoTask { pattern: pattern.clone(), help: help(plan, pattern) });
        }
    }
    for (task, patterns) in in_part {
        if !std::mem::replace(&mut whole[task.index()], true) {
            limits.push(InstanceLimit { task: plan.tasks[task.index()].address.clone(), patterns });
        }
    }
    Ok(whole)
}

fn help(plan: &Plan, pattern: &str) -> String {
    let names = || plan.tasks.iter().map(|task| task.address.as_str());
    match pattern.split_once('[') {
        Some((task, _)) if names().any(|name| name == task) => {
            format!("`{task}` has no instances; write `{task}`")
        }
        Some(_) | None => match did_you_mean(pattern, names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the plan has {}", list_some(names(), 10)),
        },
    }
}

fn with_dependents(graph: &Graph, mut chosen: Vec<bool>) -> Vec<bool> {
    for task in graph.order() {
        let after = graph.needs[task.index()].iter().any(|edge| chosen[edge.from.index()]);
        chosen[task.index()] |= after;
    }
    chosen
}

fn with_needs(graph: &Graph, mut chosen: Vec<bool>) -> Vec<bool> {
    for task in graph.order().into_iter().rev() {
        if chosen[task.index()] {
            graph.needs[task.index()].iter().for_each(|edge| chosen[edge.from.index()] = true);
        }
    }
    chosen
}

/// Whether a pattern fits a whole text: `*` stands for anything, `?` for one character.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut pos) = (0, 0);
    // The last `*`, and how far it reaches.
    let mut star: Option<(usize, usize)> = None;
    while pos < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, pos));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[pos] => {
                at += 1;
                pos += 1;
            }
            Some(_) | None => match &mut star {
                Some((after, reach)) => {
                    *reach += 1;
                    (at, pos) = (*after + 1, *reach);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
