//! What an event may follow, and what it changes in the book.

use std::time::Duration;

use super::book::{Behind, Book, Node, Phase};
use super::origin::{Child, Origin};
use super::spec::NodeSpec;
use crate::event::{Event, Instance};
use crate::ids::{Address, Attempt, Millis, NodeId};
use crate::model::{Outcome, Reason, TaskState};

/// Why an event can't stand where it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It is the beginning of another plan's run.
    OtherPlan,
    /// The run has no such node.
    Unknown(Address),
    /// It can't have happened to that node then.
    OutOfPlace(Address),
}

impl Book {
    /// Whether an event can follow all that the book says.
    pub(super) fn fits(&self, event: &Event) -> Result<(), Misfit> {
        match event {
            Event::RunStarted { tasks, .. } => {
                let plan = self.plan_nodes().map(|id| &self.node(id).address);
                if tasks.iter().eq(plan) { Ok(()) } else { Err(Misfit::OtherPlan) }
            }
            Event::RunResumed { lost, reset, given_up, .. } => {
                lost.iter().chain(reset).chain(given_up).try_for_each(|task| self.place(task, |_, _| true))
            }
            Event::TaskExpanded { task, .. } => {
                self.place(task, |id, node| node.phase == Phase::Ready && self.becomes_many(id))
            }
            Event::TaskReady { task } => self.place(task, |_, node| node.phase == Phase::Waiting),
            Event::ChildStarted { task, by, kind, depth, .. } => {
                let own = task.starter().filter(|(_, id)| id.letter() == Some(kind.info().letter));
                let fits = own.is_some_and(|(starter, _)| starter == *by) && !self.index.contains_key(task);
                self.place(by, |id, node| {
                    fits && matches!(node.phase, Phase::Live { .. })
                        && *depth == self.depth(id).saturating_add(1)
                })
            }
            Event::AttemptStarting { task, attempt, slot } => self.place(task, |id, node| {
                let waits = matches!(node.phase, Phase::Ready | Phase::Retrying { .. });
                let seated = slot.is_some() != self.is_child(id);
                waits && seated && !self.becomes_many(id) && attempt.0 == node.attempts + 1
            }),
            Event::AttemptRunning { task, attempt, .. } => self.place(task, |_, node| {
                matches!(node.phase, Phase::Live { running: false, .. }) && attempt.0 == node.attempts
            }),
            Event::AttemptEnded { task, attempt, .. } => self.place(task, |_, node| {
                matches!(node.phase, Phase::Live { .. }) && attempt.0 == node.attempts
            }),
            Event::TaskRetry { task, attempt, .. } => {
                self.place(task, |_, node| node.phase == Phase::Settling && attempt.0 == node.attempts + 1)
            }
            Event::TaskEnded { task, state, .. } => self.place(task, |_, node| {
                let over = matches!(node.phase, Phase::Ended(_) | Phase::Gone | Phase::Live { .. });
                !over && state.is_terminal() && node.open == 0
            }),
            Event::KillRequested { task: Some(task), .. }
            | Event::WorktreeMade { task, .. }
            | Event::WorktreeEnded { task, .. }
            | Event::MergeStarted { task, .. }
            | Event::MergeEnded { task, .. } => self.place(task, |_, _| true),
            Event::KillRequested { task: None, .. }
            | Event::ProviderParked { .. }
            | Event::RunEnded { .. } => Ok(()),
        }
    }

    fn place(&self, task: &Address, fits: impl FnOnce(NodeId, &Node) -> bool) -> Result<(), Misfit> {
        let id = self.find(task).ok_or_else(|| Misfit::Unknown(task.clone()))?;
        if fits(id, self.node(id)) { Ok(()) } else { Err(Misfit::OutOfPlace(task.clone())) }
    }

    /// Writes an event into the book. One that names a task the book doesn't have changes nothing.
    pub(super) fn apply(&mut self, event: &Event, at: Millis) {
        match event {
            Event::RunResumed { epoch, lost, reset, given_up } => {
                self.resumed(*epoch, lost, reset, given_up, at);
            }
            Event::TaskExpanded { task, instances } => self.on(task, |book, id| book.expanded(id, instances)),
            Event::TaskReady { task } => self.on(task, Book::ready),
            Event::ChildStarted {
                task, by, by_agent, call, kind, mode, depth, timeout_ms, on_lost, ..
            } => self.on(by, |book, by| {
                let timeout = timeout_ms.map(Duration::from_millis);
                book.child_started(Child {
                    by,
                    by_agent: by_agent.clone(),
                    call: call.clone(),
                    kind: *kind,
                    mode: *mode,
                    depth: *depth,
                    spec: NodeSpec::of_child(task.clone(), timeout, *on_lost),
                });
            }),
            Event::AttemptStarting { task, attempt, slot } => {
                self.on(task, |book, id| book.starting(id, *attempt, *slot, at));
            }
            Event::AttemptRunning { task, .. } => self.on(task, |book, id| {
                if let Phase::Live { slot, .. } = book.node(id).phase {
                    book.node_mut(id).phase = Phase::Live { slot, running: true };
                }
            }),
            Event::AttemptEnded { task, outcome, .. } => {
                self.on(task, |book, id| book.attempt_ended(id, outcome, at));
            }
            Event::TaskRetry { task, due, .. } => self.on(task, |book, id| {
                book.node_mut(id).phase = Phase::Retrying { due: *due };
                if let Some(seat) = book.seat(id) {
                    book.queue.add_later(seat, *due);
                }
            }),
            Event::TaskEnded { task, state, reason, message, allowed } => self.on(task, |book, id| {
                let node = book.node_mut(id);
                node.reason = *reason;
                node.message = message.as_deref().map(Into::into);
                node.allowed = *allowed;
                book.ended(id, *state);
            }),
            Event::KillRequested { task: Some(task), reason, .. } => {
                self.on(task, |book, id| book.node_mut(id).stop = Some(*reason));
            }
            Event::KillRequested { task: None, reason, .. } => self.kill = Some(*reason),
            Event::RunEnded { status, .. } => self.ended = Some(*status),
            Event::RunStarted { .. }
            | Event::WorktreeMade { .. }
            | Event::WorktreeEnded { .. }
            | Event::MergeStarted { .. }
            | Event::MergeEnded { .. }
            | Event::ProviderParked { .. } => {}
        }
    }

    fn on(&mut self, task: &Address, change: impl FnOnce(&mut Self, NodeId)) {
        if let Some(id) = self.find(task) {
            change(self, id);
        }
    }

    fn ready(&mut self, id: NodeId) {
        self.node_mut(id).phase = Phase::Ready;
        if let Some(seat) = self.seat(id).filter(|_| !self.becomes_many(id)) {
            self.queue.add(seat);
        }
    }

    fn expanded(&mut self, id: NodeId, instances: &[Instance]) {
        let start = self.nodes.end();
        self.queue.open(id, self.spec(id).max_parallel);
        for instance in instances {
            let address = self.node(id).address.instance(&instance.key);
            // An expansion made again goes on counting: branches are named after address and attempt.
            let earlier = self.index.insert(address.clone(), self.nodes.end());
            let attempts = earlier.map_or(0, |earlier| self.node(earlier).attempts);
            let new = self.nodes.push(Node {
                origin: Origin::Instance { of: id, item: Box::new(instance.clone()) },
                attempts,
                ..Node::new(address, self.node(id).task)
            });
            self.begin(new);
        }
        let range = start..self.nodes.end();
        let node = self.node_mut(id);
        node.phase = Phase::Open;
        node.open = u32::try_from(instances.len()).unwrap_or(u32::MAX);
        node.instances = Some(range);
    }

    /// An instance of which nothing has begun may start, unless it has a condition to ask for.
    pub(super) fn begin(&mut self, instance: NodeId) {
        if !self.asks(instance) {
            self.ready(instance);
        }
    }

    /// It waits for nothing but its order to start.
    fn child_started(&mut self, child: Child) {
        let (address, task) = (child.spec.address.clone(), self.node(child.by).task);
        let origin = Origin::Child(Box::new(child));
        let new = self.nodes.push(Node { origin, phase: Phase::Ready, ..Node::new(address.clone(), task) });
        self.index.insert(address, new);
    }

    fn starting(&mut self, id: NodeId, attempt: Attempt, slot: Option<u32>, at: Millis) {
        if let Some(seat) = self.seat(id) {
            self.queue.remove(seat, self.node(id).phase.due());
            self.queue.started(seat);
        }
        if let Some(slot) = slot {
            self.slots.take(slot);
        }
        self.live.insert(id);
        let node = self.node_mut(id);
        node.phase = Phase::Live { slot, running: false };
        node.since = at;
        node.attempts = attempt.0;
        node.tries += 1;
    }

    pub(super) fn attempt_ended(&mut self, id: NodeId, outcome: &Outcome, at: Millis) {
        self.leave_slot(id);
        let node = self.node_mut(id);
        node.phase = Phase::Settling;
        node.since = at;
        node.outcome = Some(Box::new(outcome.clone()));
    }

    /// Frees what a live attempt held.
    pub(super) fn leave_slot(&mut self, id: NodeId) {
        let Phase::Live { slot, .. } = self.node(id).phase else { return };
        self.live.remove(&id);
        if let Some(slot) = slot {
            self.slots.release(slot);
        }
        if let Some(seat) = self.seat(id) {
            self.queue.ended(seat);
        }
    }

    fn ended(&mut self, id: NodeId, state: TaskState) {
        self.leave_slot(id);
        if let Some(seat) = self.seat(id) {
            self.queue.remove(seat, self.node(id).phase.due());
        }
        self.node_mut(id).phase = Phase::Ended(state);
        match self.node(id).origin {
            Origin::Plan => self.plan_task_ended(id, state),
            Origin::Instance { of, .. } => {
                let task = self.node_mut(of);
                task.open = task.open.saturating_sub(1);
            }
            Origin::Child(_) => {}
        }
    }

    fn plan_task_ended(&mut self, id: NodeId, state: TaskState) {
        self.unfinished = self.unfinished.saturating_sub(1);
        let behind = self.behind(id, state);
        let node = self.node_mut(id);
        node.behind = behind;
        let (task, allowed) = (node.task, node.allowed);
        for dependent in self.wiring.dependents(task) {
            let node = &mut self.nodes[NodeId::of_plan(dependent.task)];
            if dependent.kind.holds(state, allowed) {
                node.missing = node.missing.saturating_sub(1);
            } else {
                node.broken = true;
            }
        }
    }

    fn behind(&self, id: NodeId, state: TaskState) -> Behind {
        let mut behind = self.ahead_of(id);
        let node = self.node(id);
        behind.failed |= state.is_bad(node.allowed);
        behind.cancelled |= state == TaskState::Killed && node.reason == Some(Reason::Cancelled);
        behind
    }

    /// What is true of everything that a task, for an instance its parent, needs, as far as it has ended.
    pub(super) fn ahead_of(&self, id: NodeId) -> Behind {
        self.spec(id).needs.iter().map(|edge| self.node(NodeId::of_plan(edge.from)).behind).fold(
            Behind::default(),
            |sum, next| Behind {
                failed: sum.failed || next.failed,
                cancelled: sum.cancelled || next.cancelled,
            },
        )
    }
}
