//! What the merges of one run have written into the checkout. It is in no commit, so a tree that comes home later does not
//! start from it; where both changed a file, the changes are put together as git would do it with commits.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use git2::{FileMode, Oid};

use super::WorkspaceError;
use super::landing::Change;
use super::version::{Kind, Version};

/// Each file that was written, as it was written.
#[derive(Debug, Default)]
pub(super) struct Landed(Mutex<HashMap<PathBuf, Version>>);

impl Landed {
    /// Notes what a landing has written.
    pub(super) fn remember(&self, changes: &[Change]) {
        let mut landed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            match &change.to {
                Some(version) => landed.insert(change.path.clone(), version.clone()),
                None => landed.remove(&change.path),
            };
        }
    }

    /// Makes each change to a file that this run has written before one to the file as it stands now. What does not fit
    /// together stays as it is, and so does a file that somebody else has changed since.
    pub(super) fn fit(
        &self,
        repository: &git2::Repository,
        checkout: &Path,
        changes: Vec<Change>,
        scratch: &Path,
    ) -> Result<Vec<Change>, WorkspaceError> {
        let landed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fitted = Vec::with_capacity(changes.len());
        for change in changes {
            let at = checkout.join(&change.path);
            let known = landed.get(&change.path).filter(|_| !change.submodule);
            let now = match known {
                Some(_) => Version::of(&at).map_err(WorkspaceError::io("read", &at))?,
                None => None,
            };
            // Only what was written by this run, and has stayed so.
            let now = now.filter(|now| known == Some(now) && change.from.as_ref() != Some(now));
            fitted.push(match now {
                Some(now) => put_together(repository, &at, now, change, scratch)?,
                None => change,
            });
        }
        Ok(fitted)
    }
}

fn put_together(
    repository: &git2::Repository,
    at: &Path,
    now: Version,
    change: Change,
    scratch: &Path,
) -> Result<Change, WorkspaceError> {
    let is_file = |version: &Version| matches!(version.kind, Kind::File | Kind::Program);
    let (Some(from), Some(to)) = (&change.from, &change.to) else { return Ok(change) };
    if ![from, to, &now].into_iter().all(is_file) {
        return Ok(change);
    }
    let old = scratch.join("old").join(&change.path);
    let side = |path: &Path, version: &Version| {
        let mode = if version.kind == Kind::Program { FileMode::BlobExecutable } else { FileMode::Blob };
        let bytes = std::fs::read(path).map_err(WorkspaceError::io("read", path))?;
        Ok::<_, WorkspaceError>((mode, bytes))
    };
    let sides = [side(&old, from)?, side(at, &now)?, side(&change.content, to)?];
    let merged = merge_file(repository, &sides).map_err(|source| WorkspaceError::library("merge", source))?;
    let Some((mode, bytes)) = merged else { return Ok(change) };
    let content = scratch.join("both").join(&change.path);
    super::materialize::write_raw(&content, mode, &bytes).map_err(WorkspaceError::io("write", &content))?;
    let to = Version::of(&content).map_err(WorkspaceError::io("read", &content))?;
    Ok(Change { from: Some(now), to, content, ..change })
}

/// The file that comes of doing to the second what was done from the first to the third; none where they touch.
fn merge_file(
    repository: &git2::Repository,
    sides: &[(FileMode, Vec<u8>); 3],
) -> Result<Option<(FileMode, Vec<u8>)>, git2::Error> {
    let tree = |(mode, bytes): &(FileMode, Vec<u8>)| {
        let mut builder = repository.treebuilder(None)?;
        let mode = i32::try_from(u32::from(*mode)).unwrap_or_default();
        builder.insert("file", repository.blob(bytes)?, mode)?;
        repository.find_tree(builder.write()?)
    };
    let [base, ours, theirs] = [tree(&sides[0])?, tree(&sides[1])?, tree(&sides[2])?];
    let index = repository.merge_trees(&base, &ours, &theirs, None)?;
    if index.has_conflicts() {
        return Ok(None);
    }
    let Some(entry) = index.get_path(Path::new("file"), 0) else { return Ok(None) };
    let mode = if entry.mode & 0o111 == 0 { FileMode::Blob } else { FileMode::BlobExecutable };
    let id: Oid = entry.id;
    Ok(Some((mode, repository.find_blob(id)?.content().to_vec())))
}
