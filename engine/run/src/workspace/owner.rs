//! Which process a tree belongs to, as git's worktree lock says it.

/// A process that can't be mistaken for a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// Its number.
    pub(super) pid: u32,
    /// When it started, in clock ticks since boot; 0 where the system doesn't say.
    start: u64,
}

impl Owner {
    /// This process.
    pub(super) fn current() -> Self {
        let pid = std::process::id();
        Owner { pid, start: start_of(pid).unwrap_or(0) }
    }

    /// The reason for git's lock.
    pub(super) fn reason(self, run: &str) -> String {
        format!("flow run {run} pid={} start={}", self.pid, self.start)
    }

    /// Reads a reason that `reason` wrote; anything else is somebody else's lock.
    pub(super) fn parse(reason: &str) -> Option<Self> {
        let mut words = reason.trim().strip_prefix("flow run ")?.split(' ').skip(1);
        let pid = words.next()?.strip_prefix("pid=")?.parse().ok()?;
        let start = words.next()?.strip_prefix("start=")?.parse().ok()?;
        Some(Owner { pid, start })
    }

    /// Whether it still runs.
    pub(super) fn is_alive(self) -> bool {
        start_of(self.pid) == Some(self.start)
    }

    /// Whether it is another process than this one, and still running.
    pub(super) fn is_another_alive(self) -> bool {
        self.pid != std::process::id() && self.is_alive()
    }
}

/// Field 22 of `/proc/<pid>/stat`, counted from behind the name, which may hold spaces and parentheses.
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    // A zombie runs no more.
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;
