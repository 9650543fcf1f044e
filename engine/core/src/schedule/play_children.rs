//! The rules of what agents start, as `play_model.rs` has those of tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::event::Event;
use crate::ids::Address;
use crate::model::{AttemptEnd, Reason, TaskState};

/// Where a child stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stand {
    Ordered,
    Live,
    /// Its attempt ended.
    Settling(AttemptEnd),
    Ended,
}

#[derive(Default)]
pub(super) struct Children {
    stands: BTreeMap<Address, Stand>,
    timeouts: BTreeMap<Address, Duration>,
}

impl Children {
    /// Takes an event of a child in. `tasks`: the tasks and instances with a live attempt.
    pub(super) fn take(&mut self, task: &Address, event: &Event, tasks: &BTreeSet<Address>) {
        let stand = self.stands.get(task).copied();
        match event {
            Event::ChildStarted { by, timeout_ms, .. } => {
                let lives = tasks.contains(by) || self.stands.get(by) == Some(&Stand::Live);
                assert!(lives, "15: `{task}` was started by what does not live");
                assert_eq!(stand, None, "15: `{task}` was started twice");
                self.stands.insert(task.clone(), Stand::Ordered);
                self.timeouts.extend(timeout_ms.map(|ms| (task.clone(), Duration::from_millis(ms))));
            }
            Event::AttemptStarting { slot, .. } => {
                assert_eq!((stand, *slot), (Some(Stand::Ordered), None), "15: `{task}`");
                self.stands.insert(task.clone(), Stand::Live);
            }
            Event::AttemptRunning { .. } => assert_eq!(stand, Some(Stand::Live), "4: `{task}`"),
            Event::AttemptEnded { outcome, .. } => {
                assert_eq!(stand, Some(Stand::Live), "4: `{task}`");
                self.stands.insert(task.clone(), Stand::Settling(outcome.end));
            }
            Event::TaskEnded { state, reason, allowed, .. } => {
                let killed = matches!(reason, Some(Reason::Cancelled | Reason::FailFast));
                let expected = match stand {
                    Some(Stand::Settling(AttemptEnd::Completed)) => TaskState::Completed,
                    Some(Stand::Settling(AttemptEnd::Lost)) => TaskState::Lost,
                    Some(Stand::Settling(_)) if killed => TaskState::Killed,
                    Some(Stand::Settling(_)) => TaskState::Failed,
                    other => panic!("6: `{task}` ended, which was {other:?}"),
                };
                assert_eq!((*state, *allowed), (expected, false), "`{task}`");
                self.stands.insert(task.clone(), Stand::Ended);
            }
            Event::KillRequested { .. } => {}
            other => panic!("`{task}` is no task, and there is {other:?}"),
        }
    }

    /// Rule 17: a resume gives up exactly those that were under way.
    pub(super) fn resumed(&mut self, given_up: &[&Address]) {
        let begun = self.stands.iter_mut().filter(|(_, stand)| matches!(stand, Stand::Ordered | Stand::Live));
        let mut found = Vec::new();
        for (task, stand) in begun {
            *stand = Stand::Settling(AttemptEnd::Lost);
            found.push(task);
        }
        let given_up: BTreeSet<_> = given_up.iter().copied().collect();
        assert_eq!(given_up, found.into_iter().collect(), "17: what was under way is lost");
    }

    /// Those with a live attempt.
    pub(super) fn live(&self) -> usize {
        self.stands.values().filter(|stand| **stand == Stand::Live).count()
    }

    /// Whether every attempt that ended was followed by the end of its child.
    pub(super) fn are_settled(&self) -> bool {
        !self.stands.values().any(|stand| matches!(stand, Stand::Settling(_)))
    }

    pub(super) fn timeout(&self, task: &Address) -> Option<Duration> {
        self.timeouts.get(task).copied()
    }
}
