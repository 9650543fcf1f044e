//! Outputs in files of their own, for whoever is told of one: the commands of a slot share a file, which tells of others.

use std::path::{Path, PathBuf};

use flow_core::model::OutputSlice;

use super::intact::{OutputError, check_slice};
use super::run_folder::RunFolder;
use super::slice::copy_slice;
use crate::sys::files::make_private_dirs;

/// Copies an output to a file of the run folder, unless it has been, or is there by itself; gives its path. What is not what
/// was written is not handed on.
pub fn give_own_file(folder: &RunFolder, slice: &OutputSlice, file: &str) -> Result<PathBuf, OutputError> {
    let failed = |path: &Path| {
        let file = path.to_owned();
        move |source| OutputError::Io { file, source }
    };
    let path = folder.resolve(file).map_err(failed(Path::new(file)))?;
    let own = OutputSlice { hash: slice.hash, ..OutputSlice::new(file, 0, slice.len) };
    if slice.file != file && check_slice(folder, &own, u64::MAX).is_ok() {
        return Ok(path);
    }
    check_slice(folder, slice, u64::MAX)?;
    if slice.file == file {
        return Ok(path);
    }
    let parent = path.parent().unwrap_or(folder.path());
    make_private_dirs(parent).map_err(failed(parent))?;
    // Two readers may come at once, and each must find it whole.
    let mut copy = tempfile::NamedTempFile::new_in(parent).map_err(failed(parent))?;
    copy_slice(folder, slice, &mut copy).map_err(failed(&path))?;
    copy.persist(&path).map_err(|error| failed(&path)(error.error))?;
    Ok(path)
}

#[cfg(test)]
#[path = "own_output_tests.rs"]
mod tests;
