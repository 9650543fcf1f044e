//! The rules of a run, written a second time and more simply than the scheduler: a fold over the journal that fails at
//! the first event which breaks one. Numbers are those of `mod.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::play_children::Children;
use super::{Limits, NodeSpec};
use crate::event::{Entry, Event};
use crate::graph::EdgeKind;
use crate::ids::{Address, Millis};
use crate::model::{AttemptEnd, Reason, TaskState};
use crate::plan::ConditionAt;

/// How a task ended in this epoch or an earlier one whose end still counts.
type Ended = (TaskState, bool, Option<Reason>);

pub(super) struct Model<'a> {
    specs: &'a [NodeSpec],
    limits: Limits,
    ended: BTreeMap<Address, Ended>,
    ready: BTreeSet<Address>,
    pub(super) live: BTreeMap<Address, (u32, u32)>,
    /// Attempts that ended and were not yet followed by a retry or the end of their task.
    settling: BTreeMap<Address, (AttemptEnd, Option<Reason>)>,
    due: BTreeMap<Address, Millis>,
    attempts: BTreeMap<Address, u32>,
    /// Starts in this epoch.
    starts: BTreeMap<Address, u32>,
    instances: BTreeMap<Address, Vec<Address>>,
    parents: BTreeMap<Address, Address>,
    pub(super) kill: Option<Reason>,
    stopped: BTreeSet<Address>,
    pub(super) children: Children,
}

fn holds(kind: EdgeKind, &(state, allowed, _): &Ended) -> bool {
    let satisfied_by = match kind {
        EdgeKind::Success if allowed => "completed skipped failed",
        EdgeKind::Success => "completed skipped",
        EdgeKind::Completed => "completed",
        EdgeKind::Failure => "failed killed lost",
        EdgeKind::Done => "completed failed killed lost skipped blocked",
    };
    satisfied_by.split(' ').any(|word| word == state.as_str())
}

fn is_bad(&(state, allowed, _): &Ended) -> bool {
    matches!(state, TaskState::Failed | TaskState::Killed | TaskState::Lost) && !allowed
}

impl<'a> Model<'a> {
    pub(super) fn new(specs: &'a [NodeSpec], limits: Limits) -> Self {
        Model {
            specs,
            limits,
            ended: BTreeMap::new(),
            ready: BTreeSet::new(),
            live: BTreeMap::new(),
            settling: BTreeMap::new(),
            due: BTreeMap::new(),
            attempts: BTreeMap::new(),
            starts: BTreeMap::new(),
            instances: BTreeMap::new(),
            parents: BTreeMap::new(),
            kill: None,
            stopped: BTreeSet::new(),
            children: Children::default(),
        }
    }

    fn root<'b>(&'b self, task: &'b Address) -> &'b Address {
        self.parents.get(task).unwrap_or(task)
    }

    pub(super) fn spec(&self, task: &Address) -> &'a NodeSpec {
        let root = self.root(task);
        self.specs.iter().find(|spec| spec.address == *root).unwrap()
    }

    /// Whether the condition of a task, if there is one, is asked of this task or instance.
    fn asks(&self, task: &Address) -> bool {
        let at = if self.root(task) == task { ConditionAt::Task } else { ConditionAt::Instance };
        self.spec(task).condition == Some(at)
    }

    /// Takes an event in. `yes`: the tasks whose condition was answered with yes, `no`: with no.
    pub(super) fn take(&mut self, entry: &Entry, yes: &BTreeSet<Address>, no: &BTreeSet<Address>) {
        let (_, subject, _) = entry.event.in_words(entry.at);
        if let Some(child) = subject.filter(|task| task.starter().is_some()) {
            return self.children.take(child, &entry.event, &self.live.keys().cloned().collect());
        }
        match &entry.event {
            Event::RunResumed { lost, reset, given_up, .. } => self.resumed(lost, reset, given_up),
            Event::TaskReady { task } => {
                assert!(self.kill.is_none(), "9: `{task}` became ready after a kill");
                let root = self.root(task);
                self.edges_hold(root);
                assert!(root == task || self.ready.contains(root), "3: `{task}` before its parent");
                assert!(root == task || self.asks(task), "`{task}` was ready from the start");
                assert!(!self.asks(task) || yes.contains(task), "3: `{task}` is ready without a yes");
                let stopped = self.stopped.contains(task) || self.stopped.contains(root);
                assert!(!stopped, "9: `{task}` became ready after it was stopped");
                assert!(self.ready.insert(task.clone()), "`{task}` became ready twice");
            }
            Event::TaskExpanded { task, instances } => {
                assert!(self.spec(task).expands && self.ready.contains(task), "`{task}` expanded");
                let addresses: Vec<Address> = instances.iter().map(|one| task.instance(&one.key)).collect();
                for instance in &addresses {
                    self.parents.insert(instance.clone(), task.clone());
                    assert!(!self.ended.contains_key(instance) && !self.live.contains_key(instance));
                }
                self.instances.insert(task.clone(), addresses);
            }
            Event::AttemptStarting { task, attempt, slot } => {
                let slot = slot.unwrap_or_else(|| panic!("1: `{task}` has no slot"));
                self.starts(task, attempt.0, slot, entry.at);
            }
            Event::AttemptRunning { task, attempt, .. } => {
                assert_eq!(self.live[task].0, attempt.0, "4: `{task}` runs another attempt than it started");
            }
            Event::AttemptEnded { task, attempt, outcome } => {
                let (live, _) = self.live.remove(task).expect("4: an attempt ended that is not live");
                assert_eq!(live, attempt.0, "4");
                self.settling.insert(task.clone(), (outcome.end, outcome.reason));
            }
            Event::TaskRetry { task, attempt, due } => self.retries(task, attempt.0, *due, entry.at),
            Event::TaskEnded { task, state, reason, allowed, .. } => {
                self.ends(task, (*state, *allowed, *reason), no);
            }
            Event::KillRequested { task: Some(task), .. } => drop(self.stopped.insert(task.clone())),
            Event::KillRequested { task: None, reason, .. } => {
                let failed = self.ended.values().any(|end| is_bad(end) && end.0 != TaskState::Killed);
                assert!(*reason != Reason::FailFast || failed, "16: no task failed");
                self.kill = Some(*reason);
            }
            Event::RunStarted { .. } | Event::RunEnded { .. } => {}
            Event::ChildStarted { task, .. } => panic!("`{task}` is the address of no child"),
            Event::WorktreeMade { .. }
            | Event::WorktreeEnded { .. }
            | Event::MergeStarted { .. }
            | Event::MergeEnded { .. }
            | Event::ProviderParked { .. } => {
                panic!("the scheduler made an event of the driver's");
            }
        }
    }

    fn edges_hold(&self, task: &Address) {
        for edge in &self.spec(task).needs {
            let from = &self.specs[edge.from.index()].address;
            let ended = self.ended.get(from).unwrap_or_else(|| panic!("3: `{task}` before `{from}` ended"));
            assert!(
                holds(edge.kind, ended),
                "3: `{task}` needs `{from}` {:?}, which is {ended:?}",
                edge.kind
            );
        }
    }

    fn starts(&mut self, task: &Address, attempt: u32, slot: u32, at: Millis) {
        let spec = self.spec(task);
        let root = self.root(task).clone();
        assert!(self.children.are_settled(), "17: `{task}` started before what was lost has ended");
        assert!(self.kill.is_none(), "9: `{task}` started after a kill");
        assert!(!self.stopped.contains(task) && !self.stopped.contains(&root), "9: `{task}` was stopped");
        assert!(self.ready.contains(&root), "3: `{task}` started before it was ready");
        assert!(!self.asks(task) || self.ready.contains(task), "3: `{task}` started before its own yes");
        self.edges_hold(&root);
        assert!(!spec.expands || root != *task, "an expanded task started itself");
        assert!(!self.ended.contains_key(task), "6: `{task}` started after its end");
        assert!(!self.settling.contains_key(task) && !self.live.contains_key(task), "4: `{task}` twice");
        if let Some(due) = self.due.remove(task) {
            assert!(at >= due, "`{task}` started before its retry was due");
        }
        assert!((self.live.len() as u32) < self.limits.concurrency.get(), "1: too many");
        assert!(slot < self.limits.concurrency.get(), "1: slot {slot}");
        assert!(self.live.values().all(|&(_, taken)| taken != slot), "1: slot {slot} is shared");
        let siblings = self.live.keys().filter(|live| self.root(live) == &root && **live != root).count();
        assert!(spec.max_parallel.is_none_or(|max| siblings < max.get() as usize), "2: `{root}`");
        assert!(self.pool_has_room(task), "13: the pool of `{task}` is full");
        let last = self.attempts.insert(task.clone(), attempt).unwrap_or(0);
        assert_eq!(attempt, last + 1, "5: `{task}`");
        let starts = self.starts.entry(task.clone()).or_default();
        *starts += 1;
        // An epoch begins in the middle of a row of retries when the engine died while one was waited for.
        assert!(*starts <= 1 + spec.retry.max, "5: `{task}` started {starts} times");
        self.live.insert(task.clone(), (attempt, slot));
    }

    /// Whether one more attempt of the task's pool may live.
    fn pool_has_room(&self, task: &Address) -> bool {
        let Some(pool) = self.spec(task).pool else { return true };
        let taken = self.live.keys().filter(|live| self.spec(live).pool == Some(pool)).count();
        taken < pool.slots.get() as usize
    }

    fn retries(&mut self, task: &Address, attempt: u32, due: Millis, at: Millis) {
        let spec = self.spec(task);
        let (end, reason) = self.settling.remove(task).expect("a retry of what did not end");
        assert!(matches!(end, AttemptEnd::Failed | AttemptEnd::Killed));
        assert!(!matches!(reason, None | Some(Reason::Cancelled | Reason::FailFast)), "a kill was retried");
        assert_eq!(attempt, self.attempts[task] + 1, "5");
        assert!(due >= at.after(spec.retry.delay / 2) && due <= at.after(spec.retry.max_delay));
        self.due.insert(task.clone(), due);
    }

    fn ends(&mut self, task: &Address, ended: Ended, no: &BTreeSet<Address>) {
        let (state, allowed, reason) = ended;
        let spec = self.spec(task);
        assert!(state.is_terminal(), "6");
        assert!(!self.live.contains_key(task), "4: `{task}` ended while its attempt lives");
        assert_eq!(allowed, state == TaskState::Failed && spec.continue_on_error);
        match state {
            TaskState::Blocked => {
                let broken = spec.needs.iter().any(|edge| {
                    let from = self.ended.get(&self.specs[edge.from.index()].address);
                    from.is_some_and(|from| !holds(edge.kind, from))
                });
                assert!(broken && self.root(task) == task, "`{task}` is blocked by nothing");
            }
            TaskState::Skipped => {
                assert!(no.contains(task) && self.asks(task), "`{task}` is skipped without a no");
                assert!(!self.ready.contains(task), "`{task}` is skipped after a yes");
            }
            TaskState::Completed if !spec.expands || self.root(task) != task => {
                assert_eq!(
                    self.settling[task].0,
                    AttemptEnd::Completed,
                    "`{task}` completed without an attempt"
                );
            }
            TaskState::Killed if !self.settling.contains_key(task) && !self.instances.contains_key(task) => {
                let asked = self.kill.is_some()
                    || self.stopped.contains(task)
                    || self.stopped.contains(self.root(task));
                assert!(asked, "`{task}` was killed by nobody");
            }
            _ => {}
        }
        if let Some(instances) = self.instances.get(task) {
            let all: Vec<&Ended> = instances.iter().map(|one| &self.ended[one]).collect();
            let first = |wanted| all.iter().find(|one| one.0 == wanted && is_bad(one));
            let allowed = || all.iter().find(|one| one.0 == TaskState::Failed);
            let worst = first(TaskState::Failed).or(first(TaskState::Lost)).or(first(TaskState::Killed));
            let worst = worst.or_else(allowed);
            let expected = worst.map_or((TaskState::Completed, None), |one| (one.0, one.2));
            assert_eq!((state, reason), expected, "the aggregate of `{task}`");
        }
        self.settling.remove(task);
        self.due.remove(task);
        assert!(self.ended.insert(task.clone(), ended).is_none(), "6: `{task}` ended twice");
    }

    /// Rule 10, both ways: what ended well stays unless it needs something that runs again, and what didn't runs again.
    fn resumed(&mut self, lost: &[Address], reset: &[Address], given_up: &[Address]) {
        let (children, given_up): (Vec<_>, Vec<_>) = given_up.iter().partition(|one| one.starter().is_some());
        self.children.resumed(&children);
        let given_up: BTreeSet<&Address> = given_up.into_iter().collect();
        let lost: BTreeSet<&Address> = lost.iter().collect();
        let reset: BTreeSet<&Address> = reset.iter().collect();
        let again_lost = |task: &&Address| self.spec(task).retries_lost;
        assert_eq!(lost, self.live.keys().filter(again_lost).collect(), "10: lost is what was live");
        let settling = self.settling.iter().filter(|(_, (end, _))| *end == AttemptEnd::Lost);
        let once = self.live.keys().filter(|task| !again_lost(task)).chain(settling.map(|(task, _)| task));
        assert_eq!(given_up, once.collect(), "14: given up is what was live and must not run twice");
        let mut again: BTreeSet<&Address> = BTreeSet::new();
        // A plan of these tests lists tasks after what they need.
        for spec in self.specs {
            let task = &spec.address;
            let none = Vec::new();
            let instances = self.instances.get(task).unwrap_or(&none);
            let own = |one: &Address| {
                lost.contains(one)
                    || self.ended.get(one).is_some_and(is_bad)
                    || self
                        .settling
                        .get(one)
                        .is_some_and(|(end, _)| !matches!(end, AttemptEnd::Completed | AttemptEnd::Lost))
            };
            if given_up.contains(task) {
                assert!(!reset.contains(task), "14: `{task}` runs twice");
                continue;
            }
            let before = spec.needs.iter().any(|edge| again.contains(&self.specs[edge.from.index()].address));
            let itself = instances.is_empty() && own(task);
            if before || itself || instances.iter().any(own) {
                again.insert(task);
            }
            let begun = self.ended.contains_key(task) || self.ready.contains(task);
            let expected = (before && begun) || (itself && !lost.contains(task));
            assert_eq!(reset.contains(task), expected, "10: `{task}`");
            for one in instances {
                let expected = !before && own(one) && !lost.contains(one);
                assert_eq!(reset.contains(one), expected, "10: `{one}`");
            }
        }
        for task in given_up {
            self.live.remove(task);
            self.settling.insert(task.clone(), (AttemptEnd::Lost, Some(Reason::WorkerRestart)));
        }
        self.open_epoch(&lost, &reset);
    }

    fn open_epoch(&mut self, lost: &BTreeSet<&Address>, reset: &BTreeSet<&Address>) {
        for &task in lost.iter().chain(reset) {
            self.forget(task);
            match self.parents.get(task).cloned() {
                Some(parent) => drop(self.ended.remove(&parent)),
                None => {
                    for instance in self.instances.remove(task).unwrap_or_default() {
                        self.forget(&instance);
                    }
                }
            }
        }
        (self.kill, self.stopped) = (None, BTreeSet::new());
        self.starts.clear();
    }

    fn forget(&mut self, task: &Address) {
        self.ready.remove(task);
        self.ended.remove(task);
        self.live.remove(task);
        self.settling.remove(task);
        self.due.remove(task);
    }

    /// What must be true whenever the scheduler has decided.
    pub(super) fn at_rest(&self) {
        let full = self.live.len() as u32 >= self.limits.concurrency.get();
        for task in self.ready.iter().filter(|_| !full && self.kill.is_none()) {
            let begun = self.live.contains_key(task)
                || self.ended.contains_key(task)
                || self.settling.contains_key(task)
                || self.due.contains_key(task);
            let waits = !begun && !self.spec(task).expands && !self.stopped.contains(task);
            assert!(!waits || !self.pool_has_room(task), "13: `{task}` waits for nothing");
        }
        let failures = self.ended.iter().filter(|(_, ended)| is_bad(ended) && ended.0 != TaskState::Killed);
        for (task, _) in failures {
            let group = self.parents.get(task).filter(|_| self.spec(task).fail_fast);
            assert!(!self.limits.fail_fast || self.kill.is_some(), "9: `{task}` failed under fail-fast");
            assert!(group.is_none_or(|group| self.stopped.contains(group)), "9: the group of `{task}`");
        }
        let instances = self.instances.values().flatten();
        for task in self.specs.iter().map(|spec| &spec.address).chain(instances) {
            let stopped =
                self.kill.is_some() || self.stopped.contains(task) || self.stopped.contains(self.root(task));
            let lives = self.live.contains_key(task)
                || self
                    .instances
                    .get(task)
                    .is_some_and(|all| all.iter().any(|one| self.live.contains_key(one)));
            assert!(!stopped || lives || self.ended.contains_key(task), "9: `{task}` is stopped and waits");
        }
    }

    /// How many tasks there are, instances in place of what became them.
    pub(super) fn tasks(&self) -> usize {
        self.specs.iter().map(|spec| self.instances.get(&spec.address).map_or(1, Vec::len)).sum()
    }

    /// How many attempts live.
    pub(super) fn lives(&self) -> usize {
        self.live.len() + self.children.live()
    }

    pub(super) fn timeout(&self, task: &Address) -> Option<Duration> {
        if task.starter().is_some() { self.children.timeout(task) } else { self.spec(task).timeout }
    }

    pub(super) fn all_ended(&self) -> bool {
        self.specs.iter().all(|spec| self.ended.contains_key(&spec.address))
    }

    pub(super) fn any_bad(&self) -> bool {
        self.specs.iter().any(|spec| is_bad(&self.ended[&spec.address]))
    }
}
