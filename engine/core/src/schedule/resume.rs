//! What a new engine runs again. What was under way is lost, and stays so where it must not run twice; what was lost, failed or killed runs again, and so does
//! everything that needs something which runs again. What ended well before that stays as it is, and so does an allowed
//! failure, unless what it wrote is lost and somebody still has to read it. Of an expanded task only the instances that did
//! not end well run again.

use super::book::{Behind, Book, Phase};
use super::origin::Origin;
use crate::event::Event;
use crate::ids::{Address, Millis, NodeId};
use crate::model::{AttemptEnd, Outcome};

/// What has to happen to a task before an epoch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    /// It was under way.
    Lost,
    /// It was under way, and must not run twice.
    GivenUp,
    /// It begins from nothing.
    Reset,
}

/// What a person or the state of the run folder asks for.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    only: Option<&'a [NodeId]>,
    unreadable: &'a [NodeId],
}

impl Book {
    /// The event that opens the next epoch. With `only`, of what ended badly only these run again, and what needs them.
    /// `unreadable`: what has ended, and runs again all the same since what it wrote can't be read.
    pub(super) fn resume(&self, only: Option<&[NodeId]>, unreadable: &[NodeId]) -> Event {
        let wanted = Wanted { only, unreadable };
        let (mut lost, mut reset, mut given_up) = (Vec::new(), Vec::new(), Vec::new());
        let mut runs_again = vec![false; self.wiring.len()];
        for &task in self.wiring.order() {
            let id = NodeId::of_plan(task);
            let after = self.wiring.spec(task).needs.iter().any(|edge| runs_again[edge.from.index()]);
            let own = self.verdict(id, wanted);
            if own == Some(Again::GivenUp) {
                // Whatever runs again before it: it has begun.
                given_up.push(id);
                continue;
            }
            let mut again = after || own.is_some();
            if own == Some(Again::Lost) {
                lost.push(id);
            }
            if after && self.node(id).phase != Phase::Waiting || own == Some(Again::Reset) {
                reset.push(id);
            }
            for instance in self.instances(id) {
                match self.verdict(instance, wanted) {
                    Some(Again::Lost) => lost.push(instance),
                    Some(Again::GivenUp) => {
                        given_up.push(instance);
                        continue;
                    }
                    Some(Again::Reset) if !after => reset.push(instance),
                    Some(Again::Reset) => {}
                    None => continue,
                }
                again = true;
            }
            runs_again[task.index()] = again;
        }
        // Nobody waits for it any more: whoever started it hears that it is lost, and may start it again.
        given_up.extend(self.nodes.ids().filter(|&id| self.is_lost_child(id)));
        Event::RunResumed {
            epoch: self.epoch + 1,
            lost: self.addresses(lost),
            reset: self.addresses(reset),
            given_up: self.addresses(given_up),
        }
    }

    /// Whether a child was under way, or about to be.
    fn is_lost_child(&self, id: NodeId) -> bool {
        self.is_child(id) && matches!(self.node(id).phase, Phase::Ready | Phase::Live { .. })
    }

    /// What happens to a task because of what it did itself.
    fn verdict(&self, id: NodeId, Wanted { only, unreadable }: Wanted<'_>) -> Option<Again> {
        let node = self.node(id);
        // Of an expanded task that is named those instances are meant that a resume would take.
        let is_named = |only: &[NodeId]| {
            only.contains(&id) || matches!(node.origin, Origin::Instance { of, .. } if only.contains(&of))
        };
        match node.phase {
            Phase::Live { .. } if self.spec(id).retries_lost => Some(Again::Lost),
            Phase::Live { .. } => Some(Again::GivenUp),
            Phase::Ended(_) if unreadable.contains(&id) => Some(Again::Reset),
            // An expanded task failed through its instances, and they answer for themselves.
            Phase::Ended(_) if node.instances.is_some() => None,
            Phase::Ended(state) => {
                let again = match only {
                    None => state.is_bad(node.allowed),
                    // One that is named itself runs again also when its failure was allowed.
                    Some(only) => is_named(only) && state.is_bad(node.allowed && !only.contains(&id)),
                };
                again.then_some(Again::Reset)
            }
            Phase::Settling => {
                match node.outcome.as_deref().map(|outcome| outcome.end) {
                    Some(AttemptEnd::Completed) => None,
                    // It was given up already, and the engine died before it could end.
                    Some(AttemptEnd::Lost) => Some(Again::GivenUp),
                    Some(AttemptEnd::Failed | AttemptEnd::Killed) | None => Some(Again::Reset),
                }
            }
            Phase::Waiting | Phase::Ready | Phase::Retrying { .. } | Phase::Open | Phase::Gone => None,
        }
    }

    fn addresses(&self, mut nodes: Vec<NodeId>) -> Vec<Address> {
        nodes.sort_unstable();
        nodes.into_iter().map(|id| self.node(id).address.clone()).collect()
    }

    /// Opens an epoch.
    pub(super) fn resumed(
        &mut self,
        epoch: u32,
        lost: &[Address],
        reset: &[Address],
        given_up: &[Address],
        at: Millis,
    ) {
        for address in given_up {
            if let Some(id) = self.find(address) {
                let lost = match self.is_child(id) {
                    true => Outcome::lost_with_engine(),
                    false => Outcome::lost_for_good(),
                };
                self.attempt_ended(id, &lost, at);
            }
        }
        for address in lost.iter().chain(reset) {
            if let Some(id) = self.find(address) {
                self.start_over(id, at);
            }
        }
        for node in self.nodes.iter_mut() {
            node.stop = None;
        }
        self.shorten_waits(at);
        self.epoch = epoch;
        self.kill = None;
        self.ended = None;
        self.recount();
    }

    /// A clock that was set back meanwhile makes no wait for another attempt longer than it was meant to be.
    fn shorten_waits(&mut self, at: Millis) {
        for id in self.nodes.ids() {
            let node = self.node(id);
            let Phase::Retrying { due } = node.phase else { continue };
            let latest = at.after(due.since(node.since));
            if let Some(seat) = self.seat(id).filter(|_| latest < due) {
                self.queue.remove(seat, Some(due));
                self.queue.add_later(seat, latest);
                self.node_mut(id).phase = Phase::Retrying { due: latest };
            }
        }
    }

    fn start_over(&mut self, id: NodeId, at: Millis) {
        let Some(seat) = self.seat(id) else { return };
        self.leave_slot(id);
        self.queue.remove(seat, self.node(id).phase.due());
        let was_ended = matches!(self.node(id).phase, Phase::Ended(_));
        let instances = self.instances(id);
        let was_expanded = self.node(id).instances.is_some();
        let node = self.node_mut(id);
        node.start_over();
        node.since = at;
        if let Origin::Instance { of, .. } = node.origin {
            self.begin(id);
            self.reopen(of, was_ended);
        } else if was_expanded {
            for instance in instances {
                self.leave_slot(instance);
                self.node_mut(instance).phase = Phase::Gone;
            }
            self.queue.close(seat);
        }
    }

    /// An instance runs again, so what it is an instance of has not ended.
    fn reopen(&mut self, parent: NodeId, was_ended: bool) {
        let node = self.node_mut(parent);
        node.open += u32::from(was_ended);
        if matches!(node.phase, Phase::Ended(_)) {
            node.phase = Phase::Open;
            (node.reason, node.message, node.allowed) = (None, None, false);
            node.behind = Behind::default();
        }
    }
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
