//! The deadlines of live attempts. A clock runs from the moment its attempt runs and stands still while the attempt waits
//! for something that is not its own doing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::ids::{Millis, NodeId};

/// The clocks of attempts that have a `timeout`.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    clocks: BTreeMap<NodeId, Clock>,
    deadlines: BTreeSet<(Millis, NodeId)>,
}

#[derive(Debug)]
enum Clock {
    Runs { deadline: Millis },
    Stands { left: Duration },
}

impl Clocks {
    /// Starts a clock.
    pub(super) fn start(&mut self, id: NodeId, now: Millis, length: Duration) {
        self.forget(id);
        let deadline = now.after(length);
        self.clocks.insert(id, Clock::Runs { deadline });
        self.deadlines.insert((deadline, id));
    }

    /// Stops a clock. Doing so twice changes nothing.
    pub(super) fn pause(&mut self, id: NodeId, now: Millis) {
        if let Some(clock) = self.clocks.get_mut(&id)
            && let Clock::Runs { deadline } = *clock
        {
            self.deadlines.remove(&(deadline, id));
            *clock = Clock::Stands { left: deadline.since(now) };
        }
    }

    /// Lets a clock go on. Doing so twice changes nothing.
    pub(super) fn go_on(&mut self, id: NodeId, now: Millis) {
        if let Some(&Clock::Stands { left }) = self.clocks.get(&id) {
            self.start(id, now, left);
        }
    }

    /// Takes a clock away.
    pub(super) fn forget(&mut self, id: NodeId) {
        if let Some(Clock::Runs { deadline }) = self.clocks.remove(&id) {
            self.deadlines.remove(&(deadline, id));
        }
    }

    /// Takes the next task away whose time is up.
    pub(super) fn expired(&mut self, now: Millis) -> Option<NodeId> {
        let &(deadline, id) = self.deadlines.first()?;
        (deadline <= now).then(|| {
            self.forget(id);
            id
        })
    }

    /// The next moment at which a time is up.
    pub(super) fn next(&self) -> Option<Millis> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }
}
