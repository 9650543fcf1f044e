//! Which process, beyond the reuse of process ids and a restart of the machine.

use std::io;

use rustix::process::{Pid, getpid};
use serde::{Deserialize, Serialize};

use super::procfs::{self, State};

/// A process that can't be mistaken for a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: i32,
    /// When it began, in clock ticks since the machine started.
    pub start_time: u64,
    /// Which start of the machine.
    pub boot_id: String,
}

impl ProcessIdentity {
    /// This process.
    pub fn current() -> io::Result<Self> {
        Self::of(getpid())
    }

    /// The process that has this number now.
    pub fn of(pid: Pid) -> io::Result<Self> {
        let boot_id = boot_id()?;
        Ok(ProcessIdentity { pid: pid.as_raw_pid(), start_time: procfs::stat(pid)?.start_time, boot_id })
    }

    /// Whether that very process lives.
    pub fn is_alive(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        let same = |stat: procfs::Stat| stat.start_time == self.start_time && stat.state == State::Alive;
        boot_id().is_ok_and(|boot| boot == self.boot_id) && procfs::stat(pid).is_ok_and(same)
    }
}

fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim_end().to_owned())
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
