//! The deadlines of live attempts. A clock runs from the moment its attempt runs and stands still while the attempt waits
//! for something that is not its own doing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::ids::{Millis, TaskId};

/// The clocks of attempts that have a `timeout`.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    clocks: BTreeMap<TaskId, Clock>,
    deadlines: BTreeSet<(Millis, TaskId)>,
}

#[derive(Debug)]
enum Clock {
    Runs { deadline: Millis },
    Stands { left: Duration },
}

impl Clocks {
    /// Starts a clock.
    pub(super) fn start(&mut self, task: TaskId, now: Millis, length: Duration) {
        self.forget(task);
        let deadline = now.after(length);
        self.clocks.insert(task, Clock::Runs { deadline });
        self.deadlines.insert((deadline, task));
    }

    /// Stops a clock. Doing so twice changes nothing.
    pub(super) fn pause(&mut self, task: TaskId, now: Millis) {
        if let Some(clock) = self.clocks.get_mut(&task)
            && let Clock::Runs { deadline } = *clock
        {
            self.deadlines.remove(&(deadline, task));
            *clock = Clock::Stands { left: deadline.since(now) };
        }
    }

    /// Lets a clock go on. Doing so twice changes nothing.
    pub(super) fn go_on(&mut self, task: TaskId, now: Millis) {
        if let Some(&Clock::Stands { left }) = self.clocks.get(&task) {
            self.start(task, now, left);
        }
    }

    /// Takes a clock away.
    pub(super) fn forget(&mut self, task: TaskId) {
        if let Some(Clock::Runs { deadline }) = self.clocks.remove(&task) {
            self.deadlines.remove(&(deadline, task));
        }
    }

    /// Takes the next task away whose time is up.
    pub(super) fn expired(&mut self, now: Millis) -> Option<TaskId> {
        let &(deadline, task) = self.deadlines.first()?;
        (deadline <= now).then(|| {
            self.forget(task);
            task
        })
    }

    /// The next moment at which a time is up.
    pub(super) fn next(&self) -> Option<Millis> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }
}
