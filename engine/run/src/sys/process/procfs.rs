//! What `/proc` says of a process.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use rustix::process::{Pid, getpid};

/// The part of `/proc/PID/stat` that we need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stat {
    pub(super) parent: i32,
    pub(super) session: i32,
    pub(super) state: State,
    /// In clock ticks since the machine started.
    pub(super) start_time: u64,
}

/// Whether a process still does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Alive,
    /// Ended, not reaped.
    Dead,
}

/// Reads the state of a process.
pub(super) fn stat(pid: Pid) -> io::Result<Stat> {
    let text = std::fs::read(format!("/proc/{pid}/stat"))?;
    parse_stat(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unreadable process state"))
}

fn parse_stat(text: &[u8]) -> Option<Stat> {
    // The name is the process's own choice and may hold blanks and parentheses; what follows it can't.
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> =
        std::str::from_utf8(&text[name_end + 1..]).ok()?.split_ascii_whitespace().collect();
    Some(Stat {
        state: match *fields.first()? {
            "Z" | "X" | "x" => State::Dead,
            _ => State::Alive,
        },
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        start_time: fields.get(19)?.parse().ok()?,
    })
}

/// The environment that a process was started with. `None`: it has none, which is so for a moment while it executes
/// another program, or we may not look.
pub(super) fn environment(pid: Pid) -> Option<Vec<u8>> {
    // The kernel allows 6 MiB for arguments and environment together.
    const MOST: u64 = 8 * 1024 * 1024;
    let mut bytes = Vec::new();
    File::open(format!("/proc/{pid}/environ")).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// The value of a variable in an environment.
pub(super) fn value_in<'a>(environment: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// The children of our main thread: what it spawned itself, and every orphan that fell to us, since the kernel gives
/// those to the first living thread. One read of a file that stays open: cheap enough for the end of every attempt.
///
/// The kernel may leave out an entry while its neighbour is being reaped, so an absence is no proof.
pub(super) fn children_of_main_thread() -> io::Result<Vec<Pid>> {
    static LIST: OnceLock<Option<File>> = OnceLock::new();
    let open = || File::open(format!("/proc/self/task/{}/children", getpid())).ok();
    let Some(file) = LIST.get_or_init(open) else {
        // Not every kernel is built with that file.
        let us = getpid().as_raw_pid();
        let ours = |pid: &Pid| stat(*pid).is_ok_and(|stat| stat.parent == us);
        return Ok(all_processes()?.into_iter().filter(ours).collect());
    };
    let mut text = vec![0; 1024];
    let mut length = 0;
    loop {
        match file.read_at(&mut text[length..], length as u64)? {
            0 => break,
            count => length += count,
        }
        if length == text.len() {
            text.resize(length * 4, 0);
        }
    }
    let numbers = text[..length].split(u8::is_ascii_whitespace);
    Ok(numbers.filter_map(parse_pid).collect())
}

/// Every process that we can see.
pub(super) fn all_processes() -> io::Result<Vec<Pid>> {
    let entries = std::fs::read_dir("/proc")?;
    Ok(entries.filter_map(|entry| parse_pid(entry.ok()?.file_name().as_encoded_bytes())).collect())
}

fn parse_pid(text: &[u8]) -> Option<Pid> {
    Pid::from_raw(std::str::from_utf8(text).ok()?.parse().ok()?)
}

#[cfg(test)]
#[path = "procfs_tests.rs"]
mod tests;
