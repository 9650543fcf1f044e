//! One attempt while it lives, and what it tells the loop.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flow_core::ids::{Address, Attempt, TaskId};
use flow_core::model::{AttemptEnd, Outcome, Reason};
use flow_core::plan::Output;
use flow_core::text::{format_duration, list_some};
use flow_core::values::settle_output;
use tokio::sync::mpsc;

use super::launch::{Ready, chain};
use super::prepare_tree::prepare_tree;
use crate::execute::{AgentLaunch, Progress, ShellLaunch, StopSignal, StopSwitch, run_agent, run_shell};
use crate::store::{RunFolder, SlotFiles, read_slice};
use crate::workspace::{PrivateTree, Trees};

/// An output larger than this as JSON is a file of the run.
const INLINE_OUTPUT: usize = 64 * 1024;

/// How many signs of life of one attempt may wait.
const PROGRESS: usize = 64;

/// What attempts tell the loop. The loop can be woken by nothing else but control and time.
pub(super) enum Message {
    /// The private tree was made, or could not be.
    Tree { task: TaskId, attempt: Attempt, made: Result<Box<PrivateTree>, Box<Outcome>> },
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
    pub(super) tree: Option<Arc<PrivateTree>>,
    /// Whether its work is on its way home.
    pub(super) merging: bool,
    /// What will run once `attempt_running` is written.
    pub(super) ready: Option<Ready>,
}

/// What must hold of an attempt that says it went well.
pub(super) struct Checks {
    pub(super) output: Output,
    pub(super) files: Vec<String>,
    pub(super) changes: bool,
    pub(super) dir: PathBuf,
    /// `timeout.run`, for the message of an attempt that ran longer.
    pub(super) time: Option<Duration>,
    pub(super) tree: Option<Arc<PrivateTree>>,
    pub(super) trees: Arc<Trees>,
    pub(super) folder: Arc<RunFolder>,
    pub(super) address: Address,
}

pub(super) async fn shell_attempt(
    (task, attempt): (TaskId, Attempt),
    (launch, setup, files): (ShellLaunch, Vec<ShellLaunch>, SlotFiles),
    checks: Checks,
    stop: StopSignal,
    sender: mpsc::Sender<Message>,
) {
    let run = tokio::spawn(async move {
        let files = match prepare_tree(setup, files, &stop).await {
            Ok(files) => files,
            Err(outcome) => return *outcome,
        };
        run_shell(launch, files, stop).await
    });
    let outcome = caught(run.await);
    let outcome = Box::new(checks.judge(outcome).await);
    // The loop lives until every attempt has ended, so it hears this.
    let _ = sender.send(Message::Executed { task, attempt, outcome }).await;
}

pub(super) async fn agent_attempt(
    (task, attempt): (TaskId, Attempt),
    launch: AgentLaunch,
    setup: Option<(Vec<ShellLaunch>, SlotFiles)>,
    checks: Checks,
    stop: StopSignal,
    sender: mpsc::Sender<Message>,
) {
    let (progress, mut signs) = mpsc::channel(PROGRESS);
    let mut run = tokio::spawn(async move {
        if let Some((setup, files)) = setup
            && let Err(outcome) = prepare_tree(setup, files, &stop).await
        {
            return *outcome;
        }
        run_agent(launch, stop, progress).await
    });
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

impl Checks {
    async fn judge(self, mut outcome: Outcome) -> Outcome {
        if let (Some(Reason::Timeout), None, Some(time)) = (outcome.reason, &outcome.message, self.time) {
            outcome.message = Some(format!("ran longer than {} (`timeout`)", format_duration(time)));
        }
        let nothing_to_do = self.output == Output::Text && self.files.is_empty() && !self.changes;
        if outcome.end != AttemptEnd::Completed || nothing_to_do {
            return outcome;
        }
        let judged = tokio::task::spawn_blocking(move || self.judge_now(outcome)).await;
        judged.unwrap_or_else(|error| {
            Outcome::failed(Reason::Internal, format!("bug: a check panicked: {error}"))
        })
    }

    fn judge_now(self, mut outcome: Outcome) -> Outcome {
        match self.settle(&outcome) {
            Ok((value, file)) => {
                outcome.output = value.or(outcome.output.take());
                outcome.output_file = file.or(outcome.output_file.take());
            }
            Err((reason, message)) => return failed(outcome, reason, message),
        }
        match self.expectations() {
            Ok(()) => outcome,
            Err((reason, message)) => failed(outcome, reason, message),
        }
    }

    /// The output in its declared form, inline or as a file.
    fn settle(
        &self,
        outcome: &Outcome,
    ) -> Result<(Option<serde_json::Value>, Option<String>), (Reason, String)> {
        let (false, Some(slice)) = (self.output == Output::Text, &outcome.stdout) else {
            return Ok((None, None));
        };
        let io = |error: std::io::Error| (Reason::Resource, format!("can't keep the output: {error}"));
        let bytes = read_slice(&self.folder, slice, 0..slice.len).map_err(io)?;
        let value = settle_output(&self.output, &String::from_utf8_lossy(&bytes))
            .map_err(|message| (Reason::InvalidOutput, message))?;
        let Some(value) = value else { return Ok((None, None)) };
        if bytes.len() <= INLINE_OUTPUT {
            return Ok((Some(value), None));
        }
        let path = self.folder.make_task(&self.address).map_err(io)?.join("output.json");
        crate::sys::files::write_atomically(&path, value.to_string().as_bytes()).map_err(io)?;
        Ok((None, self.folder.relative(&path)))
    }

    fn expectations(&self) -> Result<(), (Reason, String)> {
        let missing: Vec<&str> =
            self.files.iter().map(String::as_str).filter(|pattern| !exists(&self.dir, pattern)).collect();
        if !missing.is_empty() {
            let message = format!("`expect.files`: nothing matches {}", list_some(missing, 5));
            return Err((Reason::Expectation, message));
        }
        if let (true, Some(tree)) = (self.changes, &self.tree) {
            match self.trees.changed(tree) {
                Ok(true) => {}
                Ok(false) => {
                    let message = "`expect.changes`: the tree is as it was at the start".to_owned();
                    return Err((Reason::Expectation, message));
                }
                Err(error) => return Err((error.reason(), chain(&error))),
            }
        }
        Ok(())
    }
}

fn failed(outcome: Outcome, reason: Reason, message: String) -> Outcome {
    Outcome { end: AttemptEnd::Failed, reason: Some(reason), message: Some(message), ..outcome }
}

/// Whether a path, or anything that a glob matches, exists below a folder.
fn exists(dir: &std::path::Path, pattern: &str) -> bool {
    if !pattern.contains(['*', '?', '[', '{']) {
        return dir.join(pattern).exists();
    }
    let Ok(glob) = globset::GlobBuilder::new(pattern).literal_separator(true).build() else { return false };
    let matcher = glob.compile_matcher();
    let files = ignore::WalkBuilder::new(dir).standard_filters(false).build();
    files
        .filter_map(Result::ok)
        .any(|entry| entry.path().strip_prefix(dir).is_ok_and(|path| matcher.is_match(path)))
}
