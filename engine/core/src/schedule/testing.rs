//! Small plans by name, a rig that plays them step by step, and a random source, for the tests of this folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU32;

use super::book::{Book, Node};
use super::slots::Slots;
use super::{Answer, Decision, Effect, Input, Limits, NodeSpec, Question, Scheduler};
use crate::event::{Entry, Event, Instance, Launch, VERSION};
use crate::graph::{Edge, EdgeKind};
use crate::ids::{Address, Attempt, ChildId, Millis, NodeId, Nodes, RunId, TaskId};
use crate::model::{AttemptEnd, ChildMode, Outcome, Reason};
use crate::plan::{ConditionAt, Kind, OnLost, RetryPolicy};

/// A task in the making; the tasks it needs are named.
pub(super) struct Draft {
    pub(super) spec: NodeSpec,
    needs: Vec<(&'static str, EdgeKind)>,
}

/// A task that needs nothing and has nothing set.
pub(super) fn task(name: &str) -> Draft {
    Draft { spec: bare(name), needs: Vec::new() }
}

pub(super) fn bare(name: &str) -> NodeSpec {
    NodeSpec {
        address: Address::task(name),
        needs: Vec::new(),
        condition: None,
        expands: false,
        max_parallel: None,
        fail_fast: false,
        retry: RetryPolicy { jitter: false, ..RetryPolicy::default() },
        asks_retry: false,
        timeout: None,
        continue_on_error: false,
        selected: true,
        limits: Vec::new(),
        pool: None,
        retries_lost: true,
    }
}

impl Draft {
    pub(super) fn after(self, name: &'static str) -> Self {
        self.needs(name, EdgeKind::Success)
    }

    pub(super) fn needs(mut self, name: &'static str, kind: EdgeKind) -> Self {
        self.needs.push((name, kind));
        self
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut NodeSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    pub(super) fn expands(self) -> Self {
        self.with(|spec| spec.expands = true)
    }

    pub(super) fn asks(self) -> Self {
        self.with(|spec| spec.condition = Some(ConditionAt::Task))
    }

    /// Expands, and asks each instance.
    pub(super) fn asks_each(self) -> Self {
        self.expands().with(|spec| spec.condition = Some(ConditionAt::Instance))
    }

    pub(super) fn allowed(self) -> Self {
        self.with(|spec| spec.continue_on_error = true)
    }

    pub(super) fn retries(self, max: u32) -> Self {
        self.with(|spec| spec.retry.max = max)
    }
}

pub(super) fn specs(drafts: Vec<Draft>) -> Vec<NodeSpec> {
    let ids: BTreeMap<String, TaskId> = drafts
        .iter()
        .enumerate()
        .map(|(at, draft)| (draft.spec.address.to_string(), TaskId::at(at)))
        .collect();
    let edge = |&(name, kind): &(&str, EdgeKind)| Edge { from: ids[name], kind };
    drafts
        .into_iter()
        .map(|draft| NodeSpec { needs: draft.needs.iter().map(edge).collect(), ..draft.spec })
        .collect()
}

pub(super) fn limits(concurrency: u32) -> Limits {
    Limits { concurrency: NonZeroU32::new(concurrency).unwrap(), fail_fast: false, seed: 7 }
}

/// The node of the nth task.
pub(super) fn node(task: u32) -> NodeId {
    NodeId::of_plan(TaskId(task))
}

pub(super) fn done() -> Outcome {
    Outcome::bare(AttemptEnd::Completed, None, None)
}

pub(super) fn broke(reason: Reason) -> Outcome {
    Outcome::bare(AttemptEnd::Failed, Some(reason), None)
}

pub(super) fn killed(reason: Reason) -> Outcome {
    Outcome::bare(AttemptEnd::Killed, Some(reason), None)
}

pub(super) fn launch() -> Launch {
    Launch {
        kind: "local_bash".into(),
        description: "d".into(),
        dir: "/".into(),
        background: false,
        agent: None,
    }
}

pub(super) fn keys(keys: &[&str]) -> Result<Answer, String> {
    let instance = |key: &&str| Instance { key: (*key).to_owned(), item: (*key).into() };
    Ok(Answer::Instances(keys.iter().map(instance).collect()))
}

pub(super) fn run_started(specs: &[NodeSpec]) -> Event {
    Event::RunStarted {
        run: RunId::parse("r").unwrap(),
        plan: "p".into(),
        path: "p.yaml".into(),
        root: "/".into(),
        tasks: specs.iter().map(|spec| spec.address.clone()).collect(),
        edges: Vec::new(),
        concurrency: 1,
        inputs: BTreeMap::new(),
        seed: 7,
        flow: "0".into(),
        branch: None,
    }
}

/// What is written when a node starts a command: that it exists, and that its attempt is ordered.
pub(crate) fn child_started(by: &str, id: &str) -> [Event; 2] {
    let by = Address::from(by);
    let task = by.child(&ChildId::parse(id).unwrap());
    let above = std::iter::successors(by.starter(), |(one, _)| one.starter()).count();
    let started = Event::ChildStarted {
        task: task.clone(),
        by,
        by_agent: "a0".into(),
        call: Some("call_1".into()),
        kind: Kind::Shell,
        mode: ChildMode::Background,
        depth: above as u8 + 1,
        description: "d".into(),
        agent: None,
        timeout_ms: Some(5000),
        on_lost: OnLost::Fail,
    };
    [started, Event::AttemptStarting { task, attempt: Attempt::FIRST, slot: None }]
}

pub(super) fn append(entries: &mut Vec<Entry>, at: Millis, event: Event) {
    entries.push(Entry { v: VERSION, seq: entries.len() as u64, at, event });
}

/// A scheduler, its journal, and what it asked for last.
pub(super) struct Rig {
    specs: Vec<NodeSpec>,
    limits: Limits,
    pub(super) scheduler: Scheduler,
    pub(super) entries: Vec<Entry>,
    pub(super) now: Millis,
    said: String,
}

impl Rig {
    /// A run that has begun.
    pub(super) fn start(drafts: Vec<Draft>, limits: Limits) -> Self {
        Rig::of(specs(drafts), limits)
    }

    /// The same of specs as they are.
    pub(super) fn of(specs: Vec<NodeSpec>, limits: Limits) -> Self {
        let mut rig = Rig {
            scheduler: Scheduler::new(specs.clone(), limits),
            entries: Vec::new(),
            specs,
            limits,
            now: Millis(0),
            said: String::new(),
        };
        append(&mut rig.entries, Millis(0), run_started(&rig.specs));
        rig.input(Input::Start);
        rig
    }

    pub(super) fn id(&self, address: &str) -> NodeId {
        self.scheduler.find(&address.into()).unwrap()
    }

    pub(super) fn input(&mut self, input: Input) -> &mut Self {
        let decision = self.scheduler.handle(self.now, input);
        self.said = self.describe(&decision);
        for event in decision.events {
            append(&mut self.entries, self.now, event);
        }
        self
    }

    /// Lets the live attempt of a node start a command.
    pub(super) fn starts(&mut self, by: &str, id: &str) -> &mut Self {
        for event in child_started(by, id) {
            self.scheduler.apply(&event, self.now);
            append(&mut self.entries, self.now, event);
        }
        self
    }

    /// Lets the live attempt of a task end.
    pub(super) fn end(&mut self, address: &str, outcome: Outcome) -> &mut Self {
        let node = self.id(address);
        let attempt = Attempt(self.scheduler.node(node).attempts);
        self.input(Input::Ended { node, attempt, outcome: Box::new(outcome) })
    }

    pub(super) fn done(&mut self, address: &str) -> &mut Self {
        self.end(address, done())
    }

    pub(super) fn fail(&mut self, address: &str) -> &mut Self {
        self.end(address, broke(Reason::ExitCode))
    }

    pub(super) fn running(&mut self, address: &str) -> &mut Self {
        let node = self.id(address);
        let attempt = Attempt(self.scheduler.node(node).attempts);
        self.input(Input::Running { node, attempt, launch: Box::new(launch()) })
    }

    pub(super) fn waiting(&mut self, address: &str, waiting: bool) -> &mut Self {
        let node = self.id(address);
        let attempt = Attempt(self.scheduler.node(node).attempts);
        self.input(Input::Waiting { node, attempt, waiting })
    }

    pub(super) fn answer(&mut self, address: &str, answer: Result<Answer, String>) -> &mut Self {
        let node = self.id(address);
        self.input(Input::Answered { node, answer })
    }

    pub(super) fn yes(&mut self, address: &str, yes: bool) -> &mut Self {
        self.answer(address, Ok(Answer::Yes(yes)))
    }

    pub(super) fn tick(&mut self, at: u64) -> &mut Self {
        self.now = Millis(at);
        self.input(Input::Tick)
    }

    /// The engine dies and another one goes on from the journal, of which `keep` events are left.
    pub(super) fn crash(&mut self, keep: usize) -> &mut Self {
        self.entries.truncate(keep);
        self.scheduler = Scheduler::replay(self.specs.clone(), self.limits, &self.entries).unwrap();
        let event = self.scheduler.resume();
        self.open(event)
    }

    /// Another engine goes on from the whole journal with this event.
    pub(super) fn resume_with(&mut self, event: Event) -> &mut Self {
        self.scheduler = Scheduler::replay(self.specs.clone(), self.limits, &self.entries).unwrap();
        self.open(event)
    }

    fn open(&mut self, event: Event) -> &mut Self {
        self.scheduler.apply(&event, self.now);
        append(&mut self.entries, self.now, event);
        self.input(Input::Start)
    }

    pub(super) fn resume(&mut self) -> &mut Self {
        self.crash(self.entries.len())
    }

    /// What the last input led to, effects only.
    #[track_caller]
    pub(super) fn says(&mut self, expected: &str) -> &mut Self {
        assert_eq!(self.said, expected);
        self
    }

    /// The states of the named tasks, `allowed` and reasons with them.
    #[track_caller]
    pub(super) fn are(&mut self, expected: &str) -> &mut Self {
        let names = expected.split_whitespace().map(|word| word.split_once('=').unwrap().0);
        let actual: Vec<String> = names.map(|name| format!("{name}={}", self.state(name))).collect();
        assert_eq!(actual.join(" "), expected.split_whitespace().collect::<Vec<_>>().join(" "));
        self
    }

    fn state(&self, address: &str) -> String {
        let view = self.scheduler.node(self.id(address));
        let mut text = view.state.as_str().to_owned();
        if let Some(reason) = view.reason {
            write!(text, "({})", reason.as_str()).unwrap();
        }
        if view.allowed {
            text.push('!');
        }
        text
    }

    fn describe(&self, decision: &Decision) -> String {
        let name = |node: &NodeId| self.scheduler.node(*node).address.to_string();
        let line = |effect: &Effect| match effect {
            Effect::Ask { node, question } => format!("ask {} {}", name(node), words(question)),
            Effect::Launch { node, attempt, slot } => format!("launch {} {attempt} in {slot}", name(node)),
            Effect::Stop { node, reason, force, .. } => {
                format!("{} {} {}", if *force { "kill" } else { "stop" }, name(node), reason.as_str())
            }
            Effect::Finish { status } => format!("finish {}", status.as_str()),
        };
        decision.effects.iter().map(line).collect::<Vec<_>>().join(", ")
    }
}

fn words(question: &Question) -> &'static str {
    match question {
        Question::Condition { ancestor_failed: false, cancelled: false } => "if",
        Question::Condition { ancestor_failed: true, cancelled: false } => "if (failed)",
        Question::Condition { ancestor_failed: false, cancelled: true } => "if (cancelled)",
        Question::Condition { ancestor_failed: true, cancelled: true } => "if (failed, cancelled)",
        Question::Expansion => "items",
        Question::Retry { .. } => "retry",
    }
}

/// Everything of a book that its events decide.
#[derive(Debug, PartialEq)]
pub(super) struct Snapshot<'a> {
    nodes: &'a Nodes<Node>,
    slots: &'a Slots,
    live: Vec<NodeId>,
    waiting: super::queue::Waiting,
    rest: (usize, u32, Option<Reason>, bool),
}

pub(super) fn snapshot(scheduler: &Scheduler) -> Snapshot<'_> {
    let book: &Book = scheduler.book();
    Snapshot {
        nodes: &book.nodes,
        slots: &book.slots,
        live: book.live.iter().copied().collect(),
        waiting: book.queue.waiting(),
        rest: (book.unfinished, book.epoch, book.kill, book.ended.is_some()),
    }
}

/// splitmix64.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Rng(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// True once in `n`.
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
