//! Bringing the work of a branch home: as uncommitted files of the enclosing tree, or as commits on its branch.
//!
//! One at a time for a repository, whichever process it is. With a conflict nothing is written at all.

use std::path::{Path, PathBuf};

use flow_core::model::{ConflictKind, Merge, MergeConflict, MergeOutcome, Moved};
use flow_core::text::visible;
use git2::{Oid, RepositoryState};

use super::WorkspaceError;
use super::checkout_index::{move_branch, set_index, staged};
use super::git::Git;
use super::landing::{BranchMove, Change, Conflicts, Landing, check};
use super::lock::{hold, patiently};
use super::materialize::{Delta, deltas, materialize};
use super::pick::{pick, squash};
use super::repository::{Repository, author};
use super::trees::Way;
use super::version::{Version, path_to_text};
use super::worktree::{Worktree, Worktrees};
use crate::sys::lock::FileLock;

/// How often commits are made again on a branch that somebody else moves meanwhile.
const TRIES: u32 = 5;

/// The most paths that an outcome names.
const MOST: usize = 200;

/// Where landings write down what they are about to do, below the folder for trees.
pub(super) const LANDINGS: &str = ".landing";

impl Worktrees {
    /// Brings the commits from a tree's start to its tip home.
    pub(super) fn bring_home(
        &self,
        tree: &Worktree,
        tip: Oid,
        way: Way<'_>,
    ) -> Result<MergeOutcome, WorkspaceError> {
        let how = way.merge;
        let _lock = self.merge_lock()?;
        recover(&self.git, Some(&self.repository), &self.home)?;
        let (mut tries, mut outrun) = (1, None);
        loop {
            if let Some(moved) = moved(Some(&self.repository), self.began_on.as_deref())? {
                return Ok(turned_away(how, moved));
            }
            let landed = match how {
                Merge::Apply => self.apply(tree, tip),
                Merge::Squash | Merge::CherryPick => self.commit_home(tree, tip, way),
                Merge::None | Merge::Branch | Merge::Patch => Ok(outcome(how, Vec::new(), Vec::new())),
            };
            match landed {
                // Somebody committed in that moment; on top of that commit it may fit as well.
                Err(error) if error.is_outrun() && tries < TRIES => {
                    outrun = Some(error);
                    tries += 1;
                }
                // That commit took the work in, and its files were taken back: only the person knows what they want.
                Ok(MergeOutcome { files, conflicts, .. }) if files.is_empty() && conflicts.is_empty() => {
                    return outrun.map_or_else(|| Ok(nothing_to_merge(how)), Err);
                }
                landed => return landed,
            }
        }
    }

    /// Takes the lock under which the enclosing tree is written to.
    fn merge_lock(&self) -> Result<FileLock, WorkspaceError> {
        merge_lock(&self.home, self.patience.flow)
    }

    fn apply(&self, tree: &Worktree, tip: Oid) -> Result<MergeOutcome, WorkspaceError> {
        let Some(checkout) = &self.repository.checkout else {
            return Err(WorkspaceError::NoCheckout { common: self.repository.common.clone() });
        };
        let opened = self.repository.open_shared()?;
        let deltas = deltas(&opened, tree.start, tip).map_err(compare)?;
        let scratch = self.scratch()?;
        let git = self.git_of(tree)?;
        let changes = self.changes(&git, &deltas, (tree.start, tip), scratch.path())?;
        let changes = self.landed.fit(&opened, checkout, changes, scratch.path())?;
        let changes = match check(checkout, changes)? {
            Ok(changes) => changes,
            Err(conflicts) => return Ok(refused(Merge::Apply, conflicts)),
        };
        Landing::land(&self.landing_of(tree), checkout, &changes)?;
        self.landed.remember(&changes);
        Ok(outcome(Merge::Apply, changes.into_iter().map(|change| change.path).collect(), Vec::new()))
    }

    fn commit_home(&self, tree: &Worktree, tip: Oid, way: Way<'_>) -> Result<MergeOutcome, WorkspaceError> {
        let how = way.merge;
        let home = self.repository.open()?;
        if home.state() != RepositoryState::Clean && self.repository.checkout.is_some() {
            return Err(WorkspaceError::Unfinished { git_dir: self.repository.git_dir.clone() });
        }
        let from = self.repository.commit(None)?;
        let who =
            author(&home.config().map_err(|source| WorkspaceError::library("read git's config", source))?)?;
        let picked = match how {
            Merge::CherryPick => pick(&home, from, (tree.start, tip), &who),
            Merge::Squash | Merge::None | Merge::Branch | Merge::Patch | Merge::Apply => {
                let name = tree.path.file_name().unwrap_or_default().to_string_lossy();
                let message = |subjects: &[String]| way.message.of_all(&name, &self.run, subjects);
                squash(&home, from, (tree.start, tip), &who, &message)
            }
        };
        let (to, made) = match picked.map_err(|source| WorkspaceError::library("merge", source))? {
            Ok(picked) => picked,
            Err(conflicts) => return Ok(refused(how, conflicts)),
        };
        if to == from {
            return Ok(outcome(how, Vec::new(), Vec::new()));
        }
        let deltas = deltas(&home, from, to).map_err(compare)?;
        let reference = self.repository.head()?;
        let branch = BranchMove {
            git_dir: path_to_text(&self.repository.git_dir),
            reference,
            from: from.to_string(),
            to: to.to_string(),
        };
        let files: Vec<PathBuf> = deltas.iter().map(|delta| delta.path.clone()).collect();
        if let Some(checkout) = &self.repository.checkout {
            let conflicts = self.land_commits(tree, checkout, &deltas, (from, to), &branch)?;
            if !conflicts.is_empty() {
                return Ok(refused(how, conflicts));
            }
        } else {
            move_branch(&self.git, &self.repository, &branch, self.patience.git)?;
        }
        Ok(outcome(how, files, made))
    }

    /// Writes files, index and branch of the checkout, in this order; gives what is in the way instead.
    fn land_commits(
        &self,
        tree: &Worktree,
        checkout: &Path,
        deltas: &[Delta],
        (from, to): (Oid, Oid),
        branch: &BranchMove,
    ) -> Result<Conflicts, WorkspaceError> {
        let scratch = self.scratch()?;
        let git = self.git_of(tree)?;
        let mut changes = self.changes(&git, deltas, (from, to), scratch.path())?;
        let staged = staged(&git, &self.repository, checkout, from)?;
        let mut conflicts: Conflicts = deltas
            .iter()
            .filter(|delta| staged.contains(&delta.path))
            .map(|delta| (delta.path.clone(), ConflictKind::Changed))
            .collect();
        // A file that is there already, uncommitted, is the person's: the commit would take it over.
        for change in changes.iter().filter(|change| change.from.is_none()) {
            let at = checkout.join(&change.path);
            let there = Version::of(&at).map_err(WorkspaceError::io("read", &at))?;
            if there.is_some() && there == change.to {
                conflicts.push((change.path.clone(), ConflictKind::Changed));
            }
        }
        changes.retain(|change| !conflicts.iter().any(|(path, _)| *path == change.path));
        let changes = match check(checkout, changes)? {
            Ok(changes) if conflicts.is_empty() => changes,
            Ok(_) => return Ok(conflicts),
            Err(more) => {
                conflicts.extend(more);
                return Ok(conflicts);
            }
        };
        let landing = Landing::begin(&self.landing_of(tree), checkout, &changes, Some(branch.clone()))?;
        let write = || {
            landing.write(checkout, &changes)?;
            let entries = deltas.iter().map(|delta| (delta.path.as_path(), delta.new));
            patiently(self.patience.git, || set_index(&git, &self.repository, checkout, entries.clone()))?;
            move_branch(&self.git, &self.repository, branch, self.patience.git)
        };
        if let Err(error) = write() {
            landing.undo()?;
            let entries = deltas.iter().map(|delta| (delta.path.as_path(), delta.old));
            patiently(self.patience.git, || set_index(&git, &self.repository, checkout, entries.clone()))?;
            landing.done()?;
            return Err(error);
        }
        landing.done()?;
        Ok(Vec::new())
    }

    /// The differing files with both contents, as a checkout has them.
    fn changes(
        &self,
        git: &Git,
        deltas: &[Delta],
        (from, to): (Oid, Oid),
        scratch: &Path,
    ) -> Result<Vec<Change>, WorkspaceError> {
        let (old, new) = (scratch.join("old"), scratch.join("new"));
        let plain = || deltas.iter().filter(|delta| !delta.is_submodule());
        let olds = plain().filter_map(|delta| Some((delta.path.as_path(), delta.old?)));
        materialize(git, &self.repository, from, olds, &old)?;
        let news = plain().filter_map(|delta| Some((delta.path.as_path(), delta.new?)));
        materialize(git, &self.repository, to, news, &new)?;
        let version = |wanted: bool, at: &Path| match wanted {
            true => Version::of(at).map_err(WorkspaceError::io("read", at)),
            false => Ok(None),
        };
        let changes = deltas.iter().map(|delta| {
            // A submodule has no content here; without any, it can never be what the enclosing tree has.
            let plain = !delta.is_submodule();
            let content = new.join(&delta.path);
            Ok(Change {
                from: version(plain && delta.old.is_some(), &old.join(&delta.path))?,
                to: version(plain && delta.new.is_some(), &content)?,
                path: delta.path.clone(),
                content,
                submodule: !plain,
            })
        });
        changes.collect()
    }

    fn scratch(&self) -> Result<tempfile::TempDir, WorkspaceError> {
        let made = tempfile::Builder::new().prefix(".merge-").tempdir_in(&self.home);
        made.map_err(WorkspaceError::io("create a folder in", &self.home))
    }

    fn landing_of(&self, tree: &Worktree) -> PathBuf {
        landing_folder(&self.home, &self.run, &tree.path)
    }
}

/// Where the landing of a tree is written down.
pub(super) fn landing_folder(home: &Path, run: &flow_core::ids::RunId, tree: &Path) -> PathBuf {
    let name = tree.file_name().unwrap_or_default().to_string_lossy();
    home.join(LANDINGS).join(format!("{run}.{name}"))
}

/// Takes the lock under which enclosing trees are written to.
pub(super) fn merge_lock(home: &Path, patience: std::time::Duration) -> Result<FileLock, WorkspaceError> {
    hold(&home.join(".merge-lock"), patience)
}

/// Undoes what dead engines began to write, or forgets it where all of it was written. The caller holds the lock.
pub(super) fn recover(
    git: &Git,
    repository: Option<&Repository>,
    home: &Path,
) -> Result<Vec<String>, WorkspaceError> {
    let mut undone = Vec::new();
    for entry in std::fs::read_dir(home.join(LANDINGS)).into_iter().flatten().flatten() {
        let folder = entry.path();
        let Some(landing) = Landing::left_behind(&folder)? else {
            let _ = std::fs::remove_dir_all(&folder);
            continue;
        };
        if let (Some(branch), Some(repository)) = (landing.intent.branch.clone(), repository) {
            let git_dir = super::version::path_of_text(&branch.git_dir).unwrap_or_default();
            let at = Repository { git_dir, ..repository.clone() };
            let opened = at.open()?;
            let now = opened.find_reference(&branch.reference).ok().and_then(|found| found.target());
            // Somebody may have worked on since.
            let arrived = now
                .zip(Oid::from_str(&branch.to).ok())
                .is_some_and(|(now, to)| now == to || opened.graph_descendant_of(now, to).unwrap_or(false));
            if arrived {
                landing.done()?;
                continue;
            }
            landing.undo()?;
            let old = Oid::from_str(&branch.from)
                .and_then(|commit| opened.find_commit(commit)?.tree())
                .map_err(|source| WorkspaceError::library("read a commit", source))?;
            let paths: Vec<PathBuf> = landing.paths().collect();
            let entries = paths.iter().map(|path| {
                let entry = old.get_path(path).ok();
                let mode = entry.as_ref().and_then(|entry| file_mode(entry.filemode()));
                (path.as_path(), mode.zip(entry.map(|entry| entry.id())))
            });
            if let Some(checkout) = opened.workdir() {
                let patience = super::lock::Patience::default().git;
                patiently(patience, || set_index(git, &at, checkout, entries.clone()))?;
            }
        } else {
            landing.undo()?;
        }
        undone.push(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        landing.done()?;
    }
    Ok(undone)
}

fn file_mode(mode: i32) -> Option<git2::FileMode> {
    use git2::FileMode::{Blob, BlobExecutable, Commit, Link};
    [Blob, BlobExecutable, Commit, Link]
        .into_iter()
        .find(|known| i32::try_from(u32::from(*known)) == Ok(mode))
}

fn compare(source: git2::Error) -> WorkspaceError {
    WorkspaceError::library("compare with the start", source)
}

/// The outcome of a merge that wrote something, or had nothing to write.
pub(super) fn outcome(how: Merge, files: Vec<PathBuf>, commits: Vec<Oid>) -> MergeOutcome {
    MergeOutcome {
        how,
        files: files.iter().take(MOST).map(|path| shown(path)).collect(),
        commits: commits.iter().map(Oid::to_string).collect(),
        conflicts: Vec::new(),
        moved: None,
    }
}

/// Whether the checkout has gone to another branch than the one on which the run began.
pub(super) fn moved(
    repository: Option<&Repository>,
    began_on: Option<&str>,
) -> Result<Option<Moved>, WorkspaceError> {
    let (Some(repository), Some(from)) = (repository, began_on) else { return Ok(None) };
    let to = repository.branch()?;
    Ok((to != from).then(|| Moved { from: from.to_owned(), to }))
}

/// The outcome of a merge for which the checkout was on another branch.
pub(super) fn turned_away(how: Merge, moved: Moved) -> MergeOutcome {
    MergeOutcome { moved: Some(moved), ..outcome(how, Vec::new(), Vec::new()) }
}

/// The outcome of a merge without work.
pub(super) fn nothing_to_merge(how: Merge) -> MergeOutcome {
    outcome(how, Vec::new(), Vec::new())
}

/// The outcome of a merge that wrote nothing.
pub(super) fn refused(how: Merge, conflicts: Conflicts) -> MergeOutcome {
    let conflicts = conflicts.into_iter().take(MOST);
    let conflict = |(path, kind): (PathBuf, _)| MergeConflict { path: shown(&path), kind, other: None };
    MergeOutcome { conflicts: conflicts.map(conflict).collect(), ..outcome(how, Vec::new(), Vec::new()) }
}

/// A path for people and reports.
pub(super) fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
#[path = "merge_home_tests.rs"]
mod tests;
