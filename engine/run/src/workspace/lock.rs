//! Waiting: for other flow processes at one repository, and for git's own locks.

use std::path::Path;
use std::time::{Duration, Instant};

use super::WorkspaceError;
use crate::sys::lock::FileLock;

/// How long others are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// With a lock of git.
    pub(super) git: Duration,
    /// With another flow process, which may itself be waiting for a lock of git.
    pub(super) flow: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { git: Duration::from_secs(30), flow: Duration::from_secs(120) }
    }
}

/// Waits for its turn at a lock, against other threads and other flow processes.
pub(super) fn hold(path: &Path, patience: Duration) -> Result<FileLock, WorkspaceError> {
    let held = FileLock::acquire(path, patience).map_err(WorkspaceError::io("take the lock", path))?;
    held.ok_or_else(|| WorkspaceError::Busy { lock: path.to_owned() })
}

/// Does something again for as long as a lock of git is in its way, up to a limit.
pub(super) fn patiently<T>(
    patience: Duration,
    mut act: impl FnMut() -> Result<T, WorkspaceError>,
) -> Result<T, WorkspaceError> {
    let end = Instant::now() + patience;
    let mut pause = Duration::from_millis(50);
    loop {
        match act() {
            Err(WorkspaceError::GitLocked { .. }) if Instant::now() + pause < end => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_secs(5));
            }
            result => return result,
        }
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
