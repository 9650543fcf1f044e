//! Reading back what attempts printed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use flow_core::model::OutputSlice;

use super::run_folder::RunFolder;

/// What one step backwards reads.
const BLOCK: u64 = 16 * 1024;

/// The most that a tail holds, however long its lines are.
const TAIL_MOST: u64 = 1024 * 1024;

/// Reads a range of an output, counted from its beginning and cut to what there is.
pub fn read_slice(folder: &RunFolder, slice: &OutputSlice, range: Range<u64>) -> io::Result<Vec<u8>> {
    let file = File::open(folder.resolve(&slice.file)?)?;
    read_range(&file, slice, range)
}

/// The last lines of an output, at most a mebibyte; a final newline makes no line of its own.
pub fn tail_of_slice(folder: &RunFolder, slice: &OutputSlice, lines: usize) -> io::Result<Vec<u8>> {
    let file = File::open(folder.resolve(&slice.file)?)?;
    let floor = slice.len.saturating_sub(TAIL_MOST);
    let mut start = slice.len;
    let mut newlines = 0;
    // One newline more than lines: the one before the first of them, or, at the very end, the one that makes no line.
    let mut wanted = lines;
    while start > floor && lines > 0 {
        let from = start.saturating_sub(BLOCK).max(floor);
        let block = read_range(&file, slice, from..start)?;
        if start == slice.len && block.last() == Some(&b'\n') {
            wanted += 1;
        }
        for (at, _) in block.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            newlines += 1;
            if newlines == wanted {
                return read_range(&file, slice, from + at as u64 + 1..slice.len);
            }
        }
        start = from;
    }
    read_range(&file, slice, start..slice.len)
}

/// Writes an output as it is, in blocks.
pub fn copy_slice(folder: &RunFolder, slice: &OutputSlice, out: &mut impl Write) -> io::Result<()> {
    let mut file = File::open(folder.resolve(&slice.file)?)?;
    file.seek(SeekFrom::Start(slice.start))?;
    io::copy(&mut file.take(slice.len), out)?;
    Ok(())
}

fn read_range(file: &File, slice: &OutputSlice, range: Range<u64>) -> io::Result<Vec<u8>> {
    let there = file.metadata()?.len().saturating_sub(slice.start).min(slice.len);
    let (from, to) = (range.start.min(there), range.end.min(there));
    let length = usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, slice.start + from)?;
    Ok(bytes)
}

#[cfg(test)]
#[path = "slice_tests.rs"]
mod tests;
