//! Starting a command, and saying why it can't be.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flow_core::model::{Outcome, Reason};
use rustix::io::Errno;
use tokio::time::sleep;

use super::shell::{ShellLaunch, end_when_stopped};
use super::stop::{StopOrder, StopSignal};
use crate::store::{SlotFile, SlotFiles};
use crate::sys::process::{ATTEMPT_VARIABLE, Leader, tag_value};

/// Pauses between tries where the machine is short of something that may come back.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(500)];

/// Starts the command, or says how the attempt ended without one.
pub(super) async fn start(
    launch: &ShellLaunch,
    files: &SlotFiles,
    stop: &mut StopSignal,
) -> Result<Leader, Box<Outcome>> {
    if let Some(order) = stop.order() {
        return Err(stopped(order));
    }
    let mut pauses = BACK_OFF.iter();
    loop {
        let error = match command(launch, files).and_then(|mut command| Leader::spawn(&mut command)) {
            Ok(leader) => return Ok(leader),
            Err(error) => error,
        };
        match pauses.next() {
            Some(pause) if is_shortage(&error) => tokio::select! {
                () = sleep(*pause) => {}
                order = stop.stopped() => return Err(stopped(order)),
            },
            _ => return Err(Box::new(failed(launch, &error))),
        }
    }
}

fn command(launch: &ShellLaunch, files: &SlotFiles) -> io::Result<Command> {
    let (name, arguments) =
        launch.argv.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
    let mut command = Command::new(program(launch, name)?);
    command.arg0(name).args(arguments).current_dir(&launch.dir);
    launch.env.removed.iter().for_each(|name| {
        command.env_remove(name);
    });
    // Programs that trust `PWD` would otherwise believe to be where we are.
    command.env("PWD", &launch.dir).envs(launch.env.set.iter().map(|(name, value)| (name, value)));
    command.env(ATTEMPT_VARIABLE, tag_value(&launch.tag));
    let output = |file: &SlotFile| match launch.mask {
        None => Ok::<_, io::Error>(Stdio::from(file.file().try_clone()?)),
        Some(_) => Ok(Stdio::piped()),
    };
    command.stdout(output(&files.stdout)?).stderr(output(&files.stderr)?);
    Ok(command)
}

/// The program to start, looked up here: the standard library would leave the fast way of spawning where the launch changes
/// `PATH`, and a look at a file costs less than the attempt to execute it, in each folder before the right one.
fn program(launch: &ShellLaunch, name: &OsStr) -> io::Result<OsString> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Ok(name.to_owned());
    }
    let is_path = |name: &OsString| name == "PATH";
    let set = launch.env.set.iter().rev().find(|(name, _)| is_path(name)).map(|(_, value)| value.clone());
    let changed = set.is_some() || launch.env.removed.iter().any(is_path);
    let inherited = || std::env::var_os("PATH").filter(|_| !changed);
    let path = set.or_else(inherited).unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let candidates = std::env::split_paths(&path).map(|dir| launch.dir.join(dir).join(name));
    let found = candidates.into_iter().find(|candidate| is_executable(candidate));
    found.map(PathBuf::into_os_string).ok_or_else(|| Errno::NOENT.into())
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn stopped(order: StopOrder) -> Box<Outcome> {
    let message = Some("stopped before it was started".to_owned());
    Box::new(Outcome::bare(end_when_stopped(order.reason), Some(order.reason), message))
}

fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
    Errno::from_io_error(error).is_some_and(|errno| shortages.contains(&errno))
}

fn failed(launch: &ShellLaunch, error: &io::Error) -> Outcome {
    if is_shortage(error) {
        let message = format!("the machine ran out of processes, memory or file handles: {error}");
        return Outcome::failed(Reason::Resource, message);
    }
    let name = launch.argv.first().map(|name| name.display().to_string()).unwrap_or_default();
    let dir = launch.dir.display();
    let message = match Errno::from_io_error(error) {
        // Folder and program fail alike; only a look tells which it was.
        Some(Errno::NOENT | Errno::NOTDIR) if !launch.dir.is_dir() => format!("there is no folder `{dir}`"),
        Some(Errno::NOENT | Errno::NOTDIR) => not_found(&name),
        Some(Errno::ACCESS) if launch.dir.read_dir().is_err() => format!("may not enter the folder `{dir}`"),
        Some(Errno::ACCESS) => format!("`{name}` may not be executed"),
        Some(Errno::NOEXEC) => format!("`{name}` is no program; a script's first line names one after `#!`"),
        Some(Errno::TOOBIG) => format!(
            "arguments and environment are too big for the system: {}; hand big values over in a file \
             (`${{{{ value | file }}}}`)",
            largest(launch)
        ),
        _ if error.kind() == io::ErrorKind::InvalidInput => {
            "a NUL character stands in an argument or a variable".to_owned()
        }
        _ => format!("can't start `{name}`: {error}"),
    };
    Outcome::failed(Reason::Spawn, message)
}

/// The largest of what a command is started with, in words.
fn largest(launch: &ShellLaunch) -> String {
    let argument = launch.argv.iter().map(|argument| argument.len()).max().unwrap_or(0);
    let own = launch.env.set.iter().map(|(name, value)| (name.clone(), value.len()));
    let given = std::env::vars_os().filter(|(name, _)| !launch.env.removed.contains(name));
    let given = given.map(|(name, value)| (name, value.len()));
    match own.chain(given).max_by_key(|(_, bytes)| *bytes) {
        Some((name, bytes)) if bytes > argument => {
            format!("the variable `{}` has {bytes} bytes", name.display())
        }
        _ => format!("the longest argument, which is what a script is too, has {argument} bytes"),
    }
}

fn not_found(name: &str) -> String {
    match name {
        "bash" => "there is no `bash` on PATH; write `shell: sh` to do without".to_owned(),
        _ if name.contains('/') => format!("there is no `{name}`, or what its first line names after `#!`"),
        _ => format!("there is no `{name}` on PATH"),
    }
}
