//! Writing the work of a private tree into the enclosing one.
//!
//! 1. A file is written only when it is what the work started from; one that differs is a conflict, and then no file is.
//! 2. What is about to be replaced is on disk in a second place before the first file changes, so that a crash in the middle
//!    is undone by whoever comes next; each single file is replaced in one step.
//! 3. Nothing is written through a link, into `.git` or into `.flow`.
//!
//! The caller holds the lock for merges.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use flow_core::model::{ConflictKind, is_internal_dir};
use serde::{Deserialize, Serialize};

use super::WorkspaceError;
use super::copy_file::copy_file;
use super::version::{Kind, Version, path_of_text, path_to_text};
use crate::sys::files::write_atomically;

/// What is in the way, file by file.
pub(super) type Conflicts = Vec<(PathBuf, ConflictKind)>;

/// What a file was and what it is to be.
#[derive(Debug)]
pub(super) struct Change {
    /// Relative to the enclosing tree.
    pub(super) path: PathBuf,
    /// What the work started from.
    pub(super) from: Option<Version>,
    /// What it made of it.
    pub(super) to: Option<Version>,
    /// A file with the new content.
    pub(super) content: PathBuf,
    /// Whether it is a submodule, whose content is elsewhere.
    pub(super) submodule: bool,
}

impl Change {
    /// Refuses when the file is no longer what it was a moment ago.
    fn still_holds(&self, at: &Path) -> Result<(), WorkspaceError> {
        let now = Version::of(at).map_err(WorkspaceError::io("read", at))?;
        let emptied = self.from.is_none() && now.as_ref().is_some_and(|now| now.kind == Kind::Folder);
        if now == self.from || emptied {
            return Ok(());
        }
        Err(WorkspaceError::ChangedMeanwhile { path: at.to_owned() })
    }
}

/// A move of the enclosing branch that belongs to the files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BranchMove {
    /// The git folder of the enclosing checkout.
    pub(super) git_dir: String,
    /// The reference: `refs/heads/…`, or `HEAD` when that is detached.
    pub(super) reference: String,
    /// The commit before.
    pub(super) from: String,
    /// The commit after.
    pub(super) to: String,
}

/// What is about to be written; on disk before the first write and gone after the last.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Intent {
    version: u32,
    /// The enclosing tree.
    tree: String,
    /// Files in the order in which they are written; the old content of number N is `N` beside.
    files: Vec<IntentFile>,
    /// With commits: how the branch moves.
    pub(super) branch: Option<BranchMove>,
}

#[derive(Debug, Serialize, Deserialize)]
struct IntentFile {
    path: String,
    from: Option<Version>,
    to: Option<Version>,
}

/// A landing under way.
#[derive(Debug)]
pub(super) struct Landing {
    folder: PathBuf,
    pub(super) intent: Intent,
}

/// The changes that are still to be made, or what is in the way of any.
pub(super) fn check(
    tree: &Path,
    changes: Vec<Change>,
) -> Result<Result<Vec<Change>, Conflicts>, WorkspaceError> {
    let removed: BTreeSet<PathBuf> =
        changes.iter().filter(|change| change.to.is_none()).map(|change| change.path.clone()).collect();
    let (mut open, mut conflicts) = (Vec::new(), Vec::new());
    for change in changes {
        let at = tree.join(&change.path);
        if change.submodule || is_protected(&change.path) || leads_away(tree, &change.path, &removed) {
            conflicts.push((change.path, ConflictKind::Protected));
            continue;
        }
        let now = Version::of(&at).map_err(WorkspaceError::io("read", &at))?;
        // A folder whose every file goes is about to be none.
        let gives_way = || {
            let whole = now.as_ref().is_some_and(|now| now.kind == Kind::Folder);
            change.from.is_none() && whole && holds_only(&at, tree, &removed)
        };
        if now == change.from || gives_way() {
            open.push(change);
        } else if now != change.to {
            conflicts.push((change.path, ConflictKind::Changed));
        }
    }
    Ok(if conflicts.is_empty() { Ok(open) } else { Err(conflicts) })
}

fn is_protected(path: &Path) -> bool {
    path.components().any(|part| match part {
        Component::Normal(name) => is_internal_dir(name),
        Component::CurDir => false,
        Component::Prefix(_) | Component::RootDir | Component::ParentDir => true,
    })
}

/// Whether something on the way is a link, or a file that doesn't go.
fn leads_away(tree: &Path, path: &Path, removed: &BTreeSet<PathBuf>) -> bool {
    let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    let mut parents = parents.filter(|parent| !removed.contains(*parent));
    parents.any(|parent| tree.join(parent).symlink_metadata().is_ok_and(|found| !found.is_dir()))
}

fn holds_only(folder: &Path, tree: &Path, removed: &BTreeSet<PathBuf>) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.into_iter().all(|entry| {
        let Ok(entry) = entry else { return false };
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            return holds_only(&path, tree, removed);
        }
        path.strip_prefix(tree).is_ok_and(|path| removed.contains(path))
    })
}

impl Landing {
    /// Writes down what is about to happen, old contents included.
    pub(super) fn begin(
        folder: &Path,
        tree: &Path,
        changes: &[Change],
        branch: Option<BranchMove>,
    ) -> Result<Self, WorkspaceError> {
        let io = WorkspaceError::io("prepare the merge in", folder);
        let prepare = || {
            std::fs::create_dir_all(folder)?;
            for (number, change) in changes.iter().enumerate().filter(|(_, change)| change.from.is_some()) {
                let kept = folder.join(number.to_string());
                copy_file(&tree.join(&change.path), &kept)?;
                sync(&kept)?;
            }
            let files = changes.iter().map(|change| IntentFile {
                path: path_to_text(&change.path),
                from: change.from.clone(),
                to: change.to.clone(),
            });
            let intent = Intent { version: 1, tree: path_to_text(tree), files: files.collect(), branch };
            write_atomically(&folder.join("intent.json"), &serde_json::to_vec(&intent)?)?;
            Ok(intent)
        };
        match prepare() {
            Ok(intent) => Ok(Landing { folder: folder.to_owned(), intent }),
            Err(error) => {
                let _ = std::fs::remove_dir_all(folder);
                Err(io(error))
            }
        }
    }

    /// A landing that a dead engine left behind. `None`: it had not begun to write.
    pub(super) fn left_behind(folder: &Path) -> Result<Option<Self>, WorkspaceError> {
        let path = folder.join("intent.json");
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(WorkspaceError::io("read", path)(error)),
        };
        let intent = serde_json::from_slice(&text)
            .map_err(|error| WorkspaceError::io("read", &path)(io::Error::other(error)))?;
        Ok(Some(Landing { folder: folder.to_owned(), intent }))
    }

    /// Writes changes that belong to no commit; all of them or none.
    pub(super) fn land(folder: &Path, tree: &Path, changes: &[Change]) -> Result<(), WorkspaceError> {
        if changes.is_empty() {
            return Ok(());
        }
        let landing = Landing::begin(folder, tree, changes, None)?;
        let written = landing.write(tree, changes);
        if written.is_err() {
            landing.undo()?;
        }
        landing.done()?;
        written
    }

    /// Replaces the files; what goes first, so that a file may become a folder and the other way round.
    pub(super) fn write(&self, tree: &Path, changes: &[Change]) -> Result<(), WorkspaceError> {
        let (gone, made): (Vec<_>, Vec<_>) =
            changes.iter().enumerate().partition(|(_, change)| change.to.is_none());
        for (_, change) in gone {
            let at = tree.join(&change.path);
            change.still_holds(&at)?;
            remove(tree, &at).map_err(WorkspaceError::io("remove", at))?;
        }
        for (number, change) in made {
            let at = tree.join(&change.path);
            change.still_holds(&at)?;
            replace(&change.content, &at, &self.beside(&at, number))
                .map_err(WorkspaceError::io("write", at))?;
        }
        Ok(())
    }

    /// Forgets what was before: from here on the new state stands.
    pub(super) fn done(self) -> Result<(), WorkspaceError> {
        let intent = self.folder.join("intent.json");
        std::fs::remove_file(&intent).map_err(WorkspaceError::io("remove", intent))?;
        let _ = std::fs::remove_dir_all(&self.folder);
        Ok(())
    }

    /// Puts back every file that is what was to be written; one that somebody changed since stays.
    pub(super) fn undo(&self) -> Result<(), WorkspaceError> {
        let Some(tree) = path_of_text(&self.intent.tree) else { return Ok(()) };
        let files: Vec<(usize, PathBuf, &IntentFile)> = self
            .intent
            .files
            .iter()
            .enumerate()
            .filter_map(|(number, file)| Some((number, path_of_text(&file.path)?, file)))
            .filter(|(_, path, _)| !is_protected(path))
            .collect();
        let new = |at: &Path, file: &IntentFile| -> Result<bool, WorkspaceError> {
            let now = Version::of(at).map_err(WorkspaceError::io("read", at))?;
            let emptied = file.to.is_none() && now.as_ref().is_some_and(|now| now.kind == Kind::Folder);
            Ok(now != file.from && (now == file.to || emptied))
        };
        for (number, path, file) in files.iter().filter(|(_, _, file)| file.to.is_some()) {
            let at = tree.join(path);
            let _ = std::fs::remove_file(self.beside(&at, *number));
            if file.from.is_none() && new(&at, file)? {
                remove(&tree, &at).map_err(WorkspaceError::io("remove", at))?;
            }
        }
        for (number, path, file) in files.iter().filter(|(_, _, file)| file.from.is_some()) {
            let at = tree.join(path);
            if new(&at, file)? {
                let kept = self.folder.join(number.to_string());
                replace(&kept, &at, &self.beside(&at, *number)).map_err(WorkspaceError::io("write", at))?;
            }
        }
        Ok(())
    }

    /// The name under which a file is written before it takes its place.
    fn beside(&self, at: &Path, number: usize) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.folder.file_name().unwrap_or_default());
        name.push(format!(".{number}.flow-tmp"));
        at.with_file_name(name)
    }

    /// The files, relative to the enclosing tree.
    pub(super) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.intent.files.iter().filter_map(|file| path_of_text(&file.path))
    }
}

fn replace(content: &Path, at: &Path, beside: &Path) -> io::Result<()> {
    if let Some(parent) = at.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let _ = std::fs::remove_file(beside);
    copy_file(content, beside)?;
    // The time is that of the change, not that of the private tree: build tools must see it.
    if !beside.symlink_metadata()?.is_symlink() {
        let file = File::open(beside)?;
        file.set_modified(std::time::SystemTime::now())?;
        file.sync_all()?;
    }
    if at.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        remove_empty_folders(at)?;
    }
    std::fs::rename(beside, at)
}

/// Removes a file and the folders that it leaves empty.
fn remove(tree: &Path, at: &Path) -> io::Result<()> {
    match std::fs::remove_file(at) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    for parent in at.ancestors().skip(1).take_while(|parent| *parent != tree && parent.starts_with(tree)) {
        if std::fs::remove_dir(parent).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes a folder that holds nothing but folders.
fn remove_empty_folders(at: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(at)? {
        remove_empty_folders(&entry?.path())?;
    }
    std::fs::remove_dir(at)
}

fn sync(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_symlink() { Ok(()) } else { File::open(path)?.sync_all() }
}

#[cfg(test)]
#[path = "landing_tests.rs"]
mod tests;
