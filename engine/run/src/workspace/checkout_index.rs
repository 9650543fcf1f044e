//! The index and the branch of the enclosing checkout.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::Oid;

use super::WorkspaceError;
use super::git::{Git, GitDirs};
use super::landing::BranchMove;
use super::lock::patiently;
use super::references::Reference;
use super::repository::Repository;

/// Paths whose entry in the index differs from a commit.
pub(super) fn staged(
    git: &Git,
    repository: &Repository,
    checkout: &Path,
    commit: Oid,
) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    if git.is_there() {
        let commit = commit.to_string();
        let args = ["diff-index", "--cached", "--name-only", "--no-renames", "-z", &commit, "--"];
        let listed = git.run(repository.dirs(checkout), &args)?;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        return Ok(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect());
    }
    let opened = repository.open()?;
    let list = || {
        let tree = opened.find_commit(commit)?.tree()?;
        let diff = opened.diff_tree_to_index(Some(&tree), None, None)?;
        let paths = diff.deltas().filter_map(|delta| Some(delta.new_file().path()?.to_owned()));
        Ok(paths.collect())
    };
    list().map_err(|source| WorkspaceError::library("read the index", source))
}

/// Puts entries into the index of the checkout; those without a content leave it.
pub(super) fn set_index<'a>(
    git: &Git,
    repository: &Repository,
    checkout: &Path,
    entries: impl Iterator<Item = (&'a Path, Option<(git2::FileMode, Oid)>)> + Clone,
) -> Result<(), WorkspaceError> {
    let gone = entries.clone().filter(|(_, entry)| entry.is_none());
    let ordered = gone.chain(entries.filter(|(_, entry)| entry.is_some()));
    if git.is_there() {
        let mut list = Vec::new();
        for (path, entry) in ordered {
            let head = match entry {
                Some((mode, id)) => format!("{:o} {id}\t", u32::from(mode)),
                None => format!("0 {}\t", Oid::ZERO_SHA1),
            };
            list.extend_from_slice(head.as_bytes());
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        return git.feed(repository.dirs(checkout), &["update-index", "-z", "--index-info"], &list).map(drop);
    }
    let opened = repository.open()?;
    let set = || {
        let mut index = opened.index()?;
        for (path, entry) in ordered {
            match entry {
                None => index.remove_path(path)?,
                Some((mode, id)) => index.add(&index_entry(path, u32::from(mode), id))?,
            }
        }
        index.write()
    };
    set().map_err(|source| WorkspaceError::library("write the index", source))
}

/// An entry that git will compare with the file, since it knows nothing of it.
fn index_entry(path: &Path, mode: u32, id: Oid) -> git2::IndexEntry {
    let never = git2::IndexTime::new(0, 0);
    git2::IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.as_os_str().as_bytes().to_vec(),
    }
}

/// Moves the enclosing branch, or a detached HEAD.
pub(super) fn move_branch(
    git: &Git,
    repository: &Repository,
    branch: &BranchMove,
    patience: Duration,
) -> Result<(), WorkspaceError> {
    let id = |text| {
        Oid::from_str(text).map_err(|source| WorkspaceError::library("read the id of a commit", source))
    };
    let (from, to) = (id(&branch.from)?, id(&branch.to)?);
    let dirs = GitDirs { tree: None, ..repository.dirs(&repository.root) };
    patiently(patience, || {
        let reference = Reference { repository: &repository.open()?, dirs, name: &branch.reference };
        reference.set(git, Some(from), to, "flow: merge of a task")
    })
}
