//! The process group of one command: nothing of it outlives the command.

use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid};

/// How long a killed group is waited for. What the kernel can't end by then is stuck in a device.
const PATIENCE: Duration = Duration::from_secs(2);

/// A process group of ours. Dropped before `end`, it is killed.
pub(super) struct Group(Option<Pid>);

/// Whether a command left processes behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leftovers {
    /// It did not.
    None,
    /// It did, and they were killed.
    Killed,
}

impl Group {
    /// The group that a process leads.
    pub(super) fn of(leader: Option<u32>) -> Self {
        Group(leader.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// Sends a signal to every process of the group.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // The one failure that there is, an empty group, is what the caller is after.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills what is left after the leader was waited for, and waits until it is gone.
    pub(super) async fn end(mut self) -> Leftovers {
        let Some(group) = self.0.take() else { return Leftovers::None };
        if !lives(group) {
            return Leftovers::None;
        }
        let began = tokio::time::Instant::now();
        let mut pause = Duration::from_millis(1);
        while lives(group) && began.elapsed() < PATIENCE {
            let _ = kill_process_group(group, Signal::KILL);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        Leftovers::Killed
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Whether a process of the group is alive. Dead ones that came to us for want of a parent are waited for first, since
/// they count as members until then.
fn lives(group: Pid) -> bool {
    while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
    test_kill_process_group(group) != Err(Errno::SRCH)
}
