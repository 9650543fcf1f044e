//! Orders to a live run: `control.jsonl`, to which any process of the person appends and which the run's owner follows.
//!
//! An order is no event. The owner hands it to the scheduler, and what that decides is journaled like everything else.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use flow_core::ids::Address;
use serde::{Deserialize, Serialize};

use super::run_folder::RunFolder;

/// The most that is read at once; a person's orders are few and short.
const MOST: u64 = 1024 * 1024;

/// What a person orders from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum ControlOrder {
    /// End the run.
    StopRun {
        /// Whether without grace.
        #[serde(default)]
        force: bool,
    },
    /// End one task, or all instances of one.
    StopTask {
        /// The task.
        task: Address,
        /// Whether without grace.
        #[serde(default)]
        force: bool,
    },
}

/// The owner's side.
#[derive(Debug)]
pub struct ControlReader {
    path: PathBuf,
    offset: u64,
}

impl RunFolder {
    /// Sends an order to whoever owns the run.
    pub fn send_order(&self, order: &ControlOrder) -> io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        // One write, so that orders of two processes never mix.
        OpenOptions::new().append(true).create(true).mode(0o600).open(self.control())?.write_all(&line)
    }
}

impl ControlReader {
    /// Follows the orders from now on: those of an earlier engine were for that one.
    pub fn from_now(folder: &RunFolder) -> Self {
        let path = folder.control();
        let offset = path.metadata().map_or(0, |found| found.len());
        ControlReader { path, offset }
    }

    /// The orders that have come since the last call. A line that is no order of this version is passed over, and one
    /// that isn't whole yet is read the next time.
    pub fn read(&mut self) -> io::Result<Vec<ControlOrder>> {
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
