//! Files that must be whole or absent, and folders that are nobody else's business.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Writes a file so that a reader, or a crash, sees the old content or the new, never a part.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    swap_in(path, bytes, File::sync_all)?;
    // The name itself is on disk only when its folder is.
    File::open(dir)?.sync_all()
}

/// The same for readers, but not for a machine that fails: for what can be made again from something that is safe.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    swap_in(path, bytes, |_| Ok(()))
}

fn swap_in(path: &Path, bytes: &[u8], sync: fn(&File) -> io::Result<()>) -> io::Result<()> {
    let (temporary, mut file) = create_beside(path)?;
    let written =
        file.write_all(bytes).and_then(|()| sync(&file)).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The write's own error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Creates a file that must not exist yet, readable by its owner only.
pub fn create_exclusively(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a file that must not exist yet, for appending and reading back, readable by its owner only.
pub fn create_for_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(path)
}

/// Makes one folder that must not exist yet, open to its owner only.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes a folder and its missing parents, each open to its owner only.
pub fn make_private_dirs(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(path)
}

/// An exclusively made temporary file in the folder of `path`, since a rename can't cross file systems.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    loop {
        let mut unique = std::ffi::OsString::from(".");
        unique.push(name);
        unique.push(format!(".{:08x}.tmp", random_u32()?));
        let temporary = path.with_file_name(unique);
        match create_exclusively(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// A number that nobody can guess.
pub fn random_u32() -> io::Result<u32> {
    getrandom::u32().map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
