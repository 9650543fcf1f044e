//! A command in a process group of its own.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, RawPid, Signal, WaitOptions, kill_process_group, pidfd_open, test_kill_process_group,
    waitpgid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The leaders that are not reaped yet: a cheap way to tell our own children from orphans that fell to us.
static LIVE: Mutex<BTreeSet<RawPid>> = Mutex::new(BTreeSet::new());

/// The first process of a group, from its start until it is reaped. Dropped before that, the group is killed.
#[derive(Debug)]
pub struct Leader {
    /// `None` once reaped.
    child: Option<Child>,
    pid: Pid,
    exit: ExitWatch,
}

/// How we hear of an exit.
#[derive(Debug)]
enum ExitWatch {
    Pidfd(AsyncFd<OwnedFd>),
    /// Without a file handle to spare, or on a kernel without pidfds: we ask again and again.
    Poll,
}

impl ExitWatch {
    #[expect(
        deprecated,
        reason = "its successor is unsafe, since a descriptor could change; an `OwnedFd` can't"
    )]
    fn of(pid: Pid) -> Self {
        let fd = pidfd_open(pid, PidfdFlags::NONBLOCK).ok();
        let fd = fd.and_then(|fd| AsyncFd::with_interest(fd, Interest::READABLE).ok());
        fd.map_or(ExitWatch::Poll, ExitWatch::Pidfd)
    }
}

impl Leader {
    /// Starts a command as the leader of a new group, with an empty standard input. Needs a tokio runtime.
    pub fn spawn(command: &mut Command) -> io::Result<Leader> {
        let child = command.process_group(0).stdin(Stdio::null()).spawn()?;
        let pid = Pid::from_child(&child);
        live().insert(pid.as_raw_pid());
        // From here on an error would leave a process running that the caller believes never started.
        Ok(Leader { child: Some(child), pid, exit: ExitWatch::of(pid) })
    }

    /// The read ends of its output, where the command asked for pipes.
    pub fn take_pipes(&mut self) -> (Option<std::process::ChildStdout>, Option<std::process::ChildStderr>) {
        match &mut self.child {
            Some(child) => (child.stdout.take(), child.stderr.take()),
            None => (None, None),
        }
    }

    /// Sends a signal to the whole group.
    pub fn signal(&self, signal: Signal) {
        // The leader isn't reaped, so the number is still its group's; a zombie takes the signal and does nothing.
        let _ = kill_process_group(self.pid, signal);
    }

    /// Waits for the leader's own end, whoever else holds its output open. May be dropped and called again.
    pub async fn wait(&mut self) -> io::Result<(ExitStatus, Remnant)> {
        let mut pause = Pause::new();
        loop {
            match &self.exit {
                ExitWatch::Pidfd(fd) => {
                    let mut ready = fd.readable().await?;
                    if let Some(status) = try_wait(&mut self.child)? {
                        return Ok((status, self.reaped()));
                    }
                    ready.clear_ready();
                }
                ExitWatch::Poll => {
                    if let Some(status) = try_wait(&mut self.child)? {
                        return Ok((status, self.reaped()));
                    }
                    pause.sleep().await;
                }
            }
        }
    }

    fn reaped(&mut self) -> Remnant {
        self.child = None;
        live().remove(&self.pid.as_raw_pid());
        Remnant(self.pid)
    }
}

fn try_wait(child: &mut Option<Child>) -> io::Result<Option<ExitStatus>> {
    match child {
        Some(child) => child.try_wait(),
        None => Err(io::Error::other("bug: a process was waited for twice")),
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        self.signal(Signal::KILL);
        let pid = self.pid;
        // It ends at once but for a process inside the kernel; nobody should have to wait for that here.
        std::thread::spawn(move || {
            let _ = child.wait();
            live().remove(&pid.as_raw_pid());
        });
    }
}

/// What is left of a group after its leader was reaped. Usually nothing.
#[derive(Debug)]
pub struct Remnant(Pid);

impl Remnant {
    /// Whether a member lives. Dead ones that fell to us are reaped on the way.
    pub fn is_alive(&self) -> bool {
        while let Ok(Some(_)) = waitpgid(self.0, WaitOptions::NOHANG) {}
        // A group that we may not signal is alive all the same.
        test_kill_process_group(self.0) != Err(Errno::SRCH)
    }

    /// Sends a signal to every member.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.0, signal);
    }

    /// Waits for the last member to end.
    pub async fn ends(&self) {
        let mut pause = Pause::new();
        while self.is_alive() {
            pause.sleep().await;
        }
    }

    /// Waits at most so long for the last member to end; says whether it did.
    pub async fn ends_within(&self, length: Duration) -> bool {
        tokio::time::timeout(length, self.ends()).await.is_ok()
    }
}

/// Asking again and again, soon at first.
#[derive(Debug)]
pub(super) struct Pause(Duration);

impl Pause {
    pub(super) fn new() -> Self {
        Pause(Duration::from_millis(1))
    }

    pub(super) async fn sleep(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(Duration::from_millis(16));
    }
}

/// Whether a process is a leader that `Leader` answers for.
pub(super) fn is_live_leader(pid: Pid) -> bool {
    live().contains(&pid.as_raw_pid())
}

/// Sends a signal to every live group.
pub fn signal_all(signal: Signal) {
    // The lock is held so that none of them is reaped, and its number given away, in between.
    let live = live();
    for pid in live.iter().filter_map(|raw| Pid::from_raw(*raw)) {
        let _ = kill_process_group(pid, signal);
    }
}

/// Stops every live group where it stands, until `continue_all`.
pub fn stop_all() {
    signal_all(Signal::STOP);
}

/// Lets every live group go on.
pub fn continue_all() {
    signal_all(Signal::CONT);
}

fn live() -> MutexGuard<'static, BTreeSet<RawPid>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
