//! From `Effect::Launch` to an attempt that goes on by itself.

use std::sync::Arc;

use flow_core::event::Event;
use flow_core::ids::{Attempt, NodeId};
use flow_core::model::Outcome;
use flow_core::schedule::Input;
use flow_core::values::AttemptPacket;

use super::driver::{DriveError, Driver};
use super::live::{Begun, Live};
use crate::execute::{Announced, Announcement, Message, Said, Sink};
use crate::sys::stop::stop_pair;
use crate::watch::Update;

impl Driver {
    /// Makes of a task what its executor needs, and begins the attempt. Nothing begins of one whose templates fail.
    ///
    /// Its first steps are taken right here: mostly it has announced its launch by then, and need not be woken a second time
    /// to hear that it is written.
    pub(super) fn launch(&mut self, id: NodeId, attempt: Attempt, slot: u32) -> Result<(), DriveError> {
        let (plan_id, task) = self.plan_task(id);
        let scope = self.scope(id, plan_id, attempt);
        let packet = match AttemptPacket::of_task(&scope, task, (self.address(id), slot), &self.shared) {
            Ok(packet) => packet,
            Err(outcome) => {
                self.follow(Input::Ended { node: id, attempt, outcome });
                return Ok(());
            }
        };
        let (switch, signal) = stop_pair();
        let (sink, mut first) = Sink::new(id, attempt, self.sender.clone());
        let message = packet.work.message.clone();
        let executor = self.executors.of(packet.work.kind());
        let mut begun = Begun::new(executor.run(Box::new(packet), sink, signal));
        let ended = begun.first_steps();
        first.close();
        let announced = first.try_recv().ok();
        let begun = Some(begun).filter(|_| ended.is_none());
        let (tree, merging, launching) = (None, false, None);
        self.live.insert(id, Live { attempt, switch, message, tree, merging, begun, launching });
        match (ended, announced) {
            (Some(outcome), _) => self.executed(id, attempt, outcome),
            (None, Some(announcement)) => self.announced(id, attempt, announcement),
            (None, None) => {
                self.go_on(id);
                Ok(())
            }
        }
    }

    /// Writes down what an attempt announces, and lets it go on; with its launch once the scheduler has taken note of it.
    pub(super) fn announced(
        &mut self,
        id: NodeId,
        attempt: Attempt,
        Announcement { what, written }: Announcement,
    ) -> Result<(), DriveError> {
        match what {
            Announced::Tree(tree) => {
                self.write(vec![Event::WorktreeMade {
                    task: self.address(id),
                    attempt,
                    path: tree.path().display().to_string(),
                    branch: tree.branch().map(str::to_owned),
                    base: tree.base().map(str::to_owned),
                }])?;
                if let Some(live) = self.live.get_mut(&id) {
                    live.tree = Some(tree);
                }
                written.go_on();
                self.go_on(id);
            }
            Announced::Launch { launch, note } => {
                if let Some(note) = note.filter(|note| self.notes.insert(note.clone())) {
                    self.setup.publisher.publish(Update::Note(note));
                }
                if let Some(live) = self.live.get_mut(&id) {
                    live.launching = Some(written);
                }
                self.follow(Input::Running { node: id, attempt, launch });
            }
        }
        Ok(())
    }

    /// `attempt_running` is written: what was announced begins.
    pub(super) fn start(&mut self, id: NodeId) {
        if let Some(written) = self.live.get_mut(&id).and_then(|live| live.launching.take()) {
            written.go_on();
        }
        self.go_on(id);
    }

    /// Lets an attempt go on by itself that the loop has held up to here.
    fn go_on(&mut self, id: NodeId) {
        let Some(live) = self.live.get_mut(&id) else { return };
        let Some(begun) = live.begun.take() else { return };
        let (attempt, sender) = (live.attempt, self.sender.clone());
        tokio::spawn(async move {
            let said = Said::Ended(begun.await);
            // The loop lives until every attempt has ended, so it hears this.
            let _ = sender.send(Message { node: id, attempt, said }).await;
        });
    }

    /// The executor is done: what the plan expects of the attempt is judged, then its tree is settled.
    pub(super) fn executed(
        &mut self,
        id: NodeId,
        attempt: Attempt,
        outcome: Box<Outcome>,
    ) -> Result<(), DriveError> {
        let outcome = self.judged(id, attempt, outcome);
        let Some(tree) = self.live.get(&id).and_then(|live| live.tree.as_ref()).map(Arc::clone) else {
            self.live.remove(&id);
            self.follow(Input::Ended { node: id, attempt, outcome });
            return Ok(());
        };
        self.settle_tree(id, attempt, tree, outcome)
    }
}
