//! Commands to a live run from other processes: `control.jsonl`, to which any process of the person appends and which the
//! run's owner follows.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use flow_core::model::Command;

use super::run_folder::RunFolder;

/// The most that is read at once; a person's commands are few and short.
const MOST: u64 = 1024 * 1024;

/// The owner's side.
#[derive(Debug)]
pub struct ControlReader {
    path: PathBuf,
    offset: u64,
}

impl RunFolder {
    /// Sends a command to whoever owns the run.
    pub fn send(&self, command: &Command) -> io::Result<()> {
        let mut line = serde_json::to_vec(command)?;
        line.push(b'\n');
        // One write, so that commands of two processes never mix.
        OpenOptions::new().append(true).create(true).mode(0o600).open(self.control())?.write_all(&line)
    }
}

impl ControlReader {
    /// Follows the commands from now on: those of an earlier engine were for that one.
    pub fn from_now(folder: &RunFolder) -> Self {
        let path = folder.control();
        let offset = path.metadata().map_or(0, |found| found.len());
        ControlReader { path, offset }
    }

    /// The commands that have come since the last call. A line that is no command of this version is passed over, and one
    /// that isn't whole yet is read the next time.
    pub fn read(&mut self) -> io::Result<Vec<Command>> {
        let length = match self.path.metadata() {
            Ok(found) => found.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        if length <= self.offset {
            return Ok(Vec::new());
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset += whole as u64;
        let lines = bytes[..whole].split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
