//! The folder that holds everything flow keeps for a project: `.flow`.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::sys::files;

/// A state folder that is ours: no link, no other owner, not writable by everyone.
#[derive(Clone, Debug)]
pub struct StateDir(PathBuf);

/// Why a state folder can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A link may lead to a place that somebody else chose.
    #[error("the state folder `{path}` is a symbolic link")]
    Link {
        /// The folder.
        path: PathBuf,
    },
    /// Its owner could swap what we trust.
    #[error("`{path}` belongs to user {owner}, not to you")]
    OtherOwner {
        /// The folder.
        path: PathBuf,
        /// The user id.
        owner: u32,
    },
    /// Anybody could swap what we trust.
    #[error("`{path}` is writable by everyone")]
    WorldWritable {
        /// The folder.
        path: PathBuf,
    },
    /// Something else has its name.
    #[error("the state folder `{path}` is no folder")]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("can't {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl StateError {
    /// Whether the folder was refused for what others could do with it, rather than for an obstacle.
    pub fn is_distrust(&self) -> bool {
        match self {
            StateError::Link { .. } | StateError::OtherOwner { .. } | StateError::WorldWritable { .. } => {
                true
            }
            StateError::NoFolder { .. } | StateError::Io { .. } => false,
        }
    }

    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        StateError::Io { action, path: path.to_owned(), source }
    }
}

impl StateDir {
    /// The state folder at a path, made if it isn't there.
    pub fn at(path: &Path) -> Result<StateDir, StateError> {
        match files::make_private_dir(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StateError::io("make the state folder", path, error)),
        }
        let dir = Self::existing(path)?.ok_or_else(|| {
            StateError::io("make the state folder", path, io::Error::from(io::ErrorKind::NotFound))
        })?;
        dir.make("runs").map(drop)?;
        // Whatever the project's own ignore rules say, runs never get into a commit.
        let ignore = path.join(".gitignore");
        match files::create_exclusively(&ignore).and_then(|mut file| io::Write::write_all(&mut file, b"*\n"))
        {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StateError::io("write", &ignore, error)),
        }
        Ok(dir)
    }

    /// The state folder at a path, for reading what is there. `None`: there is none.
    pub fn existing(path: &Path) -> Result<Option<StateDir>, StateError> {
        Ok(is_ours(path)?.then(|| StateDir(path.to_owned())))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where the runs are.
    pub fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    /// A folder in it, made if it isn't there.
    pub(super) fn make(&self, name: &str) -> Result<PathBuf, StateError> {
        let path = self.0.join(name);
        match files::make_private_dir(&path) {
            Ok(()) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_ours(&path).map(|_| path),
            Err(error) => Err(StateError::io("make", &path, error)),
        }
    }
}

/// Whether there is a folder at the path, and nobody else's.
pub(super) fn is_ours(path: &Path) -> Result<bool, StateError> {
    let meta = match path.symlink_metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StateError::io("look at", path, error)),
    };
    let path = path.to_owned();
    if meta.is_symlink() {
        return Err(StateError::Link { path });
    }
    if !meta.is_dir() {
        return Err(StateError::NoFolder { path });
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(StateError::OtherOwner { path, owner: meta.uid() });
    }
    if meta.permissions().mode() & 0o002 != 0 {
        return Err(StateError::WorldWritable { path });
    }
    Ok(true)
}

#[cfg(test)]
#[path = "state_dir_tests.rs"]
mod tests;
