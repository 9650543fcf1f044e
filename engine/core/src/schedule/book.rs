//! The book of a run: what the events say, and nothing else.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::queue::{Queue, Seat};
use super::slots::Slots;
use super::spec::NodeSpec;
use super::wiring::{Wiring, holds};
use crate::event::{Event, Instance};
use crate::ids::{Address, Attempt, Millis, NodeId, Nodes, TaskId};
use crate::model::{Outcome, Reason, RunStatus, TaskState};
use crate::plan::ConditionAt;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waits for what it needs, or for an answer to its condition; an instance, for the latter only.
    Waiting,
    /// May start; one that expands waits for its instances to be named.
    Ready,
    /// An attempt was ordered (`running`: and began).
    Live {
        slot: u32,
        running: bool,
    },
    /// Its attempt ended, and what follows isn't decided yet.
    Settling,
    /// Another attempt follows, not before `due`.
    Retrying {
        due: Millis,
    },
    /// It became instances that have not all ended.
    Open,
    Ended(TaskState),
    /// An instance of an expansion that was made again; nobody sees it any more.
    Gone,
}

impl Phase {
    pub(super) fn state(self) -> TaskState {
        match self {
            Phase::Waiting | Phase::Ready | Phase::Retrying { .. } => TaskState::Created,
            Phase::Live { running: false, .. } => TaskState::Starting,
            Phase::Live { running: true, .. } | Phase::Settling | Phase::Open => TaskState::Running,
            Phase::Ended(state) => state,
            Phase::Gone => TaskState::Killed,
        }
    }

    pub(super) fn due(self) -> Option<Millis> {
        match self {
            Phase::Retrying { due } => Some(due),
            Phase::Waiting
            | Phase::Ready
            | Phase::Live { .. }
            | Phase::Settling
            | Phase::Open
            | Phase::Ended(_)
            | Phase::Gone => None,
        }
    }
}

/// A task of the plan, or an instance of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) address: Address,
    /// The task whose spec it has.
    pub(super) task: TaskId,
    pub(super) phase: Phase,
    /// Since when an attempt is under way, or since when none is.
    pub(super) since: Millis,
    pub(super) reason: Option<Reason>,
    pub(super) message: Option<Box<str>>,
    /// Whether its failure is allowed.
    pub(super) allowed: bool,
    /// Whether an edge can no longer hold.
    pub(super) broken: bool,
    /// What is true of it or of anything before it, once it has ended.
    pub(super) behind: Behind,
    /// Edges that don't hold yet.
    pub(super) missing: u32,
    /// Instances that have not ended.
    pub(super) open: u32,
    /// The number of the last attempt.
    pub(super) attempts: u32,
    /// Attempts in this epoch.
    pub(super) tries: u32,
    /// Why it was told to stop.
    pub(super) stop: Option<Reason>,
    pub(super) parent: Option<NodeId>,
    pub(super) instance: Option<Box<Instance>>,
    pub(super) instances: Option<Range<NodeId>>,
    pub(super) outcome: Option<Box<Outcome>>,
}

/// What the status functions of a condition ask about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Behind {
    pub(super) failed: bool,
    pub(super) cancelled: bool,
}

/// The book.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) wiring: Wiring,
    pub(super) nodes: Nodes<Node>,
    /// The newest node of each address.
    index: HashMap<Address, NodeId>,
    pub(super) queue: Queue,
    pub(super) slots: Slots,
    pub(super) live: BTreeSet<NodeId>,
    /// Plan tasks that have not ended.
    pub(super) unfinished: usize,
    pub(super) epoch: u32,
    /// Why the whole run was told to stop.
    pub(super) kill: Option<Reason>,
    pub(super) ended: Option<RunStatus>,
}

impl Book {
    pub(super) fn new(specs: Vec<NodeSpec>) -> Self {
        let wiring = Wiring::new(specs);
        let nodes: Nodes<Node> = wiring
            .tasks()
            .map(|task| {
                let spec = wiring.spec(task);
                let missing = u32::try_from(spec.needs.len()).unwrap_or(u32::MAX);
                Node { missing, ..Node::new(spec.address.clone(), task) }
            })
            .collect();
        let index = nodes.ids().map(|id| (nodes[id].address.clone(), id)).collect();
        Book {
            unfinished: wiring.len(),
            wiring,
            nodes,
            index,
            queue: Queue::default(),
            slots: Slots::default(),
            live: BTreeSet::new(),
            epoch: 1,
            kill: None,
            ended: None,
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id]
    }

    /// The nodes of the plan's tasks, in manifest order.
    pub(super) fn plan_nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.wiring.tasks().map(NodeId::of_plan)
    }

    /// The spec of a node, for an instance that of its parent.
    pub(super) fn spec(&self, id: NodeId) -> &NodeSpec {
        self.wiring.spec(self.node(id).task)
    }

    /// The node of a plan task that a node is, or is an instance of.
    pub(super) fn root(&self, id: NodeId) -> NodeId {
        self.node(id).parent.unwrap_or(id)
    }

    /// Whether a task or an instance has a condition of its own to ask for.
    pub(super) fn asks(&self, id: NodeId) -> bool {
        match self.spec(id).condition {
            None => false,
            Some(ConditionAt::Task) => self.node(id).parent.is_none(),
            Some(ConditionAt::Instance) => self.node(id).parent.is_some(),
        }
    }

    pub(super) fn seat(&self, id: NodeId) -> Seat {
        let rank = self.wiring.rank(self.node(id).task);
        Seat { node: id, root: self.root(id), rank, pool: self.spec(id).pool }
    }

    pub(super) fn find(&self, address: &Address) -> Option<NodeId> {
        self.index.get(address).copied().filter(|&id| self.node(id).phase != Phase::Gone)
    }

    /// The instances of a node, in item order.
    pub(super) fn instances(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        self.node(id).instances.clone().into_iter().flat_map(NodeId::each)
    }

    /// Writes an event into the book. One that names a task the book doesn't have changes nothing.
    pub(super) fn apply(&mut self, event: &Event, at: Millis) {
        match event {
            Event::RunResumed { epoch, lost, reset, given_up } => {
                self.resumed(*epoch, lost, reset, given_up, at);
            }
            Event::TaskExpanded { task, instances } => self.on(task, |book, id| book.expanded(id, instances)),
            Event::TaskReady { task } => self.on(task, Book::ready),
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
                book.queue.add_later(book.seat(id), *due);
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
        if !self.spec(id).expands || self.node(id).parent.is_some() {
            self.queue.add(self.seat(id));
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
                parent: Some(id),
                instance: Some(Box::new(instance.clone())),
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

    fn starting(&mut self, id: NodeId, attempt: Attempt, slot: u32, at: Millis) {
        let seat = self.seat(id);
        self.queue.remove(seat, self.node(id).phase.due());
        self.queue.started(seat);
        self.slots.take(slot);
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
        if let Phase::Live { slot, .. } = self.node(id).phase {
            self.slots.release(slot);
            self.live.remove(&id);
            self.queue.ended(self.seat(id));
        }
    }

    fn ended(&mut self, id: NodeId, state: TaskState) {
        self.leave_slot(id);
        self.queue.remove(self.seat(id), self.node(id).phase.due());
        self.node_mut(id).phase = Phase::Ended(state);
        if let Some(parent) = self.node(id).parent {
            let parent = self.node_mut(parent);
            parent.open = parent.open.saturating_sub(1);
            return;
        }
        self.unfinished = self.unfinished.saturating_sub(1);
        let behind = self.behind(id, state);
        let node = self.node_mut(id);
        node.behind = behind;
        let (task, allowed) = (node.task, node.allowed);
        for dependent in self.wiring.dependents(task) {
            let node = &mut self.nodes[NodeId::of_plan(dependent.task)];
            if holds(dependent.kind, state, allowed) {
                node.missing = node.missing.saturating_sub(1);
            } else {
                node.broken = true;
            }
        }
    }

    fn behind(&self, id: NodeId, state: TaskState) -> Behind {
        let mut behind = self.ahead_of(id);
        let node = self.node(id);
        behind.failed |= is_bad(state, node.allowed);
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

    /// Counts edges and unfinished tasks anew, after many have changed at once.
    pub(super) fn recount(&mut self) {
        self.unfinished = 0;
        for id in self.plan_nodes() {
            self.unfinished += usize::from(!matches!(self.node(id).phase, Phase::Ended(_)));
            if self.node(id).phase == Phase::Waiting {
                let (mut missing, mut broken) = (0, false);
                for edge in &self.spec(id).needs {
                    let from = self.node(NodeId::of_plan(edge.from));
                    match from.phase {
                        Phase::Ended(state) if holds(edge.kind, state, from.allowed) => {}
                        Phase::Ended(_) => {
                            broken = true;
                            missing += 1;
                        }
                        Phase::Waiting
                        | Phase::Ready
                        | Phase::Live { .. }
                        | Phase::Settling
                        | Phase::Retrying { .. }
                        | Phase::Open
                        | Phase::Gone => missing += 1,
                    }
                }
                // A broken edge stays among the missing, as in `ended`.
                let node = self.node_mut(id);
                (node.missing, node.broken) = (missing, broken);
            }
        }
    }
}

/// Whether a state fails the run.
pub(super) fn is_bad(state: TaskState, allowed: bool) -> bool {
    match state {
        TaskState::Failed => !allowed,
        TaskState::Killed | TaskState::Lost => true,
        TaskState::Created
        | TaskState::Starting
        | TaskState::Running
        | TaskState::Completed
        | TaskState::Skipped
        | TaskState::Blocked => false,
    }
}

impl Node {
    fn new(address: Address, task: TaskId) -> Self {
        Node {
            address,
            task,
            phase: Phase::Waiting,
            since: Millis(0),
            reason: None,
            message: None,
            allowed: false,
            broken: false,
            behind: Behind::default(),
            missing: 0,
            open: 0,
            attempts: 0,
            tries: 0,
            stop: None,
            parent: None,
            instance: None,
            instances: None,
            outcome: None,
        }
    }

    /// Forgets everything but who it is and how many attempts it had.
    pub(super) fn start_over(&mut self) {
        let fresh = Node::new(self.address.clone(), self.task);
        *self =
            Node { attempts: self.attempts, parent: self.parent, instance: self.instance.take(), ..fresh };
    }
}
