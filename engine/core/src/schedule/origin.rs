//! Where a node of a run comes from, and what follows from that: whose spec it has, where it stands in the queue, and
//! whom its end concerns.

use super::book::Book;
use super::queue::Seat;
use super::spec::NodeSpec;
use crate::event::Instance;
use crate::ids::{CallId, NodeId};
use crate::model::{ChildMode, Reason};
use crate::plan::{ConditionAt, Kind};

/// What made a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It is a task of the plan.
    Plan,
    /// It is one of the many that a task became. Boxed: a run has many more nodes than items.
    Instance {
        /// That task.
        of: NodeId,
        /// Its key and its item.
        item: Box<Instance>,
    },
    /// An agent started it. It is no task of the plan: it takes no slot, fails nothing, and is lost with its engine.
    Child(Box<Child>),
}

/// What an agent started.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The node whose attempt started it.
    pub by: NodeId,
    /// The conversation in which that was.
    pub by_agent: String,
    /// The call of a tool that did.
    pub call: Option<CallId>,
    /// What it is.
    pub kind: Kind,
    /// Whether its starter waits for it.
    pub mode: ChildMode,
    /// How many starters there are above it.
    pub depth: u8,
    /// No task of the plan has its spec, so it brings its own.
    pub(super) spec: NodeSpec,
}

impl Book {
    /// The spec of a node, for an instance that of its task.
    pub(super) fn spec(&self, id: NodeId) -> &NodeSpec {
        match &self.node(id).origin {
            Origin::Plan | Origin::Instance { .. } => self.wiring.spec(self.node(id).task),
            Origin::Child(child) => &child.spec,
        }
    }

    pub(super) fn is_child(&self, id: NodeId) -> bool {
        matches!(self.node(id).origin, Origin::Child(_))
    }

    /// How many starters there are above a node.
    pub(super) fn depth(&self, id: NodeId) -> u8 {
        match &self.node(id).origin {
            Origin::Plan | Origin::Instance { .. } => 0,
            Origin::Child(child) => child.depth,
        }
    }

    /// Whether a node becomes its instances in place of running.
    pub(super) fn becomes_many(&self, id: NodeId) -> bool {
        matches!(self.node(id).origin, Origin::Plan) && self.spec(id).expands
    }

    /// Whether a node has a condition of its own to ask for.
    pub(super) fn asks(&self, id: NodeId) -> bool {
        let origin = &self.node(id).origin;
        match self.spec(id).condition {
            None => false,
            Some(ConditionAt::Task) => matches!(origin, Origin::Plan),
            Some(ConditionAt::Instance) => matches!(origin, Origin::Instance { .. }),
        }
    }

    /// The place of a node in the queue. A child has none: it starts when it is told to, and holds up nobody.
    pub(super) fn seat(&self, id: NodeId) -> Option<Seat> {
        let root = match self.node(id).origin {
            Origin::Plan => id,
            Origin::Instance { of, .. } => of,
            Origin::Child(_) => return None,
        };
        let rank = self.wiring.rank(self.node(id).task);
        Some(Seat { node: id, root, rank, pool: self.spec(id).pool })
    }

    /// Why a node was told to stop, or what it is an instance of.
    pub(super) fn stop_of(&self, id: NodeId) -> Option<Reason> {
        let own = self.node(id).stop;
        match self.node(id).origin {
            Origin::Instance { of, .. } => own.or(self.node(of).stop),
            Origin::Plan | Origin::Child(_) => own,
        }
    }

    /// The instances of a node, in item order.
    pub(super) fn instances(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        self.node(id).instances.clone().into_iter().flat_map(NodeId::each)
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
