//! Who may start next: longest path to the end first, ties by manifest order, instances in item order at the rank of
//! their parent. A task of a pool stands in the line of that pool, which is passed over while all its slots are taken: it
//! holds up nobody of another line. Time moves a task from `later` to the front; that is the one change no event stands for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::spec::PoolSpec;
use crate::ids::{Millis, NodeId};

/// A node's place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// The task or instance.
    pub(super) node: NodeId,
    /// The plan task that it is, or is an instance of.
    pub(super) root: NodeId,
    /// The longest path from there to the end.
    pub(super) rank: u32,
    /// The pool that an attempt takes a slot of.
    pub(super) pool: Option<PoolSpec>,
}

impl Seat {
    fn is_instance(self) -> bool {
        self.node != self.root
    }

    fn place(self) -> Place {
        (Reverse(self.rank), self.root)
    }
}

/// What the order goes by. All instances of a task share one place.
type Place = (Reverse<u32>, NodeId);

/// Tasks that wait for nothing but a slot, or for a moment.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Those without a pool, then one line a pool.
    lines: Vec<Line>,
    /// Instances of expanded tasks.
    lanes: BTreeMap<NodeId, Lane>,
    /// Tasks that may start from a moment on.
    later: BTreeMap<(Millis, NodeId), Seat>,
}

/// Those that take slots of one pool, or of none.
#[derive(Debug)]
struct Line {
    /// Places of plan tasks that may start, and of expanded tasks of which an instance may.
    ready: BTreeSet<Place>,
    live: u32,
    slots: u32,
}

/// What a queue holds.
#[cfg(test)]
#[derive(Debug, PartialEq)]
pub(super) struct Waiting {
    tasks: BTreeSet<NodeId>,
    /// Live instances of expanded tasks.
    lanes: Vec<(NodeId, u32)>,
    /// Live attempts by line.
    pools: Vec<(usize, u32)>,
}

#[derive(Debug)]
struct Lane {
    waiting: BTreeSet<NodeId>,
    live: u32,
    max_parallel: u32,
}

impl Queue {
    /// Opens the lane of a task that became its instances.
    pub(super) fn open(&mut self, root: NodeId, max_parallel: Option<std::num::NonZeroU32>) {
        let max_parallel = max_parallel.map_or(u32::MAX, std::num::NonZeroU32::get);
        self.lanes.insert(root, Lane { waiting: BTreeSet::new(), live: 0, max_parallel });
    }

    pub(super) fn add(&mut self, seat: Seat) {
        if !seat.is_instance() {
            self.line(seat).ready.insert(seat.place());
        } else if let Some(lane) = self.lanes.get_mut(&seat.root) {
            lane.waiting.insert(seat.node);
            self.line_up(seat);
        }
    }

    /// Adds a task as soon as `due` has come.
    pub(super) fn add_later(&mut self, seat: Seat, due: Millis) {
        self.later.insert((due, seat.node), seat);
    }

    /// Takes a task out, wherever it waits.
    pub(super) fn remove(&mut self, seat: Seat, due: Option<Millis>) {
        if let Some(due) = due {
            self.later.remove(&(due, seat.node));
        }
        if !seat.is_instance() {
            self.line(seat).ready.remove(&seat.place());
        } else if let Some(lane) = self.lanes.get_mut(&seat.root) {
            lane.waiting.remove(&seat.node);
            self.line_up(seat);
        }
    }

    /// Counts an attempt that starts.
    pub(super) fn started(&mut self, seat: Seat) {
        self.count(seat, |live| live.saturating_add(1));
    }

    /// Counts an attempt that ended.
    pub(super) fn ended(&mut self, seat: Seat) {
        self.count(seat, |live| live.saturating_sub(1));
    }

    /// Lets everything in whose moment has come.
    pub(super) fn promote(&mut self, now: Millis) {
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let seat = entry.remove();
            self.add(seat);
        }
    }

    /// The task to start next.
    pub(super) fn first(&self) -> Option<NodeId> {
        let free = self.lines.iter().filter(|line| line.live < line.slots);
        let &(_, root) = free.filter_map(|line| line.ready.first()).min()?;
        match self.lanes.get(&root) {
            Some(lane) => lane.waiting.first().copied(),
            None => Some(root),
        }
    }

    /// The next moment at which `promote` has something to do.
    pub(super) fn next_due(&self) -> Option<Millis> {
        self.later.first_key_value().map(|(&(due, _), _)| due)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.later.is_empty() && self.lines.iter().all(|line| line.ready.is_empty())
    }

    /// Everything that waits here, in id order: for comparing two queues of different moments.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> Waiting {
        let ready = self.lines.iter().flat_map(|line| &line.ready);
        let plain = ready.map(|&(_, root)| root).filter(|root| !self.lanes.contains_key(root));
        let laned = self.lanes.values().flat_map(|lane| lane.waiting.iter().copied());
        let later = self.later.values().map(|seat| seat.node);
        let lanes = self.lanes.iter().map(|(&root, lane)| (root, lane.live)).collect();
        let taken = self.lines.iter().map(|line| line.live).enumerate().filter(|(_, live)| *live > 0);
        Waiting { tasks: plain.chain(laned).chain(later).collect(), lanes, pools: taken.collect() }
    }

    fn line(&mut self, seat: Seat) -> &mut Line {
        let number = seat.pool.map_or(0, |pool| pool.number + 1);
        while self.lines.len() <= number {
            self.lines.push(Line { ready: BTreeSet::new(), live: 0, slots: u32::MAX });
        }
        let line = &mut self.lines[number];
        line.slots = seat.pool.map_or(u32::MAX, |pool| pool.slots.get());
        line
    }

    fn count(&mut self, seat: Seat, change: impl Fn(u32) -> u32) {
        let line = self.line(seat);
        line.live = change(line.live);
        if let Some(lane) = self.lanes.get_mut(&seat.root).filter(|_| seat.is_instance()) {
            lane.live = change(lane.live);
            self.line_up(seat);
        }
    }

    /// Puts the place of a lane into the order exactly when one of its instances may start.
    fn line_up(&mut self, seat: Seat) {
        let Some(lane) = self.lanes.get(&seat.root) else { return };
        let may_start = lane.live < lane.max_parallel && !lane.waiting.is_empty();
        let ready = &mut self.line(seat).ready;
        if may_start {
            ready.insert(seat.place());
        } else {
            ready.remove(&seat.place());
        }
    }
}

/// Forgets the lane of a task whose instances are no longer any.
impl Queue {
    pub(super) fn close(&mut self, seat: Seat) {
        self.lanes.remove(&seat.root);
        self.line(seat).ready.remove(&seat.place());
        self.later.retain(|_, later| later.root != seat.root || !later.is_instance());
    }
}
