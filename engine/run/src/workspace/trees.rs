//! The private trees of a run, of whatever kind.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use flow_core::ids::{Address, Attempt, RunId};
use flow_core::model::{Isolation, Merge, WorktreeOutcome};
use flow_core::report::{BranchStart, MadeTree};
use flow_core::values::{CommitMessage, EarlierTree, TreeOrder};

use super::copies::{CopiedTree, Copies, HeldCopy};
use super::include::include;
use super::reclaim::Recorded;
use super::worktree::{Worktree, Worktrees};
use super::{WorkspaceError, finish, home};

/// How an attempt that had a tree ended.
#[derive(Clone, Debug)]
pub struct TreeEnd {
    /// The task.
    pub address: Address,
    /// Whether it completed; else nothing comes home.
    pub completed: bool,
    /// How the work comes home.
    pub merge: Merge,
    /// What commits of it say.
    pub message: CommitMessage,
    /// Where a patch goes: with `merge: patch`, and where `merge: apply` is refused.
    pub patch_to: Option<PathBuf>,
    /// Whether others look at it: what would go stays until `release`.
    pub hold: bool,
}

/// How work comes home, and what its commits say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way<'m> {
    pub(super) merge: Merge,
    pub(super) message: &'m CommitMessage,
}

impl Way<'static> {
    /// It does not.
    pub(super) fn kept() -> Self {
        Way { merge: Merge::None, message: &CommitMessage::Nameless }
    }
}

/// A tree whose task has ended and that others still look at.
#[derive(Debug)]
pub struct HeldTree(Held);

#[derive(Debug)]
enum Held {
    Worktree(finish::Held),
    Copy(HeldCopy),
}

/// A private tree, owned by this process until it is finished.
#[derive(Debug)]
pub enum PrivateTree {
    /// A git worktree.
    Worktree(Box<Worktree>),
    /// A copy.
    Copy(CopiedTree),
}

impl PrivateTree {
    /// Its folder.
    pub fn path(&self) -> &Path {
        match self {
            PrivateTree::Worktree(tree) => &tree.path,
            PrivateTree::Copy(tree) => &tree.path,
        }
    }

    /// The folder in it that the project root is in the enclosing tree.
    pub fn dir(&self) -> &Path {
        match self {
            PrivateTree::Worktree(tree) => &tree.dir,
            PrivateTree::Copy(tree) => &tree.dir,
        }
    }

    /// Its branch; a copy has none.
    pub fn branch(&self) -> Option<&str> {
        match self {
            PrivateTree::Worktree(tree) => Some(&tree.branch),
            PrivateTree::Copy(_) => None,
        }
    }

    /// The commit it starts from; a copy begins with the files as they are.
    pub fn base(&self) -> Option<&str> {
        match self {
            PrivateTree::Worktree(tree) => Some(&tree.base),
            PrivateTree::Copy(_) => None,
        }
    }

    /// Whether an earlier attempt has worked in this very folder, so that it is set up.
    pub fn is_set_up(&self) -> bool {
        match self {
            PrivateTree::Worktree(tree) => tree.is_set_up,
            PrivateTree::Copy(_) => false,
        }
    }

    /// A folder above which git must not look for a repository: a copy belongs to none.
    pub fn git_ceiling(&self) -> Option<&Path> {
        match self {
            PrivateTree::Worktree(_) => None,
            PrivateTree::Copy(tree) => tree.path.parent(),
        }
    }
}

/// Makes and ends the private trees of one run. Nothing is looked for before a tree is asked for.
#[derive(Debug)]
pub struct Trees {
    root: PathBuf,
    dir: Option<PathBuf>,
    run: RunId,
    began_on: Option<String>,
    worktrees: OnceLock<Worktrees>,
    copies: OnceLock<Copies>,
    /// Which task of this run brought a file home last; for people, who wonder whose change is in the way.
    landed: Mutex<HashMap<String, Address>>,
}

impl Trees {
    /// The trees of a run. `dir`, relative to the root, replaces `$XDG_STATE_HOME/flow/worktrees`.
    pub fn new(root: &Path, dir: Option<PathBuf>, run: &RunId) -> Self {
        Trees {
            root: root.to_owned(),
            dir,
            run: run.clone(),
            began_on: None,
            worktrees: OnceLock::new(),
            copies: OnceLock::new(),
            landed: Mutex::new(HashMap::new()),
        }
    }

    /// Lets merges land on this branch only; `HEAD` is none.
    #[must_use]
    pub fn landing_on(mut self, branch: Option<&str>) -> Self {
        self.began_on = branch.map(str::to_owned);
        self
    }

    /// Makes the tree that an attempt asks for.
    pub fn make(
        &self,
        address: &Address,
        attempt: Attempt,
        order: &TreeOrder,
    ) -> Result<PrivateTree, WorkspaceError> {
        let (mut tree, git, repository) = match order.isolation {
            Isolation::Copy => {
                let copies = self.copies()?;
                let tree = copies.make(address, attempt, order.merge == Merge::Patch)?;
                (PrivateTree::Copy(tree), &copies.git, copies.repository.as_ref())
            }
            Isolation::Worktree | Isolation::None | Isolation::Fork => {
                let worktrees = self.worktrees()?;
                let tree = worktrees.make(address, attempt, order.base.as_deref())?;
                (PrivateTree::Worktree(Box::new(tree)), &worktrees.git, Some(&worktrees.repository))
            }
        };
        let included = repository.map(|found| include(git, found, &order.include, tree.path()));
        match (included.transpose(), &mut tree) {
            (Ok(included), PrivateTree::Worktree(tree)) => tree.included = included.unwrap_or_default(),
            (Ok(_), PrivateTree::Copy(_)) => {}
            (Err(error), _) => {
                // Nobody has worked in it, so it goes as a clean one does.
                self.end(&tree, Way::kept(), None, false)?;
                return Err(error);
            }
        }
        Ok(tree)
    }

    /// Takes up the tree of an attempt that was cut off, for the next one of its task. `None`: something else has become of
    /// it since, and it is left alone.
    pub fn resume(
        &self,
        left: &EarlierTree,
        order: &TreeOrder,
    ) -> Result<Option<PrivateTree>, WorkspaceError> {
        let worktrees = self.worktrees()?;
        let Some(mut tree) = worktrees.resume(left, order.base.as_deref())? else { return Ok(None) };
        match include(&worktrees.git, &worktrees.repository, &order.include, &tree.path) {
            Ok(included) => tree.included = included,
            Err(error) => {
                worktrees.settle(&tree, Way::kept(), None, false)?;
                return Err(error);
            }
        }
        Ok(Some(PrivateTree::Worktree(Box::new(tree))))
    }

    /// Whether a tree differs from its start.
    pub fn changed(&self, tree: &PrivateTree) -> Result<bool, WorkspaceError> {
        match tree {
            PrivateTree::Worktree(tree) => self.worktrees()?.changed(tree),
            PrivateTree::Copy(tree) => self.copies()?.changed(tree),
        }
    }

    /// Ends a tree: brings its work home as asked, and keeps it where that could not be. What is held is to be released.
    pub fn finish(
        &self,
        tree: &PrivateTree,
        end: &TreeEnd,
    ) -> Result<(WorktreeOutcome, Option<HeldTree>), WorkspaceError> {
        let merge = if end.completed { end.merge } else { Merge::None };
        let way = Way { merge, message: &end.message };
        let hold = end.hold && end.completed;
        if !merge.changes_home() {
            return self.end(tree, way, end.patch_to.as_deref(), hold);
        }
        // Held meanwhile, so that a sibling that comes next knows whom it met.
        let mut landed = self.landed.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut outcome, held) = self.end(tree, way, end.patch_to.as_deref(), hold)?;
        if let Some(merged) = &mut outcome.merged {
            for conflict in &mut merged.conflicts {
                conflict.other = landed.get(&conflict.path).cloned();
            }
            landed.extend(merged.files.iter().map(|file| (file.clone(), end.address.clone())));
        }
        Ok((outcome, held))
    }

    /// Takes a held tree down, unless it is still needed or somebody has worked in it since. Says whether it is kept.
    pub fn release(&self, tree: &PrivateTree, held: &HeldTree, needed: bool) -> Result<bool, WorkspaceError> {
        match (tree, &held.0) {
            (PrivateTree::Worktree(tree), Held::Worktree(held)) => {
                self.worktrees()?.release(tree, *held, needed)
            }
            (PrivateTree::Copy(tree), Held::Copy(held)) => self.copies()?.release(tree, held, needed),
            // One comes with the other.
            (PrivateTree::Worktree(_), Held::Copy(_)) | (PrivateTree::Copy(_), Held::Worktree(_)) => Ok(true),
        }
    }

    /// Ends a tree that a dead engine left behind, as that of a task that did not complete.
    pub fn reclaim(&self, tree: &MadeTree) -> Result<WorktreeOutcome, WorkspaceError> {
        let path = PathBuf::from(&tree.path);
        match tree.branch.clone() {
            None => self.copies()?.reclaim(&path),
            Some(BranchStart { name, base }) => {
                self.worktrees()?.reclaim(&Recorded { path, branch: name, base })
            }
        }
    }

    /// Undoes what a dead engine began to bring home and could not finish; names it.
    pub fn recover(&self) -> Result<Vec<String>, WorkspaceError> {
        home::recover(&self.root, self.dir.clone())
    }

    fn end(
        &self,
        tree: &PrivateTree,
        way: Way<'_>,
        patch_to: Option<&Path>,
        hold: bool,
    ) -> Result<(WorktreeOutcome, Option<HeldTree>), WorkspaceError> {
        match tree {
            PrivateTree::Worktree(tree) => {
                let (outcome, held) = self.worktrees()?.settle(tree, way, patch_to, hold)?;
                Ok((outcome, held.map(|held| HeldTree(Held::Worktree(held)))))
            }
            PrivateTree::Copy(tree) => {
                let (outcome, held) = self.copies()?.settle(tree, way.merge, patch_to, hold)?;
                Ok((outcome, held.map(|held| HeldTree(Held::Copy(held)))))
            }
        }
    }

    fn worktrees(&self) -> Result<&Worktrees, WorkspaceError> {
        if let Some(opened) = self.worktrees.get() {
            return Ok(opened);
        }
        let mut opened = Worktrees::open(&self.root, self.dir.clone(), &self.run)?;
        opened.began_on.clone_from(&self.began_on);
        Ok(self.worktrees.get_or_init(|| opened))
    }

    fn copies(&self) -> Result<&Copies, WorkspaceError> {
        if let Some(opened) = self.copies.get() {
            return Ok(opened);
        }
        let mut opened = Copies::open(&self.root, self.dir.clone(), &self.run)?;
        opened.began_on.clone_from(&self.began_on);
        Ok(self.copies.get_or_init(|| opened))
    }
}
