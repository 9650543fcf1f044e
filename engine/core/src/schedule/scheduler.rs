//! The scheduler as the driver sees it.

use std::collections::BTreeMap;

use super::book::{Book, Node, Phase};
use super::clock::Clocks;
use super::decide::Turn;
use super::origin::Origin;
use super::spec::{Decision, Input, Limits, NodeSpec};
use crate::event::{Event, Instance};
use crate::ids::{Address, Attempt, Millis, NodeId, TaskId};
use crate::model::{Counted, Counts, Outcome, Reason, TaskState};

/// Decides what a run does next.
#[derive(Debug)]
pub struct Scheduler {
    limits: Limits,
    book: Book,
    engine: Engine,
}

/// What belongs to this engine and not to the run: it dies with it, and a replay doesn't bring it back.
#[derive(Debug, Default)]
pub(super) struct Engine {
    /// Questions without an answer.
    pub(super) asked: BTreeMap<NodeId, Asked>,
    pub(super) clocks: Clocks,
    /// Attempts that were told to stop, and whether by force.
    pub(super) stopping: BTreeMap<NodeId, bool>,
    pub(super) stage: Stage,
}

/// What a node was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Condition,
    Expansion,
    Retry,
}

/// How far an engine is with a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Fresh,
    Started,
    Finished,
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    /// Its address.
    pub address: &'a Address,
    /// The task of the plan that it is, is an instance of, or works for.
    pub task: TaskId,
    /// Its state.
    pub state: TaskState,
    /// Why, unless completed.
    pub reason: Option<Reason>,
    /// One line for people where no attempt says it.
    pub message: Option<&'a str>,
    /// Whether its failure is allowed.
    pub allowed: bool,
    /// The number of its last attempt; 0 before the first.
    pub attempts: u32,
    /// How its last attempt ended.
    pub outcome: Option<&'a Outcome>,
    /// Since when an attempt is under way, or since when none is.
    pub since: Millis,
    /// Until when it waits for another attempt.
    pub due: Option<Millis>,
    /// What made it.
    pub origin: &'a Origin,
}

impl Scheduler {
    /// The scheduler of a run of which nothing has happened yet.
    pub fn new(specs: Vec<NodeSpec>, limits: Limits) -> Self {
        Scheduler { limits, book: Book::new(specs), engine: Engine::default() }
    }

    /// Decides what follows from an input. The events it returns are applied already; they are to be written before any
    /// of the effects is done. An input that is no longer of interest (an answer for a task that was stopped, a second
    /// end of an attempt) changes nothing.
    #[must_use = "the events are to be written, the effects to be done"]
    pub fn handle(&mut self, now: Millis, input: Input) -> Decision {
        Turn::new(&mut self.book, &mut self.engine, self.limits, now).take(input)
    }

    /// Writes an event into the book: while a journal is replayed, or one that the driver made itself.
    pub fn apply(&mut self, event: &Event, at: Millis) {
        self.book.apply(event, at);
    }

    /// The event that opens a new epoch: what the last engine left under way, and what runs again.
    pub fn resume(&self) -> Event {
        self.book.resume(None, &[])
    }

    /// The same where a person names the tasks that run again: with what needs them, and with what was under way.
    pub fn retry(&self, tasks: &[NodeId]) -> Event {
        self.book.resume(Some(tasks), &[])
    }

    /// One of both, where tasks that have ended run again as well: what they wrote can't be read any more.
    pub fn resume_without(&self, tasks: Option<&[NodeId]>, unreadable: &[NodeId]) -> Event {
        self.book.resume(tasks, unreadable)
    }

    /// Whether a task may run a second time without a person's word (`on_lost: retry`).
    pub fn may_run_twice(&self, id: NodeId) -> bool {
        self.book.spec(id).retries_lost
    }

    /// The next moment that needs an `Input::Tick`. It lies ahead of the last call of `handle`.
    pub fn next_wake(&self) -> Option<Millis> {
        if self.engine.stage != Stage::Started {
            return None;
        }
        self.book.queue.next_due().into_iter().chain(self.engine.clocks.next()).min()
    }

    /// What is known of a node.
    pub fn node(&self, id: NodeId) -> NodeView<'_> {
        let node = self.book.node(id);
        NodeView {
            address: &node.address,
            task: node.task,
            state: node.phase.state(),
            reason: node.reason,
            message: node.message.as_deref(),
            allowed: node.allowed,
            attempts: node.attempts,
            outcome: node.outcome.as_deref(),
            since: node.since,
            due: node.phase.due(),
            origin: &node.origin,
        }
    }

    /// Key and item, for an instance.
    pub fn instance(&self, id: NodeId) -> Option<&Instance> {
        match &self.book.node(id).origin {
            Origin::Instance { item, .. } => Some(item),
            Origin::Plan | Origin::Child(_) => None,
        }
    }

    /// The node of a task of the plan.
    pub fn node_of(&self, task: TaskId) -> NodeId {
        NodeId::of_plan(task)
    }

    /// The node of that address; of an expansion that was made again, the newest.
    pub fn find(&self, address: &Address) -> Option<NodeId> {
        self.book.find(address)
    }

    /// The live attempts, in id order.
    pub fn running(&self) -> impl Iterator<Item = (NodeId, Attempt)> {
        self.book.live.iter().map(|&id| (id, Attempt(self.book.node(id).attempts)))
    }

    /// From 1; one more with each resume.
    pub fn epoch(&self) -> u32 {
        self.book.epoch
    }

    /// Why the run was told to stop, if it was.
    pub fn stopped(&self) -> Option<Reason> {
        self.book.kill
    }

    /// Whether every task of the plan has ended, and nothing lives that one of them started.
    pub fn is_finished(&self) -> bool {
        self.book.is_over()
    }

    /// How many tasks are in each state.
    pub fn counts(&self) -> Counts {
        let is_task = |node: &&Node| {
            node.phase != Phase::Gone && node.instances.is_none() && !matches!(node.origin, Origin::Child(_))
        };
        let counted =
            |node: &Node| Counted { state: node.phase.state(), allowed: node.allowed, begun: node.tries > 0 };
        self.book.nodes.iter().filter(is_task).map(counted).collect()
    }

    pub(super) fn book(&self) -> &Book {
        &self.book
    }
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
