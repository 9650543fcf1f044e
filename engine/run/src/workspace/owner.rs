//! Which process a tree belongs to, as git's lock of a worktree says it, and the list of a copy.

use std::path::Path;

use super::WorkspaceError;
use crate::sys::process::ProcessIdentity;

/// The owner of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeOwner {
    /// The run that the tree was made for.
    pub(super) run: String,
    /// The process that works for it.
    pub(super) process: ProcessIdentity,
}

impl TreeOwner {
    /// This process, for a run.
    pub(super) fn current(run: &str) -> Result<Self, WorkspaceError> {
        let process = ProcessIdentity::current().map_err(WorkspaceError::io("read", "/proc/self/stat"))?;
        Ok(TreeOwner { run: run.to_owned(), process })
    }

    /// The reason for git's lock.
    pub(super) fn reason(&self) -> String {
        let ProcessIdentity { pid, start_time, boot_id } = &self.process;
        let mut reason = format!("flow run {} pid={pid} start={}", self.run, start_time.unwrap_or(0));
        if let Some(boot) = boot_id {
            reason.push_str(&format!(" boot={boot}"));
        }
        reason
    }

    /// Reads a reason that `reason` wrote, in this flow or an earlier one, which named no boot; anything else is
    /// somebody else's lock.
    pub(super) fn parse(reason: &str) -> Option<Self> {
        let mut words = reason.trim().strip_prefix("flow run ")?.split(' ');
        let run = words.next()?.to_owned();
        let pid = words.next()?.strip_prefix("pid=")?.parse().ok()?;
        let start: u64 = words.next()?.strip_prefix("start=")?.parse().ok()?;
        let boot_id = words.next().and_then(|word| word.strip_prefix("boot=")).map(str::to_owned);
        // 0: the system did not say.
        let start_time = Some(start).filter(|start| *start != 0);
        Some(TreeOwner { run, process: ProcessIdentity { pid, start_time, boot_id } })
    }

    /// The owner of a worktree, by its entry in `.git/worktrees`.
    pub(super) fn of_entry(admin: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(admin.join("locked")).ok()?)
    }
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;
