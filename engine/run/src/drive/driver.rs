//! The loop.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flow_core::event::{Entry, Event};
use flow_core::ids::{Address, Attempt, NodeId, TaskId};
use flow_core::model::{Cause, Command, Reason, RunStatus, Signal};
use flow_core::plan::OnLost;
use flow_core::report::Fold;
use flow_core::schedule::{Answer, Cancel, Effect, Input, Question};
use flow_core::template::Status;
use flow_core::values::{Scope, Shared, instances};
use serde_json::Value;
use tokio::sync::mpsc;

use super::live::Live;
use super::settle::Settler;
use super::setup::RunSetup;
use super::texts::FolderTexts;
use crate::execute::{Executors, Message, Progress, Said};
use crate::sys::stop::StopOrder;
use crate::sys::{clock, signals};
use crate::watch::Update;
use crate::workspace::Trees;

/// How many messages of attempts may wait for the loop.
const WAITING: usize = 1024;

/// Why a run could not be driven to its end. Everything that lived was stopped.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The journal can't be written: nothing may happen that is not in it.
    #[error("can't write the journal `{}`", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// How a run ended.
#[derive(Debug)]
pub struct RunEnd {
    /// The state.
    pub status: RunStatus,
    /// Why, and so with which exit code.
    pub cause: Cause,
    /// The plan's `outputs`.
    pub outputs: Option<Value>,
    /// Everything that happened, folded.
    pub run: Fold,
}

/// A run while it lives.
pub(super) struct Driver {
    pub(super) setup: RunSetup,
    pub(super) texts: FolderTexts,
    pub(super) executors: Executors,
    pub(super) shared: Shared,
    pub(super) live: HashMap<NodeId, Live>,
    pub(super) settler: Settler,
    pub(super) sender: mpsc::Sender<Message>,
    /// What people were told once and need not hear again.
    pub(super) notes: HashSet<String>,
    messages: mpsc::Receiver<Message>,
    inputs: VecDeque<Input>,
    finished: Option<RunStatus>,
    /// The signal that told the run to stop, the last one if several did.
    pub(super) signal: Option<Signal>,
}

impl Driver {
    /// A run whose private trees are `trees`, and whose attempts these executors run.
    pub(super) fn new(setup: RunSetup, trees: Arc<Trees>, executors: Executors) -> Self {
        let (sender, messages) = mpsc::channel(WAITING);
        Driver {
            texts: FolderTexts(Arc::clone(&setup.folder)),
            shared: Shared {
                run: setup.folder.id().clone(),
                settings: Arc::clone(&setup.settings),
                hidden_env: setup.hidden_env.as_slice().into(),
            },
            settler: Settler::new(trees, Arc::clone(&setup.folder)),
            setup,
            executors,
            live: HashMap::new(),
            sender,
            notes: HashSet::new(),
            messages,
            inputs: VecDeque::new(),
            finished: None,
            signal: None,
        }
    }

    /// Drives the run until nothing of it lives any more. How it went is still to be written: `finish`.
    pub(super) async fn drive(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<RunStatus, DriveError> {
        let ended = self.turn_until_finished(commands).await;
        if ended.is_err() {
            self.kill_everything().await;
        }
        ended
    }

    async fn turn_until_finished(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<RunStatus, DriveError> {
        self.feed(Input::Start)?;
        loop {
            if let Some(status) = self.finished {
                return Ok(status);
            }
            let wake = self.setup.scheduler.next_wake().map(|at| at.since(clock::now()));
            tokio::select! {
                biased;
                Some(command) = commands.recv() => self.obey(command)?,
                Some(message) = self.messages.recv() => self.take(message)?,
                settled = self.settler.next() => self.settled(settled)?,
                () = sleep(wake) => self.feed(Input::Tick)?,
            }
        }
    }

    fn obey(&mut self, command: Command) -> Result<(), DriveError> {
        let how = |force| if force { Cancel::Now } else { Cancel::Gently };
        match command {
            Command::StopRun { force, signal } => {
                self.signal = signal.or(self.signal);
                self.feed(Input::Cancel(how(force)))
            }
            // One that the run doesn't have, or no longer, is nobody's to stop.
            Command::StopTask { task, force } => match self.setup.scheduler.find(&task) {
                Some(node) => self.feed(Input::StopTask(node, how(force))),
                None => Ok(()),
            },
            Command::Suspend => self.suspend(),
        }
    }

    fn suspend(&mut self) -> Result<(), DriveError> {
        self.pause_clocks(true)?;
        // A terminal that can't stop us is no reason to end the run.
        let _ = signals::suspend();
        self.pause_clocks(false)
    }

    fn pause_clocks(&mut self, waiting: bool) -> Result<(), DriveError> {
        let live: Vec<_> = self.live.iter().map(|(node, live)| (*node, live.attempt)).collect();
        live.into_iter().try_for_each(|(node, attempt)| self.feed(Input::Waiting { node, attempt, waiting }))
    }

    /// Hands an input to the scheduler, writes what it decides, then does it; and so on with what comes of that.
    pub(super) fn feed(&mut self, input: Input) -> Result<(), DriveError> {
        self.inputs.push_back(input);
        while let Some(input) = self.inputs.pop_front() {
            let starts = match &input {
                Input::Running { node, .. } => Some(*node),
                _ => None,
            };
            let decision = self.setup.scheduler.handle(clock::now(), input);
            self.write(decision.events)?;
            for effect in decision.effects {
                self.act(effect)?;
            }
            if let Some(node) = starts {
                // Else a machine that dies could forget that it was started, and start it again.
                if self.plan_task(node).1.on_lost == OnLost::Fail {
                    self.sync()?;
                }
                self.start(node);
            }
        }
        Ok(())
    }

    /// Queues an input that follows from what is being done right now.
    pub(super) fn follow(&mut self, input: Input) {
        self.inputs.push_back(input);
    }

    /// Waits until the journal is on disk.
    pub(super) fn sync(&mut self) -> Result<(), DriveError> {
        self.setup
            .journal
            .sync()
            .map_err(|source| DriveError::Journal { path: self.setup.folder.events(), source })
    }

    /// Appends events to the journal, and tells records and watchers.
    pub(super) fn write(&mut self, events: Vec<Event>) -> Result<(), DriveError> {
        if events.is_empty() {
            return Ok(());
        }
        let entries = self
            .setup
            .journal
            .append(clock::now(), events)
            .map_err(|source| DriveError::Journal { path: self.setup.folder.events(), source })?;
        for entry in entries {
            self.note(entry);
        }
        Ok(())
    }

    fn note(&mut self, entry: Entry) {
        self.setup.run.take(&entry);
        self.setup.publisher.publish(Update::Event(Arc::new(entry)));
    }

    fn act(&mut self, effect: Effect) -> Result<(), DriveError> {
        match effect {
            Effect::Ask { node, question } => {
                let answer = self.answer(node, &question);
                self.follow(Input::Answered { node, answer });
            }
            Effect::Launch { node, attempt, slot } => self.launch(node, attempt, slot)?,
            Effect::Stop { node, reason, force, .. } => {
                if let Some(live) = self.live.get(&node) {
                    live.switch.stop(StopOrder { reason, force });
                }
            }
            Effect::Finish { status } => self.finished = Some(status),
        }
        Ok(())
    }

    fn answer(&self, id: NodeId, question: &Question) -> Result<Answer, String> {
        let (plan_id, task) = self.plan_task(id);
        let scope = self.scope(id, plan_id, Attempt::FIRST);
        let truth = |what: &str, template: &flow_core::template::Template, context| {
            template.truth(&context).map(Answer::Yes).map_err(|error| format!("`{what}`: {error}"))
        };
        match question {
            Question::Condition { ancestor_failed, cancelled } => {
                let Some(condition) = &task.condition else { return Ok(Answer::Yes(true)) };
                let mut context = scope.context(&condition.expression.references);
                context.set_status(Status { failed: *ancestor_failed, cancelled: *cancelled });
                truth("if", &condition.expression, context)
            }
            Question::Expansion => match &task.expansion {
                Some(expansion) => instances(expansion, &scope).map(Answer::Instances),
                None => Ok(Answer::Instances(Vec::new())),
            },
            Question::Retry { attempt } => {
                let found = self.setup.run.task(&self.address(id));
                let (Some(condition), Some(found)) = (&task.retry.condition, found) else {
                    return Ok(Answer::Yes(true));
                };
                let scope = self.scope(id, plan_id, *attempt);
                truth("retry.if", condition, scope.context_of_last_attempt(condition, found))
            }
        }
    }

    /// The task of the plan that a node is, or is an instance of.
    pub(super) fn plan_task(&self, id: NodeId) -> (TaskId, &flow_core::plan::Task) {
        let task = self.setup.scheduler.node(id).task;
        (task, &self.setup.plan.tasks[task.index()])
    }

    pub(super) fn address(&self, id: NodeId) -> Address {
        self.setup.scheduler.node(id).address.clone()
    }

    /// What the templates of an attempt see.
    pub(super) fn scope(&self, id: NodeId, plan_id: TaskId, attempt: Attempt) -> Scope<'_> {
        Scope {
            plan: &self.setup.plan,
            run: &self.setup.run,
            facts: &self.setup.facts,
            texts: &self.texts,
            task: Some(plan_id),
            instance: self.setup.scheduler.instance(id),
            attempt,
            env: None,
            files: None,
        }
    }

    fn take(&mut self, Message { node, attempt, said }: Message) -> Result<(), DriveError> {
        match said {
            Said::Announced(announcement) => self.announced(node, attempt, announcement)?,
            Said::Progress(progress) => self.progress(node, attempt, progress)?,
            Said::Ended(outcome) => self.executed(node, attempt, outcome)?,
        }
        while let Some(input) = self.inputs.pop_front() {
            self.feed(input)?;
        }
        Ok(())
    }

    fn progress(&mut self, node: NodeId, attempt: Attempt, progress: Progress) -> Result<(), DriveError> {
        match &progress {
            Progress::Waiting(waiting) => self.feed(Input::Waiting { node, attempt, waiting: *waiting })?,
            Progress::Parked { provider, wait, reason } => {
                let until = clock::now().after(*wait);
                self.write(vec![Event::ProviderParked {
                    provider: provider.clone(),
                    until,
                    reason: reason.clone(),
                }])?;
            }
            Progress::Turn(_)
            | Progress::Text(_)
            | Progress::Tool(..)
            | Progress::Logged(_)
            | Progress::Tokens { .. } => {}
        }
        self.setup.publisher.publish(Update::Progress(self.address(node), progress));
        Ok(())
    }

    /// The journal is gone, so nothing may go on: everything is killed and waited for.
    async fn kill_everything(&mut self) {
        // Of what the loop holds nothing lives yet. A tree that was made for it holds no work; its folder and branch carry
        // the run's name.
        self.live.retain(|_, live| live.begun.is_none());
        for live in self.live.values_mut() {
            live.switch.stop(StopOrder { reason: Reason::Internal, force: true });
            // Nothing of what it announced begins.
            live.launching = None;
        }
        while !self.live.is_empty() {
            tokio::select! {
                Some(Message { node, said, .. }) = self.messages.recv() => match said {
                    Said::Ended(_) => drop(self.live.remove(&node)),
                    Said::Announced(_) | Said::Progress(_) => {}
                },
                settled = self.settler.next() => drop(self.live.remove(&settled.node)),
            }
        }
    }
}

async fn sleep(wake: Option<Duration>) {
    match wake {
        Some(wake) => tokio::time::sleep(wake).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
