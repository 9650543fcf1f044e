//! The journal of a run that somebody else is writing, read as it grows.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

use flow_core::event::Entry;

use super::journal_line::{self, LineError};
use super::journal_read::JournalError;

/// A place in a journal: what stands before it was read.
#[derive(Debug)]
pub struct JournalTail {
    path: PathBuf,
    offset: u64,
    line: usize,
}

impl JournalTail {
    /// The beginning of a journal.
    pub fn new(path: PathBuf) -> Self {
        JournalTail { path, offset: 0, line: 0 }
    }

    /// What was written since. A line that is not whole yet, or was torn when its engine died, is left for later: the next
    /// engine cuts it off.
    pub fn more(&mut self) -> Result<Vec<Entry>, JournalError> {
        let failed = |source| JournalError::Io { path: self.path.clone(), source };
        let mut file = File::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(self.offset)).map_err(failed)?;
        let mut reader = BufReader::new(file);
        let mut entries = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                return Ok(entries);
            }
            match journal_line::read(&line) {
                Ok(entry) => entries.push(entry),
                Err(LineError::Damaged) if reader.fill_buf().map_err(failed)?.is_empty() => {
                    return Ok(entries);
                }
                Err(LineError::Damaged) => {
                    return Err(JournalError::Damaged { path: self.path.clone(), line: self.line + 1 });
                }
                Err(LineError::Newer(version)) => {
                    let (path, made_by) = (self.path.clone(), "of a later version".to_owned());
                    return Err(JournalError::Newer { path, version, made_by });
                }
                Err(LineError::NoEvent(source)) => {
                    return Err(JournalError::NoEvent {
                        path: self.path.clone(),
                        line: self.line + 1,
                        source,
                    });
                }
            }
            self.line += 1;
            self.offset += line.len() as u64;
        }
    }
}

#[cfg(test)]
#[path = "journal_tail_tests.rs"]
mod tests;
