//! From the end of an executor to the end of an attempt, and from the last attempt to the end of the run.

use std::path::PathBuf;
use std::sync::Arc;

use flow_core::event::Event;
use flow_core::ids::{Attempt, NodeId, TaskId};
use flow_core::model::{AttemptEnd, Merge, Moved, Outcome, Reason, RunStatus, TaskState, WorktreeOutcome};
use flow_core::plan::TaskKind;
use flow_core::report::{EndedBy, Texts, by_hand};
use flow_core::schedule::Input;
use flow_core::text::list_some;
use serde_json::{Map, Value};

use super::attempt::Message;
use super::driver::{DriveError, Driver, RunEnd};
use crate::store::RunFolder;
use crate::watch::Update;
use crate::workspace::{HeldTree, PrivateTree, TreeEnd, WorkspaceError};

/// Where a command says why it failed.
const HINT_LINES: usize = 10;

/// How many names a note lists.
const NAMED: usize = 4;

/// What bash makes of SIGPIPE. It depends on who is faster, so it comes and goes.
const CLOSED_PIPE: i32 = 128 + 13;

/// A tree whose task has ended and that others may look at.
pub(super) struct Held {
    node: NodeId,
    attempt: Attempt,
    tree: Arc<PrivateTree>,
    held: HeldTree,
    /// Whether its branch is there to stay.
    branch: bool,
}

/// What to say of a merge that was refused.
fn conflict(tree: &WorktreeOutcome, folder: &RunFolder) -> Option<String> {
    let merged = tree.merged.as_ref().filter(|merged| merged.is_refused())?;
    let files = merged.conflicts.iter().take(3).map(|conflict| {
        let other = conflict.other.as_ref().map(|other| format!(" by `{other}`")).unwrap_or_default();
        format!("`{}` {}{other}", conflict.path, conflict.kind.in_words())
    });
    let mut message = files.collect::<Vec<_>>().join(", ");
    message.extend(merged.moved.as_ref().map(Moved::in_words));
    let more = merged.conflicts.len().saturating_sub(3);
    if more > 0 {
        message.push_str(&format!(" and {more} more"));
    }
    // What a sibling applied is not committed, so HEAD, where a worktree starts, doesn't have it.
    let siblings =
        merged.how == Merge::Apply && merged.conflicts.iter().any(|conflict| conflict.other.is_some());
    let hint = if siblings {
        "; a task that builds on uncommitted work starts from it with `base: dirty`"
    } else {
        ""
    };
    let patch = tree.patch.as_ref().map(|patch| folder.path().join(patch).display().to_string());
    let next = match (patch.and_then(|path| by_hand(tree, &path)), &tree.branch, &tree.path) {
        (Some(command), _, _) => format!("take it by hand: `{command}`"),
        (None, Some(branch), _) => format!("the work is kept on branch `{branch}`"),
        (None, None, Some(path)) => format!("the work is kept in `{path}`"),
        (None, None, None) => "the work is kept".to_owned(),
    };
    let how = merged.how.as_str();
    Some(format!("`merge: {how}`: {message}; nothing was written; {next}{hint}"))
}

impl Driver {
    /// The executor is done: what the plan expects of it is judged, then its tree is settled.
    pub(super) fn executed(
        &mut self,
        id: NodeId,
        attempt: Attempt,
        outcome: Box<Outcome>,
    ) -> Result<(), DriveError> {
        let outcome = self.judge_denials(id, self.judge_that(id, attempt, self.explain(id, outcome)));
        if self.live.get(&id).is_some_and(|live| live.tree.is_some()) {
            let how = self.plan_task(id).1.merge;
            if outcome.end == AttemptEnd::Completed && how.changes_home() {
                if let Some(live) = self.live.get_mut(&id) {
                    live.merging = true;
                }
                self.write(vec![Event::MergeStarted { task: self.address(id), attempt, how }])?;
            }
            self.settle_tree(id, attempt, outcome);
            return Ok(());
        }
        self.live.remove(&id);
        self.feed(Input::Ended { node: id, attempt, outcome })
    }

    /// Adds what the executor can't know: whose model was refused, and what to do about what people meet again and again.
    fn explain(&self, id: NodeId, mut outcome: Box<Outcome>) -> Box<Outcome> {
        match (outcome.reason, &self.plan_task(id).1.kind) {
            (Some(Reason::Provider), TaskKind::Agent(agent)) => {
                let definition = &self.setup.plan.agents[agent.agent];
                let message = outcome.message.take().unwrap_or_default();
                outcome.message =
                    Some(format!("{message} (agent `{}`, {})", definition.name, definition.path));
            }
            (Some(Reason::ExitCode), TaskKind::Shell(_)) => {
                if outcome.exit_code == Some(CLOSED_PIPE) {
                    outcome.message = Some(
                        "exit code 141: a program wrote into a pipe whose reader had gone, as `head` goes; \
                         let the reader take all of it, or put `|| true` behind"
                            .to_owned(),
                    );
                }
                let said = outcome.stderr.as_ref().map(|slice| self.texts.tail(slice, HINT_LINES));
                if said.is_some_and(|said| said.contains("index.lock")) {
                    outcome.message = Some(
                        "git's index.lock was held: tasks that write to one checkout collide; \
                         give them `isolation: worktree`, or an order with `needs`"
                            .to_owned(),
                    );
                }
            }
            _ => {}
        }
        outcome
    }

    fn judge_that(&self, id: NodeId, attempt: Attempt, mut outcome: Box<Outcome>) -> Box<Outcome> {
        let (plan_id, task) = self.plan_task(id);
        let (Some(that), AttemptEnd::Completed) = (&task.expect.that, outcome.end) else { return outcome };
        let scope = self.scope(id, plan_id, attempt);
        let (reason, message) = match that.truth(&scope.context_of_outcome(that, &outcome)) {
            Ok(true) => return outcome,
            Ok(false) => (Reason::Expectation, format!("`expect.that` does not hold: {}", that.source)),
            Err(error) => (Reason::Expression, format!("`expect.that`: {error}")),
        };
        outcome.end = AttemptEnd::Failed;
        outcome.verdict_unmet = reason == Reason::Expectation;
        outcome.reason = Some(reason);
        outcome.message = Some(message);
        outcome
    }

    /// What the agent was refused is a failure where the plan or the person says so.
    fn judge_denials(&self, id: NodeId, mut outcome: Box<Outcome>) -> Box<Outcome> {
        let expected = self.plan_task(id).1.expect.no_denials;
        if !(expected || self.setup.strict) || outcome.end != AttemptEnd::Completed {
            return outcome;
        }
        let Some(first) = outcome.denials.first() else { return outcome };
        let more = match outcome.denials.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let by = if expected { "`expect.denied`" } else { "`--strict`" };
        outcome.message = Some(format!("refused: {}{more} ({by})", first.line()));
        outcome.end = AttemptEnd::Failed;
        outcome.reason = Some(Reason::PermissionDenied);
        outcome
    }

    /// Takes the private tree down, or keeps it; its work comes home only when the attempt completed.
    pub(super) fn settle_tree(&mut self, id: NodeId, attempt: Attempt, mut outcome: Box<Outcome>) {
        let merge = self.plan_task(id).1.merge;
        let patch = matches!(merge, Merge::Patch | Merge::Apply).then(|| self.patch_file(id, attempt));
        let live = self.live.get(&id);
        let message = live.map(|live| live.message.clone()).unwrap_or_default();
        let Some(tree) = live.and_then(|live| live.tree.clone()) else {
            self.end_now(id, attempt, outcome);
            return;
        };
        let trees = Arc::clone(&self.trees);
        let (sender, folder) = (self.sender.clone(), Arc::clone(&self.setup.folder));
        let completed = outcome.end == AttemptEnd::Completed;
        let hold = !self.plan_task(id).1.dir_readers.is_empty();
        let end = TreeEnd { address: self.address(id), completed, merge, message, patch_to: patch, hold };
        tokio::spawn(async move {
            let kept = tree.path().display().to_string();
            let kept_in = Arc::clone(&folder);
            let finish = move || {
                trees.finish(&tree, &end).map(|(mut settled, held)| {
                    settled.patch = settled.patch.and(end.patch_to.and_then(|path| folder.relative(&path)));
                    (settled, held)
                })
            };
            let mut stays = None;
            match tokio::task::spawn_blocking(finish).await {
                Ok(Ok((settled, held))) => {
                    stays = held;
                    if let Some(message) = conflict(&settled, &kept_in) {
                        outcome.end = AttemptEnd::Failed;
                        outcome.reason = Some(Reason::MergeConflict);
                        outcome.message = Some(message);
                    }
                    outcome.worktree = Some(settled);
                }
                // The work is where it was; a task that went well has not brought it home, so it is no success.
                Ok(Err(error)) => {
                    let mut message = error.one_line();
                    if !matches!(error, WorkspaceError::Kept { .. }) {
                        message.push_str(&format!("; everything is kept in `{kept}`"));
                    }
                    if completed {
                        outcome.end = AttemptEnd::Failed;
                        outcome.reason = Some(error.reason());
                        outcome.message = Some(message);
                    } else {
                        let before =
                            outcome.message.take().map(|before| format!("{before}; ")).unwrap_or_default();
                        outcome.message = Some(format!("{before}{message}"));
                    }
                }
                Err(error) => {
                    outcome.end = AttemptEnd::Failed;
                    outcome.reason = Some(Reason::Internal);
                    outcome.message =
                        Some(format!("bug: settling the worktree panicked: {error}; it is kept in {kept}"));
                }
            }
            let _ = sender.send(Message::Settled { node: id, attempt, outcome, held: stays }).await;
        });
    }

    fn patch_file(&self, id: NodeId, attempt: Attempt) -> PathBuf {
        self.setup.folder.task(&self.address(id)).join(format!("{attempt}.patch"))
    }

    pub(super) fn settled(
        &mut self,
        (id, attempt): (NodeId, Attempt),
        outcome: Box<Outcome>,
        held: Option<HeldTree>,
    ) -> Result<(), DriveError> {
        let live = self.live.remove(&id);
        if live.as_ref().is_some_and(|live| live.merging) {
            let merge = outcome.worktree.as_ref().and_then(|tree| tree.merged.clone());
            self.write(vec![Event::MergeEnded { task: self.address(id), attempt, merge }])?;
        }
        let kept = outcome.worktree.as_ref().is_none_or(|tree| tree.path.is_some() || tree.branch.is_some());
        self.say_what_stays(id, &outcome);
        match (held, live.and_then(|live| live.tree)) {
            (Some(held), Some(tree)) => {
                self.held.push(Held { node: id, attempt, tree, held, branch: kept });
            }
            _ => self.write(vec![Event::WorktreeEnded { task: self.address(id), attempt, kept }])?,
        }
        self.feed(Input::Ended { node: id, attempt, outcome })
    }

    /// What no branch can hold is seen by nobody who looks at branches.
    fn say_what_stays(&self, id: NodeId, outcome: &Outcome) {
        let Some(tree) = outcome.worktree.as_ref().filter(|tree| !tree.undelivered.is_empty()) else {
            return;
        };
        let names = list_some(tree.undelivered.iter().map(String::as_str), NAMED);
        let note = format!(
            "`{}` made what no commit can hold, a repository of its own: {names} stays in `{}`",
            self.address(id),
            tree.path.as_deref().unwrap_or_default()
        );
        self.setup.publisher.publish(Update::Note(note));
    }

    /// Takes the trees down that others could look at; nobody runs any more. One that a reader still needs when the run is
    /// gone on with stays, and so does what can't be taken down.
    fn release_trees(&mut self) -> Result<(), DriveError> {
        for Held { node, attempt, tree, held, branch } in std::mem::take(&mut self.held) {
            let readers = &self.plan_task(node).1.dir_readers;
            let is_done = |reader: &TaskId| {
                let scheduler = &self.setup.scheduler;
                let state = scheduler.node(scheduler.node_of(*reader)).state;
                matches!(state, TaskState::Completed | TaskState::Skipped)
            };
            let needed = !readers.iter().all(is_done);
            let (address, path) = (self.address(node), tree.path().display());
            let kept = self.trees.release(&tree, &held, needed).unwrap_or(true);
            let note = match (needed, kept) {
                (true, _) => Some(format!("the tree of `{address}` stays for those that read it: `{path}`")),
                (false, true) => Some(format!("the tree of `{address}` was changed by others: `{path}`")),
                (false, false) => None,
            };
            if let Some(note) = note {
                self.setup.publisher.publish(Update::Note(note));
            }
            self.write(vec![Event::WorktreeEnded { task: address, attempt, kept: kept || branch }])?;
        }
        Ok(())
    }

    /// The last event, and everything on disk before anybody hears that the run is over.
    pub(super) fn finish(mut self, mut status: RunStatus) -> Result<RunEnd, DriveError> {
        self.release_trees()?;
        let mut message = None;
        let outputs = match self.outputs() {
            Ok(outputs) => outputs,
            Err(error) => {
                if status == RunStatus::Completed {
                    status = RunStatus::Failed;
                    message = Some(error);
                }
                None
            }
        };
        let cause = self.setup.run.cause(status, EndedBy { strict: self.setup.strict, signal: self.signal });
        self.write(vec![Event::RunEnded { status, exit: cause.code(), outputs: outputs.clone(), message }])?;
        self.sync()?;
        Ok(RunEnd { status, cause, outputs, run: self.setup.run })
    }

    fn outputs(&self) -> Result<Option<Value>, String> {
        let plan = &self.setup.plan;
        if plan.outputs.is_empty() {
            return Ok(None);
        }
        let scope = flow_core::values::Scope {
            plan,
            run: &self.setup.run,
            facts: &self.setup.facts,
            texts: &self.texts,
            task: None,
            instance: None,
            attempt: Attempt::FIRST,
            env: None,
            files: None,
        };
        let mut outputs = Map::new();
        for (name, template) in &plan.outputs {
            let value = template.value(&scope.context(&template.references));
            outputs.insert(name.clone(), value.map_err(|error| format!("`outputs.{name}`: {error}"))?);
        }
        Ok(Some(Value::Object(outputs)))
    }
}
