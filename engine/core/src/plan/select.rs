//! The part of a plan that a person asks for.

use crate::graph::Graph;
use crate::plan::Plan;
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

    /// For each task of the plan whether it takes part: what is in every part of the selection.
    pub fn select(&self, plan: &Plan) -> Result<Vec<bool>, SelectError> {
        let mut selected = vec![true; plan.tasks.len()];
        let mut limit = |part: Vec<bool>| selected.iter_mut().zip(part).for_each(|(all, one)| *all &= one);
        if !self.only.is_empty() {
            limit(matching(plan, &self.only)?);
        }
        if !self.from.is_empty() {
            limit(with_dependents(&plan.graph, matching(plan, &self.from)?));
        }
        if !self.until.is_empty() {
            limit(with_needs(&plan.graph, matching(plan, &self.until)?));
        }
        if selected.contains(&true) { Ok(selected) } else { Err(SelectError::Nothing) }
    }
}

fn matching(plan: &Plan, patterns: &[String]) -> Result<Vec<bool>, SelectError> {
    let mut all = vec![false; plan.tasks.len()];
    for pattern in patterns {
        let mut found = false;
        for task in plan.tasks.iter().filter(|task| fits(pattern, task.address.as_str())) {
            all[task.id.index()] = true;
            found = true;
        }
        if !found {
            return Err(SelectError::NoTask { pattern: pattern.clone(), help: help(plan, pattern) });
        }
    }
    Ok(all)
}

fn help(plan: &Plan, pattern: &str) -> String {
    let names = || plan.tasks.iter().map(|task| task.address.as_str());
    match pattern.split_once('[') {
        Some((task, _)) if names().any(|name| name == task) => {
            format!("instances are known at run time; select all of them with `{task}`")
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
