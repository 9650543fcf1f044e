//! Writing the journal: append-only, each event before its effect.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use flow_core::event::{Entry, Event, VERSION};
use flow_core::ids::Millis;

use super::journal_line;
use super::journal_read::JournalRead;
use super::journal_sync::{Failure, SyncThread};
use crate::sys::files;

/// How sure a written event is to survive the machine. The process's own end takes nothing in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The system writes it to the disk when it likes.
    None,
    /// At most 20 ms later, many events at once.
    #[default]
    Batch,
    /// Before `append` returns.
    Always,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// Bytes of accepted lines.
    length: u64,
    next: u64,
    mode: Mode,
    /// A failed write. None follows it: what is on disk is a whole prefix of what happened.
    failure: Option<Failure>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
enum Mode {
    None,
    Batch(SyncThread),
    Always,
}

impl Journal {
    /// Begins the journal of a new run.
    pub fn create(path: &Path, durability: Durability) -> io::Result<Journal> {
        let file = files::create_for_append(path)?;
        if durability != Durability::None {
            // The file's name has to survive too.
            path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())?;
        }
        Journal::over(file, 0, 0, durability)
    }

    /// Goes on with a journal that was read, after cutting off what `read_journal` called torn. The caller owns the run.
    pub fn open_for_append(path: &Path, read: &JournalRead, durability: Durability) -> io::Result<Journal> {
        let file = OpenOptions::new().append(true).open(path)?;
        let torn = read.torn.as_ref().map_or(0, |torn| torn.bytes);
        if file.metadata()?.len() != read.length + torn {
            return Err(io::Error::other("the journal has changed since it was read"));
        }
        if torn > 0 {
            file.set_len(read.length)?;
        }
        Journal::over(file, read.length, read.entries.len() as u64, durability)
    }

    fn over(file: File, length: u64, next: u64, durability: Durability) -> io::Result<Journal> {
        let mode = match durability {
            Durability::None => Mode::None,
            Durability::Batch => Mode::Batch(SyncThread::start(file.try_clone()?)?),
            Durability::Always => Mode::Always,
        };
        Ok(Journal { file, length, next, mode, failure: None, buffer: Vec::new() })
    }

    /// Appends events, all of them or none, with one write. After an error every further call returns it again: what
    /// could not be written, or synced, is not tried twice.
    pub fn append(&mut self, at: Millis, events: impl IntoIterator<Item = Event>) -> io::Result<Vec<Entry>> {
        self.check()?;
        self.buffer.clear();
        let mut entries = Vec::new();
        for (seq, event) in (self.next..).zip(events) {
            let entry = Entry { v: VERSION, seq, at, event };
            journal_line::write(&entry, &mut self.buffer)?;
            entries.push(entry);
        }
        if entries.is_empty() {
            return Ok(entries);
        }
        if let Err(error) = self.is_ours().and_then(|()| self.write_buffer()) {
            self.failure = Some(Failure::of(&error));
            return Err(error);
        }
        self.next += entries.len() as u64;
        Ok(entries)
    }

    /// Waits until all that was appended is on disk, as far as the durability asks for it at all.
    pub fn sync(&mut self) -> io::Result<()> {
        self.check()?;
        match &self.mode {
            // `Always` has nothing left to do.
            Mode::None | Mode::Always => Ok(()),
            Mode::Batch(thread) => thread.sync(),
        }
    }

    /// How many events it holds.
    pub fn len(&self) -> u64 {
        self.next
    }

    /// Whether it holds no event.
    pub fn is_empty(&self) -> bool {
        self.next == 0
    }

    fn check(&self) -> io::Result<()> {
        let synced = match &self.mode {
            Mode::Batch(thread) => thread.failure(),
            Mode::None | Mode::Always => None,
        };
        match self.failure.clone().or(synced) {
            Some(failure) => Err(failure.error()),
            None => Ok(()),
        }
    }

    /// An open handle outlives the file's name, and a run that nobody finds again must not go on.
    fn is_ours(&self) -> io::Result<()> {
        let file = self.file.metadata()?;
        match (file.nlink(), file.len() == self.length) {
            (0, _) => Err(io::Error::other("somebody deleted it under the run")),
            (_, false) => Err(io::Error::other("somebody changed it under the run")),
            (_, true) => Ok(()),
        }
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        // A full disk takes a part before it refuses the rest. The part must not stay: it could hold whole lines, whose
        // effects will never begin. If it can't be taken back, the error at least ends the run.
        if let Err(error) = self.file.write_all(&self.buffer) {
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += self.buffer.len() as u64;
        match &self.mode {
            Mode::None => Ok(()),
            Mode::Batch(thread) => {
                thread.written();
                Ok(())
            }
            Mode::Always => Ok(rustix::fs::fdatasync(&self.file)?),
        }
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
