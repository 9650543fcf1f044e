//! One attempt while it lives, and what it tells the loop.

use std::sync::Arc;

use flow_core::ids::{Attempt, TaskId};
use flow_core::model::{Outcome, Reason};
use tokio::sync::mpsc;

use super::judge::Checks;
use super::launch::Ready;
use crate::execute::{AgentLaunch, Progress, ShellLaunch, StopSignal, StopSwitch, run_agent, run_shell};
use crate::store::SlotFiles;
use crate::workspace::Worktree;

/// How many signs of life of one attempt may wait.
const PROGRESS: usize = 64;

/// What attempts tell the loop. The loop can be woken by nothing else but control and time.
pub(super) enum Message {
    /// The private tree was made, or could not be.
    Tree { task: TaskId, attempt: Attempt, made: Result<Box<Worktree>, Box<Outcome>> },
    /// A sign of life.
    Progress { task: TaskId, attempt: Attempt, progress: Progress },
    /// The executor is done and nothing of it lives; `expect.that` and the private tree are still to be settled.
    Executed { task: TaskId, attempt: Attempt, outcome: Box<Outcome> },
    /// The private tree is settled as well.
    Settled { task: TaskId, attempt: Attempt, outcome: Box<Outcome> },
}

/// An attempt that was launched and has not ended.
pub(super) struct Live {
    pub(super) attempt: Attempt,
    pub(super) slot: u32,
    pub(super) switch: StopSwitch,
    pub(super) signal: StopSignal,
    /// The private tree, once made.
    pub(super) tree: Option<Arc<Worktree>>,
    /// What will run once `attempt_running` is written.
    pub(super) ready: Option<Ready>,
}

pub(super) async fn shell_attempt(
    (task, attempt): (TaskId, Attempt),
    launch: ShellLaunch,
    files: SlotFiles,
    checks: Checks,
    stop: StopSignal,
    sender: mpsc::Sender<Message>,
) {
    let run = tokio::spawn(run_shell(launch, files, stop));
    let outcome = caught(run.await);
    let outcome = Box::new(checks.judge(outcome).await);
    // The loop lives until every attempt has ended, so it hears this.
    let _ = sender.send(Message::Executed { task, attempt, outcome }).await;
}

pub(super) async fn agent_attempt(
    (task, attempt): (TaskId, Attempt),
    launch: AgentLaunch,
    checks: Checks,
    stop: StopSignal,
    sender: mpsc::Sender<Message>,
) {
    let (progress, mut signs) = mpsc::channel(PROGRESS);
    let mut run = tokio::spawn(run_agent(launch, stop, progress));
    let outcome = loop {
        tokio::select! {
            biased;
            Some(progress) = signs.recv() => {
                let _ = sender.send(Message::Progress { task, attempt, progress }).await;
            }
            ended = &mut run => break caught(ended),
        }
    };
    let outcome = Box::new(checks.judge(outcome).await);
    let _ = sender.send(Message::Executed { task, attempt, outcome }).await;
}

/// A panic in an executor fails its attempt, not the run.
fn caught(ended: Result<Outcome, tokio::task::JoinError>) -> Outcome {
    ended.unwrap_or_else(|error| {
        Outcome::failed(Reason::Internal, format!("bug: the executor panicked: {error}"))
    })
}
