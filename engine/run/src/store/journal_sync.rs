//! Bringing the journal to the disk, a little behind its writer: many events share one sync.

use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How far the disk may lag behind.
const LAG: Duration = Duration::from_millis(20);

/// A failure that is told to everyone who asks from then on. `io::Error` can't be copied.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    code: Option<i32>,
    kind: io::ErrorKind,
    message: String,
}

impl Failure {
    pub(super) fn of(error: &io::Error) -> Self {
        Failure { code: error.raw_os_error(), kind: error.kind(), message: error.to_string() }
    }

    pub(super) fn error(&self) -> io::Error {
        match self.code {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(self.kind, self.message.clone()),
        }
    }
}

/// The thread that syncs.
#[derive(Debug)]
pub(super) struct SyncThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// There is something to do, or it has become urgent.
    work: Condvar,
    /// A sync has ended.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Writes so far.
    written: u64,
    /// How many of them are on disk.
    synced: u64,
    urgent: bool,
    closing: bool,
    /// After a failed sync the kernel has dropped what it could not write: a second try would succeed and mean nothing.
    failure: Option<Failure>,
}

impl SyncThread {
    pub(super) fn start(file: File) -> io::Result<SyncThread> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let body = move || theirs.run(|| Ok(rustix::fs::fdatasync(&file)?));
        let thread = std::thread::Builder::new().name("journal-sync".into()).spawn(body)?;
        Ok(SyncThread { shared, thread: Some(thread) })
    }

    /// Notes a write.
    pub(super) fn written(&self) {
        let mut state = self.shared.lock();
        state.written += 1;
        // While one write waits the thread is awake, so most writes wake nobody.
        if state.written == state.synced + 1 {
            self.shared.work.notify_one();
        }
    }

    /// The failure, once there was one.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.shared.lock().failure.clone()
    }

    /// Waits until all that was written is on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        let mut state = self.shared.lock();
        let target = state.written;
        state.urgent = true;
        self.shared.work.notify_one();
        while state.synced < target && state.failure.is_none() {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failure.as_ref().map_or(Ok(()), |failure| Err(failure.error()))
    }
}

impl Drop for SyncThread {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take() {
            // Nothing in it panics; if it did, there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut sync: impl FnMut() -> io::Result<()>) {
        let mut state = self.lock();
        loop {
            let idle = |state: &mut State| state.written == state.synced && !state.closing;
            state = self.work.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
            if state.written == state.synced {
                return;
            }
            let patient = |state: &mut State| !state.urgent && !state.closing;
            let waited = self.work.wait_timeout_while(state, LAG, patient);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.urgent = false;
            let target = state.written;
            drop(state);
            let result = sync();
            state = self.lock();
            match result {
                Ok(()) => state.synced = target,
                Err(error) => state.failure = Some(Failure::of(&error)),
            }
            self.done.notify_all();
            if state.failure.is_some() {
                return;
            }
        }
    }
}

#[cfg(test)]
#[path = "journal_sync_tests.rs"]
mod tests;
