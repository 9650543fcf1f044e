//! Files of a commit as a checkout would have them.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use git2::{FileMode, Oid};

use super::WorkspaceError;
use super::git::{Git, GitDirs};
use super::repository::Repository;

/// A file that differs between two commits.
#[derive(Debug)]
pub(super) struct Delta {
    /// Relative to the top of the repository.
    pub(super) path: PathBuf,
    /// Mode and content before; none when it is new.
    pub(super) old: Option<(FileMode, Oid)>,
    /// Mode and content after; none when it goes.
    pub(super) new: Option<(FileMode, Oid)>,
}

impl Delta {
    /// Whether it is, or was, a submodule.
    pub(super) fn is_submodule(&self) -> bool {
        [self.old, self.new].into_iter().flatten().any(|(mode, _)| mode == FileMode::Commit)
    }
}

/// What differs between two commits, without guesses about renames.
pub(super) fn deltas(repository: &git2::Repository, from: Oid, to: Oid) -> Result<Vec<Delta>, git2::Error> {
    let tree = |commit: Oid| repository.find_commit(commit)?.tree();
    let mut options = git2::DiffOptions::new();
    options.include_typechange(true).ignore_submodules(false);
    let diff = repository.diff_tree_to_tree(Some(&tree(from)?), Some(&tree(to)?), Some(&mut options))?;
    let mut found = Vec::new();
    for delta in diff.deltas() {
        let (old, new) = (delta.old_file(), delta.new_file());
        let side = |file: &git2::DiffFile<'_>| (!file.id().is_zero()).then(|| (file.mode(), file.id()));
        let path = new.path_bytes().or(old.path_bytes()).unwrap_or_default();
        let path = PathBuf::from(OsStr::from_bytes(path));
        found.push(Delta { path, old: side(&old), new: side(&new) });
    }
    Ok(found)
}

/// Writes files of a commit below a folder. The program runs the person's filters; the library writes them as they are.
pub(super) fn materialize<'a>(
    git: &Git,
    repository: &Repository,
    commit: Oid,
    files: impl Iterator<Item = (&'a Path, (FileMode, Oid))>,
    into: &Path,
) -> Result<(), WorkspaceError> {
    std::fs::create_dir_all(into).map_err(WorkspaceError::io("create the folder", into))?;
    if !git.is_there() {
        let opened = repository.open_shared()?;
        for (path, (mode, id)) in files {
            let blob =
                opened.find_blob(id).map_err(|source| WorkspaceError::library("read a file", source))?;
            let at = into.join(path);
            write_raw(&at, mode, blob.content()).map_err(WorkspaceError::io("write", at))?;
        }
        return Ok(());
    }
    let mut list = Vec::new();
    for (path, _) in files {
        list.extend_from_slice(path.as_os_str().as_bytes());
        list.push(0);
    }
    if list.is_empty() {
        return Ok(());
    }
    // An empty tree, so that attributes come from the commit.
    let index = into.with_extension("index");
    let empty = into.with_extension("empty");
    std::fs::create_dir_all(&empty).map_err(WorkspaceError::io("create the folder", &empty))?;
    let dirs = GitDirs {
        git_dir: &repository.git_dir,
        common: &repository.common,
        tree: Some(&empty),
        index: Some(&index),
    };
    let commit = commit.to_string();
    git.run(dirs, &["-c", "core.sparseCheckout=false", "read-tree", &commit])?;
    let mut prefix = std::ffi::OsString::from("--prefix=");
    prefix.push(into);
    prefix.push("/");
    let args = ["checkout-index", "-q", "-f", "-z", "--stdin"].map(std::ffi::OsString::from);
    git.feed(dirs, &[&args[..], &[prefix]].concat(), &list).map(drop)
}

pub(super) fn write_raw(at: &Path, mode: FileMode, content: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = at.parent() {
        std::fs::create_dir_all(parent)?;
    }
    if mode == FileMode::Link {
        return symlink(OsStr::from_bytes(content), at);
    }
    let mode = if mode == FileMode::BlobExecutable { 0o777 } else { 0o666 };
    std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(at)?.write_all(content)
}
