//! Private copies: the tree as it is now, uncommitted files included. They work without git.
//!
//! 1. `.git` and `.flow` are never copied: a copy shares no repository with anybody, so nothing in it can reach one. Where
//!    there is a repository, what git ignores stays behind, as it does with a worktree.
//! 2. A copy without changes goes; one with changes stays until its work is home.

use std::io;
use std::path::{Path, PathBuf};

use flow_core::ids::{Address, Attempt, RunId};
use flow_core::model::{Merge, WorktreeOutcome, is_internal, is_internal_dir};
use flow_core::text::visible;

use super::WorkspaceError;
use super::baseline::{Baseline, Differences};
use super::changes::listed;
use super::copy_file::copy_file;
use super::copy_patch::write_patch;
use super::git::Git;
use super::home::{home, inside, recover_in, remove_folder};
use super::landing::{Change, Landing, check};
use super::lock::Patience;
use super::merge_home::{
    landing_folder, merge_lock, moved, nothing_to_merge, outcome, recover, refused, shown, turned_away,
};
use super::names::Names;
use super::repository::Repository;
use super::version::{Kind, Version};
use crate::sys::process::ProcessIdentity;

/// The private copies of one run.
#[derive(Debug)]
pub(super) struct Copies {
    pub(super) git: Git,
    /// The repository, where there is one.
    pub(super) repository: Option<Repository>,
    /// The project root.
    root: PathBuf,
    /// The folder for the trees of this project.
    home: PathBuf,
    run: RunId,
    /// The branch of the checkout when the run began, as of worktrees.
    pub(super) began_on: Option<String>,
    patience: Patience,
    names: Names,
}

/// A private copy, owned by this process until it is finished.
#[derive(Debug)]
pub struct CopiedTree {
    /// Its folder.
    pub path: PathBuf,
    /// The folder in it that is the project root in the enclosing tree.
    pub dir: PathBuf,
    /// What the person may miss in it: submodules, pipes and the like.
    pub lacked: Vec<String>,
}

impl Copies {
    /// Finds where the copies of a project go.
    pub(super) fn open(root: &Path, dir: Option<PathBuf>, run: &RunId) -> Result<Self, WorkspaceError> {
        let root = root.canonicalize().map_err(WorkspaceError::io("find", root))?;
        let repository = match Repository::discover(&root) {
            Ok(repository) => Some(repository).filter(|repository| repository.checkout.is_some()),
            Err(WorkspaceError::NoRepository { .. }) => None,
            Err(error) => return Err(error),
        };
        let home = home(repository.as_ref(), &root, dir)?;
        let (git, patience) = (Git::find(), Patience::default());
        recover_in(&git, repository.as_ref(), &home, patience)?;
        Ok(Copies {
            git,
            repository,
            root,
            home,
            run: run.clone(),
            began_on: None,
            patience,
            names: Names::default(),
        })
    }

    /// Copies the enclosing tree for an attempt. `pristine`: a second copy is kept, from which a patch can be made.
    pub(super) fn make(
        &self,
        address: &Address,
        attempt: Attempt,
        pristine: bool,
    ) -> Result<CopiedTree, WorkspaceError> {
        self.names.under(address, attempt, |name| self.make_as(name, pristine))
    }

    fn make_as(&self, name: &str, pristine: bool) -> Result<CopiedTree, WorkspaceError> {
        let path = self.home.join(self.run.as_str()).join(name);
        if path.symlink_metadata().is_ok() || Baseline::beside(&path).exists() {
            return Err(WorkspaceError::Exists { what: path.display().to_string() });
        }
        let made = self.fill(&path, pristine);
        if made.is_err() {
            // Nobody has seen it yet.
            let _ = self.remove(&path);
        }
        made
    }

    fn fill(&self, path: &Path, pristine: bool) -> Result<CopiedTree, WorkspaceError> {
        std::fs::create_dir_all(path).map_err(WorkspaceError::io("create the folder", path))?;
        let source = self.source();
        let mut baseline = Baseline::new(source, self.run.as_str())?;
        baseline.write(path)?;
        let (files, lacked) = self.files()?;
        for file in &files {
            let (from, to) = (source.join(file), path.join(file));
            let copied = copy_into(&from, &to).and_then(|()| baseline.add(path, file));
            match copied {
                // It was there a moment ago: the person works on.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                copied => copied.map_err(WorkspaceError::io("copy", from))?,
            }
            if pristine {
                let kept = pristine_of(path).join(file);
                copy_into(&to, &kept).map_err(WorkspaceError::io("copy", to))?;
            }
        }
        let dir = inside(path, &self.folder());
        std::fs::create_dir_all(&dir).map_err(WorkspaceError::io("create the folder", &dir))?;
        baseline.complete = true;
        baseline.write(path)?;
        Ok(CopiedTree { path: path.to_owned(), dir, lacked })
    }

    /// Whether a copy differs from its start.
    pub(super) fn changed(&self, tree: &CopiedTree) -> Result<bool, WorkspaceError> {
        let (_, found) = self.look(&tree.path)?;
        Ok(found.loose || !found.files.is_empty())
    }

    /// Ends a copy. Without changes it goes; else it goes when the task completed and its work came home. With `hold` what
    /// would go stays until `release`.
    pub(super) fn settle(
        &self,
        tree: &CopiedTree,
        merge: Merge,
        patch_to: Option<&Path>,
        hold: bool,
    ) -> Result<(WorktreeOutcome, Option<HeldCopy>), WorkspaceError> {
        let ended = self.end(&tree.path, &tree.lacked, merge, patch_to, hold);
        ended.map_err(|source| WorkspaceError::kept(&tree.path, "", source))
    }

    /// Takes a held copy down. Says whether it is kept: it is still needed, or somebody has worked in it meanwhile.
    pub(super) fn release(
        &self,
        tree: &CopiedTree,
        held: &HeldCopy,
        needed: bool,
    ) -> Result<bool, WorkspaceError> {
        let release = || {
            let (mut baseline, found) = self.look(&tree.path)?;
            if needed || found.loose || versions(&found) != held.0 {
                baseline.disown();
                baseline.write(&tree.path)?;
                return Ok(true);
            }
            self.remove(&tree.path)?;
            Ok(false)
        };
        release().map_err(|source| WorkspaceError::kept(&tree.path, "", source))
    }

    /// Ends a copy that a dead engine left behind.
    pub(super) fn reclaim(&self, path: &Path) -> Result<WorktreeOutcome, WorkspaceError> {
        let place = self.home.join(self.run.as_str());
        if path.parent() != Some(&*place) {
            let what = "it is no copy of this run".to_owned();
            return Err(WorkspaceError::Tampered { path: path.to_owned(), what });
        }
        let baseline = Baseline::read(path)?;
        let process = baseline.and_then(|found| found.owner()).map(|owner| owner.process);
        if let Some(process) = process.filter(ProcessIdentity::is_another_alive) {
            return Err(WorkspaceError::InUse { path: path.to_owned(), pid: process.pid });
        }
        self.end(path, &[], Merge::None, None, false).map(|(outcome, _)| outcome)
    }

    fn end(
        &self,
        path: &Path,
        lacked: &[String],
        merge: Merge,
        patch_to: Option<&Path>,
        hold: bool,
    ) -> Result<(WorktreeOutcome, Option<HeldCopy>), WorkspaceError> {
        let (mut baseline, found) = self.look(path)?;
        let held = hold.then(|| HeldCopy(versions(&found)));
        let mut ended = WorktreeOutcome {
            files_changed: u32::try_from(found.files.len()).unwrap_or(u32::MAX),
            lacked: lacked.to_vec(),
            undelivered: found.repositories.iter().map(|path| shown(path)).collect(),
            ..WorktreeOutcome::default()
        };
        if found.files.is_empty() && !found.loose {
            if !hold {
                self.remove(path)?;
            }
            ended.merged = merge.changes_home().then(|| nothing_to_merge(merge));
            return Ok((ended, held));
        }
        let loose = found.loose;
        let came_home = match (merge, patch_to) {
            (Merge::Patch, Some(patch)) => {
                write_patch(&pristine_of(path), path, &found.files, patch)?;
                ended.patch = Some(patch.display().to_string());
                true
            }
            (Merge::Apply, _) => {
                let merged = self.apply(path, found)?;
                let came_home = !merged.is_refused();
                ended.merged = Some(merged);
                came_home
            }
            (Merge::None | Merge::Patch | Merge::Branch | Merge::Squash | Merge::CherryPick, _) => false,
        };
        if came_home && !loose {
            if !hold {
                self.remove(path)?;
            }
            return Ok((ended, held));
        }
        baseline.disown();
        baseline.write(path)?;
        ended.path = Some(path.display().to_string());
        Ok((ended, None))
    }

    fn apply(
        &self,
        path: &Path,
        found: Differences,
    ) -> Result<flow_core::model::MergeOutcome, WorkspaceError> {
        let _lock = merge_lock(&self.home, self.patience.flow)?;
        recover(&self.git, self.repository.as_ref(), &self.home)?;
        if let Some(moved) = moved(self.repository.as_ref(), self.began_on.as_deref())? {
            return Ok(turned_away(Merge::Apply, moved));
        }
        let source = self.source();
        let changes = found
            .files
            .into_iter()
            .filter(|file| file.to.as_ref().is_none_or(|to| !matches!(to.kind, Kind::Other | Kind::Folder)));
        let changes = changes.map(|file| Change {
            content: path.join(&file.path),
            path: file.path,
            from: file.from,
            to: file.to,
            submodule: false,
        });
        let changes = match check(source, changes.collect())? {
            Ok(changes) => changes,
            Err(conflicts) => return Ok(refused(Merge::Apply, conflicts)),
        };
        Landing::land(&landing_folder(&self.home, &self.run, path), source, &changes)?;
        Ok(outcome(Merge::Apply, changes.into_iter().map(|change| change.path).collect(), Vec::new()))
    }

    fn look(&self, path: &Path) -> Result<(Baseline, Differences), WorkspaceError> {
        if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return Err(WorkspaceError::Lost { path: path.to_owned() });
        }
        let Some(baseline) = Baseline::read(path)? else {
            let what = "the list of what was copied is gone".to_owned();
            return Err(WorkspaceError::Tampered { path: path.to_owned(), what });
        };
        let rules = self.repository.as_ref().map(|repository| repository.common.join("info/exclude"));
        let found = baseline.differences(path, rules.as_deref()).map_err(WorkspaceError::io("read", path))?;
        Ok((baseline, found))
    }

    /// Removes a copy with all that stands beside it.
    fn remove(&self, path: &Path) -> Result<(), WorkspaceError> {
        remove_copy(path)
    }

    /// The tree that is copied: the whole checkout, or the project where there is no repository.
    pub(super) fn source(&self) -> &Path {
        let checkout = self.repository.as_ref().and_then(|repository| repository.checkout.as_deref());
        checkout.unwrap_or(&self.root)
    }

    fn folder(&self) -> PathBuf {
        self.root.strip_prefix(self.source()).unwrap_or(Path::new("")).to_owned()
    }

    /// What is copied, and what can't be.
    fn files(&self) -> Result<(Vec<PathBuf>, Vec<String>), WorkspaceError> {
        let source = self.source();
        let all = match &self.repository {
            Some(repository) => listed(&self.git, repository, source)?,
            None => walk(source).map_err(WorkspaceError::io("list", source))?,
        };
        let (mut files, mut lacked) = (Vec::with_capacity(all.len()), Vec::new());
        for path in all.into_iter().filter(|path| !is_internal(path)) {
            let Ok(found) = source.join(&path).symlink_metadata() else { continue };
            match Kind::of(&found) {
                Kind::File | Kind::Program | Kind::Link => files.push(path),
                Kind::Folder => lacked.push(format!("{} (submodule)", visible(&path.to_string_lossy()))),
                Kind::Other => lacked.push(visible(&path.to_string_lossy()).into_owned()),
            }
        }
        Ok((files, lacked))
    }
}

/// A copy that others still look at: what it holds, so that more is noticed.
#[derive(Debug)]
pub(super) struct HeldCopy(Vec<(PathBuf, Option<Version>)>);

fn versions(found: &Differences) -> Vec<(PathBuf, Option<Version>)> {
    found.files.iter().map(|file| (file.path.clone(), file.to.clone())).collect()
}

/// Removes a copy with all that stands beside it; the list goes last, so that what is left is known for a copy.
pub(super) fn remove_copy(path: &Path) -> Result<(), WorkspaceError> {
    remove_folder(path)?;
    remove_folder(&pristine_of(path))?;
    let list = Baseline::beside(path);
    match std::fs::remove_file(&list) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(WorkspaceError::io("remove", list)(error));
        }
        Ok(()) | Err(_) => {}
    }
    // Only the last tree of a run leaves it empty.
    let _ = path.parent().map(std::fs::remove_dir);
    Ok(())
}

/// Where the second copy stands.
fn pristine_of(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".base");
    path.with_file_name(name)
}

fn copy_into(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    copy_file(from, to)
}

/// Every file below a folder.
fn walk(source: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut walk = ignore::WalkBuilder::new(source);
    walk.standard_filters(false);
    walk.filter_entry(|entry| entry.depth() == 0 || !is_internal_dir(entry.file_name()));
    for entry in walk.build() {
        let entry = entry.map_err(io::Error::other)?;
        if entry.file_type().is_some_and(|kind| !kind.is_dir())
            && let Ok(path) = entry.path().strip_prefix(source)
        {
            files.push(path.to_owned());
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
