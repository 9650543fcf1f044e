//! What a resume does about outputs that can't be read any more: the tasks that wrote them run again where somebody still
//! has to read them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use flow_core::event::Event;
use flow_core::ids::{Address, NodeId, RunId};
use flow_core::plan::{Plan, Read};
use flow_core::report::Fold;
use flow_core::schedule::{Origin, Scheduler};
use flow_core::values::unreadable;

use super::notice::{Notice, Tell};
use super::resume::to_run;
use crate::drive::FolderTexts;

/// A run that is gone on with, and what it left.
pub(super) struct Left<'a> {
    pub(super) plan: &'a Plan,
    pub(super) scheduler: &'a Scheduler,
    pub(super) run: &'a Fold,
    pub(super) texts: FolderTexts,
    /// The run.
    pub(super) id: &'a RunId,
}

impl Left<'_> {
    /// Finds the event that opens the next epoch. `names`: what a person wants to run again; nothing: whatever did not end
    /// well. `again`: what runs again for a value of it that is lost, by a person's word.
    pub(super) fn opening(&self, names: Option<&[NodeId]>, mut again: Vec<NodeId>, tell: Tell<'_>) -> Event {
        let reads = self.plan.reads();
        let mut seen = HashSet::new();
        let mut found: BTreeMap<Address, Notice> = BTreeMap::new();
        // What runs again reads again, so that more may be missed with each round.
        loop {
            let event = self.scheduler.resume_without(names, &again);
            let to_run = to_run(self.plan, self.scheduler, &event);
            // What the plan's `outputs` read stands behind the tasks, and is read in any case.
            let readers = to_run.iter().copied().chain([true]);
            let before = again.len();
            for read in reads.iter().zip(readers).filter(|(_, reads)| *reads).flat_map(|(read, _)| read) {
                if to_run[read.from.index()] || !seen.insert((read.from, read.field)) {
                    continue;
                }
                for (address, id, why) in self.lost(*read) {
                    if again.contains(&id) {
                        continue;
                    }
                    let runs_again = self.may_run_twice(*read, id);
                    if runs_again {
                        again.push(id);
                    }
                    let (run, task) = (self.id.clone(), address.clone());
                    found.entry(address).or_insert(Notice::OutputLost { run, task, why, runs_again });
                }
            }
            if again.len() == before {
                found.into_values().for_each(tell);
                return event;
            }
        }
    }

    /// Of a finished task what somebody reads and nobody can read any more: itself, or instances of it.
    pub(super) fn lost_of(&self, node: NodeId) -> Vec<NodeId> {
        let view = self.scheduler.node(node);
        let reads = self.plan.reads();
        let of_it = reads.iter().flatten().filter(|read| read.from == view.task);
        let ids: BTreeSet<NodeId> = of_it.flat_map(|read| self.lost(*read)).map(|(_, id, _)| id).collect();
        ids.into_iter().filter(|id| *view.origin == Origin::Plan || *id == node).collect()
    }

    fn lost(&self, read: Read<'_>) -> Vec<(Address, NodeId, String)> {
        let from = &self.plan.tasks[read.from.index()].address;
        let Some(task) = self.run.task(from) else { return Vec::new() };
        let all = unreadable(task, read.field, self.run, &self.texts).into_iter();
        all.filter_map(|(address, why)| Some((address.clone(), self.scheduler.find(&address)?, why)))
            .collect()
    }

    /// Work that came home would come home twice.
    fn may_run_twice(&self, read: Read<'_>, node: NodeId) -> bool {
        let comes_home = self.plan.tasks[read.from.index()].merge.changes_home();
        self.scheduler.may_run_twice(node) && !comes_home
    }
}
