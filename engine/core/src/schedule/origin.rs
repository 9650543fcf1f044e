//! Where a node of a run comes from, and what follows from that: whose spec it has, where it stands in the queue, and
//! whom its end concerns.

use super::book::Book;
use super::queue::Seat;
use super::spec::NodeSpec;
use crate::event::Instance;
use crate::ids::NodeId;
use crate::plan::ConditionAt;

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
}

impl Book {
    /// The spec of a node, for an instance that of its task.
    pub(super) fn spec(&self, id: NodeId) -> &NodeSpec {
        self.wiring.spec(self.node(id).task)
    }

    /// The node of a plan task that a node is, or is an instance of.
    pub(super) fn root(&self, id: NodeId) -> NodeId {
        match self.node(id).origin {
            Origin::Plan => id,
            Origin::Instance { of, .. } => of,
        }
    }

    /// Whether a node becomes its instances in place of running.
    pub(super) fn becomes_many(&self, id: NodeId) -> bool {
        self.node(id).origin == Origin::Plan && self.spec(id).expands
    }

    /// Whether a node has a condition of its own to ask for.
    pub(super) fn asks(&self, id: NodeId) -> bool {
        match (self.spec(id).condition, &self.node(id).origin) {
            (Some(ConditionAt::Task), Origin::Plan)
            | (Some(ConditionAt::Instance), Origin::Instance { .. }) => true,
            (Some(ConditionAt::Task), Origin::Instance { .. })
            | (Some(ConditionAt::Instance), Origin::Plan) => false,
            (None, _) => false,
        }
    }

    /// The place of a node in the queue.
    pub(super) fn seat(&self, id: NodeId) -> Seat {
        let rank = self.wiring.rank(self.node(id).task);
        Seat { node: id, root: self.root(id), rank, pool: self.spec(id).pool }
    }

    /// The instances of a node, in item order.
    pub(super) fn instances(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        self.node(id).instances.clone().into_iter().flat_map(NodeId::each)
    }
}
