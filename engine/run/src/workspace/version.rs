//! What a file is at one moment, so that two moments can be compared.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Kind and content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    /// What it is.
    pub(super) kind: Kind,
    /// BLAKE3 of its content, or of where a link leads; empty for what has none.
    pub(super) hash: String,
}

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A plain file.
    File,
    /// A plain file that can be run.
    Program,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// A pipe, a socket, a device.
    Other,
}

impl Version {
    /// The file at a path; links are not followed. `None`: there is none.
    pub(super) fn of(path: &Path) -> io::Result<Option<Version>> {
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let kind = Kind::of(&found);
        let hash = match kind {
            Kind::File | Kind::Program => {
                let mut hasher = blake3::Hasher::new();
                io::copy(&mut std::fs::File::open(path)?, &mut hasher)?;
                hasher.finalize().to_hex().to_string()
            }
            Kind::Link => blake3::hash(path.read_link()?.as_os_str().as_bytes()).to_hex().to_string(),
            Kind::Folder | Kind::Other => String::new(),
        };
        Ok(Some(Version { kind, hash }))
    }
}

impl Kind {
    pub(super) fn of(found: &Metadata) -> Self {
        let kind = found.file_type();
        if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Folder
        } else if !kind.is_file() {
            Kind::Other
        } else if found.permissions().mode() & 0o100 != 0 {
            Kind::Program
        } else {
            Kind::File
        }
    }
}

/// A path as JSON can hold it: one character a byte, since a file's name may be no text.
pub(super) fn path_to_text(path: &Path) -> String {
    path.as_os_str().as_bytes().iter().map(|byte| char::from(*byte)).collect()
}

/// The path again. `None`: it never was one.
pub(super) fn path_of_text(text: &str) -> Option<PathBuf> {
    let bytes = text.chars().map(|letter| u8::try_from(u32::from(letter)).ok());
    Some(PathBuf::from(OsString::from_vec(bytes.collect::<Option<Vec<u8>>>()?)))
}
