//! `lock`: one run at a time with a name, in one state folder.

use std::io;
use std::path::PathBuf;

use flow_core::ids::RunId;
use flow_core::text::file_name;
use serde::{Deserialize, Serialize};

use super::state_dir::{StateDir, StateError};
use crate::sys::lock::FileLock;
use crate::sys::process::ProcessIdentity;

/// A held lock. It ends when this is dropped, and with the process at the latest.
#[derive(Debug)]
pub struct PlanLock {
    lock: FileLock,
    path: PathBuf,
}

/// Why a lock can't be taken.
#[derive(Debug, thiserror::Error)]
pub enum PlanLockError {
    /// Another run has it.
    #[error("the lock `{name}` is held by {}", holder.as_ref().map_or_else(|| "another run".to_owned(), Holder::said))]
    Held {
        /// The lock.
        name: String,
        /// Who, where it could be read.
        holder: Option<Holder>,
    },
    /// The folder can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The system refuses.
    #[error("can't lock `{}`", path.display())]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Who holds a lock.
#[derive(Debug, Serialize, Deserialize)]
pub struct Holder {
    /// The process. An earlier flow wrote its number alone.
    #[serde(flatten)]
    pub process: ProcessIdentity,
    /// Its run, once it has one.
    #[serde(default)]
    pub run: Option<String>,
}

impl Holder {
    fn said(&self) -> String {
        match &self.run {
            Some(run) => format!("run `{run}` (process {})", self.process.pid),
            None => format!("process {}", self.process.pid),
        }
    }
}

impl StateDir {
    /// Takes the lock of a name.
    pub fn lock(&self, name: &str) -> Result<PlanLock, PlanLockError> {
        let path = self.make("locks")?.join(file_name(name));
        let io = |source| PlanLockError::Io { path: path.clone(), source };
        let Some(lock) = FileLock::try_acquire(&path).map_err(io)? else {
            return Err(PlanLockError::Held { name: name.to_owned(), holder: FileLock::said(&path) });
        };
        let lock = PlanLock { lock, path: path.clone() };
        lock.write(None).map_err(io)?;
        Ok(lock)
    }
}

impl PlanLock {
    /// Says which run holds it, for whoever finds it taken.
    pub fn hold_for(&self, run: &RunId) -> Result<(), PlanLockError> {
        self.write(Some(run)).map_err(|source| PlanLockError::Io { path: self.path.clone(), source })
    }

    fn write(&self, run: Option<&RunId>) -> io::Result<()> {
        let process = ProcessIdentity::current()?;
        self.lock.say(&Holder { process, run: run.map(ToString::to_string) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_holder_at_a_time_and_says_which() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::at(&root.path().join(".flow")).unwrap();
        let lock = state.lock("deploy/main").unwrap();
        let run = RunId::parse("20261130-075412-k3f9q2").unwrap();
        lock.hold_for(&run).unwrap();
        let refused = state.lock("deploy/main").unwrap_err().to_string();
        let pid = std::process::id();
        assert_eq!(refused, format!("the lock `deploy/main` is held by run `{run}` (process {pid})"));
        state.lock("deploy").unwrap();
        // As an earlier flow wrote it.
        std::fs::write(&lock.path, format!(r#"{{"pid":7,"run":"{run}"}}"#)).unwrap();
        let refused = state.lock("deploy/main").unwrap_err().to_string();
        assert_eq!(refused, format!("the lock `deploy/main` is held by run `{run}` (process 7)"));
        drop(lock);
        state.lock("deploy/main").unwrap();
    }
}
