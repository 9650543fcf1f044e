//! Who runs a run.

use std::io;
use std::path::PathBuf;

use flow_core::ids::RunId;

use super::run_folder::RunFolder;
use crate::sys::lock::FileLock;
use crate::sys::process::ProcessIdentity;

/// The ownership of a run. It ends when this is dropped, and with the process at the latest.
#[derive(Debug)]
pub struct OwnerLock(#[expect(dead_code, reason = "held, never read")] FileLock);

/// Why a run can't be owned.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// Another engine has it.
    #[error("run `{run}` is being run by {}", name(owner.as_ref()))]
    Owned {
        /// The run.
        run: RunId,
        /// Who, where it could be read.
        owner: Option<ProcessIdentity>,
    },
    /// The system refuses.
    #[error("can't lock `{path}`")]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl RunFolder {
    /// Becomes the owner of the run.
    pub fn lock(&self) -> Result<OwnerLock, OwnerError> {
        let path = self.path().join("owner");
        let failed = |source| OwnerError::Io { path: path.clone(), source };
        let Some(lock) = FileLock::try_acquire(&path).map_err(failed)? else {
            return Err(OwnerError::Owned { run: self.id().clone(), owner: self.last_owner() });
        };
        ProcessIdentity::current().and_then(|us| lock.say(&us)).map_err(failed)?;
        Ok(OwnerLock(lock))
    }

    /// Removes the run with all that it kept. The lock goes with it.
    pub fn remove(&self, owned: OwnerLock) -> io::Result<()> {
        let removed = std::fs::remove_dir_all(self.path());
        drop(owned);
        removed
    }

    /// Whether some process owns the run right now.
    pub fn owner_alive(&self) -> io::Result<bool> {
        FileLock::is_held(&self.path().join("owner"))
    }

    /// Who owns the run, or did last.
    pub fn last_owner(&self) -> Option<ProcessIdentity> {
        FileLock::said(&self.path().join("owner"))
    }
}

fn name(owner: Option<&ProcessIdentity>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |owner| format!("process {}", owner.pid))
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;
