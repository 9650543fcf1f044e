//! One call of `handle`: from an input to the events and effects that follow from it.

use std::collections::{HashSet, VecDeque};

use super::book::{Book, Node, Phase, is_bad};
use super::retry;
use super::scheduler::{Asked, Engine, Stage};
use super::spec::{Answer, Cancel, Decision, Effect, Input, Limits, Question};
use super::wiring::holds;
use crate::event::{Event, Instance};
use crate::ids::{Address, Attempt, Millis, TaskId};
use crate::model::{AttemptEnd, Outcome, Reason, RunStatus, TaskState};
use crate::text::list_some;

/// What one input leads to.
pub(super) struct Turn<'a> {
    book: &'a mut Book,
    engine: &'a mut Engine,
    limits: Limits,
    now: Millis,
    decision: Decision,
    /// Tasks around which something changed.
    todo: VecDeque<TaskId>,
    /// Failures under fail-fast that nothing was done about yet.
    alarms: VecDeque<Alarm>,
}

enum Alarm {
    Run,
    Group(TaskId),
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
                self.todo.extend((0..self.book.nodes.len()).map(TaskId::at));
            }
            Input::Answered { task, answer } => self.answered(task, answer),
            Input::Running { task, attempt, launch } => self.running(task, attempt, *launch),
            Input::Ended { task, attempt, outcome } => self.ended(task, attempt, outcome),
            Input::Waiting { task, attempt, waiting } => {
                if self.is_live(task, attempt) {
                    match waiting {
                        true => self.engine.clocks.pause(task, self.now),
                        false => self.engine.clocks.go_on(task, self.now),
                    }
                }
            }
            Input::Cancel(Cancel::Gently) => self.stop_run(Reason::Cancelled, false),
            Input::Cancel(Cancel::Now) => self.stop_run(Reason::Cancelled, true),
            Input::StopTask(task, how) => self.stop_task(task, how == Cancel::Now),
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

    fn answered(&mut self, task: TaskId, answer: Result<Answer, String>) {
        let Some(asked) = self.engine.asked.remove(&task) else { return };
        match (asked, answer) {
            (Asked::Condition, Ok(Answer::Yes(true))) => self.make_ready(task),
            (Asked::Condition, Ok(Answer::Yes(false))) => self.end(task, End::skipped()),
            (Asked::Retry, Ok(Answer::Yes(true))) => self.try_again(task),
            (Asked::Retry, Ok(Answer::Yes(false))) => self.end_as_attempt(task),
            (Asked::Expansion, Ok(Answer::Instances(instances))) if are_unique(&instances) => {
                match self.selected(task, instances) {
                    Ok(instances) => {
                        let address = self.book.node(task).address.clone();
                        self.emit(Event::TaskExpanded { task: address, instances });
                        self.todo.push_back(task);
                        self.todo.extend(self.book.instances(task));
                    }
                    Err(message) => self.end(task, End::failed(Reason::Expression, message)),
                }
            }
            (Asked::Condition | Asked::Expansion | Asked::Retry, Err(message)) => {
                self.end(task, End::failed(Reason::Expression, message));
            }
            (Asked::Condition | Asked::Retry, Ok(Answer::Instances(_)))
            | (Asked::Expansion, Ok(Answer::Yes(_) | Answer::Instances(_))) => {
                self.end(
                    task,
                    End::failed(Reason::Internal, "bug: an answer that fits no question".to_owned()),
                );
            }
        }
    }

    /// The instances that take part. It is an error when there are some and the person asked for none of them.
    fn selected(&self, task: TaskId, instances: Vec<Instance>) -> Result<Vec<Instance>, String> {
        let limits = &self.book.spec(task).limits;
        if limits.is_empty() || instances.is_empty() {
            return Ok(instances);
        }
        let address = &self.book.node(task).address;
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

    fn running(&mut self, task: TaskId, attempt: Attempt, launch: crate::event::Launch) {
        let starting = self.is_live(task, attempt)
            && matches!(self.book.node(task).phase, Phase::Live { running: false, .. });
        if !starting {
            return;
        }
        let address = self.book.node(task).address.clone();
        self.emit(Event::AttemptRunning { task: address, attempt, launch });
        if let Some(length) = self.book.spec(task).timeout
            && !self.engine.stopping.contains_key(&task)
        {
            self.engine.clocks.start(task, self.now, length);
        }
    }

    fn ended(&mut self, task: TaskId, attempt: Attempt, outcome: Box<Outcome>) {
        if !self.is_live(task, attempt) {
            return;
        }
        self.engine.clocks.forget(task);
        self.engine.stopping.remove(&task);
        let address = self.book.node(task).address.clone();
        self.emit(Event::AttemptEnded { task: address, attempt, outcome });
        self.todo.push_back(task);
    }

    fn is_live(&self, task: TaskId, attempt: Attempt) -> bool {
        let node = self.book.nodes.get(task.index());
        node.is_some_and(|node| matches!(node.phase, Phase::Live { .. }) && node.attempts == attempt.0)
    }

    /// Decides about every task around which something changed, until nothing changes any more.
    fn settle_all(&mut self) {
        loop {
            while let Some(task) = self.todo.pop_front() {
                self.review(task);
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

    fn review(&mut self, task: TaskId) {
        let node = self.book.node(task);
        match node.phase {
            Phase::Waiting if !self.book.spec(task).selected => self.end(task, End::left_out()),
            Phase::Waiting if node.broken => {
                let message = self.what_blocks(task);
                self.end(task, End { state: TaskState::Blocked, reason: Some(Reason::Upstream), message });
            }
            Phase::Waiting if node.missing > 0 => {}
            Phase::Waiting if self.book.asks(task) => {
                let ahead = self.book.ahead_of(task);
                let cancelled = ahead.cancelled || self.book.kill == Some(Reason::Cancelled);
                let question = Question::Condition { ancestor_failed: ahead.failed, cancelled };
                self.ask(task, Asked::Condition, question);
            }
            Phase::Waiting => self.make_ready(task),
            Phase::Ready if node.parent.is_none() && self.book.spec(task).expands => {
                self.ask(task, Asked::Expansion, Question::Expansion);
            }
            Phase::Settling => self.settle(task),
            Phase::Open if node.open == 0 => {
                let end = self.aggregate(task);
                self.end(task, end);
            }
            Phase::Ready
            | Phase::Live { .. }
            | Phase::Retrying { .. }
            | Phase::Open
            | Phase::Ended(_)
            | Phase::Gone => {}
        }
    }

    fn ask(&mut self, task: TaskId, asked: Asked, question: Question) {
        if self.engine.asked.insert(task, asked) != Some(asked) {
            self.decision.effects.push(Effect::Ask { task, question });
        }
    }

    fn make_ready(&mut self, task: TaskId) {
        let address = self.book.node(task).address.clone();
        self.emit(Event::TaskReady { task: address });
        self.todo.push_back(task);
    }

    /// Decides what follows from an attempt that ended.
    fn settle(&mut self, task: TaskId) {
        if !self.may_retry(task) {
            self.end_as_attempt(task);
        } else if self.book.spec(task).retry.has_condition {
            let attempt = Attempt(self.book.node(task).attempts);
            self.ask(task, Asked::Retry, Question::Retry { attempt });
        } else {
            self.try_again(task);
        }
    }

    fn may_retry(&self, task: TaskId) -> bool {
        let (node, spec) = (self.book.node(task), self.book.spec(task));
        let stopped = self.book.kill.or(node.stop).or(self.book.node(self.book.root(task)).stop);
        let end = node.outcome.as_deref().map_or_else(End::unknown, End::of);
        stopped.is_none()
            && end.state == TaskState::Failed
            && node.tries <= spec.retry.max
            && end.reason.is_some_and(|reason| retry::is_worth_it(&spec.retry, reason))
    }

    fn try_again(&mut self, task: TaskId) {
        let (node, spec) = (self.book.node(task), self.book.spec(task));
        let attempt = Attempt(node.attempts).next();
        let wait = retry::delay(&spec.retry, node.tries, self.limits.seed, &node.address, attempt);
        let event = Event::TaskRetry { task: node.address.clone(), attempt, due: self.now.after(wait) };
        self.emit(event);
        self.book.queue.promote(self.now);
    }

    fn end_as_attempt(&mut self, task: TaskId) {
        let end = self.book.node(task).outcome.as_deref().map_or_else(End::unknown, End::of);
        self.end(task, end);
    }

    /// How a task ended whose instances all have: the worst of them, and of these the first in item order. Failures that are
    /// allowed make of it what one makes of a single task: a failure that is allowed.
    fn aggregate(&self, task: TaskId) -> End {
        let ended = |state: TaskState, counts: bool| {
            let nodes = self.book.instances(task).map(|id| self.book.node(id));
            nodes.filter(move |node| {
                node.phase == Phase::Ended(state) && is_bad(state, node.allowed) == counts
            })
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
                let (count, all) = (ended(state, counts).count(), self.book.instances(task).count());
                End { state, reason: node.reason, message: Some(format!("{count} of {all} {word}")) }
            }
            None => End { state: TaskState::Completed, reason: None, message: None },
        }
    }

    /// Who is to blame that a task can't start: what it needs, or what that was blocked by.
    fn what_blocks(&self, task: TaskId) -> Option<String> {
        let mut needs = self.book.spec(task).needs.iter();
        let (cause, state) = needs.find_map(|edge| {
            let node = self.book.node(edge.from);
            let Phase::Ended(state) = node.phase else { return None };
            (!holds(edge.kind, state, node.allowed)).then_some((node, state))
        })?;
        if state == TaskState::Blocked
            && let Some(message) = &cause.message
        {
            return Some(message.to_string());
        }
        Some(format!("blocked by {} ({})", cause.address, ended_as(cause, state)))
    }

    fn end(&mut self, task: TaskId, end: End) {
        self.engine.asked.remove(&task);
        let root = self.book.root(task);
        let spec = self.book.spec(task);
        let allowed = end.state == TaskState::Failed && spec.continue_on_error;
        let alarming = matches!(end.state, TaskState::Failed | TaskState::Lost) && !allowed;
        if alarming && spec.fail_fast && root != task {
            self.alarms.push_back(Alarm::Group(root));
        }
        if alarming && self.limits.fail_fast {
            self.alarms.push_back(Alarm::Run);
        }
        let End { state, reason, message } = end;
        let address = self.book.node(task).address.clone();
        self.emit(Event::TaskEnded { task: address, state, reason, message, allowed });
        if root == task {
            self.todo.extend(self.book.wiring.dependents(task).iter().map(|dependent| dependent.task));
        } else {
            self.todo.push_back(root);
        }
    }

    fn stop_task(&mut self, task: TaskId, force: bool) {
        let Some(node) = self.book.nodes.get(task.index()) else { return };
        let over = matches!(node.phase, Phase::Ended(_) | Phase::Gone);
        if !over && (force || node.stop.is_none()) {
            self.stop_one(task, Reason::Cancelled, force);
        }
    }

    fn stop_one(&mut self, task: TaskId, reason: Reason, force: bool) {
        let address = Some(self.book.node(task).address.clone());
        self.emit(Event::KillRequested { task: address, reason, force });
        self.halt(task, reason, force);
        for instance in self.book.instances(task) {
            self.halt(instance, reason, force);
        }
    }

    fn stop_run(&mut self, reason: Reason, force: bool) {
        if self.book.kill == Some(reason) && !force {
            return;
        }
        self.emit(Event::KillRequested { task: None, reason, force });
        for task in (0..self.book.nodes.len()).map(TaskId::at) {
            self.halt(task, reason, force);
        }
    }

    /// Ends a task, or orders its attempt to end.
    fn halt(&mut self, task: TaskId, reason: Reason, force: bool) {
        match self.book.node(task).phase {
            Phase::Live { .. } => self.stop_attempt(task, reason, force),
            Phase::Waiting | Phase::Ready | Phase::Retrying { .. } => {
                self.end(task, End { state: TaskState::Killed, reason: Some(reason), message: None });
            }
            Phase::Settling => self.end_as_attempt(task),
            // Its instances are halted one by one, and it ends with the last of them.
            Phase::Open => self.todo.push_back(task),
            Phase::Ended(_) | Phase::Gone => {}
        }
    }

    fn stop_attempt(&mut self, task: TaskId, reason: Reason, force: bool) {
        let before = self.engine.stopping.get(&task).copied();
        if before.is_some_and(|was_forced| was_forced || !force) {
            return;
        }
        self.engine.stopping.insert(task, force);
        self.engine.clocks.forget(task);
        let attempt = Attempt(self.book.node(task).attempts);
        self.decision.effects.push(Effect::Stop { task, attempt, reason, force });
    }

    fn launch(&mut self) {
        while self.book.kill.is_none()
            && self.book.live.len() < self.limits.concurrency.get() as usize
            && let Some(task) = self.book.queue.first()
        {
            let slot = self.book.slots.lowest_free();
            let node = self.book.node(task);
            let attempt = Attempt(node.attempts).next();
            let event = Event::AttemptStarting { task: node.address.clone(), attempt, slot };
            self.emit(event);
            self.decision.effects.push(Effect::Launch { task, attempt, slot });
        }
    }

    fn time_out(&mut self) {
        while let Some(task) = self.engine.clocks.expired(self.now) {
            self.stop_attempt(task, Reason::Timeout, false);
        }
    }

    /// Ends what nothing can wake any more. A compiled plan has no cycle, so this is never seen; without it a defect
    /// would be a run that hangs.
    fn fail_the_stuck(&mut self) {
        let idle = self.book.live.is_empty() && self.book.queue.is_empty() && self.engine.asked.is_empty();
        if !idle || self.book.unfinished == 0 {
            return;
        }
        for task in (0..self.book.nodes.len()).map(TaskId::at) {
            if !matches!(self.book.node(task).phase, Phase::Ended(_) | Phase::Gone) {
                self.end(task, End::failed(Reason::Internal, "bug: nothing can start it".to_owned()));
            }
        }
    }

    fn finish(&mut self) {
        if self.book.unfinished > 0 {
            return;
        }
        self.engine.stage = Stage::Finished;
        let mut plan = self.book.nodes[..self.book.wiring.len()].iter();
        let failed = plan.any(|node| is_bad(node.phase.state(), node.allowed));
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
        let by_person = matches!(reason, Some(Reason::Cancelled | Reason::FailFast));
        let (state, reason) = match outcome.end {
            AttemptEnd::Completed => (TaskState::Completed, None),
            AttemptEnd::Lost => (TaskState::Lost, reason.or(Some(Reason::WorkerRestart))),
            AttemptEnd::Failed | AttemptEnd::Killed if by_person => (TaskState::Killed, reason),
            AttemptEnd::Killed if reason.is_none() => (TaskState::Killed, Some(Reason::Cancelled)),
            // A clock or a limit that stopped an attempt makes a failure of it.
            AttemptEnd::Failed | AttemptEnd::Killed => (TaskState::Failed, reason.or(Some(Reason::Internal))),
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
