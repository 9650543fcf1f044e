//! What a copy was when it was made: the list from which its changes are told.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flow_core::model::{is_flow_dir, is_git_dir};
use ignore::WalkBuilder;
use serde::{Deserialize, Serialize};

use super::WorkspaceError;
use super::owner::TreeOwner;
use super::version::{Kind, Version, path_of_text, path_to_text};
use crate::sys::files::write_atomically;

/// The list of a copy; it stands beside the copy, out of its task's way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Baseline {
    version: u32,
    /// The process that uses the copy, as in git's lock of a worktree; none once it is done.
    owner: Option<String>,
    /// The tree that was copied.
    source: String,
    /// Whether the copy was made to its end. Nobody has worked in one that was not.
    pub(super) complete: bool,
    files: BTreeMap<String, BaseFile>,
}

/// A file of the copy at the start.
#[derive(Debug, Serialize, Deserialize)]
struct BaseFile {
    #[serde(flatten)]
    content: Version,
    /// Size, inode and time of change: while they are the same, the content is.
    stamp: Stamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    inode: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        // Not the time of modification: anybody can set that.
        let (seconds, nanoseconds) = (found.ctime(), found.ctime_nsec());
        Stamp { size: found.size(), inode: found.ino(), seconds, nanoseconds }
    }
}

/// A file of a copy that is no longer what it was.
#[derive(Debug)]
pub(super) struct Difference {
    /// Relative to the copy.
    pub(super) path: PathBuf,
    /// At the start; none when it is new.
    pub(super) from: Option<Version>,
    /// Now; none when it is gone.
    pub(super) to: Option<Version>,
}

/// What a copy holds beyond its start.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) files: Vec<Difference>,
    /// Whether there is something that can't be brought home: a repository, a pipe.
    pub(super) loose: bool,
    /// The `.git` of each repository in it. The files around it come home, the history does not.
    pub(super) repositories: Vec<PathBuf>,
}

impl Baseline {
    /// An empty list, owned by this process.
    pub(super) fn new(source: &Path, run: &str) -> Result<Self, WorkspaceError> {
        Ok(Baseline {
            version: 1,
            owner: Some(TreeOwner::current(run)?.reason()),
            source: path_to_text(source),
            complete: false,
            files: BTreeMap::new(),
        })
    }

    /// Who uses the copy.
    pub(super) fn owner(&self) -> Option<TreeOwner> {
        TreeOwner::parse(self.owner.as_deref()?)
    }

    /// Leaves the copy to whoever finds it.
    pub(super) fn disown(&mut self) {
        self.owner = None;
    }

    /// Where the list of a copy stands.
    pub(super) fn beside(copy: &Path) -> PathBuf {
        let mut name = std::ffi::OsString::from(".");
        name.push(copy.file_name().unwrap_or_default());
        name.push(".json");
        copy.with_file_name(name)
    }

    /// The list of a copy. `None`: it has none.
    pub(super) fn read(copy: &Path) -> Result<Option<Self>, WorkspaceError> {
        let path = Self::beside(copy);
        match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|error| WorkspaceError::io("read", path)(io::Error::other(error))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(WorkspaceError::io("read", path)(error)),
        }
    }

    pub(super) fn write(&self, copy: &Path) -> Result<(), WorkspaceError> {
        let path = Self::beside(copy);
        let written = serde_json::to_vec(self).map_err(io::Error::other);
        written.and_then(|text| write_atomically(&path, &text)).map_err(WorkspaceError::io("write", path))
    }

    /// Takes a file in as it stands in the copy.
    pub(super) fn add(&mut self, copy: &Path, path: &Path) -> io::Result<()> {
        let at = copy.join(path);
        if let Some(content) = Version::of(&at)? {
            let stamp = Stamp::of(&at.symlink_metadata()?);
            self.files.insert(path_to_text(path), BaseFile { content, stamp });
        }
        Ok(())
    }

    /// What differs now. With `rules` new files that git would ignore are none; those of a repository's own list are in
    /// the file that `rules` names.
    pub(super) fn differences(&self, copy: &Path, rules: Option<&Path>) -> io::Result<Differences> {
        let mut found = Differences::default();
        for (text, file) in &self.files {
            let Some(path) = path_of_text(text) else { continue };
            let at = copy.join(&path);
            if at.symlink_metadata().is_ok_and(|now| Stamp::of(&now) == file.stamp) {
                continue;
            }
            let to = Version::of(&at)?.filter(|now| now.kind != Kind::Folder);
            if to.as_ref() != Some(&file.content) {
                found.files.push(Difference { path, from: Some(file.content.clone()), to });
            }
        }
        let mut walk = WalkBuilder::new(copy);
        walk.standard_filters(false)
            .git_ignore(rules.is_some())
            .git_global(rules.is_some())
            .require_git(false);
        walk.filter_entry(|entry| entry.depth() == 0 || !is_flow_dir(entry.file_name()));
        if let Some(rules) = rules.filter(|rules| rules.exists()) {
            walk.add_ignore(rules);
        }
        for entry in walk.build() {
            let entry = entry.map_err(io::Error::other)?;
            let Ok(path) = entry.path().strip_prefix(copy) else { continue };
            let inside_git = path.components().any(|part| is_git_dir(part.as_os_str()));
            found.loose |= inside_git;
            if inside_git && path.file_name().is_some_and(is_git_dir) {
                found.repositories.push(path.to_owned());
            }
            let folder = entry.file_type().is_none_or(|kind| kind.is_dir());
            if inside_git || folder || self.files.contains_key(&path_to_text(path)) {
                continue;
            }
            let to = Version::of(entry.path())?;
            found.loose |= to.as_ref().is_some_and(|to| to.kind == Kind::Other);
            found.files.push(Difference { path: path.to_owned(), from: None, to });
        }
        Ok(found)
    }
}
