//! Reading the log of a conversation, also while it is written.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flow_core::converse::{LogLine, Logged, told_by};

use super::files::{WIRE, recorded};

/// Reads what is new in the log of a task's folder.
#[derive(Debug)]
pub struct LogReader {
    path: PathBuf,
    at: u64,
}

impl LogReader {
    /// From the beginning.
    pub fn new(folder: &Path) -> Self {
        LogReader { path: folder.join(WIRE), at: 0 }
    }

    /// What was written since the last time, as far as its lines are whole; nothing where there is no log.
    pub fn read_new(&mut self) -> io::Result<Vec<Logged>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() <= self.at {
            return Ok(Vec::new());
        }
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.at += whole as u64;
        let lines = String::from_utf8_lossy(&bytes[..whole]);
        Ok(lines.lines().filter_map(Logged::read).collect())
    }
}

/// All that is known of the conversations in a task's folder. Of a run of an earlier version that is its transcript.
pub fn conversation_log(folder: &Path) -> io::Result<Vec<LogLine>> {
    let lines: Vec<LogLine> =
        LogReader::new(folder).read_new()?.into_iter().map(|logged| logged.line).collect();
    let tells = |line: &LogLine| !matches!(line, LogLine::RequestEnded { .. });
    if lines.is_empty() || lines.iter().any(tells) {
        return Ok(lines);
    }
    let failed = lines.into_iter().rfind(|line| matches!(line, LogLine::RequestEnded { error: Some(_), .. }));
    Ok(told_by(&recorded(folder)?.items).into_iter().chain(failed).collect())
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
