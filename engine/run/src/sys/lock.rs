//! A lock that vanishes with its process, however that ends: `flock` on a file that may stay behind.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A held lock. Dropping it lets go at once.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Takes the lock, making its file if need be. `None`: somebody else holds it.
    pub fn try_acquire(path: &Path) -> io::Result<Option<FileLock>> {
        // `is_held` takes a shared lock for a moment; that must not look like an owner.
        Self::acquire(path, Duration::from_millis(20))
    }

    /// Waits for the lock, making its file if need be. `None`: somebody else held it for all that time.
    pub fn acquire(path: &Path, patience: Duration) -> io::Result<Option<FileLock>> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let end = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        loop {
            if try_lock(&file, FlockOperation::NonBlockingLockExclusive)? {
                return Ok(Some(FileLock(file)));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Whether somebody holds the lock. A file that isn't there is held by nobody.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        match File::open(path) {
            Ok(file) => {
                let free = try_lock(&file, FlockOperation::NonBlockingLockShared)?;
                drop(FileLock(file));
                Ok(!free)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes into the lock's file who holds it, in place of whoever did before.
    pub fn say(&self, holder: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(holder)?;
        line.push(b'\n');
        self.0.set_len(0)?;
        self.0.write_all_at(&line, 0)
    }

    /// What the holder of a lock has said, or the last one did. `None`: nothing that can be read.
    pub fn said<T: DeserializeOwned>(path: &Path) -> Option<T> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started has a copy of the handle until it executes its program.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

fn try_lock(file: &File, operation: FlockOperation) -> io::Result<bool> {
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_holder_and_is_free_again_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("owner");
        assert!(!FileLock::is_held(&path).unwrap());
        let lock = FileLock::try_acquire(&path).unwrap().unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        assert!(FileLock::is_held(&path).unwrap());
        drop(lock);
        assert!(!FileLock::is_held(&path).unwrap());
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
    }

    #[test]
    fn a_lock_says_who_holds_it_and_nothing_of_who_did_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("owner");
        let lock = FileLock::acquire(&path, Duration::ZERO).unwrap().unwrap();
        lock.say(&"somebody with a long name").unwrap();
        lock.say(&"me").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "\"me\"\n");
        assert_eq!(FileLock::said::<String>(&path).unwrap(), "me");
        assert_eq!(FileLock::said::<String>(&dir.path().join("nobody")), None);
    }

    #[test]
    fn a_dropped_lock_is_free_though_a_copy_of_its_handle_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("owner");
        let lock = FileLock::try_acquire(&path).unwrap().unwrap();
        let copy = lock.0.try_clone().unwrap();
        drop(lock);
        assert!(!FileLock::is_held(&path).unwrap());
        drop(copy);
    }
}
