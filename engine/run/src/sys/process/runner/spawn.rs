//! Starting a command.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use tokio::time::sleep;

use super::super::{ATTEMPT_VARIABLE, Leader, tag_value};
use super::command::{Command, Output};
use super::run::NotRun;
use crate::sys::stop::StopSignal;

/// Pauses between tries where the machine is short of something that may come back.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(500)];

/// A command that was started, and the read ends of the pipes that its output asked for.
pub(super) type Started = (Leader, Vec<OwnedFd>);

/// Starts the command, unless an order to end comes first.
pub(super) async fn start(
    command: &Command<'_>,
    output: &Output<'_>,
    stop: &mut StopSignal,
) -> Result<Started, NotRun> {
    patiently(|| spawn(command, output), stop).await
}

/// Tries again where the machine is short of something.
async fn patiently<T>(mut start: impl FnMut() -> io::Result<T>, stop: &mut StopSignal) -> Result<T, NotRun> {
    if let Some(order) = stop.order() {
        return Err(NotRun::Stopped(order));
    }
    let mut pauses = BACK_OFF.iter();
    loop {
        let error = match start() {
            Ok(started) => return Ok(started),
            Err(error) => error,
        };
        match pauses.next() {
            Some(pause) if is_shortage(&error) => tokio::select! {
                biased;
                order = stop.stopped() => return Err(NotRun::Stopped(order)),
                () = sleep(*pause) => {}
            },
            _ => return Err(NotRun::Spawn(error)),
        }
    }
}

/// Whether a start failed for want of something that may come back: processes, memory, file handles.
pub fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
    Errno::from_io_error(error).is_some_and(|errno| shortages.contains(&errno))
}

fn spawn(command: &Command<'_>, output: &Output<'_>) -> io::Result<Started> {
    let (name, arguments) =
        command.argv.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
    let mut process = Process::new(program(command, name)?);
    process.arg0(name).args(arguments).current_dir(command.dir);
    command.env.removed.iter().for_each(|name| {
        process.env_remove(name);
    });
    // Programs that trust `PWD` would otherwise believe to be where we are.
    process.env("PWD", command.dir).envs(command.env.set.iter().map(|(name, value)| (name, value)));
    process.env(ATTEMPT_VARIABLE, tag_value(command.tag));
    let mut pipes = Vec::new();
    match output {
        Output::Files([stdout, stderr]) => {
            process.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
        }
        Output::Apart(_) => {
            process.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        Output::Joined(_) => {
            let (reader, writer) = io::pipe()?;
            process.stdout(writer.try_clone()?).stderr(writer);
            pipes.push(OwnedFd::from(reader));
        }
    }
    let mut leader = Leader::spawn(&mut process)?;
    let (stdout, stderr) = leader.take_pipes();
    pipes.extend(stdout.map(OwnedFd::from));
    pipes.extend(stderr.map(OwnedFd::from));
    Ok((leader, pipes))
}

/// The program to start, looked up here: the standard library would leave the fast way of spawning where the command changes
/// `PATH`, and a look at a file costs less than the attempt to execute it, in each folder before the right one.
fn program(command: &Command<'_>, name: &OsStr) -> io::Result<OsString> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Ok(name.to_owned());
    }
    let env = command.env;
    let is_path = |name: &OsString| name == "PATH";
    let set = env.set.iter().rev().find(|(name, _)| is_path(name)).map(|(_, value)| value.clone());
    let changed = set.is_some() || env.removed.iter().any(is_path);
    let inherited = || std::env::var_os("PATH").filter(|_| !changed);
    let path = set.or_else(inherited).unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let candidates = std::env::split_paths(&path).map(|dir| command.dir.join(dir).join(name));
    let found = candidates.into_iter().find(|candidate| is_executable(candidate));
    found.map(PathBuf::into_os_string).ok_or_else(|| Errno::NOENT.into())
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[path = "spawn_tests.rs"]
mod tests;
