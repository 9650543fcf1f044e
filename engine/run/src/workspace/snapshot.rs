//! What a shared tree is at one moment, so that a task that must leave it alone can be held to that.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use flow_core::model::is_flow_dir;
use git2::Oid;
use ignore::WalkBuilder;

use super::WorkspaceError;
use super::changes::{Untracked, look};
use super::git::Git;
use super::repository::Repository;
use super::version::Version;

/// A tree at one moment. What git ignores is none of it.
#[derive(Debug)]
pub struct Snapshot {
    /// The commit of HEAD, where there is a repository with one.
    head: Option<Oid>,
    /// Where there is a repository the files that differ from HEAD, else all; none: it is not there.
    files: BTreeMap<PathBuf, Option<Version>>,
}

impl Snapshot {
    /// Looks at the tree that a project stands in.
    pub fn of(root: &Path) -> Result<Snapshot, WorkspaceError> {
        let repository = match Repository::discover(root) {
            Ok(repository) => repository,
            Err(WorkspaceError::NoRepository { .. }) => return Snapshot::of_folder(root),
            Err(error) => return Err(error),
        };
        let Some(checkout) = &repository.checkout else { return Snapshot::of_folder(root) };
        let changes = look(&Git::find(), repository.dirs(checkout), Untracked::Files)?;
        let mut files = BTreeMap::new();
        for path in changes.files.into_iter().chain(changes.nested) {
            let at = checkout.join(&path);
            let version = Version::of(&at).map_err(WorkspaceError::io("read", at))?;
            files.insert(path, version);
        }
        Ok(Snapshot { head: repository.commit(None).ok(), files })
    }

    fn of_folder(root: &Path) -> Result<Snapshot, WorkspaceError> {
        let mut walk = WalkBuilder::new(root);
        walk.standard_filters(false).git_ignore(true).require_git(false);
        walk.filter_entry(|entry| entry.depth() == 0 || !is_flow_dir(entry.file_name()));
        let mut files = BTreeMap::new();
        for entry in walk.build() {
            // What goes away while it is listed is not there.
            let Ok(entry) = entry else { continue };
            let Ok(path) = entry.path().strip_prefix(root) else { continue };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                continue;
            }
            match Version::of(entry.path()) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                version => {
                    let version = version.map_err(WorkspaceError::io("read", entry.path()))?;
                    files.insert(path.to_owned(), version);
                }
            }
        }
        Ok(Snapshot { head: None, files })
    }

    /// What is not as it was, by name; `HEAD` where somebody committed or switched.
    pub fn differences(&self, now: &Snapshot) -> Vec<String> {
        let moved = (self.head != now.head).then(|| "HEAD".to_owned());
        let gone = self.files.keys().filter(|path| !now.files.contains_key(*path));
        let other = now.files.iter().filter(|(path, version)| self.files.get(*path) != Some(*version));
        let mut paths: Vec<&PathBuf> = gone.chain(other.map(|(path, _)| path)).collect();
        paths.sort();
        moved.into_iter().chain(paths.into_iter().map(|path| path.display().to_string())).collect()
    }
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
