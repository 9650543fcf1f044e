//! Random plans in random worlds. `FLOW_PLAY=20000` plays more of them; a failure names its seed, and `FLOW_PLAY_SEED`
//! plays that one alone.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use super::play_model::Model;
use super::testing::{Rng, append, bare, broke, done, killed, launch, run_started, snapshot};
use super::{
    Answer, Cancel, Decision, Effect, Input, Limits, NodeSpec, Origin, PoolSpec, Question, Scheduler,
};
use crate::event::{Entry, Event, Instance};
use crate::graph::{Edge, EdgeKind};
use crate::ids::{Address, Attempt, ChildId, Millis, NodeId, TaskId};
use crate::model::{AttemptEnd, ChildMode, Outcome, Reason, RunStatus};
use crate::plan::{ConditionAt, Kind, OnLost};

/// Steps that the largest of these plans may take, many times what any needs.
const MAX_STEPS: usize = 20_000;
const MAX_EPOCHS: u32 = 5;

#[test]
fn every_invariant_holds_in_random_worlds() {
    if let Some(seed) = number("FLOW_PLAY_SEED") {
        return drop(World::play(seed));
    }
    for seed in 0..number("FLOW_PLAY").unwrap_or(2_000) {
        if let Err(failure) = catch_unwind(AssertUnwindSafe(|| drop(World::play(seed)))) {
            println!("FLOW_PLAY_SEED={seed}");
            resume_unwind(failure);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test may be told how long to play")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The plan, the limits and the journal of a random run, for tests of what reads journals.
pub(crate) fn played(seed: u64) -> (Vec<NodeSpec>, Limits, Vec<Entry>) {
    World::play(seed)
}

fn random_plan(rng: &mut Rng) -> Vec<NodeSpec> {
    let kinds =
        [EdgeKind::Success, EdgeKind::Success, EdgeKind::Completed, EdgeKind::Failure, EdgeKind::Done];
    let count = 1 + rng.below(9);
    let density = 1 + rng.below(4);
    (0..count)
        .map(|at| {
            let mut spec = bare(&format!("t{at}"));
            for from in 0..at {
                if rng.one_in(1 + density) {
                    spec.needs.push(Edge { from: TaskId::at(from), kind: *rng.pick(&kinds) });
                }
            }
            spec.expands = rng.one_in(3);
            let at = if spec.expands && rng.one_in(2) { ConditionAt::Instance } else { ConditionAt::Task };
            spec.condition = rng.one_in(3).then_some(at);
            spec.max_parallel = NonZeroU32::new(rng.below(4) as u32);
            spec.fail_fast = rng.one_in(3);
            spec.continue_on_error = rng.one_in(4);
            spec.retry.max = *rng.pick(&[0, 0, 1, 2]);
            spec.asks_retry = rng.one_in(4);
            spec.retry.jitter = rng.one_in(2);
            spec.retry.delay = Duration::from_millis(*rng.pick(&[0, 1, 1000]));
            spec.retry.on = rng.one_in(3).then(|| vec![Reason::Timeout, Reason::Signal, Reason::Cancelled]);
            // One pool with one slot, one with two.
            let number = rng.below(6);
            let slots = NonZeroU32::new(number as u32 + 1).filter(|_| number < 2);
            spec.pool = slots.map(|slots| PoolSpec { number, slots });
            spec.retries_lost = !rng.one_in(3);
            spec.timeout = rng.one_in(3).then(|| Duration::from_millis(1 + rng.next() % 3000));
            spec
        })
        .collect()
}

/// A live attempt, as the executor sees it.
#[derive(Default)]
struct Job {
    attempt: u32,
    running: bool,
    waiting: bool,
    /// Time on its clock, up to `since`.
    ran: Duration,
    since: Millis,
    stop: Option<(Reason, bool)>,
}

struct World<'a> {
    rng: Rng,
    now: Millis,
    specs: &'a [NodeSpec],
    limits: Limits,
    scheduler: Scheduler,
    /// Another one that is only told of events.
    mirror: Scheduler,
    entries: Vec<Entry>,
    model: Model<'a>,
    yes: BTreeSet<Address>,
    no: BTreeSet<Address>,
    jobs: BTreeMap<NodeId, Job>,
    asked: Vec<(NodeId, Question)>,
    finished: Option<RunStatus>,
    /// Whether nothing goes wrong any more, so that the last epoch can end well.
    calm: bool,
}

impl World<'_> {
    fn play(seed: u64) -> (Vec<NodeSpec>, Limits, Vec<Entry>) {
        let mut rng = Rng::new(seed);
        let specs = random_plan(&mut rng);
        let concurrency = NonZeroU32::new(1 + rng.below(8) as u32).unwrap();
        let limits = Limits { concurrency, fail_fast: rng.one_in(5), seed };
        let new = || Scheduler::new(specs.clone(), limits);
        let mut world = World {
            rng,
            now: Millis(0),
            specs: &specs,
            limits,
            scheduler: new(),
            mirror: new(),
            entries: Vec::new(),
            model: Model::new(&specs, limits),
            yes: BTreeSet::new(),
            no: BTreeSet::new(),
            jobs: BTreeMap::new(),
            asked: Vec::new(),
            finished: None,
            calm: false,
        };
        append(&mut world.entries, Millis(0), run_started(&specs));
        world.input(Input::Start);
        for step in 0.. {
            assert!(step < MAX_STEPS, "11: no end");
            if let Some(status) = world.finished {
                if !world.goes_on_after(status) {
                    break;
                }
            } else {
                world.step();
            }
        }
        let entries = world.entries;
        (specs, limits, entries)
    }

    fn step(&mut self) {
        let chance = self.rng.below(100);
        if !self.calm && chance < 2 && self.scheduler.epoch() < MAX_EPOCHS {
            let tail = self.rng.below(6).min(self.entries.len() - 1);
            return self.crash(tail);
        }
        if !self.calm && chance == 3 && self.rng.one_in(3) {
            let how = *self.rng.pick(&[Cancel::Gently, Cancel::Gently, Cancel::Now]);
            return self.input(Input::Cancel(how));
        }
        if !self.calm && chance == 4 {
            let node = self.anybody();
            let how = *self.rng.pick(&[Cancel::Gently, Cancel::Gently, Cancel::Now]);
            return self.input(Input::StopTask(node, how));
        }
        if chance == 5 {
            return self.stale();
        }
        if chance < 16 && self.start_child() {
            return;
        }
        match self.rng.below(8) {
            0..3 if !self.asked.is_empty() => self.answer(),
            3..6 if !self.jobs.is_empty() => self.work(),
            6 => self.pass_time(),
            _ if !self.asked.is_empty() => self.answer(),
            _ if !self.jobs.is_empty() => self.work(),
            _ => {
                assert!(self.scheduler.next_wake().is_some(), "11: nothing to do and no end");
                self.pass_time();
            }
        }
    }

    fn pass_time(&mut self) {
        match self.scheduler.next_wake() {
            Some(wake) if self.rng.one_in(2) => self.now = wake,
            _ => self.now.0 += self.rng.next() % 1500,
        }
        self.input(Input::Tick);
    }

    fn answer(&mut self) {
        let at = self.rng.below(self.asked.len());
        let (node, question) = self.asked.swap_remove(at);
        let address = self.scheduler.node(node).address.clone();
        let answer = match question {
            _ if !self.calm && self.rng.one_in(15) => Err("bad".to_owned()),
            Question::Expansion => {
                let keys = (0..self.rng.below(5)).map(|key| key.to_string());
                Ok(Answer::Instances(keys.map(|key| Instance { item: key.as_str().into(), key }).collect()))
            }
            Question::Condition { .. } => {
                let yes = !self.rng.one_in(4);
                (if yes { &mut self.yes } else { &mut self.no }).insert(address);
                Ok(Answer::Yes(yes))
            }
            Question::Retry { .. } => Ok(Answer::Yes(!self.rng.one_in(4))),
        };
        self.input(Input::Answered { node, answer });
    }

    /// Lets a live attempt start something, if there is one that may.
    fn start_child(&mut self) -> bool {
        let may = |(id, job): &(&NodeId, &Job)| job.stop.is_none() && self.depth(**id) < 3;
        let starters: Vec<NodeId> = self.jobs.iter().filter(may).map(|(id, _)| *id).collect();
        if starters.is_empty() {
            return false;
        }
        let starter = *self.rng.pick(&starters);
        let by = self.scheduler.node(starter).address.clone();
        let kind = *self.rng.pick(&[Kind::Agent, Kind::Shell]);
        let id = format!("{}{:016x}", kind.info().letter, self.rng.next());
        let task = by.child(&ChildId::parse(&id).unwrap());
        let events = [
            Event::ChildStarted {
                task: task.clone(),
                by,
                by_agent: "a0".into(),
                call: self.rng.one_in(2).then(|| "call".into()),
                kind,
                mode: *self.rng.pick(&[ChildMode::Foreground, ChildMode::Background]),
                depth: self.depth(starter) + 1,
                description: "d".into(),
                agent: None,
                timeout_ms: self.rng.one_in(3).then(|| 1 + self.rng.next() % 3000),
                on_lost: *self.rng.pick(&[OnLost::Retry, OnLost::Fail]),
            },
            Event::AttemptStarting { task: task.clone(), attempt: Attempt::FIRST, slot: None },
        ];
        for event in events {
            self.scheduler.apply(&event, self.now);
            self.record(event);
        }
        let node = self.scheduler.find(&task).unwrap();
        self.jobs.insert(node, Job { attempt: 1, ..Job::default() });
        self.check();
        true
    }

    fn depth(&self, id: NodeId) -> u8 {
        match self.scheduler.node(id).origin {
            Origin::Plan | Origin::Instance { .. } => 0,
            Origin::Child(child) => child.depth,
        }
    }

    /// Lets something happen to a live attempt.
    fn work(&mut self) {
        let ids: Vec<NodeId> = self.jobs.keys().copied().collect();
        let node = *self.rng.pick(&ids);
        let (now, attempt) = (self.now, Attempt(self.jobs[&node].attempt));
        let what = self.rng.below(6);
        let job = self.jobs.get_mut(&node).unwrap();
        if what < 3 && !job.running {
            (job.running, job.since) = (true, now);
            return self.input(Input::Running { node, attempt, launch: Box::new(launch()) });
        }
        if what == 3 && job.running {
            let waiting = !job.waiting;
            if waiting {
                job.ran += now.since(job.since);
            }
            (job.waiting, job.since) = (waiting, now);
            return self.input(Input::Waiting { node, attempt, waiting });
        }
        let stop = job.stop;
        self.jobs.remove(&node);
        let outcome = Box::new(self.outcome(stop));
        self.input(Input::Ended { node, attempt, outcome });
    }

    fn outcome(&mut self, stop: Option<(Reason, bool)>) -> Outcome {
        let reasons = [Reason::ExitCode, Reason::Signal, Reason::Timeout, Reason::Provider, Reason::NoSpace];
        match (stop, self.rng.below(8)) {
            (Some((reason, _)), 0..4) => killed(reason),
            (Some((reason, _)), 4..6) => broke(reason),
            (None, 0..3) if !self.calm => broke(*self.rng.pick(&reasons)),
            (None, 3) if !self.calm && self.rng.one_in(4) => Outcome::bare(AttemptEnd::Lost, None, None),
            (None, 3) if !self.calm && self.rng.one_in(4) => Outcome::bare(AttemptEnd::Killed, None, None),
            (Some(_) | None, _) => done(),
        }
    }

    /// A node that the run has, or one that it doesn't have yet.
    fn anybody(&mut self) -> NodeId {
        NodeId::of_plan(TaskId::at(self.rng.below(self.specs.len() + 4)))
    }

    /// Says something that is no longer, or was never, of interest.
    fn stale(&mut self) {
        let node = self.anybody();
        let asked = self.asked.iter().any(|&(one, _)| one == node);
        let attempt = Attempt(900);
        let inputs = [
            Some(Input::Ended { node, attempt, outcome: Box::new(done()) }),
            Some(Input::Running { node, attempt, launch: Box::new(launch()) }),
            Some(Input::Waiting { node, attempt, waiting: true }),
            Some(Input::Start),
            (!asked).then_some(Input::Answered { node, answer: Ok(Answer::Yes(true)) }),
        ];
        if let Some(input) = self.rng.pick(&inputs).clone() {
            let begins = matches!(input, Input::Start);
            let before = self.entries.len();
            self.input(input);
            // Only the clock may have brought something about.
            let moved = self.entries[before..]
                .iter()
                .any(|entry| !matches!(entry.event, Event::AttemptStarting { .. } | Event::TaskRetry { .. }));
            assert!(begins || !moved, "a stale input had consequences");
        }
    }

    /// The engine dies; the last `tail` events never reached the disk.
    fn crash(&mut self, tail: usize) {
        let keep = (self.entries.len() - tail).max(1);
        self.entries.truncate(keep);
        self.model = Model::new(self.specs, self.limits);
        // What was answered was checked when it was written.
        let mut everything: BTreeSet<Address> = self.specs.iter().map(|spec| spec.address.clone()).collect();
        for entry in &self.entries {
            if let Event::TaskExpanded { task, instances } = &entry.event {
                everything.extend(instances.iter().map(|one| task.instance(&one.key)));
            }
        }
        for entry in &self.entries {
            self.model.take(entry, &everything, &everything);
        }
        self.resume();
    }

    fn resume(&mut self) {
        self.jobs.clear();
        self.asked.clear();
        self.finished = None;
        (self.yes, self.no) = (BTreeSet::new(), BTreeSet::new());
        self.calm = self.scheduler.epoch() + 1 >= MAX_EPOCHS;
        self.scheduler = Scheduler::replay(self.specs.to_vec(), self.limits, &self.entries).unwrap();
        self.mirror = Scheduler::replay(self.specs.to_vec(), self.limits, &self.entries).unwrap();
        let event = self.scheduler.resume();
        self.scheduler.apply(&event, self.now);
        self.record(event);
        self.input(Input::Start);
    }

    fn record(&mut self, event: Event) {
        self.mirror.apply(&event, self.now);
        append(&mut self.entries, self.now, event);
        self.model.take(&self.entries[self.entries.len() - 1], &self.yes, &self.no);
    }

    fn input(&mut self, input: Input) {
        let ended_before = self.finished.is_some();
        let decision = self.scheduler.handle(self.now, input);
        if ended_before {
            assert!(decision.events.is_empty() && decision.effects.is_empty(), "7: after the end");
            return;
        }
        let Decision { events, effects } = decision;
        let starts: Vec<(Address, u32, u32)> = events
            .iter()
            .filter_map(|event| match event {
                Event::AttemptStarting { task, attempt, slot } => Some((task.clone(), attempt.0, (*slot)?)),
                _ => None,
            })
            .collect();
        for event in events {
            self.record(event);
        }
        let launched: Vec<(Address, u32, u32)> =
            effects.into_iter().filter_map(|effect| self.perform(effect)).collect();
        assert_eq!(starts, launched, "an attempt is launched exactly when its event says so");
        self.check();
    }

    fn perform(&mut self, effect: Effect) -> Option<(Address, u32, u32)> {
        assert!(self.finished.is_none(), "7: an effect after the end");
        match effect {
            Effect::Ask { node, question } => self.asked.push((node, question)),
            Effect::Launch { node, attempt, slot } => {
                let job = Job { attempt: attempt.0, ..Job::default() };
                assert!(self.jobs.insert(node, job).is_none(), "4: launched twice");
                return Some((self.scheduler.node(node).address.clone(), attempt.0, slot));
            }
            Effect::Stop { node, attempt, reason, force } => {
                let job = self.jobs.get_mut(&node).expect("a stop of what is not live");
                assert_eq!(job.attempt, attempt.0);
                assert!(job.stop.is_none_or(|(_, forced)| force && !forced), "stopped twice");
                let first = job.stop.map_or(reason, |(first, _)| first);
                job.stop = Some((first, force));
            }
            Effect::Finish { status } => self.finished = Some(status),
        }
        None
    }

    fn check(&mut self) {
        assert_eq!(snapshot(&self.scheduler), snapshot(&self.mirror), "8");
        assert!(self.scheduler.next_wake().is_none_or(|wake| wake > self.now), "12");
        self.model.at_rest();
        assert!(self.model.children.are_settled(), "4");
        assert_eq!(self.model.lives(), self.jobs.len(), "4");
        assert_eq!(self.scheduler.running().count(), self.jobs.len());
        let over = self.model.all_ended() && self.jobs.is_empty();
        assert_eq!(self.finished.is_some(), over, "7, 16");
        for (&node, job) in &self.jobs {
            let address = self.scheduler.node(node).address;
            let running =
                if job.running && !job.waiting { self.now.since(job.since) } else { Duration::ZERO };
            let over = self.model.timeout(address).is_some_and(|timeout| job.ran + running >= timeout);
            let stopped = job.stop.map(|(reason, _)| reason);
            assert!(!over || stopped.is_some() || job.waiting, "`{address}` is past its time");
            assert!(over || stopped != Some(Reason::Timeout), "`{address}` was stopped before its time");
            assert!(self.model.kill.is_none() || stopped.is_some(), "9: `{address}` was not told to stop");
        }
        let counts = self.scheduler.counts();
        let sum =
            counts.waiting + counts.running + counts.completed + counts.failed + counts.allowed_failures;
        assert_eq!(counts.total, self.model.tasks(), "16");
        assert_eq!(counts.total, sum + counts.killed + counts.lost + counts.skipped + counts.blocked);
    }

    /// Checks the end, and says whether the run was resumed after it.
    fn goes_on_after(&mut self, status: RunStatus) -> bool {
        assert!(self.jobs.is_empty(), "7: the end came while something lives");
        let expected = match self.model.kill {
            Some(Reason::Cancelled) => RunStatus::Killed,
            Some(_) => RunStatus::Failed,
            None if self.model.any_bad() => RunStatus::Failed,
            None => RunStatus::Completed,
        };
        assert_eq!(status, expected);
        assert!(self.scheduler.is_finished());
        self.input(Input::Tick);
        self.input(Input::Cancel(Cancel::Now));
        let replayed = Scheduler::replay(self.specs.to_vec(), self.limits, &self.entries).unwrap();
        assert_eq!(snapshot(&self.scheduler), snapshot(&replayed), "8");
        if self.scheduler.epoch() >= MAX_EPOCHS || self.rng.one_in(3) {
            let last = self.entries.iter().rev().find_map(|entry| match &entry.event {
                Event::RunResumed { given_up, .. } => Some(given_up.is_empty()),
                _ => None,
            });
            let in_time = self.specs.iter().all(|spec| spec.timeout.is_none());
            let calm = self.calm && in_time && last.unwrap_or(true);
            assert!(!calm || status == RunStatus::Completed, "a calm epoch ended as {status:?}");
            return false;
        }
        self.now.0 += 1;
        let event = Event::RunEnded { status, exit: 0, outputs: None, message: None };
        self.mirror.apply(&event, self.now);
        append(&mut self.entries, self.now, event);
        let before = self.entries.len();
        self.resume();
        if status == RunStatus::Completed {
            assert_eq!(self.entries.len(), before + 1, "10: a completed run has nothing to do");
            assert_eq!(self.finished, Some(RunStatus::Completed));
            return false;
        }
        true
    }
}
