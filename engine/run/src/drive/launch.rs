//! From `Effect::Launch` to a running executor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::event::{Launch, LaunchAgent};
use flow_core::ids::{Attempt, NodeId};
use flow_core::model::{Isolation, Outcome, Reason};
use flow_core::plan::{Output, Task, TaskKind};
use flow_core::schedule::Input;
use flow_core::values::{CommitMessage, Common, Launchable, prepare};

use super::attempt::{AgentCommands, Live, Message, agent_attempt, shell_attempt};
use super::driver::{DriveError, Driver};
use super::judge::Checks;
use crate::execute::{AgentLaunch, ShellLaunch, stop_pair};
use crate::provider::ModelHandle;
use crate::store::SlotFiles;
use crate::watch::Update;
use crate::workspace::{PrivateTree, TreeOrder, WorkspaceError};

/// What starts once `attempt_running` is in the journal.
pub(super) enum Ready {
    Shell(Box<ShellLaunch>, Vec<(String, ShellLaunch)>, Checks),
    Agent(Box<AgentLaunch>, AgentCommands, Checks),
}

/// An attempt on its way to its start: whose it is, and where it works.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) id: NodeId,
    pub(super) attempt: Attempt,
    pub(super) task: &'a Task,
    /// The folder that it begins in.
    pub(super) dir: &'a Path,
    /// Its own tree, if it has one.
    pub(super) tree: Option<&'a PrivateTree>,
}

pub(super) type Refused = Box<Outcome>;

pub(super) fn refused(reason: Reason, message: impl Into<String>) -> Refused {
    Box::new(Outcome::failed(reason, message))
}

impl Driver {
    pub(super) fn launch(&mut self, id: NodeId, attempt: Attempt, slot: u32) {
        let (switch, signal) = stop_pair();
        let message = CommitMessage::default();
        let live = Live { attempt, slot, switch, signal, tree: None, merging: false, message, ready: None };
        self.live.insert(id, live);
        match self.plan_task(id).1.isolation {
            Isolation::None | Isolation::Fork => self.prepare(id),
            Isolation::Worktree | Isolation::Copy => self.make_tree(id, attempt),
        }
    }

    fn make_tree(&mut self, id: NodeId, attempt: Attempt) {
        let order = self.tree_order(id, attempt);
        let (trees, sender) = (Arc::clone(&self.trees), self.sender.clone());
        match order {
            Err(outcome) => self.end_now(id, attempt, outcome),
            Ok(order) => {
                tokio::spawn(async move {
                    let order = move || trees.make(&order);
                    let made = match tokio::task::spawn_blocking(order).await {
                        Ok(made) => made.map(Box::new).map_err(|error| Box::new(tree_failure(&error))),
                        Err(error) => Err(refused(
                            Reason::Internal,
                            format!("bug: making the private tree panicked: {error}"),
                        )),
                    };
                    // The loop lives until every attempt has ended, so it hears this.
                    let _ = sender.send(Message::Tree { node: id, attempt, made }).await;
                });
            }
        }
    }

    fn tree_order(&self, id: NodeId, attempt: Attempt) -> Result<TreeOrder, Refused> {
        let (plan_id, task) = self.plan_task(id);
        let scope = self.scope(id, plan_id, attempt);
        let base = match &task.base {
            None => None,
            Some(base) => match base.render(&scope.context(&base.references)) {
                Ok(base) => Some(base),
                Err(error) => return Err(refused(Reason::Expression, format!("`base`: {error}"))),
            },
        };
        Ok(TreeOrder {
            address: self.address(id),
            attempt,
            isolation: task.isolation,
            base: base.filter(|base| base != "head"),
            include: task.preparation.as_ref().map(|found| found.include.clone()).unwrap_or_default(),
            merge: task.merge,
        })
    }

    pub(super) fn tree_made(
        &mut self,
        id: NodeId,
        attempt: Attempt,
        made: Result<Box<PrivateTree>, Refused>,
    ) -> Result<(), DriveError> {
        match made {
            Err(outcome) => self.end_now(id, attempt, outcome),
            Ok(tree) => {
                self.write(vec![flow_core::event::Event::WorktreeMade {
                    task: self.address(id),
                    attempt,
                    path: tree.path().display().to_string(),
                    branch: tree.branch().to_owned(),
                    base: tree.base().to_owned(),
                }])?;
                if let Some(live) = self.live.get_mut(&id) {
                    live.tree = Some(Arc::from(tree));
                }
                self.prepare(id);
            }
        }
        Ok(())
    }

    /// Renders the attempt and asks for `attempt_running`; or ends it.
    fn prepare(&mut self, id: NodeId) {
        let Some(live) = self.live.get(&id) else { return };
        let (attempt, tree) = (live.attempt, live.tree.clone());
        match self.ready(id, attempt, tree.as_deref()) {
            Ok((ready, launch, message)) => {
                if let Ready::Agent(agent, ..) = &ready {
                    self.introduce(&agent.model);
                }
                if let Some(live) = self.live.get_mut(&id) {
                    live.ready = Some(ready);
                    live.message = message;
                }
                self.follow(Input::Running { node: id, attempt, launch: Box::new(launch) });
            }
            Err(outcome) => self.abandon(id, attempt, outcome),
        }
    }

    /// Says once what there is to know of a model, such as that no key is sent to its host.
    fn introduce(&mut self, model: &ModelHandle) {
        if self.known_models.insert(model.name())
            && let Some(note) = model.note()
        {
            self.setup.publisher.publish(Update::Note(format!("model `{}`: {note}", model.name())));
        }
    }

    /// Ends an attempt whose executor never started.
    fn abandon(&mut self, id: NodeId, attempt: Attempt, outcome: Refused) {
        if self.live.get(&id).is_some_and(|live| live.tree.is_some()) {
            self.settle_tree(id, attempt, outcome);
        } else {
            self.end_now(id, attempt, outcome);
        }
    }

    fn ready(
        &self,
        id: NodeId,
        attempt: Attempt,
        tree: Option<&PrivateTree>,
    ) -> Result<(Ready, Launch, CommitMessage), Refused> {
        let (plan_id, task) = self.plan_task(id);
        let launchable = prepare(&self.scope(id, plan_id, attempt), task)?;
        let common = match &launchable {
            Launchable::Shell(shell) => &shell.common,
            Launchable::Agent(agent) => &agent.common,
        };
        write_files(&common.files)?;
        let dir = self.dir(common, tree)?;
        let launch = |agent| Launch {
            kind: task.kind.as_str().to_owned(),
            description: common.description.clone(),
            dir: dir.display().to_string(),
            background: task.background,
            agent,
        };
        let site = Site { id, attempt, task, dir: &dir, tree };
        let checks = self.checks(site, common)?;
        let setup = self.setup_launches(site, common)?;
        match (&launchable, &task.kind) {
            (Launchable::Shell(shell), TaskKind::Shell(_)) => {
                let pairs = checks.pairs.as_ref().map(|pairs| pairs.path.as_path());
                let ready = self.shell_launch(site, shell, pairs)?;
                Ok((Ready::Shell(Box::new(ready), setup, checks), launch(None), common.message.clone()))
            }
            (Launchable::Agent(agent), TaskKind::Agent(agent_task)) => {
                let ready = self.agent_launch(site, agent_task, agent)?;
                let own = self.agent_checks(site, agent_task, agent)?;
                let commands = AgentCommands { setup, checks: own };
                let definition = &self.setup.plan.agents[agent_task.agent];
                let launch = launch(Some(LaunchAgent {
                    id: ready.agent_id.clone(),
                    name: definition.name.clone(),
                    source: definition.source.as_str().to_owned(),
                    path: definition.path.clone(),
                    hash: definition.hash.clone(),
                    version: definition.version.clone(),
                    model: ready.model.name().to_owned(),
                    at_once: ready.model.at_once(),
                    written: ready.model.written().map(|written| {
                        let root = Path::new(&self.setup.facts.root);
                        written.file.strip_prefix(root).unwrap_or(&written.file).display().to_string()
                    }),
                    fork: agent_task.fork.map(|from| self.setup.plan.tasks[from.index()].address.clone()),
                }));
                Ok((Ready::Agent(Box::new(ready), commands, checks), launch, common.message.clone()))
            }
            (Launchable::Shell(_), TaskKind::Agent(_)) | (Launchable::Agent(_), TaskKind::Shell(_)) => {
                Err(refused(Reason::Internal, "bug: an attempt was prepared as another kind than its task's"))
            }
        }
    }

    /// The folder an attempt works in; one that leads out of a private tree is refused.
    fn dir(&self, common: &Common, tree: Option<&PrivateTree>) -> Result<PathBuf, Refused> {
        let base = tree.map_or_else(|| PathBuf::from(&self.setup.facts.root), |tree| tree.dir().to_owned());
        let Some(wanted) = &common.dir else { return Ok(base) };
        let dir = base.join(wanted).canonicalize().map_err(|error| {
            refused(Reason::Spawn, format!("the folder `{wanted}` (`dir`) can't be used: {error}"))
        })?;
        match tree {
            Some(tree) if !dir.starts_with(tree.path()) => {
                Err(refused(Reason::Isolation, format!("`dir: {wanted}` leads out of the task's own tree")))
            }
            Some(_) | None => Ok(dir),
        }
    }

    fn checks(&self, site: Site<'_>, common: &Common) -> Result<Checks, Refused> {
        let Site { id, attempt, task, dir, tree } = site;
        let pairs = match (&task.kind, &task.output) {
            (TaskKind::Shell(shell), Output::Pairs) => {
                Some(self.pairs_file((id, attempt), shell.max_output)?)
            }
            _ => None,
        };
        Ok(Checks {
            pairs,
            artifacts: common.artifacts.clone(),
            output: match &task.kind {
                TaskKind::Shell(_) => task.output.clone(),
                // The agent loop has settled its output already.
                TaskKind::Agent(_) => Output::Text,
            },
            files: task.expect.files.clone(),
            changes: task.expect.changes,
            before: None,
            root: PathBuf::from(&self.setup.facts.root),
            dir: dir.to_path_buf(),
            time: task.timeout.run,
            tree: tree.and(self.live.get(&id).and_then(|live| live.tree.clone())),
            trees: Arc::clone(&self.trees),
            folder: Arc::clone(&self.setup.folder),
            address: self.address(id),
        })
    }

    pub(super) fn tag(&self, id: NodeId, attempt: Attempt) -> String {
        format!("{}/{}.{attempt}", self.setup.folder.id(), self.address(id))
    }

    /// The loop has written `attempt_running`: the executor starts.
    pub(super) fn start(&mut self, id: NodeId) {
        let Some(live) = self.live.get_mut(&id) else { return };
        let (attempt, slot, signal) = (live.attempt, live.slot, live.signal.clone());
        let (ready, sender) = (live.ready.take(), self.sender.clone());
        match ready {
            Some(Ready::Shell(launch, setup, checks)) => {
                if let Some(files) = self.output_files(id, attempt, slot) {
                    let order = (*launch, setup, files);
                    tokio::spawn(shell_attempt((id, attempt), order, checks, signal, sender));
                }
            }
            Some(Ready::Agent(launch, commands, checks)) if commands.is_empty() => {
                tokio::spawn(agent_attempt((id, attempt), *launch, None, checks, signal, sender));
            }
            Some(Ready::Agent(launch, commands, checks)) => {
                if let Some(files) = self.output_files(id, attempt, slot) {
                    let commands = Some((commands, files));
                    tokio::spawn(agent_attempt((id, attempt), *launch, commands, checks, signal, sender));
                }
            }
            None => {}
        }
    }

    /// The output files of a slot; without them the attempt ends.
    fn output_files(&mut self, id: NodeId, attempt: Attempt, slot: u32) -> Option<SlotFiles> {
        match self.slots.open(slot) {
            Ok(files) => Some(files),
            Err(error) => {
                let message = format!("can't open the output files of slot {slot}: {error}");
                self.abandon(id, attempt, refused(Reason::Resource, message));
                None
            }
        }
    }

    /// Ends an attempt of which nothing ever lived.
    pub(super) fn end_now(&mut self, id: NodeId, attempt: Attempt, outcome: Refused) {
        self.live.remove(&id);
        self.follow(Input::Ended { node: id, attempt, outcome });
    }
}

fn write_files(files: &[(PathBuf, String)]) -> Result<(), Refused> {
    for (path, text) in files {
        let written =
            path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, text));
        written.map_err(|error| {
            refused(Reason::Resource, format!("can't write `{}`: {error}", path.display()))
        })?;
    }
    Ok(())
}

/// A worktree that could not be made, as the end of an attempt.
pub(super) fn tree_failure(error: &WorkspaceError) -> Outcome {
    Outcome::failed(error.reason(), error.one_line())
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
