//! Reading a journal back. Whatever happened to the file, what comes out is a prefix of what was written, or an error.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use flow_core::event::{Entry, Event};

use super::journal_line::{self, LineError};

/// What a journal says.
#[derive(Debug)]
pub struct JournalRead {
    /// The events, `seq` from 0 without gaps.
    pub entries: Vec<Entry>,
    /// A last line that was cut off.
    pub torn: Option<TornTail>,
    /// Bytes of whole lines.
    pub(super) length: u64,
}

/// A last line that a crash cut short: it was never accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Its number, from 1.
    pub line: usize,
    /// Its length.
    pub bytes: u64,
}

/// Why a journal can't be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("can't read the journal `{path}`")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line in the middle is damaged. Nothing is guessed.
    #[error("the journal `{path}` is damaged in line {line}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// Lines are missing or doubled.
    #[error("the journal `{path}` has event {found} in line {line}, where event {expected} belongs")]
    Gap {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The number that belongs there.
        expected: u64,
        /// The number that is there.
        found: u64,
    },
    /// A later flow wrote it.
    #[error("the journal `{path}` has format {version}, made by flow {made_by}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u32,
        /// The version of flow, where it can be read.
        made_by: String,
    },
    /// A whole line that is no event.
    #[error("line {line} of the journal `{path}` is no event")]
    NoEvent {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
}

/// Reads a journal.
pub fn read_journal(path: &Path) -> Result<JournalRead, JournalError> {
    let failed = |source| JournalError::Io { path: path.to_owned(), source };
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path).map_err(failed)?);
    let mut read = JournalRead { entries: Vec::new(), torn: None, length: 0 };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        match journal_line::read(&line) {
            Ok(entry) if entry.seq == read.entries.len() as u64 => {
                read.length += line.len() as u64;
                read.entries.push(entry);
            }
            Ok(entry) => {
                let (expected, found) = (read.entries.len() as u64, entry.seq);
                return Err(JournalError::Gap { path: path.to_owned(), line: number, expected, found });
            }
            Err(LineError::Damaged) => {
                let is_last = reader.fill_buf().map_err(failed)?.is_empty();
                if !is_last || journal_line::hides_an_event(&line, read.entries.len() as u64) {
                    return Err(JournalError::Damaged { path: path.to_owned(), line: number });
                }
                read.torn = Some(TornTail { line: number, bytes: line.len() as u64 });
            }
            Err(LineError::Newer(version)) => {
                let made_by = maker(&read.entries, &line);
                return Err(JournalError::Newer { path: path.to_owned(), version, made_by });
            }
            Err(LineError::NoEvent(source)) => {
                return Err(JournalError::NoEvent { path: path.to_owned(), line: number, source });
            }
        }
    }
    Ok(read)
}

/// The version of flow that wrote a journal: its first event says so, in any format.
fn maker(entries: &[Entry], line: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Maker {
        flow: String,
    }
    match entries.first().map(|entry| &entry.event) {
        Some(Event::RunStarted { flow, .. }) => flow.clone(),
        _ => serde_json::from_slice::<Maker>(line)
            .map_or_else(|_| "of a later version".to_owned(), |maker| maker.flow),
    }
}

#[cfg(test)]
#[path = "journal_read_tests.rs"]
mod tests;
