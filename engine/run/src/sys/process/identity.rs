//! Which process, beyond the reuse of process ids and a restart of the machine.

use std::io;

use rustix::process::{Pid, getpid};
use serde::{Deserialize, Serialize};

use super::procfs::{self, State};

/// A process that can't be mistaken for a later one with the same number. What an earlier flow wrote may lack a part:
/// then the others decide, so that a live process is never called dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: i32,
    /// When it began, in clock ticks since the machine started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<u64>,
    /// Which start of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
}

impl ProcessIdentity {
    /// This process.
    pub fn current() -> io::Result<Self> {
        Self::of(getpid())
    }

    /// The process that has this number now.
    pub fn of(pid: Pid) -> io::Result<Self> {
        let start_time = Some(procfs::stat(pid)?.start_time);
        Ok(ProcessIdentity { pid: pid.as_raw_pid(), start_time, boot_id: Some(boot_id()?) })
    }

    /// Whether that very process lives.
    pub fn is_alive(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        let another_boot = self.boot_id.as_ref().is_some_and(|then| boot_id().is_ok_and(|now| now != *then));
        let same = |stat: procfs::Stat| {
            stat.state == State::Alive && self.start_time.is_none_or(|start| start == stat.start_time)
        };
        !another_boot && procfs::stat(pid).is_ok_and(same)
    }

    /// Whether that very process lives and is another one than this.
    pub fn is_another_alive(&self) -> bool {
        self.pid != getpid().as_raw_pid() && self.is_alive()
    }
}

fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim_end().to_owned())
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
