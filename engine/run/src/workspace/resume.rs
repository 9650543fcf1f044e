//! The tree of an attempt that was cut off, taken up by the next attempt of its task.
//!
//! All that was done in it is on its branch, up to a commit that is known. It is taken up only while nothing else has become
//! of it: a branch that was moved, merged, checked out elsewhere or deleted is left alone, and so is a folder in which
//! somebody has worked. What comes home in the end is counted from the start of the first attempt, so it is all of the
//! work, once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use flow_core::values::EarlierTree;
use git2::{BranchType, ErrorCode, Oid};

use super::WorkspaceError;
use super::chain::Chain;
use super::changes::Untracked;
use super::lacked::lacked;
use super::owner::TreeOwner;
use super::reclaim::is_of_flow;
use super::worktree::{Furnished, Worktree, Worktrees, uncommitted_of};

/// What is taken up.
struct Left<'a> {
    path: &'a Path,
    branch: &'a str,
    start: Oid,
    tip: Oid,
}

impl Worktrees {
    /// Takes a tree up: its folder as it stands, or where that is gone a new one made from its branch. `base`: as for the
    /// tree of a first attempt.
    pub(super) fn resume(
        &self,
        left: &EarlierTree,
        base: Option<&str>,
    ) -> Result<Option<Worktree>, WorkspaceError> {
        let (path, branch) = (Path::new(&left.path), left.branch.as_str());
        let (Ok(start), Ok(tip)) = (Oid::from_str(&left.base), Oid::from_str(&left.commit)) else {
            return Ok(None);
        };
        let is_here = path.parent() == Some(&self.home.join(self.run.as_str()));
        let left = Left { path, branch, start, tip };
        if !is_here || !is_of_flow(path, branch) || !self.is_untouched(&left)? {
            return Ok(None);
        }
        match path.symlink_metadata() {
            Ok(_) => self.take_up(&left, base),
            Err(_) => self.make_again(&left, base),
        }
    }

    /// Whether the branch names what it did, and nobody has taken that over.
    fn is_untouched(&self, left: &Left<'_>) -> Result<bool, WorkspaceError> {
        let repository = self.repository.open_shared()?;
        let look = || {
            let own = match repository.find_reference(&format!("refs/heads/{}", left.branch)) {
                Ok(found) => found.target(),
                Err(error) if error.code() == ErrorCode::NotFound => None,
                Err(error) => return Err(error),
            };
            let holds = |later, earlier| {
                Ok::<_, git2::Error>(later == earlier || repository.graph_descendant_of(later, earlier)?)
            };
            if own != Some(left.tip) || !holds(left.tip, left.start)? {
                return Ok(false);
            }
            let mut others: Vec<Oid> = self.repository.commit(None).into_iter().collect();
            for branch in repository.branches(Some(BranchType::Local))? {
                let (branch, _) = branch?;
                let ours = |name: &[u8]| name.starts_with(b"flow/") || name.starts_with(b"flow-run/");
                others.extend(branch.get().target().filter(|_| !branch.name_bytes().is_ok_and(ours)));
            }
            for other in others {
                if left.tip != left.start && holds(other, left.tip)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        look().map_err(|source| WorkspaceError::library("compare branches", source))
    }

    /// Goes on in the folder, if it is as it was left.
    fn take_up(&self, left: &Left<'_>, base: Option<&str>) -> Result<Option<Worktree>, WorkspaceError> {
        let Ok(chain) = Chain::read(left.path, &self.repository.common) else { return Ok(None) };
        let reason = chain.admin().join("locked");
        {
            let _lock = self.lock()?;
            // A lock that names no dead process of ours is somebody's.
            if reason.exists()
                && TreeOwner::of_entry(chain.admin()).is_none_or(|owner| owner.process.is_alive())
            {
                return Ok(None);
            }
            let owner = TreeOwner::current(self.run.as_str())?;
            std::fs::write(&reason, owner.reason()).map_err(WorkspaceError::io("write", &reason))?;
        }
        let look = || {
            let furnished = Furnished {
                dir: self.folder_in(left.path)?,
                lacked: lacked(&self.git, &self.repository, left.start, uncommitted_of(base)),
            };
            let tree = self.taken_up(left, chain, furnished, true)?;
            let standing = self.look(&tree, Untracked::Files)?;
            let as_left = standing.head == Some(left.tip) && standing.changes.files.is_empty();
            Ok(Some(tree).filter(|_| as_left))
        };
        let taken = look();
        if !matches!(taken, Ok(Some(_))) {
            let _ = std::fs::remove_file(&reason);
        }
        taken
    }

    /// Makes the folder again.
    fn make_again(&self, left: &Left<'_>, base: Option<&str>) -> Result<Option<Worktree>, WorkspaceError> {
        let chain = {
            let _lock = self.lock()?;
            let own = self.entries_of(left.path);
            let is_alive =
                |admin: &PathBuf| TreeOwner::of_entry(admin).is_some_and(|owner| owner.process.is_alive());
            if own.iter().any(is_alive) || self.is_checked_out(left.branch, &own) {
                return Ok(None);
            }
            for admin in own {
                self.remove_entry(&admin)?;
            }
            let name = left.path.file_name().unwrap_or_default().to_string_lossy();
            self.register(left.path, &name, left.branch, None)?
        };
        match self.furnish(left.path, &chain, left.start, uncommitted_of(base)) {
            Ok(furnished) => self.taken_up(left, chain, furnished, false).map(Some),
            Err(error) => {
                // Nobody has seen it yet, and the branch holds everything.
                self.remove(&chain, left.path)?;
                Err(error)
            }
        }
    }

    /// Whether another worktree is on a branch.
    fn is_checked_out(&self, branch: &str, own: &[PathBuf]) -> bool {
        let entries = std::fs::read_dir(self.repository.common.join("worktrees")).into_iter().flatten();
        let mut others = entries.flatten().map(|entry| entry.path()).filter(|admin| !own.contains(admin));
        let head = format!("ref: refs/heads/{branch}");
        others.any(|admin| std::fs::read_to_string(admin.join("HEAD")).is_ok_and(|text| text.trim() == head))
    }

    fn taken_up(
        &self,
        left: &Left<'_>,
        chain: Chain,
        Furnished { dir, lacked }: Furnished,
        is_set_up: bool,
    ) -> Result<Worktree, WorkspaceError> {
        Ok(Worktree {
            path: left.path.to_owned(),
            branch: left.branch.to_owned(),
            base: left.start.to_string(),
            dir,
            lacked: lacked.names,
            uncommitted: lacked.uncommitted,
            is_set_up,
            included: HashSet::new(),
            start: left.start,
            chain,
            filters: self.filters()?,
        })
    }
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
