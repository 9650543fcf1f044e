//! The end of a tree: what it holds goes to its branch, and what is safe elsewhere goes away.

use std::path::{Path, PathBuf};

use flow_core::model::{Merge, WorktreeOutcome};
use flow_core::values::CommitMessage;
use git2::{ErrorCode, Oid};

use super::WorkspaceError;
use super::changes::{self, Changes, Untracked};
use super::git::Git;
use super::lock::patiently;
use super::materialize::deltas;
use super::merge_home::{nothing_to_merge, shown};
use super::patch::write_difference;
use super::references::Reference;
use super::trees::Way;
use super::worktree::{Worktree, Worktrees};

/// What is known of a tree at its end.
pub(super) struct Standing {
    pub(super) changes: Changes,
    /// The commit of its HEAD; none on a branch without commits.
    pub(super) head: Option<Oid>,
    /// The commit of its branch; none when the branch was deleted.
    tip: Option<Oid>,
    /// Whether submodules were fetched into it. What they hold is nowhere else.
    has_modules: bool,
}

/// What a tree comes to once its branch is up to date.
struct Gathered {
    /// The last commit of its branch.
    tip: Oid,
    /// Whether it holds more than that, so that it can't go.
    loose: bool,
    changes: Changes,
}

/// What becomes of a tree that others still look at, once they are done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// What its branch names; a tree that holds more by then is kept.
    tip: Oid,
    /// Whether the branch goes with it.
    with_branch: bool,
}

impl Worktrees {
    /// Whether a tree differs from its start: commits, changed files or new ones that git doesn't ignore.
    pub fn changed(&self, tree: &Worktree) -> Result<bool, WorkspaceError> {
        let standing = self.look(tree, Untracked::Files)?;
        let moved = |commit: Option<Oid>| commit != Some(tree.start);
        Ok(!standing.changes.is_empty() || moved(standing.head) || moved(standing.tip))
    }

    /// Ends a tree. Without changes it goes, with its branch. Else everything is committed to its branch, which is kept;
    /// the folder goes too when its work came home (`merge`, none where the task did not complete). With `merge: patch` the
    /// branch goes as well, once `patch_to` is on disk; the outcome names it as it was given. A refused `merge: apply` leaves
    /// one too. With `hold` what would go stays until `release`.
    pub(super) fn settle(
        &self,
        tree: &Worktree,
        way: Way<'_>,
        patch_to: Option<&Path>,
        hold: bool,
    ) -> Result<(WorktreeOutcome, Option<Held>), WorkspaceError> {
        let ended = self.end(tree, way, patch_to, hold);
        ended.map_err(|source| WorkspaceError::kept(&tree.path, &tree.branch, source))
    }

    /// Takes a held tree down. Says whether it is kept: it is still needed, or somebody has worked in it meanwhile.
    pub(super) fn release(&self, tree: &Worktree, held: Held, needed: bool) -> Result<bool, WorkspaceError> {
        let release = || {
            let now = self.gather(tree, Untracked::Files, &CommitMessage::Nameless)?;
            if now.tip != held.tip || now.loose || needed {
                self.unlock(&tree.chain)?;
                return Ok(true);
            }
            self.chain_of(tree)?;
            self.take_down(tree, held)?;
            Ok(false)
        };
        release().map_err(|source| WorkspaceError::kept(&tree.path, &tree.branch, source))
    }

    fn take_down(&self, tree: &Worktree, held: Held) -> Result<(), WorkspaceError> {
        self.remove(&tree.chain, &tree.path)?;
        if held.with_branch { self.delete_branch(&tree.branch, held.tip) } else { Ok(()) }
    }

    fn end(
        &self,
        tree: &Worktree,
        way: Way<'_>,
        patch_to: Option<&Path>,
        hold: bool,
    ) -> Result<(WorktreeOutcome, Option<Held>), WorkspaceError> {
        let merge = way.merge;
        let Gathered { tip, mut loose, changes } = self.gather(tree, Untracked::Ignored, way.message)?;
        let repository = self.repository.open_shared()?;
        let mut undelivered = changes.nested;
        undelivered.extend(own_repositories(&repository, tree, tip)?);
        loose |= !undelivered.is_empty();
        let ignored = changes.ignored.iter().filter(|path| !tree.included.contains(*path)).count();
        let mut outcome = WorktreeOutcome {
            base: Some(tree.base.clone()),
            lacked: tree.lacked.clone(),
            uncommitted: tree.uncommitted,
            ignored: u32::try_from(ignored).unwrap_or(u32::MAX),
            undelivered: undelivered.iter().map(|path| shown(path)).collect(),
            ..WorktreeOutcome::default()
        };
        if tip == tree.start && !loose {
            let held = Held { tip, with_branch: true };
            if !hold {
                self.take_down(tree, held)?;
            }
            outcome.merged = merge.changes_home().then(|| nothing_to_merge(merge));
            return Ok((outcome, hold.then_some(held)));
        }
        let (patch_to, refused_to) = if merge == Merge::Patch { (patch_to, None) } else { (None, patch_to) };
        outcome.files_changed = write_difference(&repository, tree.start, tip, patch_to)?;
        outcome.patch = patch_to.map(|path| path.display().to_string());
        outcome.merged = merge.changes_home().then(|| self.bring_home(tree, tip, way)).transpose()?;
        let refused = outcome.merged.as_ref().is_some_and(|merged| !merged.conflicts.is_empty());
        if let (true, Merge::Apply, Some(patch_to)) = (refused, merge, refused_to) {
            write_difference(&repository, tree.start, tip, Some(patch_to))?;
            outcome.patch = Some(patch_to.display().to_string());
        }
        let came_home = outcome.merged.as_ref().is_some_and(|merged| !merged.is_refused());
        let folder_goes = match merge {
            Merge::None => false,
            Merge::Branch => !loose,
            Merge::Patch => !loose && patch_to.is_some(),
            Merge::Apply | Merge::Squash | Merge::CherryPick => !loose && came_home,
        };
        let held = Held { tip, with_branch: folder_goes && merge != Merge::Branch };
        if !folder_goes {
            self.unlock(&tree.chain)?;
            outcome.path = Some(tree.path.display().to_string());
        } else if !hold {
            self.chain_of(tree)?;
            self.take_down(tree, held)?;
        }
        if !held.with_branch {
            outcome.branch = Some(tree.branch.clone());
            outcome.commit = Some(tip.to_string());
        }
        Ok((outcome, Some(held).filter(|_| hold && folder_goes)))
    }

    /// Brings the branch up to what the tree holds.
    fn gather(
        &self,
        tree: &Worktree,
        untracked: Untracked,
        message: &CommitMessage,
    ) -> Result<Gathered, WorkspaceError> {
        let standing = self.look(tree, untracked)?;
        let repository = self.repository.open_shared()?;
        let follows = |later: Oid, earlier: Oid| {
            let follows = later == earlier || repository.graph_descendant_of(later, earlier)?;
            Ok(follows)
        };
        let failed = |source| WorkspaceError::library("compare commits", source);
        let tip = standing.tip.unwrap_or(tree.start);
        let mut loose = standing.has_modules || !standing.changes.nested.is_empty();
        let Some(head) = standing.head else {
            return Ok(Gathered { tip, loose: true, changes: standing.changes });
        };
        if !follows(head, tip).map_err(failed)? {
            // HEAD has left the branch. What it holds can't be put on the branch without taking something off it.
            loose |= !standing.changes.files.is_empty() || !follows(tip, head).map_err(failed)?;
            return Ok(Gathered { tip, loose, changes: standing.changes });
        }
        let target = if standing.changes.files.is_empty() {
            head
        } else {
            self.chain_of(tree)?;
            let git = self.git_of(tree)?;
            let dirs = self.dirs(&tree.chain, &tree.path);
            let staged = patiently(self.patience.git, || changes::stage(&git, dirs, &standing.changes))?;
            let name = tree.path.file_name().unwrap_or_default().to_string_lossy();
            self.commit(staged, Some(head), &message.of_rest(&name, &self.run))?
        };
        if standing.tip != Some(target) {
            self.advance(&repository, &tree.branch, standing.tip, target)?;
        }
        Ok(Gathered { tip: target, loose, changes: standing.changes })
    }

    fn advance(
        &self,
        repository: &git2::Repository,
        branch: &str,
        from: Option<Oid>,
        to: Oid,
    ) -> Result<(), WorkspaceError> {
        let name = format!("refs/heads/{branch}");
        let _lock = self.lock()?;
        patiently(self.patience.git, || {
            let reference = Reference { repository, dirs: self.repository.shared(), name: &name };
            reference.set(&self.git, from, to, "flow: end of the task")
        })
    }

    pub(super) fn look(&self, tree: &Worktree, untracked: Untracked) -> Result<Standing, WorkspaceError> {
        self.chain_of(tree)?;
        let git = self.git_of(tree)?;
        let changes = changes::look(&git, self.dirs(&tree.chain, &tree.path), untracked)?;
        let admin = tree.chain.admin();
        let repository = self.repository.open_shared()?;
        let commit_of =
            |name: &str| match repository.find_reference(name).and_then(|found| found.peel_to_commit()) {
                Ok(commit) => Ok(Some(commit.id())),
                Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
                Err(error) => Err(WorkspaceError::library("read a branch", error)),
            };
        let head = admin.join("HEAD");
        let text = std::fs::read_to_string(&head).map_err(WorkspaceError::io("read", &head))?;
        let head = match text.trim().strip_prefix("ref: ") {
            Some(name) => commit_of(name)?,
            None => Some(
                Oid::from_str(text.trim()).map_err(|source| WorkspaceError::library("read HEAD", source))?,
            ),
        };
        let tip = commit_of(&format!("refs/heads/{}", tree.branch))?;
        Ok(Standing { changes, head, tip, has_modules: admin.join("modules").exists() })
    }

    fn chain_of(&self, tree: &Worktree) -> Result<(), WorkspaceError> {
        tree.chain.check()
    }

    /// The git to use in a tree that a task had: with filters that the repository did not have before, they may be the
    /// task's, and the library, which runs none, does the work.
    pub(super) fn git_of(&self, tree: &Worktree) -> Result<Git, WorkspaceError> {
        Ok(if self.filters()? == tree.filters { self.git.clone() } else { Git::none() })
    }
}

/// Repositories in a tree that its commits name, as `git add` of one makes it: what is in them is nowhere else.
fn own_repositories(
    repository: &git2::Repository,
    tree: &Worktree,
    tip: Oid,
) -> Result<Vec<PathBuf>, WorkspaceError> {
    let changed = deltas(repository, tree.start, tip)
        .map_err(|source| WorkspaceError::library("compare with the start", source))?;
    let named = changed.into_iter().filter(|delta| delta.is_submodule() && delta.new.is_some());
    // With a slash, as those that git has not been told of.
    let named = named.map(|delta| delta.path.join(""));
    Ok(named.filter(|path| tree.path.join(path).join(".git").symlink_metadata().is_ok()).collect())
}

#[cfg(test)]
#[path = "finish_tests.rs"]
mod tests;
