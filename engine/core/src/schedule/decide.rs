//! One call of `handle`: from an input to the events and effects that follow from it.

use std::collections::{HashSet, VecDeque};

use super::book::{Book, Node, Phase};
use super::origin::Origin;
use super::retry;
use super::scheduler::{Asked, Engine, Stage};
use super::spec::{Answer, Cancel, Decision, Effect, Input, Limits, Question};
use crate::event::{Event, Instance};
use crate::ids::{Address, Attempt, Millis, NodeId};
use crate::model::{Outcome, Reason, RunStatus, TaskState};
use crate::text::list_some;

/// What one input leads to.
pub(super) struct Turn<'a> {
    book: &'a mut Book,
    engine: &'a mut Engine,
    limits: Limits,
    now: Millis,
    decision: Decision,
    /// Nodes around which something changed.
    todo: VecDeque<NodeId>,
    /// Failures under fail-fast that nothing was done about yet.
    alarms: VecDeque<Alarm>,
}

enum Alarm {
    Run,
    Group(NodeId),
}

/// How a task ends.
struct End {
    state: TaskState,
    reason: Option<Reason>,
    message: Option<String>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(book: &'a mut Book, engine: &'a mut Engine, limits: Limits, now: Millis) -> Self {
        let (todo, alarms) = (VecDeque::new(), VecDeque::new());
        Turn { book, engine, limits, now, decision: Decision::default(), todo, alarms }
    }

    pub(super) fn take(mut self, input: Input) -> Decision {
        if self.engine.stage == Stage::Finished {
            return self.decision;
        }
        self.book.queue.promote(self.now);
        match input {
            Input::Start => {
                self.engine.stage = Stage::Started;
                self.todo.extend(self.book.nodes.ids());
            }
            Input::Answered { node, answer } => self.answered(node, answer),
            Input::Running { node, attempt, launch } => self.running(node, attempt, *launch),
            Input::Ended { node, attempt, outcome } => self.ended(node, attempt, outcome),
            Input::Waiting { node, attempt, waiting } => {
                if self.is_live(node, attempt) {
                    match waiting {
                        true => self.engine.clocks.pause(node, self.now),
                        false => self.engine.clocks.go_on(node, self.now),
                    }
                }
            }
            Input::Cancel(Cancel::Gently) => self.stop_run(Reason::Cancelled, false),
            Input::Cancel(Cancel::Now) => self.stop_run(Reason::Cancelled, true),
            Input::StopTask(node, how) => self.stop_task(node, how == Cancel::Now),
            Input::Tick => {}
        }
        self.settle_all();
        if self.engine.stage == Stage::Started {
            self.launch();
            self.time_out();
            self.fail_the_stuck();
            self.finish();
        }
        self.decision
    }

    fn answered(&mut self, id: NodeId, answer: Result<Answer, String>) {
        let Some(asked) = self.engine.asked.remove(&id) else { return };
        match (asked, answer) {
            (Asked::Condition, Ok(Answer::Yes(true))) => self.make_ready(id),
            (Asked::Condition, Ok(Answer::Yes(false))) => self.end(id, End::skipped()),
            (Asked::Retry, Ok(Answer::Yes(true))) => self.try_again(id),
            (Asked::Retry, Ok(Answer::Yes(false))) => self.end_as_attempt(id),
            (Asked::Expansion, Ok(Answer::Instances(instances))) if are_unique(&instances) => {
                match self.selected(id, instances) {
                    Ok(instances) => {
                        let address = self.book.node(id).address.clone();
                        self.emit(Event::TaskExpanded { task: address, instances });
                        self.todo.push_back(id);
                        self.todo.extend(self.book.instances(id));
                    }
                    Err(message) => self.end(id, End::failed(Reason::Expression, message)),
                }
            }
            (Asked::Condition | Asked::Expansion | Asked::Retry, Err(message)) => {
                self.end(id, End::failed(Reason::Expression, message));
            }
            (Asked::Condition | Asked::Retry, Ok(Answer::Instances(_)))
            | (Asked::Expansion, Ok(Answer::Yes(_) | Answer::Instances(_))) => {
                self.end(
                    id,
                    End::failed(Reason::Internal, "bug: an answer that fits no question".to_owned()),
                );
            }
        }
    }

    /// The instances that take part. It is an error when there are some and the person asked for none of them.
    fn selected(&self, id: NodeId, instances: Vec<Instance>) -> Result<Vec<Instance>, String> {
        let limits = &self.book.spec(id).limits;
        if limits.is_empty() || instances.is_empty() {
            return Ok(instances);
        }
        let address = &self.book.node(id).address;
        let all = |instance: &Instance| {
            let own = address.instance(&instance.key);
            limits.iter().all(|limit| limit.lets(&own))
        };
        let (chosen, others): (Vec<_>, Vec<_>) = instances.into_iter().partition(all);
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        let patterns = limits.iter().flat_map(|limit| &limit.patterns).map(String::as_str);
        let there: Vec<Address> = others.iter().map(|other| address.instance(&other.key)).collect();
        Err(format!(
            "no instance fits {}; there are {}",
            list_some(patterns, 3),
            list_some(there.iter().map(Address::as_str), 5)
        ))
    }

    fn running(&mut self, id: NodeId, attempt: Attempt, launch: crate::event::Launch) {
        let starting = self.is_live(id, attempt)
            && matches!(self.book.node(id).phase, Phase::Live { running: false, .. });
        if !starting {
            return;
        }
        let address = self.book.node(id).address.clone();
        self.emit(Event::AttemptRunning { task: address, attempt, launch });
        if let Some(length) = self.book.spec(id).timeout
            && !self.engine.stopping.contains_key(&id)
        {
            self.engine.clocks.start(id, self.now, length);
        }
    }

    fn ended(&mut self, id: NodeId, attempt: Attempt, outcome: Box<Outcome>) {
        if !self.is_live(id, attempt) {
            return;
        }
        self.engine.clocks.forget(id);
        self.engine.stopping.remove(&id);
        let address = self.book.node(id).address.clone();
        self.emit(Event::AttemptEnded { task: address, attempt, outcome });
        self.todo.push_back(id);
    }

    fn is_live(&self, id: NodeId, attempt: Attempt) -> bool {
        let node = self.book.nodes.get(id);
        node.is_some_and(|node| matches!(node.phase, Phase::Live { .. }) && node.attempts == attempt.0)
    }

    /// Decides about every task around which something changed, until nothing changes any more.
    fn settle_all(&mut self) {
        loop {
            while let Some(id) = self.todo.pop_front() {
                self.review(id);
            }
            match self.alarms.pop_front() {
                Some(Alarm::Group(parent)) if self.book.node(parent).stop.is_none() => {
                    self.stop_one(parent, Reason::FailFast, false);
                }
                Some(Alarm::Run) if self.book.kill.is_none() => self.stop_run(Reason::FailFast, false),
                Some(Alarm::Group(_) | Alarm::Run) => {}
                None => return,
            }
        }
    }

    fn review(&mut self, id: NodeId) {
        let node = self.book.node(id);
        match node.phase {
            Phase::Waiting if !self.book.spec(id).selected => self.end(id, End::left_out()),
            Phase::Waiting if node.broken => {
                let message = self.what_blocks(id);
                self.end(id, End { state: TaskState::Blocked, reason: Some(Reason::Upstream), message });
            }
            Phase::Waiting if node.missing > 0 => {}
            Phase::Waiting if self.book.asks(id) => {
                let ahead = self.book.ahead_of(id);
                let cancelled = ahead.cancelled || self.book.kill == Some(Reason::Cancelled);
                let question = Question::Condition { ancestor_failed: ahead.failed, cancelled };
                self.ask(id, Asked::Condition, question);
            }
            Phase::Waiting => self.make_ready(id),
            Phase::Ready if self.book.becomes_many(id) => {
                self.ask(id, Asked::Expansion, Question::Expansion);
            }
            Phase::Settling => self.settle(id),
            Phase::Open if node.open == 0 => {
                let end = self.aggregate(id);
                self.end(id, end);
            }
            Phase::Ready
            | Phase::Live { .. }
            | Phase::Retrying { .. }
            | Phase::Open
            | Phase::Ended(_)
            | Phase::Gone => {}
        }
    }

    fn ask(&mut self, id: NodeId, asked: Asked, question: Question) {
        if self.engine.asked.insert(id, asked) != Some(asked) {
            self.decision.effects.push(Effect::Ask { node: id, question });
        }
    }

    fn make_ready(&mut self, id: NodeId) {
        let address = self.book.node(id).address.clone();
        self.emit(Event::TaskReady { task: address });
        self.todo.push_back(id);
    }

    /// Decides what follows from an attempt that ended.
    fn settle(&mut self, id: NodeId) {
        if !self.may_retry(id) {
            self.end_as_attempt(id);
        } else if self.book.spec(id).asks_retry {
            let attempt = Attempt(self.book.node(id).attempts);
            self.ask(id, Asked::Retry, Question::Retry { attempt });
        } else {
            self.try_again(id);
        }
    }

    fn may_retry(&self, id: NodeId) -> bool {
        let (node, spec) = (self.book.node(id), self.book.spec(id));
        let stopped = self.book.kill.or(self.book.stop_of(id));
        let end = node.outcome.as_deref().map_or_else(End::unknown, End::of);
        stopped.is_none()
            && end.state == TaskState::Failed
            && node.tries <= spec.retry.max
            && end.reason.is_some_and(|reason| retry::is_worth_it(&spec.retry, reason))
    }

    fn try_again(&mut self, id: NodeId) {
        let (node, spec) = (self.book.node(id), self.book.spec(id));
        let attempt = Attempt(node.attempts).next();
        let wait = retry::delay(&spec.retry, node.tries, self.limits.seed, &node.address, attempt);
        let event = Event::TaskRetry { task: node.address.clone(), attempt, due: self.now.after(wait) };
        self.emit(event);
        self.book.queue.promote(self.now);
    }

    fn end_as_attempt(&mut self, id: NodeId) {
        let end = self.book.node(id).outcome.as_deref().map_or_else(End::unknown, End::of);
        self.end(id, end);
    }

    /// How a task ended whose instances all have: the worst of them, and of these the first in item order. Failures that are
    /// allowed make of it what one makes of a single task: a failure that is allowed.
    fn aggregate(&self, id: NodeId) -> End {
        let ended = |state: TaskState, counts: bool| {
            let nodes = self.book.instances(id).map(|id| self.book.node(id));
            nodes
                .filter(move |node| node.phase == Phase::Ended(state) && state.is_bad(node.allowed) == counts)
        };
        let worst_first = [
            (TaskState::Failed, true),
            (TaskState::Lost, true),
            (TaskState::Killed, true),
            (TaskState::Failed, false),
        ];
        let worst = worst_first
            .into_iter()
            .find_map(|(state, counts)| Some((state, counts, ended(state, counts).next()?)));
        match worst {
            Some((state, counts, node)) => {
                let word = if state == TaskState::Killed { "stopped" } else { state.as_str() };
                let (count, all) = (ended(state, counts).count(), self.book.instances(id).count());
                End { state, reason: node.reason, message: Some(format!("{count} of {all} {word}")) }
            }
            None => End { state: TaskState::Completed, reason: None, message: None },
        }
    }

    /// Who is to blame that a task can't start: what it needs, or what that was blocked by.
    fn what_blocks(&self, id: NodeId) -> Option<String> {
        let mut needs = self.book.spec(id).needs.iter();
        let (cause, state) = needs.find_map(|edge| {
            let node = self.book.node(NodeId::of_plan(edge.from));
            let Phase::Ended(state) = node.phase else { return None };
            (!edge.kind.holds(state, node.allowed)).then_some((node, state))
        })?;
        if state == TaskState::Blocked
            && let Some(message) = &cause.message
        {
            return Some(message.to_string());
        }
        Some(format!("blocked by {} ({})", cause.address, ended_as(cause, state)))
    }

    fn end(&mut self, id: NodeId, end: End) {
        self.engine.asked.remove(&id);
        let spec = self.book.spec(id);
        let allowed = end.state == TaskState::Failed && spec.continue_on_error;
        let alarming = end.state.is_failure(allowed) && !self.book.is_child(id);
        if let Origin::Instance { of, .. } = self.book.node(id).origin
            && alarming
            && spec.fail_fast
        {
            self.alarms.push_back(Alarm::Group(of));
        }
        if alarming && self.limits.fail_fast {
            self.alarms.push_back(Alarm::Run);
        }
        let End { state, reason, message } = end;
        let address = self.book.node(id).address.clone();
        self.emit(Event::TaskEnded { task: address, state, reason, message, allowed });
        let node = self.book.node(id);
        match node.origin {
            Origin::Plan => {
                let dependents = self.book.wiring.dependents(node.task).iter();
                self.todo.extend(dependents.map(|dependent| NodeId::of_plan(dependent.task)));
            }
            Origin::Instance { of, .. } => self.todo.push_back(of),
            Origin::Child(_) => {}
        }
    }

    fn stop_task(&mut self, id: NodeId, force: bool) {
        let Some(node) = self.book.nodes.get(id) else { return };
        let over = matches!(node.phase, Phase::Ended(_) | Phase::Gone);
        if !over && (force || node.stop.is_none()) {
            self.stop_one(id, Reason::Cancelled, force);
        }
    }

    fn stop_one(&mut self, id: NodeId, reason: Reason, force: bool) {
        let address = Some(self.book.node(id).address.clone());
        self.emit(Event::KillRequested { task: address, reason, force });
        self.halt(id, reason, force);
        for instance in self.book.instances(id) {
            self.halt(instance, reason, force);
        }
    }

    fn stop_run(&mut self, reason: Reason, force: bool) {
        if self.book.kill == Some(reason) && !force {
            return;
        }
        self.emit(Event::KillRequested { task: None, reason, force });
        for id in self.book.nodes.ids() {
            self.halt(id, reason, force);
        }
    }

    /// Ends a task, or orders its attempt to end.
    fn halt(&mut self, id: NodeId, reason: Reason, force: bool) {
        match self.book.node(id).phase {
            Phase::Live { .. } => self.stop_attempt(id, reason, force),
            Phase::Waiting | Phase::Ready | Phase::Retrying { .. } => {
                self.end(id, End { state: TaskState::Killed, reason: Some(reason), message: None });
            }
            Phase::Settling => self.end_as_attempt(id),
            // Its instances are halted one by one, and it ends with the last of them.
            Phase::Open => self.todo.push_back(id),
            Phase::Ended(_) | Phase::Gone => {}
        }
    }

    fn stop_attempt(&mut self, id: NodeId, reason: Reason, force: bool) {
        let before = self.engine.stopping.get(&id).copied();
        if before.is_some_and(|was_forced| was_forced || !force) {
            return;
        }
        self.engine.stopping.insert(id, force);
        self.engine.clocks.forget(id);
        let attempt = Attempt(self.book.node(id).attempts);
        self.decision.effects.push(Effect::Stop { node: id, attempt, reason, force });
    }

    fn launch(&mut self) {
        while self.book.kill.is_none()
            && self.book.slots.taken() < self.limits.concurrency.get() as usize
            && let Some(id) = self.book.queue.first()
        {
            let slot = self.book.slots.lowest_free();
            let node = self.book.node(id);
            let attempt = Attempt(node.attempts).next();
            let event = Event::AttemptStarting { task: node.address.clone(), attempt, slot: Some(slot) };
            self.emit(event);
            self.decision.effects.push(Effect::Launch { node: id, attempt, slot });
        }
    }

    fn time_out(&mut self) {
        while let Some(id) = self.engine.clocks.expired(self.now) {
            self.stop_attempt(id, Reason::Timeout, false);
        }
    }

    /// Ends what nothing can wake any more. A compiled plan has no cycle, so this is never seen; without it a defect
    /// would be a run that hangs.
    fn fail_the_stuck(&mut self) {
        let idle = self.book.live.is_empty() && self.book.queue.is_empty() && self.engine.asked.is_empty();
        if !idle || self.book.unfinished == 0 {
            return;
        }
        for id in self.book.nodes.ids() {
            if !matches!(self.book.node(id).phase, Phase::Ended(_) | Phase::Gone) {
                self.end(id, End::failed(Reason::Internal, "bug: nothing can start it".to_owned()));
            }
        }
    }

    fn finish(&mut self) {
        if !self.book.is_over() {
            return;
        }
        self.engine.stage = Stage::Finished;
        let mut plan = self.book.plan_nodes().map(|id| self.book.node(id));
        let failed = plan.any(|node| node.phase.state().is_bad(node.allowed));
        let status = match self.book.kill {
            Some(Reason::Cancelled) => RunStatus::Killed,
            Some(_) => RunStatus::Failed,
            None if failed => RunStatus::Failed,
            None => RunStatus::Completed,
        };
        self.decision.effects.push(Effect::Finish { status });
    }

    fn emit(&mut self, event: Event) {
        self.book.apply(&event, self.now);
        self.decision.events.push(event);
    }
}

impl End {
    fn skipped() -> Self {
        End { state: TaskState::Skipped, reason: Some(Reason::Condition), message: None }
    }

    fn left_out() -> Self {
        End { state: TaskState::Skipped, reason: Some(Reason::NotSelected), message: None }
    }

    fn failed(reason: Reason, message: String) -> Self {
        End { state: TaskState::Failed, reason: Some(reason), message: Some(message) }
    }

    fn unknown() -> Self {
        End::failed(Reason::Internal, "bug: an attempt ended without an outcome".to_owned())
    }

    /// The end of a task whose last attempt ended like this.
    fn of(outcome: &Outcome) -> Self {
        let reason = outcome.reason;
        let state = outcome.end.task_state(reason);
        let reason = match state {
            TaskState::Completed => None,
            TaskState::Lost => reason.or(Some(Reason::WorkerRestart)),
            TaskState::Killed => reason.or(Some(Reason::Cancelled)),
            TaskState::Failed
            | TaskState::Created
            | TaskState::Starting
            | TaskState::Running
            | TaskState::Skipped
            | TaskState::Blocked => reason.or(Some(Reason::Internal)),
        };
        // No event says of a lost attempt that it ended.
        let message = outcome.message.clone().filter(|_| state == TaskState::Lost);
        End { state, reason, message }
    }
}

/// How a task ended, as short as can be: "exit code 2", "1 of 20 failed", "skipped".
fn ended_as(node: &Node, state: TaskState) -> String {
    let code = node.outcome.as_deref().and_then(|outcome| outcome.exit_code);
    match (node.reason, code, &node.message) {
        _ if matches!(state, TaskState::Completed | TaskState::Skipped) => state.as_str().to_owned(),
        (_, _, Some(message)) if node.instances.is_some() => message.to_string(),
        (Some(Reason::ExitCode), Some(code), _) => format!("exit code {code}"),
        (Some(Reason::Cancelled), ..) => "stopped".to_owned(),
        (Some(reason), ..) => reason.as_str().to_owned(),
        (None, ..) => state.as_str().to_owned(),
    }
}

fn are_unique(instances: &[Instance]) -> bool {
    let mut seen = HashSet::with_capacity(instances.len());
    instances.iter().all(|instance| seen.insert(instance.key.as_str()))
}
