//! Output files of shell attempts: a pair for each concurrency slot, written by one attempt after the other. A file and
//! a folder for each attempt would cost more than a short process itself.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flow_core::model::OutputSlice;

use super::run_folder::RunFolder;
use crate::sys::files;

/// Past this size the next attempt gets a new pair.
const ROTATE_AT: u64 = 64 * 1024 * 1024;

/// The output files of a run.
#[derive(Debug)]
pub struct Slots {
    dir: PathBuf,
    slots: Vec<Slot>,
    rotate_at: u64,
}

#[derive(Debug, Default)]
struct Slot {
    current: Option<Pair>,
    /// Number of the next pair.
    next: u32,
}

#[derive(Debug)]
struct Pair {
    stdout: Stream,
    stderr: Stream,
    retired: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
struct Stream {
    file: Arc<File>,
    name: Arc<str>,
}

impl Slots {
    /// The output files of a run for so many slots. Files are made when they are first used, and never taken over from
    /// an earlier engine, whose processes may still write to them.
    pub fn new(folder: &RunFolder, count: u32) -> Slots {
        let slots = (0..count).map(|_| Slot::default()).collect();
        Slots { dir: folder.out(), slots, rotate_at: ROTATE_AT }
    }

    /// The files of a slot for its next attempt. No two live attempts may use one slot.
    pub fn open(&mut self, slot: u32) -> io::Result<SlotFiles> {
        let index = slot as usize;
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, Slot::default);
        }
        let (dir, rotate_at) = (&self.dir, self.rotate_at);
        let state = &mut self.slots[index];
        if let Some(pair) = &state.current
            && !pair.retired.load(Ordering::Acquire)
        {
            let files = pair.open()?;
            if files.stdout.start < rotate_at && files.stderr.start < rotate_at {
                return Ok(files);
            }
        }
        state.current = None;
        let pair = create_pair(dir, slot, &mut state.next)?;
        let files = pair.open()?;
        state.current = Some(pair);
        Ok(files)
    }
}

/// Makes the next pair of a slot that doesn't exist yet: `0.out`, then `0.1.out` and so on.
fn create_pair(dir: &Path, slot: u32, next: &mut u32) -> io::Result<Pair> {
    loop {
        let stem = match *next {
            0 => format!("{slot}"),
            number => format!("{slot}.{number}"),
        };
        *next += 1;
        let create = |extension: &str| -> io::Result<Stream> {
            let name = format!("{stem}.{extension}");
            let file = Arc::new(files::create_for_append(&dir.join(&name))?);
            Ok(Stream { file, name: format!("out/{name}").into() })
        };
        match create("out").and_then(|stdout| Ok((stdout, create("err")?))) {
            Ok((stdout, stderr)) => return Ok(Pair { stdout, stderr, retired: Arc::default() }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

impl Pair {
    fn open(&self) -> io::Result<SlotFiles> {
        Ok(SlotFiles {
            stdout: SlotFile::at_end(&self.stdout)?,
            stderr: SlotFile::at_end(&self.stderr)?,
            retired: Arc::clone(&self.retired),
        })
    }
}

/// The output files of one attempt.
#[derive(Debug)]
pub struct SlotFiles {
    /// Standard output.
    pub stdout: SlotFile,
    /// Standard error.
    pub stderr: SlotFile,
    retired: Arc<AtomicBool>,
}

impl SlotFiles {
    /// The same files from where they end now: for the next of several commands.
    pub fn next(&self) -> io::Result<SlotFiles> {
        Ok(SlotFiles {
            stdout: SlotFile::at_end(&self.stdout.stream)?,
            stderr: SlotFile::at_end(&self.stderr.stream)?,
            retired: Arc::clone(&self.retired),
        })
    }

    /// Takes the files out of use after this attempt: something of it may still hold them open.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }
}

/// One output file of one attempt: the part from its start on.
#[derive(Debug)]
pub struct SlotFile {
    stream: Stream,
    start: u64,
}

impl SlotFile {
    fn at_end(stream: &Stream) -> io::Result<Self> {
        Ok(SlotFile { start: stream.file.metadata()?.len(), stream: stream.clone() })
    }

    /// The file, open for appending.
    pub fn file(&self) -> &File {
        &self.stream.file
    }

    /// The same file, for a copy that runs beside the attempt.
    pub fn shared(&self) -> Arc<File> {
        Arc::clone(&self.stream.file)
    }

    /// How much the attempt has written so far.
    pub fn written(&self) -> io::Result<u64> {
        Ok(self.file().metadata()?.len().saturating_sub(self.start))
    }

    /// Drops what the attempt wrote beyond a length.
    pub fn cut(&self, length: u64) -> io::Result<()> {
        self.file().set_len(self.start + length)
    }

    /// A part of the file: so many bytes of this attempt.
    pub fn slice(&self, len: u64) -> OutputSlice {
        OutputSlice { file: self.stream.name.to_string(), start: self.start, len }
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
