//! Output files of shell attempts: a pair for each concurrency slot, written by one attempt after the other. A file and
//! a folder for each attempt would cost more than a short process itself.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flow_core::model::OutputSlice;

use super::intact::hash_range;
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
            && pair.is_there()?
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
    /// Whether the files still have their names: what is written to one without is lost with its last handle.
    fn is_there(&self) -> io::Result<bool> {
        Ok(self.stdout.file.metadata()?.nlink() > 0 && self.stderr.file.metadata()?.nlink() > 0)
    }

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
#[derive(Clone, Debug)]
pub struct SlotFile {
    stream: Stream,
    start: u64,
    /// The last bytes before it. They are there no more where somebody has cut the file off meanwhile.
    before: Box<[u8]>,
}

/// How many bytes before an attempt's part are looked at.
const BEFORE: u64 = 16;

impl SlotFile {
    fn at_end(stream: &Stream) -> io::Result<Self> {
        let start = stream.file.metadata()?.len();
        Ok(SlotFile { start, before: bytes_before(&stream.file, start)?, stream: stream.clone() })
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

    /// The name of the file within the run folder.
    pub fn name(&self) -> &str {
        &self.stream.name
    }

    /// So many bytes of this attempt, as they are now that nothing writes to them any more. `None`: the file was cut off
    /// under the attempt, so that nobody can say what it wrote.
    pub fn slice(&self, len: u64) -> io::Result<Option<OutputSlice>> {
        let is_whole = self.file().metadata()?.len() >= self.start + len
            && bytes_before(self.file(), self.start)? == self.before;
        if !is_whole {
            return Ok(None);
        }
        let slice = OutputSlice::new(self.name(), self.start, len);
        Ok(Some(match len {
            0 => slice,
            _ => slice.with_hash(hash_range(self.file(), self.start, len)?),
        }))
    }
}

fn bytes_before(file: &File, start: u64) -> io::Result<Box<[u8]>> {
    let length = start.min(BEFORE);
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    match file.read_exact_at(&mut bytes, start - length) {
        Ok(()) => Ok(bytes.into()),
        // They are not there any more.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Box::default()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
