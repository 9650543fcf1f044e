//! Why a command can't be started, in words for people.

use std::io;

use flow_core::model::{Outcome, Reason};
use rustix::io::Errno;

use super::launch::ShellLaunch;
use crate::sys::process::is_shortage;

/// The outcome of an attempt whose command can't be started.
pub(super) fn refused(launch: &ShellLaunch, error: &io::Error) -> Outcome {
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
