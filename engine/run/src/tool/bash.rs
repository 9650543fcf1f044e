//! `Bash`: a command in a shell, in a process group of its own.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rustix::process::Signal;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::unix::pipe::Receiver;
use tokio::time::Instant;

use super::call::{Answer, Failure, Run, Tool, arguments};
use super::context::ToolContext;
use super::lines::Ends;
use crate::sys::process::{ATTEMPT_VARIABLE, Leader, Remnant, tag_value};

const DEFAULT_TIMEOUT: u64 = 120_000;
const MAX_TIMEOUT: u64 = 600_000;
/// Bytes kept of the beginning and of the end of the output.
const KEPT: usize = 15_000;
/// Between asking a command to end and killing it.
const GRACE: Duration = Duration::from_secs(2);

/// What commands inherit of the engine's variables, besides `LC_*`. Keys of providers are never among them.
const INHERITED: &[&str] = &["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL"];

pub(super) const TOOL: Tool = Tool {
    name: "Bash",
    description: "Runs a command in bash and returns what it prints, standard error included, and its exit code. \
                  Every call starts in the working folder with a fresh shell: `cd` and variables do not last. There \
                  is no terminal and no input. Of more than 30000 bytes of output the middle is left out. The time \
                  limit is 120 s unless `timeout` says otherwise, 600 s at most; then, and when the command is \
                  done, all its processes are ended.",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "minLength": 1, "description": "The command" },
                "timeout": { "type": "integer", "minimum": 1, "description": "Milliseconds; 600000 at most" },
                "description": { "type": "string", "description": "What it does, in five to ten words" }
            },
            "required": ["command"],
            "additionalProperties": false
        })
    },
    run: Run::Waiting(run),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    timeout: Option<u64>,
    #[serde(rename = "description")]
    _description: Option<String>,
}

/// Whether a command left processes behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leftovers {
    None,
    Killed,
}

/// Why a command was ended.
#[derive(Clone, Copy)]
enum Cut {
    Timeout,
    Stopped,
}

fn run(input: Value, context: &ToolContext) -> BoxFuture<'_, Answer> {
    Box::pin(bash(input, context))
}

async fn bash(input: Value, context: &ToolContext) -> Answer {
    let arguments: Arguments = arguments(input)?;
    let limit = Duration::from_millis(arguments.timeout.unwrap_or(DEFAULT_TIMEOUT).clamp(1, MAX_TIMEOUT));
    let (mut leader, output) = start(&arguments.command, context)?;

    let mut ends = Ends::new(KEPT);
    let mut buffer = vec![0; 16 * 1024];
    let mut open = true;
    let mut cut = None;
    let mut alarm = Box::pin(tokio::time::sleep(limit));
    let ended = loop {
        tokio::select! {
            ended = leader.wait() => break ended,
            read = read(&output, &mut buffer), if open => match read {
                Some(count) => ends.push(&buffer[..count]),
                None => open = false,
            },
            () = context.stop.cancelled(), if cut.is_none() => {
                cut = Some(Cut::Stopped);
                leader.signal(Signal::TERM);
                alarm.as_mut().reset(Instant::now() + GRACE);
            }
            () = &mut alarm => {
                let signal = if cut.is_none() { Signal::TERM } else { Signal::KILL };
                cut.get_or_insert(Cut::Timeout);
                leader.signal(signal);
                alarm.as_mut().reset(Instant::now() + GRACE);
            }
        }
    };
    let (status, remnant) =
        ended.map_err(|error| Failure::of(format!("can't wait for the command: {error}")))?;
    let leftovers = end(&remnant).await;
    // Only what is in the pipe already: a process that escaped the group may hold it open for ever.
    for _ in 0..16 {
        match output.try_read(&mut buffer) {
            Ok(count) if count > 0 => ends.push(&buffer[..count]),
            Ok(_) | Err(_) => break,
        }
    }
    answer(ends.text(), status, cut.map(|cut| (cut, limit)), leftovers)
}

/// Kills what the shell has left of its group, and waits until it is gone.
async fn end(remnant: &Remnant) -> Leftovers {
    if !remnant.is_alive() {
        return Leftovers::None;
    }
    remnant.signal(Signal::KILL);
    remnant.ends_within(GRACE).await;
    Leftovers::Killed
}

/// Starts the shell with one pipe for both streams, so that lines stand in the order in which they were written.
fn start(script: &str, context: &ToolContext) -> Result<(Leader, Receiver), Failure> {
    if !context.dir.is_dir() {
        return Err(Failure::of(format!("the working folder `{}` is gone", context.dir.display())));
    }
    let fail = |error: std::io::Error| Failure::of(format!("can't start the command: {error}"));
    let (reader, writer) = std::io::pipe().map_err(fail)?;
    let spawn = |program: &str, options: &[&str]| -> std::io::Result<Leader> {
        let mut command = Command::new(program);
        command
            .args(options)
            .arg(script)
            .current_dir(&context.dir)
            .env_clear()
            .envs(inherited(std::env::vars_os()))
            // Git would ask for a password on the terminal, and stop the whole group there.
            .env("GIT_TERMINAL_PROMPT", "0")
            .envs(context.env.iter().map(|(name, value)| (name, value)))
            .env(ATTEMPT_VARIABLE, tag_value(&context.tag))
            .stdout(writer.try_clone()?)
            .stderr(writer.try_clone()?);
        Leader::spawn(&mut command)
    };
    let leader = match spawn("bash", &["--noprofile", "--norc", "-c"]) {
        Err(error) if error.kind() == ErrorKind::NotFound => spawn("/bin/sh", &["-c"]),
        leader => leader,
    };
    let output = Receiver::from_owned_fd(OwnedFd::from(reader)).map_err(fail)?;
    Ok((leader.map_err(fail)?, output))
}

/// Reads what has come; `None` at the end of the stream.
async fn read(output: &Receiver, buffer: &mut [u8]) -> Option<usize> {
    loop {
        output.readable().await.ok()?;
        match output.try_read(buffer) {
            Ok(0) => return None,
            Ok(count) => return Some(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
}

/// The variables that a command may see of those of the engine.
fn inherited(vars: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = (OsString, OsString)> {
    vars.filter(|(name, _)| {
        name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_"))
    })
}

fn answer(output: String, status: ExitStatus, cut: Option<(Cut, Duration)>, leftovers: Leftovers) -> Answer {
    use std::os::unix::process::ExitStatusExt;
    let mut notes = Vec::new();
    match cut {
        Some((Cut::Timeout, limit)) => notes.push(format!("[ended at its time limit of {limit:?}]")),
        Some((Cut::Stopped, _)) => notes.push("[stopped]".to_owned()),
        None => match (status.code(), status.signal()) {
            (Some(0), _) => {}
            (Some(code), _) => notes.push(format!("[exit code {code}]")),
            (None, signal) => notes.push(format!("[ended by signal {}]", signal.unwrap_or_default())),
        },
    }
    let failed = !notes.is_empty();
    if leftovers == Leftovers::Killed && cut.is_none() {
        notes.push("[processes that it left in the background were ended]".to_owned());
    }
    let mut text = output.trim_end_matches('\n').to_owned();
    if text.is_empty() && notes.is_empty() {
        text.push_str("(no output)");
    }
    for note in notes {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&note);
    }
    if failed { Err(Failure::of(text)) } else { Ok(text) }
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod tests;
