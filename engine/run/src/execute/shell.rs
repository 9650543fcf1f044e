//! One shell attempt, from launch to outcome.
//!
//! 1. The attempt ends when its process ends, whoever holds its output open.
//! 2. After `run_shell` returns nothing of the attempt lives, as far as we may signal it.
//! 3. The first stop order decides what the outcome says, whatever the process does afterwards.
//! 4. A short attempt costs a spawn, a wait and a handful of cheap calls; watching begins when it takes longer.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use flow_core::model::{AttemptEnd, Outcome, OutputSlice, Reason};
use flow_core::text::format_duration;
use tokio::time::Instant;

use super::shell_mask::Mask;
use super::shell_pipe::MaskedOutput;
use super::shell_signal::signal_name;
use super::shell_spawn::start;
use super::shell_watch::{PATIENCE, end_remnant, watch};
use super::stop::StopSignal;
use crate::store::{SlotFile, SlotFiles};
use crate::sys::process::sweep;

/// What to run, and how long to bear with it.
#[derive(Clone, Debug)]
pub struct ShellLaunch {
    /// Program and arguments; the script is among them already.
    pub argv: Vec<OsString>,
    /// Its environment.
    pub env: Environment,
    /// The folder it works in.
    pub dir: PathBuf,
    /// How long it may take, where nobody else holds the clock.
    pub limit: Option<Duration>,
    /// How long it may be silent.
    pub idle: Option<Duration>,
    /// Between TERM and KILL.
    pub grace: Duration,
    /// The most that standard output and standard error may hold together.
    pub max_output: u64,
    /// `FLOW_ATTEMPT` of its processes: unique, best `RUN/TASK/ATTEMPT`.
    pub tag: String,
    /// What must not be written to its output files.
    pub mask: Option<Arc<Mask>>,
}

impl ShellLaunch {
    /// `grace` unless the plan says otherwise.
    pub const GRACE: Duration = Duration::from_secs(10);
    /// `max_output` unless the plan says otherwise.
    pub const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

    /// A launch with nothing but the defaults.
    pub fn new(argv: Vec<OsString>, dir: PathBuf, tag: String) -> Self {
        ShellLaunch {
            argv,
            env: Environment::default(),
            dir,
            limit: None,
            idle: None,
            grace: Self::GRACE,
            max_output: Self::MAX_OUTPUT,
            tag,
            mask: None,
        }
    }
}

/// The environment of a command: ours, less some variables, plus others.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables that it doesn't get.
    pub removed: Vec<OsString>,
    /// Variables that it gets; a later one wins.
    pub set: Vec<(OsString, OsString)>,
}

/// Runs a command until it ends or is told to, and until nothing of it lives.
pub async fn run_shell(launch: ShellLaunch, files: SlotFiles, mut stop: StopSignal) -> Outcome {
    let began = Instant::now();
    let mut outcome = attempt(&launch, &files, &mut stop).await;
    outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome
}

async fn attempt(launch: &ShellLaunch, files: &SlotFiles, stop: &mut StopSignal) -> Outcome {
    let mut leader = match start(launch, files, stop).await {
        Ok(leader) => leader,
        Err(outcome) => return *outcome,
    };
    let copies = launch.mask.as_ref().map(|mask| MaskedOutput::start(&mut leader, files, mask));
    let (end, stopping) = watch(&mut leader, launch, files, stop).await;
    let (status, remnant) = match end {
        Ok(end) => end,
        Err(error) => {
            files.retire();
            return Outcome::failed(Reason::Internal, format!("can't wait for the command: {error}"));
        }
    };
    let left_over = end_remnant(&remnant, stopping, stop).await;
    let swept = sweep(&launch.tag).await;
    let copied = match copies {
        // Whoever held the pipes is gone by now, but for what we may not kill.
        Some(copies) => copies.finish(PATIENCE).await,
        None => Ok(()),
    };
    let limit = (written(files) > launch.max_output).then_some(Reason::OutputLimit);
    let mut outcome = judge(launch, status, stopping.map(|stopping| stopping.reason).or(limit));
    if let (Err(error), None) = (copied, outcome.reason) {
        let full = error.kind() == std::io::ErrorKind::StorageFull;
        let reason = if full { Reason::NoSpace } else { Reason::Internal };
        outcome = Outcome::failed(reason, format!("can't keep the output: {error}"));
    }
    outcome.leaky = left_over || swept.escaped;
    // A daemon without its mark can't be told from another attempt's, and may hold the files open.
    if outcome.leaky || swept.strangers || stopping.is_some() {
        files.retire();
    }
    keep_output(&mut outcome, launch, files).await;
    outcome
}

/// How much an attempt has printed so far.
pub(super) fn written(files: &SlotFiles) -> u64 {
    // An open file whose length can't be asked for doesn't occur on a disk that works.
    files.stdout.written().unwrap_or(0) + files.stderr.written().unwrap_or(0)
}

/// What the end of a command means. `stopped`: why it was made to end, if it was.
fn judge(launch: &ShellLaunch, status: ExitStatus, stopped: Option<Reason>) -> Outcome {
    let signal = status.signal().map(signal_name);
    let (end, reason, message) = match (stopped, status.code(), &signal) {
        (Some(reason), _, _) => (end_when_stopped(reason), Some(reason), stop_message(launch, reason)),
        (None, Some(0), _) => (AttemptEnd::Completed, None, None),
        (None, Some(code), _) => (AttemptEnd::Failed, Some(Reason::ExitCode), Some(exit_message(code))),
        (None, None, Some(name)) => (AttemptEnd::Failed, Some(Reason::Signal), Some(signal_message(name))),
        (None, None, None) => {
            let message = "bug: the command ended with neither a code nor a signal".to_owned();
            (AttemptEnd::Failed, Some(Reason::Internal), Some(message))
        }
    };
    Outcome { exit_code: status.code(), signal, ..Outcome::bare(end, reason, message) }
}

/// An attempt that somebody wanted to end was killed; one that broke a limit failed.
pub(super) fn end_when_stopped(reason: Reason) -> AttemptEnd {
    if matches!(reason, Reason::Cancelled | Reason::FailFast) {
        AttemptEnd::Killed
    } else {
        AttemptEnd::Failed
    }
}

fn stop_message(launch: &ShellLaunch, reason: Reason) -> Option<String> {
    match (reason, launch.idle, launch.limit) {
        (Reason::OutputLimit, ..) => {
            Some(format!("printed more than {} (`max_output`)", bytes(launch.max_output)))
        }
        (Reason::Timeout, _, Some(limit)) => {
            Some(format!("took longer than {} (its `timeout`)", format_duration(limit)))
        }
        (Reason::Stall, Some(idle), _) => {
            Some(format!("printed nothing for {} (`timeout.idle`)", format_duration(idle)))
        }
        // Whoever gave the order knows more about it.
        _ => None,
    }
}

fn exit_message(code: i32) -> String {
    match code {
        126 => "exit code 126: a command was found but can't be executed".to_owned(),
        127 => "exit code 127: a command was not found".to_owned(),
        _ => format!("exit code {code}"),
    }
}

fn signal_message(name: &str) -> String {
    match name {
        "SIGKILL" => "ended by SIGKILL; the machine may have run out of memory".to_owned(),
        _ => format!("ended by {name}"),
    }
}

fn bytes(count: u64) -> String {
    const MEBIBYTE: u64 = 1024 * 1024;
    if count >= MEBIBYTE && count.is_multiple_of(MEBIBYTE) {
        format!("{} MiB", count / MEBIBYTE)
    } else {
        format!("{count} bytes")
    }
}

/// Notes what the attempt printed, and drops what is over the limit. Nothing writes any more.
async fn keep_output(outcome: &mut Outcome, launch: &ShellLaunch, files: &SlotFiles) {
    let mut room = launch.max_output;
    let mut kept = [None, None];
    for (file, kept) in [&files.stdout, &files.stderr].into_iter().zip(&mut kept) {
        let written = file.written().unwrap_or(0);
        let length = written.min(room);
        room -= length;
        if length < written && file.cut(length).is_err() {
            // What can't be dropped is not part of the output all the same.
            files.retire();
        }
        let (reason, message) = match slice(file, length).await {
            Ok(Some(slice)) => {
                *kept = Some(slice);
                continue;
            }
            Ok(None) => {
                (Reason::Tampered, format!("`{}`, which it prints to, was cut off while it ran", file.name()))
            }
            Err(error) => (Reason::Resource, format!("can't read back what it printed: {error}")),
        };
        files.retire();
        if outcome.end == AttemptEnd::Completed {
            *outcome = Outcome {
                exit_code: outcome.exit_code,
                leaky: outcome.leaky,
                ..Outcome::failed(reason, message)
            };
        }
    }
    [outcome.stdout, outcome.stderr] = kept;
}

/// A part of an output. A large one is hashed where it holds up nobody.
async fn slice(file: &SlotFile, length: u64) -> io::Result<Option<OutputSlice>> {
    const AT_ONCE: u64 = 1024 * 1024;
    if length <= AT_ONCE {
        return file.slice(length);
    }
    let file = file.clone();
    tokio::task::spawn_blocking(move || file.slice(length)).await.map_err(io::Error::other)?
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
