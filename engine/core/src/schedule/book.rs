//! The book of a run: what the events say, and nothing else.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::origin::Origin;
use super::queue::Queue;
use super::slots::Slots;
use super::spec::NodeSpec;
use super::wiring::Wiring;
use crate::ids::{Address, Millis, NodeId, Nodes, TaskId};
use crate::model::{Outcome, Reason, RunStatus, TaskState};

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waits for what it needs, or for an answer to its condition; an instance, for the latter only.
    Waiting,
    /// May start; one that expands waits for its instances to be named.
    Ready,
    /// An attempt was ordered (`running`: and began).
    Live {
        /// None for a child.
        slot: Option<u32>,
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

/// A task of the plan, an instance of one, or what an agent started.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) address: Address,
    /// The task of the plan that it is, is an instance of, or works for.
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
    /// What made it.
    pub(super) origin: Origin,
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
    pub(super) index: HashMap<Address, NodeId>,
    pub(super) queue: Queue,
    pub(super) slots: Slots,
    /// Nodes with an attempt that lives, be it that it has a slot or not.
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

    /// Whether every task of the plan has ended, and nothing lives that one of them started.
    pub(super) fn is_over(&self) -> bool {
        self.unfinished == 0 && self.live.is_empty()
    }

    /// The nodes of the plan's tasks, in manifest order.
    pub(super) fn plan_nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.wiring.tasks().map(NodeId::of_plan)
    }

    pub(super) fn find(&self, address: &Address) -> Option<NodeId> {
        self.index.get(address).copied().filter(|&id| self.node(id).phase != Phase::Gone)
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
                        Phase::Ended(state) if edge.kind.holds(state, from.allowed) => {}
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

impl Node {
    pub(super) fn new(address: Address, task: TaskId) -> Self {
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
            origin: Origin::Plan,
            instances: None,
            outcome: None,
        }
    }

    /// Forgets everything but who it is and how many attempts it had.
    pub(super) fn start_over(&mut self) {
        let fresh = Node::new(self.address.clone(), self.task);
        let origin = std::mem::replace(&mut self.origin, Origin::Plan);
        *self = Node { attempts: self.attempts, origin, ..fresh };
    }
}
