//! Waiting: for other flow processes at one repository, and for git's own locks.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::WorkspaceError;

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

/// One repository, held against other threads and other flow processes until dropped or the process ends.
#[derive(Debug)]
pub(super) struct RepositoryLock {
    _file: File,
}

impl RepositoryLock {
    /// Waits for its turn.
    pub(super) fn take(path: &Path, patience: Duration) -> Result<Self, WorkspaceError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path)
            .map_err(WorkspaceError::io("open the lock", path))?;
        let end = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(RepositoryLock { _file: file }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(20));
                }
                Err(Errno::WOULDBLOCK) => return Err(WorkspaceError::Busy { lock: path.to_owned() }),
                Err(error) => return Err(WorkspaceError::io("take the lock", path)(error.into())),
            }
        }
    }
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
