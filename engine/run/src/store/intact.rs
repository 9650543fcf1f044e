//! Whether what a task wrote still is what it wrote. Whoever takes it for a value asks here first: an output that is lost,
//! shorter or changed must never pass for another one.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use flow_core::model::{Artifact, Digest, OutputSlice};

use super::run_folder::RunFolder;

/// What one step of a hash reads.
const BLOCK: usize = 64 * 1024;

/// Up to this size a kept file is read again whenever its path is handed out.
const HASHED_AGAIN: u64 = 64 * 1024 * 1024;

/// Why what a task wrote can't be read.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is no such file any more.
    #[error("`{}` is gone", file.display())]
    Gone {
        /// The file.
        file: PathBuf,
    },
    /// Something cut it off.
    #[error("`{}` was cut off: {there} of {wanted} bytes are left", file.display())]
    Shorter {
        /// The file.
        file: PathBuf,
        /// How many bytes of the output there are.
        there: u64,
        /// How many the task wrote.
        wanted: u64,
    },
    /// Its bytes are others.
    #[error("`{}` was changed after the task had written it", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// The system says no.
    #[error("`{}`: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl OutputError {
    fn of(file: &Path) -> impl FnOnce(io::Error) -> OutputError {
        let file = file.to_owned();
        move |source| match source.kind() {
            ErrorKind::NotFound => OutputError::Gone { file },
            _ => OutputError::Io { file, source },
        }
    }
}

/// All of an output, once it is clear that it is what was written.
pub fn read_whole(folder: &RunFolder, slice: &OutputSlice) -> Result<Vec<u8>, OutputError> {
    let (path, file) = open(folder, slice)?;
    let length = usize::try_from(slice.len).map_err(io::Error::other).map_err(OutputError::of(&path))?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, slice.start).map_err(OutputError::of(&path))?;
    match slice.hash {
        Some(hash) if hash != Digest::of(&bytes) => Err(OutputError::Changed { file: path }),
        Some(_) | None => Ok(bytes),
    }
}

/// Whether an output is there as it was written. One past `most` bytes is measured only.
pub fn check_slice(folder: &RunFolder, slice: &OutputSlice, most: u64) -> Result<(), OutputError> {
    let (path, file) = open(folder, slice)?;
    let Some(hash) = slice.hash.filter(|_| slice.len <= most) else { return Ok(()) };
    let found = hash_range(&file, slice.start, slice.len).map_err(OutputError::of(&path))?;
    if found == hash { Ok(()) } else { Err(OutputError::Changed { file: path }) }
}

/// Whether a file that was kept whole is there as it was.
pub fn check_artifact(folder: &RunFolder, artifact: &Artifact) -> Result<(), OutputError> {
    let slice = artifact.slice();
    let (path, file) = open(folder, &slice)?;
    let length = file.metadata().map_err(OutputError::of(&path))?.len();
    if length != artifact.bytes {
        return Err(OutputError::Changed { file: path });
    }
    check_slice(folder, &slice, HASHED_AGAIN)
}

/// The file of an output, long enough to hold it.
fn open(folder: &RunFolder, slice: &OutputSlice) -> Result<(PathBuf, File), OutputError> {
    let path = folder.resolve(&slice.file).map_err(OutputError::of(Path::new(&slice.file)))?;
    let file = File::open(&path).map_err(OutputError::of(&path))?;
    let length = file.metadata().map_err(OutputError::of(&path))?.len();
    let there = length.saturating_sub(slice.start).min(slice.len);
    match there == slice.len {
        true => Ok((path, file)),
        false => Err(OutputError::Shorter { file: path, there, wanted: slice.len }),
    }
}

/// The hash of a part of a file. It is an error when the part is not there.
pub(super) fn hash_range(file: &File, start: u64, len: u64) -> io::Result<Digest> {
    if len <= BLOCK as u64 {
        let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, start)?;
        return Ok(Digest::of(&bytes));
    }
    let mut hasher = blake3::Hasher::new();
    let mut block = vec![0; BLOCK];
    let mut done = 0;
    while done < len {
        let step = usize::try_from((len - done).min(BLOCK as u64)).map_err(io::Error::other)?;
        file.read_exact_at(&mut block[..step], start + done)?;
        hasher.update(&block[..step]);
        done += step as u64;
    }
    Ok(hasher.finalize().into())
}

/// A reader that hashes what goes through it.
#[derive(Debug)]
pub struct Hashing<R> {
    from: R,
    hasher: blake3::Hasher,
}

impl<R: Read> Hashing<R> {
    /// Reads from `from`.
    pub fn new(from: R) -> Self {
        Hashing { from, hasher: blake3::Hasher::new() }
    }

    /// The hash of what was read.
    pub fn digest(&self) -> Digest {
        self.hasher.finalize().into()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
#[path = "intact_tests.rs"]
mod tests;
