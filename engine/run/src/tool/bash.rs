//! `Bash`: a command in a shell, in a process group of its own.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Answer, Failure, Run, Tool, arguments};
use super::context::ToolContext;
use super::lines::Ends;
use crate::sys::process::{self, Command, Cut, Environment, Limits, NotRun, Orphans, Output, Ran};

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

/// The shells to try, one after the other, each with what stands before the script.
const SHELLS: [&[&str]; 2] = [&["bash", "--noprofile", "--norc", "-c"], &["/bin/sh", "-c"]];

fn run(input: Value, context: &ToolContext) -> BoxFuture<'_, Answer> {
    Box::pin(bash(input, context))
}

async fn bash(input: Value, context: &ToolContext) -> Answer {
    let arguments: Arguments = arguments(input)?;
    let limit = Duration::from_millis(arguments.timeout.unwrap_or(DEFAULT_TIMEOUT).clamp(1, MAX_TIMEOUT));
    if !context.dir.is_dir() {
        return Err(Failure::of(format!("the working folder `{}` is gone", context.dir.display())));
    }
    let mut ends = Ends::new(KEPT);
    let [bash, sh] = SHELLS;
    let ran = match in_shell(bash, &arguments.command, (limit, &mut ends), context).await {
        Err(NotRun::Spawn(error)) if error.kind() == ErrorKind::NotFound => {
            in_shell(sh, &arguments.command, (limit, &mut ends), context).await
        }
        ran => ran,
    };
    match ran {
        Ok(Ran { taken: Err(error), .. }) => Err(Failure::of(format!("can't read what it prints: {error}"))),
        Ok(ran) => answer(ends.text(), &ran, limit),
        Err(NotRun::Stopped(_)) => Err(Failure::of("stopped before it began")),
        Err(NotRun::Spawn(error)) => Err(Failure::of(format!("can't start the command: {error}"))),
        Err(NotRun::Wait(error)) => Err(Failure::of(format!("can't wait for the command: {error}"))),
    }
}

/// Runs a script with one pipe for both streams, so that lines stand in the order in which they were written.
async fn in_shell(
    shell: &[&str],
    script: &str,
    (limit, ends): (Duration, &mut Ends),
    context: &ToolContext,
) -> Result<Ran, NotRun> {
    let argv: Vec<OsString> = shell.iter().copied().chain([script]).map(OsString::from).collect();
    let env = environment(context);
    let command = Command {
        argv: &argv,
        env: &env,
        dir: &context.dir,
        tag: &context.tag,
        // All calls of an agent have its tag, and what leaves their groups is ended with the agent.
        orphans: Orphans::Leave,
        limits: Limits { time: Some(limit), printing: None },
        grace: GRACE,
    };
    let take = |piece: &[u8]| {
        ends.push(piece);
        Ok(())
    };
    process::run(&command, Output::Joined(Box::new(take)), &mut context.stop.clone()).await
}

/// Only a few of our variables, and those that were named for it.
fn environment(context: &ToolContext) -> Environment {
    let removed = std::env::vars_os().map(|(name, _)| name).filter(|name| !is_inherited(name));
    // Git would ask for a password on the terminal, and stop the whole group there.
    let prompt = ("GIT_TERMINAL_PROMPT".into(), "0".into());
    let given = context.env.iter().map(|(name, value)| (name.into(), value.into()));
    Environment { removed: removed.collect(), set: [prompt].into_iter().chain(given).collect() }
}

/// Whether a command may see this variable of the engine.
fn is_inherited(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_"))
}

fn answer(output: String, ran: &Ran, limit: Duration) -> Answer {
    let mut notes = Vec::new();
    match (ran.cut, ran.status.code(), ran.status.signal()) {
        (Some(Cut::Limited(_)), ..) => notes.push(format!("[ended at its time limit of {limit:?}]")),
        (Some(Cut::Ordered(_)), ..) => notes.push("[stopped]".to_owned()),
        (None, Some(0), _) => {}
        (None, Some(code), _) => notes.push(format!("[exit code {code}]")),
        (None, None, signal) => notes.push(format!("[ended by signal {}]", signal.unwrap_or_default())),
    }
    let failed = !notes.is_empty();
    if ran.left_over && ran.cut.is_none() {
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
