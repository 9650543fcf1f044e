//! Copying one file, sharing its blocks where the file system can.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Copies a file or a link as it is: content, the right to run it, time of change. The target must not exist.
pub(super) fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let found = from.symlink_metadata()?;
    if found.is_symlink() {
        return std::os::unix::fs::symlink(from.read_link()?, to);
    }
    let source = File::open(from)?;
    let mode = found.permissions().mode() & 0o777;
    // Writable until it is filled, whatever the original is.
    let target = OpenOptions::new().write(true).create_new(true).mode(mode | 0o200).open(to)?;
    if rustix::fs::ioctl_ficlone(&target, &source).is_err() {
        // Another file system, or one that can't share blocks. The kernel copies where it can do that without us.
        io::copy(&mut &source, &mut &target)?;
    }
    target.set_permissions(PermissionsExt::from_mode(mode))?;
    // Build tools compare times.
    if let Ok(changed) = found.modified() {
        target.set_modified(changed)?;
    }
    Ok(())
}
