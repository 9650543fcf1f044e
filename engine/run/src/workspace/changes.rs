//! What differs between a tree and its HEAD, and putting all of it into the index.
//!
//! The git program does it where there is one, because only it runs the person's filters: without them a file of git-lfs
//! looks changed, and would be committed with its content instead of its pointer.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use git2::{Oid, StatusOptions};
use indexmap::IndexSet;

use super::WorkspaceError;
use super::git::{Git, GitDirs};
use super::repository::Repository;

/// What a tree holds beyond its HEAD. Ignored files are none of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Changed, staged, deleted and untracked files, each once.
    pub(super) files: IndexSet<PathBuf>,
    /// Repositories that stand in the tree. Their content can't become part of a commit.
    pub(super) nested: IndexSet<PathBuf>,
    /// Files that git ignores, where they are asked for.
    pub(super) ignored: IndexSet<PathBuf>,
}

/// How untracked files are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untracked {
    /// Every one, nested repositories told apart.
    Files,
    /// The same, and what git ignores.
    Ignored,
    /// A folder without tracked files as one name.
    Folders,
}

impl Changes {
    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.nested.is_empty()
    }

    fn add(&mut self, path: &[u8], untracked: Untracked) {
        let place = PathBuf::from(OsStr::from_bytes(path));
        // Git lists files; a folder among them is one that it does not enter: a repository of its own.
        let list = match untracked {
            Untracked::Files | Untracked::Ignored if path.ends_with(b"/") => &mut self.nested,
            Untracked::Files | Untracked::Ignored | Untracked::Folders => &mut self.files,
        };
        // A file that is staged as deleted and stands there untracked is listed twice.
        list.insert(place);
    }
}

/// Lists what differs. Writes nothing, not even a refreshed index.
pub(super) fn look(git: &Git, dirs: GitDirs<'_>, untracked: Untracked) -> Result<Changes, WorkspaceError> {
    let mut changes = Changes::default();
    if git.is_there() {
        let list = match untracked {
            Untracked::Files | Untracked::Ignored => "--untracked-files=all",
            Untracked::Folders => "--untracked-files=normal",
        };
        let ignored = if untracked == Untracked::Ignored { "--ignored=traditional" } else { "--ignored=no" };
        // `dirty`: git would otherwise call itself inside each submodule, whose configuration is anybody's.
        let args =
            ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty", list, ignored];
        let output = git.run(dirs, &args)?;
        for entry in output.split(|byte| *byte == 0) {
            if let Some(path) = entry.strip_prefix(b"!! ") {
                changes.ignored.insert(PathBuf::from(OsStr::from_bytes(path)));
            } else if let Some(path) = entry.get(3..) {
                changes.add(path, untracked);
            }
        }
        return Ok(changes);
    }
    let repository = open(dirs)?;
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(untracked != Untracked::Folders);
    let ignored = untracked == Untracked::Ignored;
    options.include_ignored(ignored).recurse_ignored_dirs(ignored);
    let statuses = repository
        .statuses(Some(&mut options))
        .map_err(|source| WorkspaceError::library("list changed files", source))?;
    for entry in statuses.iter() {
        if entry.status().is_ignored() {
            changes.ignored.insert(PathBuf::from(OsStr::from_bytes(entry.path_bytes())));
        } else {
            changes.add(entry.path_bytes(), untracked);
        }
    }
    Ok(changes)
}

/// Every file of a checkout that git knows or does not ignore, sorted; nested repositories as their folder.
pub(super) fn listed(
    git: &Git,
    repository: &Repository,
    checkout: &Path,
) -> Result<Vec<PathBuf>, WorkspaceError> {
    let mut files: Vec<PathBuf> = if git.is_there() {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        paths(&git.run(repository.dirs(checkout), &args)?)
    } else {
        let opened = repository.open()?;
        let list = || {
            let index = opened.index()?;
            let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
            let mut files: Vec<PathBuf> = index.iter().map(|entry| path(&entry.path)).collect();
            let mut options = StatusOptions::new();
            options.include_untracked(true).recurse_untracked_dirs(true);
            let statuses = opened.statuses(Some(&mut options))?;
            files.extend(statuses.iter().map(|entry| path(entry.path_bytes())));
            Ok(files)
        };
        list().map_err(|source| WorkspaceError::library("list files", source))?
    };
    files.sort();
    files.dedup();
    Ok(files)
}

/// Every file of a checkout that git ignores.
pub(super) fn ignored(
    git: &Git,
    repository: &Repository,
    checkout: &Path,
) -> Result<Vec<PathBuf>, WorkspaceError> {
    if git.is_there() {
        let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
        return Ok(paths(&git.run(repository.dirs(checkout), &args)?));
    }
    let opened = repository.open()?;
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true);
    options.include_ignored(true).recurse_ignored_dirs(true);
    let statuses = opened
        .statuses(Some(&mut options))
        .map_err(|source| WorkspaceError::library("list ignored files", source))?;
    let ignored = statuses.iter().filter(|entry| entry.status().is_ignored());
    Ok(ignored.map(|entry| PathBuf::from(OsStr::from_bytes(entry.path_bytes()))).collect())
}

/// The names of a list that git ends with NUL each.
fn paths(list: &[u8]) -> Vec<PathBuf> {
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}

/// Puts the tree as it is into its index, less what git ignores and nested repositories, and gives the tree object.
pub(super) fn stage(git: &Git, dirs: GitDirs<'_>, changes: &Changes) -> Result<Oid, WorkspaceError> {
    if git.is_there() {
        let mut args: Vec<OsString> = ["add", "--all", "--", "."].map(OsString::from).into();
        for nested in &changes.nested {
            let mut pathspec = OsString::from(":(top,literal,exclude)");
            pathspec.push(nested);
            // A slash at the end would not match the entry that the folder becomes.
            let bytes = pathspec.into_vec();
            args.push(OsString::from_vec(bytes.strip_suffix(b"/").unwrap_or(&bytes).to_vec()));
        }
        git.run(dirs, &args)?;
        let output = git.run(dirs, &["write-tree"])?;
        let id = String::from_utf8_lossy(&output);
        return Oid::from_str(id.trim())
            .map_err(|source| WorkspaceError::library("read the id of a tree", source));
    }
    stage_by_library(dirs, &changes.files)
        .map_err(|source| WorkspaceError::library("stage changed files", source))
}

fn stage_by_library(dirs: GitDirs<'_>, files: &IndexSet<PathBuf>) -> Result<Oid, git2::Error> {
    let repository = git2::Repository::open(dirs.tree.unwrap_or(dirs.git_dir))?;
    let tree = dirs.tree.unwrap_or(Path::new("."));
    let mut index = repository.index()?;
    let is_file = |path: &Path| tree.join(path).symlink_metadata().is_ok_and(|found| !found.is_dir());
    // What is gone goes first, since a folder may have become a file or the other way round.
    for path in files.iter().filter(|path| !is_file(path)) {
        index.remove_path(path)?;
    }
    for path in files.iter().filter(|path| is_file(path)) {
        index.add_path(path)?;
    }
    index.write()?;
    index.write_tree()
}

fn open(dirs: GitDirs<'_>) -> Result<git2::Repository, WorkspaceError> {
    git2::Repository::open(dirs.tree.unwrap_or(dirs.git_dir))
        .map_err(|source| WorkspaceError::library("open the worktree", source))
}
