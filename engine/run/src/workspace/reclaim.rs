//! Trees of a run whose engine died.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use flow_core::model::WorktreeOutcome;
use git2::Oid;

use super::WorkspaceError;
use super::chain::Chain;
use super::owner::TreeOwner;
use super::trees::Way;
use super::worktree::{Worktree, Worktrees};

/// A worktree as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    /// Its folder.
    pub(super) path: PathBuf,
    /// Its branch.
    pub(super) branch: String,
    /// The commit it started from.
    pub(super) base: String,
}

impl Worktrees {
    /// Ends a tree that a dead engine left behind: as `finish` does for a task that did not complete. A folder that is
    /// gone leaves its branch, when that has commits. The tree of a live process is refused.
    pub(super) fn reclaim(&self, recorded: &Recorded) -> Result<WorktreeOutcome, WorkspaceError> {
        let Recorded { path, branch, base } = recorded;
        if !is_of_flow(path, branch) {
            return Err(WorkspaceError::Tampered {
                path: path.clone(),
                what: format!("`{branch}` is not its branch"),
            });
        }
        let start =
            Oid::from_str(base).map_err(|source| WorkspaceError::Base { base: base.clone(), source })?;
        if path.symlink_metadata().is_err() {
            return self.reclaim_branch(recorded, start);
        }
        let chain = Chain::read(path, &self.repository.common)?;
        refuse_alive(path, chain.admin())?;
        let tree = Worktree {
            path: path.clone(),
            branch: branch.clone(),
            base: base.clone(),
            dir: path.clone(),
            lacked: Vec::new(),
            uncommitted: 0,
            is_set_up: true,
            included: Default::default(),
            start,
            chain,
            filters: self.filters()?,
        };
        self.settle(&tree, Way::kept(), None, false).map(|(outcome, _)| outcome)
    }

    /// The entries in `.git/worktrees` of a folder, there or not.
    pub(super) fn entries_of(&self, path: &Path) -> Vec<PathBuf> {
        let dot_git = path.join(".git");
        let entries = std::fs::read_dir(self.repository.common.join("worktrees")).into_iter().flatten();
        let is_its = |admin: &PathBuf| {
            let back = std::fs::read(admin.join("gitdir")).unwrap_or_default();
            back.trim_ascii_end() == dot_git.as_os_str().as_bytes()
        };
        entries.flatten().map(|entry| entry.path()).filter(is_its).collect()
    }

    /// What is left when the folder is gone: the branch, and an entry that would stay in `git worktree list` for ever.
    fn reclaim_branch(&self, recorded: &Recorded, start: Oid) -> Result<WorktreeOutcome, WorkspaceError> {
        for admin in self.entries_of(&recorded.path) {
            refuse_alive(&recorded.path, &admin)?;
            let _lock = self.lock()?;
            self.remove_entry(&admin)?;
        }
        self.delete_branch(&recorded.branch, start)?;
        let repository = self.repository.open_shared()?;
        let tip = repository
            .find_reference(&format!("refs/heads/{}", recorded.branch))
            .ok()
            .and_then(|reference| reference.target());
        let files_changed = match tip {
            Some(tip) => super::patch::write_difference(&repository, start, tip, None)?,
            None => 0,
        };
        Ok(WorktreeOutcome {
            branch: tip.map(|_| recorded.branch.clone()),
            commit: tip.map(|tip| tip.to_string()),
            base: Some(recorded.base.clone()),
            files_changed,
            ..WorktreeOutcome::default()
        })
    }
}

/// Whether flow has made a tree. Only such a one may be taken down or up, whatever a journal says.
pub(super) fn is_of_flow(path: &Path, branch: &str) -> bool {
    let ours = branch.starts_with("flow/") || branch.starts_with("flow-run/");
    ours && path.file_name().map(|name| name.as_bytes()) == branch.rsplit('/').next().map(str::as_bytes)
}

fn refuse_alive(path: &Path, admin: &Path) -> Result<(), WorkspaceError> {
    match TreeOwner::of_entry(admin) {
        Some(TreeOwner { process, .. }) if process.is_another_alive() => {
            Err(WorkspaceError::InUse { path: path.to_owned(), pid: process.pid })
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
#[path = "reclaim_tests.rs"]
mod tests;
