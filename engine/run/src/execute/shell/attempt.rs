//! One shell attempt, from launch to outcome.
//!
//! 1. What the outcome says is what `sys::process::runner` has seen: nothing of the attempt lives any more.
//! 2. An output without secrets goes straight into its files.
//! 3. The files of an attempt that something may still hold open are not used again.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use flow_core::model::{AttemptEnd, Outcome, OutputSlice, Reason};
use flow_core::text::format_duration;
use tokio::time::Instant;

use super::super::mask::{Mask, MaskedCopy};
use super::launch::ShellLaunch;
use super::refusal::refused;
use super::signal::signal_name;
use crate::store::{SlotFile, SlotFiles};
use crate::sys::process::{Command, Cut, Limit, Limits, NotRun, Orphans, Output, Printing, Ran, Taker, run};
use crate::sys::stop::StopSignal;

/// Runs a command until it ends or is told to, and until nothing of it lives.
pub async fn run_shell(launch: ShellLaunch, files: SlotFiles, mut stop: StopSignal) -> Outcome {
    let began = Instant::now();
    let mut outcome = attempt(&launch, &files, &mut stop).await;
    outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome
}

async fn attempt(launch: &ShellLaunch, files: &SlotFiles, stop: &mut StopSignal) -> Outcome {
    let printed = || written(files);
    let printing = Printing { printed: &printed, most: launch.max_output, idle: launch.idle };
    let command = Command {
        argv: &launch.argv,
        env: &launch.env,
        dir: &launch.dir,
        tag: &launch.tag,
        orphans: Orphans::End,
        limits: Limits { time: launch.limit, printing: Some(printing) },
        grace: launch.grace,
    };
    match run_into(files, launch.mask.as_deref(), &command, stop).await {
        Ok(ran) => ended(launch, files, ran).await,
        Err(NotRun::Stopped(order)) => {
            let message = Some("stopped before it was started".to_owned());
            Outcome::bare(AttemptEnd::when_stopped(order.reason), Some(order.reason), message)
        }
        Err(NotRun::Spawn(error)) => refused(launch, &error),
        Err(NotRun::Wait(error)) => {
            files.retire();
            Outcome::failed(Reason::Internal, format!("can't wait for the command: {error}"))
        }
    }
}

/// Runs the command with its output going into the files, through the mask where there is one.
async fn run_into(
    files: &SlotFiles,
    mask: Option<&Mask>,
    command: &Command<'_>,
    stop: &mut StopSignal,
) -> Result<Ran, NotRun> {
    let Some(mask) = mask else {
        return run(command, Output::Files([files.stdout.file(), files.stderr.file()]), stop).await;
    };
    let mut copies = [&files.stdout, &files.stderr].map(|file| MaskedFile::new(mask, file));
    let [stdout, stderr] = copies.each_mut().map(|copy| -> Taker<'_> { Box::new(|piece| copy.take(piece)) });
    let mut ran = run(command, Output::Apart([stdout, stderr]), stop).await?;
    for copy in copies {
        ran.taken = ran.taken.and(copy.finish());
    }
    Ok(ran)
}

/// An output file behind a mask.
struct MaskedFile<'a> {
    file: &'a File,
    mask: MaskedCopy<'a>,
    masked: Vec<u8>,
}

impl<'a> MaskedFile<'a> {
    fn new(mask: &'a Mask, file: &'a SlotFile) -> Self {
        MaskedFile { file: file.file(), mask: MaskedCopy::new(mask), masked: Vec::new() }
    }

    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        self.mask.push(piece, &mut self.masked);
        self.write()
    }

    fn finish(mut self) -> io::Result<()> {
        self.mask.finish(&mut self.masked);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.masked)?;
        self.masked.clear();
        Ok(())
    }
}

async fn ended(launch: &ShellLaunch, files: &SlotFiles, ran: Ran) -> Outcome {
    let limit = (written(files) > launch.max_output).then_some(Cut::Limited(Limit::Output));
    let mut outcome = judge(launch, ran.status, ran.cut.or(limit));
    if let (Err(error), None) = (ran.taken, outcome.reason) {
        let full = error.kind() == io::ErrorKind::StorageFull;
        let reason = if full { Reason::NoSpace } else { Reason::Internal };
        outcome = Outcome::failed(reason, format!("can't keep the output: {error}"));
    }
    outcome.leaky = ran.left_over || ran.swept.escaped;
    // A daemon without its mark can't be told from another attempt's, and may hold the files open.
    if outcome.leaky || ran.swept.strangers || ran.cut.is_some() {
        files.retire();
    }
    keep_output(&mut outcome, launch, files).await;
    outcome
}

/// How much an attempt has printed so far.
fn written(files: &SlotFiles) -> u64 {
    // An open file whose length can't be asked for doesn't occur on a disk that works.
    files.stdout.written().unwrap_or(0) + files.stderr.written().unwrap_or(0)
}

/// What the end of a command means.
fn judge(launch: &ShellLaunch, status: ExitStatus, cut: Option<Cut>) -> Outcome {
    let signal = status.signal().map(signal_name);
    let (end, reason, message) = match (cut, status.code(), &signal) {
        (Some(cut), _, _) => {
            (AttemptEnd::when_stopped(cut.reason()), Some(cut.reason()), cut_message(launch, cut))
        }
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

fn cut_message(launch: &ShellLaunch, cut: Cut) -> Option<String> {
    match cut {
        // Whoever gave the order knows more about it.
        Cut::Ordered(_) => None,
        Cut::Limited(Limit::Output) => {
            Some(format!("printed more than {} (`max_output`)", bytes(launch.max_output)))
        }
        Cut::Limited(Limit::Time) => {
            let limit = format_duration(launch.limit?);
            Some(format!("took longer than {limit} (its `timeout`)"))
        }
        Cut::Limited(Limit::Idle) => {
            let idle = format_duration(launch.idle?);
            Some(format!("printed nothing for {idle} (`timeout.idle`)"))
        }
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
#[path = "attempt_tests.rs"]
mod tests;
