//! What is handed to whoever runs an attempt: all that it needs, as data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::context::Scope;
use super::render::render_given;
use super::work::Work;
use super::work_of_task::work_of_task;
use crate::ids::{Address, Attempt, RunId};
use crate::model::{AttemptEnd, Isolation, Merge, Outcome, Settings, Usage};
use crate::plan::Task;
use crate::report::{AttemptReport, BranchStart, MadeTree};

/// An attempt, ready to be run by somebody who knows nothing of its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptPacket {
    /// The run.
    pub run: RunId,
    /// The task.
    pub address: Address,
    /// Which try.
    pub attempt: Attempt,
    /// The slot whose output files it uses; no two attempts that live share one.
    pub slot: u32,
    /// What it is.
    pub work: Work,
    /// The tree of its own that is to be made for it.
    pub tree: Option<TreeOrder>,
    /// The conversation that its agent may go on with.
    pub earlier: Option<Earlier>,
    /// Variables of its surroundings that its commands don't get: secrets, keys of providers, and what redirects git.
    pub hidden_env: Arc<[String]>,
}

/// A private tree that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeOrder {
    /// Which kind of tree.
    pub isolation: Isolation,
    /// Where a worktree starts; HEAD when absent.
    pub base: Option<String>,
    /// Ignored files that it gets, as patterns.
    pub include: Vec<String>,
    /// How its work is to come home.
    pub merge: Merge,
}

/// A conversation that was cut off with its attempt, and what has been reported of it. An attempt that has a tree goes on
/// in that of the conversation, or begins anew: another tree lacks what the conversation says was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Earlier {
    /// The conversation.
    pub agent_id: String,
    /// What it has used.
    pub usage: Usage,
    /// How many of its calls were refused.
    pub denials: usize,
    /// The worktree that it worked in.
    pub tree: Option<EarlierTree>,
}

/// The worktree of an attempt that was cut off, as it was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierTree {
    /// Its folder.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// The commit it started from.
    pub base: String,
    /// The last commit of its branch, which holds all that was done.
    pub commit: String,
}

/// What all attempts of a run share.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The run.
    pub run: RunId,
    /// The settings of all layers.
    pub settings: Arc<Settings>,
    /// See [`AttemptPacket::hidden_env`].
    pub hidden_env: Arc<[String]>,
}

impl AttemptPacket {
    /// An attempt of a task. A template that fails is the attempt's outcome.
    pub fn of_task(
        scope: &Scope<'_>,
        task: &Task,
        (address, slot): (Address, u32),
        shared: &Shared,
    ) -> Result<Self, Box<Outcome>> {
        let tree = tree_order(scope, task)?;
        let work = work_of_task(scope, task, &shared.settings)?;
        let earlier = scope.run.task(&address).and_then(|task| Earlier::of(&task.attempts));
        Ok(AttemptPacket {
            run: shared.run.clone(),
            address,
            attempt: scope.attempt,
            slot,
            work,
            tree,
            earlier,
            hidden_env: Arc::clone(&shared.hidden_env),
        })
    }

    /// What marks its processes: unique among all attempts of all runs.
    pub fn tag(&self) -> String {
        format!("{}/{}.{}", self.run, self.address, self.attempt)
    }
}

fn tree_order(scope: &Scope<'_>, task: &Task) -> Result<Option<TreeOrder>, Box<Outcome>> {
    if !task.isolation.is_private() {
        return Ok(None);
    }
    let base = render_given(scope, "base", task.base.as_ref())?;
    Ok(Some(TreeOrder {
        isolation: task.isolation,
        base: base.filter(|base| base != "head"),
        include: task.preparation.as_ref().map(|found| found.include.clone()).unwrap_or_default(),
        merge: task.merge,
    }))
}

impl Earlier {
    /// The conversation of the attempt before the last, if that was cut off; one that failed is not gone on with.
    fn of(attempts: &[AttemptReport]) -> Option<Self> {
        let before = attempts.iter().rev().nth(1)?;
        let cut_off = matches!(before.end, Some(AttemptEnd::Lost | AttemptEnd::Killed));
        let agent_id = before.agent_id.clone().filter(|_| cut_off)?;
        let tree = before.tree.as_ref().and_then(EarlierTree::of);
        let mut earlier = Earlier { agent_id, usage: Usage::default(), denials: 0, tree };
        for attempt in attempts.iter().filter(|attempt| attempt.agent_id.as_ref() == Some(&earlier.agent_id))
        {
            attempt.usage.iter().for_each(|usage| earlier.usage += usage);
            earlier.denials += attempt.denied;
        }
        Some(earlier)
    }
}

impl EarlierTree {
    /// A tree that was settled and whose branch was kept. No other has all of its work where it can be found again.
    fn of(made: &MadeTree) -> Option<Self> {
        let MadeTree { path, branch, is_open, commit, .. } = made.clone();
        let BranchStart { name, base } = branch?;
        Some(EarlierTree { path, branch: name, base, commit: commit.filter(|_| !is_open)? })
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
