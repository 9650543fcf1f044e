//! One attempt while it lives, and what it tells the loop.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use flow_core::ids::{Attempt, NodeId};
use flow_core::model::{Outcome, Reason};
use flow_core::values::CommitMessage;
use futures_util::FutureExt;
use tokio::sync::mpsc;

use super::judge::Checks;
use super::launch::Ready;
use super::prepare_tree::prepare_tree;
use crate::execute::{
    AgentChecks, AgentLaunch, Progress, ShellLaunch, StopSignal, StopSwitch, run_agent, run_shell,
};
use crate::store::SlotFiles;
use crate::workspace::{HeldTree, PrivateTree};

/// How many signs of life of one attempt may wait.
const PROGRESS: usize = 64;

/// What attempts tell the loop. The loop can be woken by nothing else but control and time.
pub(super) enum Message {
    /// The private tree was made, or could not be.
    Tree { node: NodeId, attempt: Attempt, made: Result<Box<PrivateTree>, Box<Outcome>> },
    /// A sign of life.
    Progress { node: NodeId, attempt: Attempt, progress: Progress },
    /// The executor is done and nothing of it lives; `expect.that` and the private tree are still to be settled.
    Executed { node: NodeId, attempt: Attempt, outcome: Box<Outcome> },
    /// The private tree is settled as well.
    Settled { node: NodeId, attempt: Attempt, outcome: Box<Outcome>, held: Option<HeldTree> },
}

/// An attempt that was launched and has not ended.
pub(super) struct Live {
    pub(super) attempt: Attempt,
    pub(super) slot: u32,
    pub(super) switch: StopSwitch,
    pub(super) signal: StopSignal,
    /// The private tree, once made.
    pub(super) tree: Option<Arc<PrivateTree>>,
    /// Whether its work is on its way home.
    pub(super) merging: bool,
    /// What commits of its work say.
    pub(super) message: CommitMessage,
    /// What will run once `attempt_running` is written.
    pub(super) ready: Option<Ready>,
}

/// The commands of an agent's attempt.
pub(super) struct AgentCommands {
    /// `setup`, each with a line for people.
    pub(super) setup: Vec<(String, ShellLaunch)>,
    /// `checks`, each with a line for people.
    pub(super) checks: Vec<(String, ShellLaunch)>,
}

impl AgentCommands {
    pub(super) fn is_empty(&self) -> bool {
        self.setup.is_empty() && self.checks.is_empty()
    }
}

pub(super) async fn shell_attempt(
    (node, attempt): (NodeId, Attempt),
    (launch, setup, files): (ShellLaunch, Vec<(String, ShellLaunch)>, SlotFiles),
    mut checks: Checks,
    stop: StopSignal,
    sender: mpsc::Sender<Message>,
) {
    let begun = checks.begin().await;
    let run = async move {
        if let Err(outcome) = begun {
            return outcome;
        }
        let files = match prepare_tree(setup, files, &stop).await {
            Ok(files) => files,
            Err(outcome) => return *outcome,
        };
        run_shell(launch, files, stop).await
    };
    let outcome = caught(AssertUnwindSafe(run).catch_unwind().await);
    let outcome = Box::new(checks.judge(outcome).await);
    // The loop lives until every attempt has ended, so it hears this.
    let _ = sender.send(Message::Executed { node, attempt, outcome }).await;
}

pub(super) async fn agent_attempt(
    (node, attempt): (NodeId, Attempt),
    mut launch: AgentLaunch,
    commands: Option<(AgentCommands, SlotFiles)>,
    mut checks: Checks,
    stop: StopSignal,
    sender: mpsc::Sender<Message>,
) {
    let (progress, mut signs) = mpsc::channel(PROGRESS);
    let folder = Arc::clone(&checks.folder);
    let begun = checks.begin().await;
    let run = async move {
        if let Err(outcome) = begun {
            return outcome;
        }
        if let Some((commands, files)) = commands {
            let files = match prepare_tree(commands.setup, files, &stop).await {
                Ok(files) => files,
                Err(outcome) => return *outcome,
            };
            let commands = commands.checks;
            launch.checks = Some(AgentChecks { commands, files, folder, printed: None });
        }
        run_agent(launch, stop, progress).await
    };
    let mut run = Box::pin(AssertUnwindSafe(run).catch_unwind());
    let outcome = loop {
        tokio::select! {
            biased;
            Some(progress) = signs.recv() => {
                let _ = sender.send(Message::Progress { node, attempt, progress }).await;
            }
            ended = &mut run => break caught(ended),
        }
    };
    // What it said in its last breath.
    while let Ok(progress) = signs.try_recv() {
        let _ = sender.send(Message::Progress { node, attempt, progress }).await;
    }
    let outcome = Box::new(checks.judge(outcome).await);
    let _ = sender.send(Message::Executed { node, attempt, outcome }).await;
}

/// A panic in an executor fails its attempt, not the run.
fn caught(ended: Result<Outcome, Box<dyn Any + Send>>) -> Outcome {
    ended.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let said = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let said = said.unwrap_or("it said nothing");
        Outcome::failed(Reason::Internal, format!("bug: the executor panicked: {said}"))
    })
}
