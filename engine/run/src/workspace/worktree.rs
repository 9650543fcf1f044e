//! Making a tree and taking one down.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flow_core::ids::{Address, Attempt, RunId};
use git2::Oid;

use super::WorkspaceError;
use super::chain::Chain;
use super::changes::{self, Untracked};
use super::git::{Git, GitDirs};
use super::home::{home, inside, recover_in, remove_folder};
use super::lacked::{Lacked, lacked};
use super::landed::Landed;
use super::lock::{Patience, hold, patiently};
use super::names::Names;
use super::owner::TreeOwner;
use super::references::Reference;
use super::repository::{Repository, author};
use crate::sys::lock::FileLock;

/// The private trees of one run.
#[derive(Debug)]
pub struct Worktrees {
    pub(super) git: Git,
    pub(super) repository: Repository,
    /// The folder for the trees of this repository.
    pub(super) home: PathBuf,
    pub(super) run: RunId,
    /// The branch of the checkout when the run began; merges land on no other. Nothing: on whichever it is on.
    pub(super) began_on: Option<String>,
    pub(super) patience: Patience,
    pub(super) names: Names,
    /// What `merge: apply` of this run has written into the checkout, so that what comes next fits itself to it.
    pub(super) landed: Landed,
}

/// A file in a tree's folder in `.git/worktrees`: the tree was made to its end. One without it has never been anybody's.
pub(super) const MADE: &str = "flow-made";

/// How often a tree is begun whose entry somebody removes meanwhile.
const TRIES: u32 = 10;

/// A private tree, owned by this process until it is finished.
#[derive(Debug)]
pub struct Worktree {
    /// Its folder.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The commit it starts from.
    pub base: String,
    /// The folder in it that the project root is in the checkout.
    pub dir: PathBuf,
    /// What the person may miss in it: uncommitted files of the checkout, submodules.
    pub lacked: Vec<String>,
    /// How many of those are uncommitted changes.
    pub uncommitted: u32,
    /// Whether an earlier attempt has worked in this very folder, so that it is set up.
    pub is_set_up: bool,
    /// Ignored files that it got from the checkout.
    pub(super) included: HashSet<PathBuf>,
    pub(super) start: Oid,
    pub(super) chain: Chain,
    /// The filters of the repository's own configuration when the tree was made.
    pub(super) filters: Vec<(String, String)>,
}

/// What making a tree found out.
struct Begun {
    branch: String,
    chain: Chain,
    furnished: Furnished,
}

/// What filling a tree found out.
pub(super) struct Furnished {
    /// The project's folder in it.
    pub(super) dir: PathBuf,
    pub(super) lacked: Lacked,
}

impl Worktrees {
    /// Finds the repository of a project. `dir`, relative to the root, replaces `$XDG_STATE_HOME/flow/worktrees`.
    pub fn open(root: &Path, dir: Option<PathBuf>, run: &RunId) -> Result<Self, WorkspaceError> {
        let repository = Repository::discover(root)?;
        let home = home(Some(&repository), &repository.root, dir)?;
        let (git, patience) = (Git::find(), Patience::default());
        recover_in(&git, Some(&repository), &home, patience)?;
        Ok(Worktrees {
            git,
            repository,
            home,
            run: run.clone(),
            began_on: None,
            patience,
            names: Names::default(),
            landed: Landed::default(),
        })
    }

    /// Makes a tree for an attempt. `base` is `head` (or nothing), `dirty` (HEAD and the checkout's uncommitted
    /// files), or any revision, such as the commit at which another tree of the run is.
    pub fn make(
        &self,
        address: &Address,
        attempt: Attempt,
        base: Option<&str>,
    ) -> Result<Worktree, WorkspaceError> {
        let start = match base {
            Some("dirty") => self.commit_of_checkout()?,
            base => self.repository.commit(base)?,
        };
        let filters = self.filters()?;
        let uncommitted = uncommitted_of(base);
        self.names.under(address, attempt, |name| self.make_as(name, start, &filters, uncommitted))
    }

    fn make_as(
        &self,
        name: &str,
        start: Oid,
        filters: &[(String, String)],
        uncommitted: Option<Untracked>,
    ) -> Result<Worktree, WorkspaceError> {
        let path = self.home.join(self.run.as_str()).join(name);
        let mut tries = 1;
        let begun = loop {
            match self.begin(&path, name, start, uncommitted) {
                // Nobody has seen it yet, so it can be made anew.
                Err(WorkspaceError::Pruned { .. }) if tries < TRIES => {
                    std::thread::sleep(Duration::from_millis(2) * tries);
                    tries += 1;
                }
                begun => break begun?,
            }
        };
        let Begun { branch, chain, furnished: Furnished { dir, lacked } } = begun;
        Ok(Worktree {
            path,
            branch,
            base: start.to_string(),
            dir,
            lacked: lacked.names,
            uncommitted: lacked.uncommitted,
            is_set_up: false,
            included: HashSet::new(),
            start,
            chain,
            filters: filters.to_vec(),
        })
    }

    fn begin(
        &self,
        path: &Path,
        name: &str,
        start: Oid,
        uncommitted: Option<Untracked>,
    ) -> Result<Begun, WorkspaceError> {
        // Only what git can't do twice at once stands under the lock; the files are written outside it.
        let (branch, chain) = {
            let _lock = self.lock()?;
            self.add(path, name, start)?
        };
        match self.furnish(path, &chain, start, uncommitted) {
            Ok(furnished) => Ok(Begun { branch, chain, furnished }),
            Err(error) => {
                let pruned = chain.check().is_err();
                // Nobody has seen it yet, so nothing in it is anybody's work.
                let undone = self.remove(&chain, path).and_then(|()| self.delete_branch(&branch, start));
                let source = Box::new(error);
                Err(match undone {
                    Ok(()) if pruned => WorkspaceError::Pruned { source },
                    Ok(()) => *source,
                    Err(_) => WorkspaceError::Kept { path: path.to_owned(), branch, source },
                })
            }
        }
    }

    /// Writes the files of a tree that is registered, and looks what it lacks.
    pub(super) fn furnish(
        &self,
        path: &Path,
        chain: &Chain,
        start: Oid,
        uncommitted: Option<Untracked>,
    ) -> Result<Furnished, WorkspaceError> {
        let (filled, lacked) = std::thread::scope(|scope| {
            let lacked = scope.spawn(|| lacked(&self.git, &self.repository, start, uncommitted));
            let filled = self.fill(path, chain);
            (filled, lacked.join().unwrap_or_default())
        });
        filled?;
        let dir = self.folder_in(path)?;
        let mark = chain.admin().join(MADE);
        std::fs::write(&mark, "").map_err(WorkspaceError::io("write", mark))?;
        Ok(Furnished { dir, lacked })
    }

    /// Takes the lock of the repository.
    pub(super) fn lock(&self) -> Result<FileLock, WorkspaceError> {
        // A run's id can't begin with a dot.
        hold(&self.home.join(".lock"), self.patience.flow)
    }

    /// Where git works in a tree.
    pub(super) fn dirs<'a>(&'a self, chain: &'a Chain, path: &'a Path) -> GitDirs<'a> {
        GitDirs { git_dir: chain.admin(), common: &self.repository.common, tree: Some(path), index: None }
    }

    /// Registers a tree without files and its branch. The caller holds the lock.
    fn add(&self, path: &Path, name: &str, start: Oid) -> Result<(String, Chain), WorkspaceError> {
        let repository = self.repository.open_shared()?;
        let is_branch = |branch: &str| repository.find_reference(&format!("refs/heads/{branch}")).is_ok();
        // Git keeps branches as files, so beside a branch `flow` there can be none below it.
        let prefix = if is_branch("flow") { "flow-run" } else { "flow" };
        let branch = format!("{prefix}/{}/{name}", self.run);
        if path.symlink_metadata().is_ok() {
            return Err(WorkspaceError::Exists { what: path.display().to_string() });
        }
        if is_branch(&branch) {
            return Err(WorkspaceError::Exists { what: branch });
        }
        let chain = self.register(path, name, &branch, Some(start))?;
        Ok((branch, chain))
    }

    /// Registers a tree without files, where none is, for a branch that is made at `start`; without one it is there. The
    /// caller holds the lock.
    pub(super) fn register(
        &self,
        path: &Path,
        name: &str,
        branch: &str,
        start: Option<Oid>,
    ) -> Result<Chain, WorkspaceError> {
        patiently(self.patience.git, || {
            let added = if self.git.is_there() {
                self.add_by_program(path, branch, start)
            } else {
                self.add_by_library(path, name, branch, start)
            };
            let added = added.and_then(|()| {
                let pruned = |source| WorkspaceError::Pruned { source };
                Chain::read(path, &self.repository.common).map_err(|source| pruned(Box::new(source)))
            });
            if added.is_err() {
                // The folder was not there before.
                let _ = std::fs::remove_dir_all(path);
                let _ = path.parent().map(std::fs::remove_dir);
                // Nor was the branch that git leaves behind.
                start.map_or(Ok(()), |start| self.delete_branch_locked(branch, start))?;
            }
            added
        })
    }

    pub(super) fn add_by_program(
        &self,
        path: &Path,
        branch: &str,
        start: Option<Oid>,
    ) -> Result<(), WorkspaceError> {
        let reason = TreeOwner::current(self.run.as_str())?.reason();
        let add = ["worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", &reason];
        let mut args: Vec<OsString> = add.map(OsString::from).into();
        if start.is_some() {
            args.extend(["--no-track", "-b", branch].map(OsString::from));
        }
        args.push(path.into());
        args.push(start.map_or_else(|| branch.to_owned(), |start| start.to_string()).into());
        let dirs = GitDirs {
            // Not the shared folder: git copies the sparse patterns of the checkout that this one belongs to.
            git_dir: &self.repository.git_dir,
            common: &self.repository.common,
            tree: None,
            index: None,
        };
        self.git.run(dirs, &args).map(drop).map_err(|error| match error {
            // A prune meets the entry in the moment between its folder and its lock.
            WorkspaceError::Git { message, .. } if is_pruned(&message) => {
                let source = Box::new(WorkspaceError::Git { command: "worktree add".to_owned(), message });
                WorkspaceError::Pruned { source }
            }
            error => error,
        })
    }

    fn add_by_library(
        &self,
        path: &Path,
        name: &str,
        branch: &str,
        start: Option<Oid>,
    ) -> Result<(), WorkspaceError> {
        let repository = self.repository.open_shared()?;
        let parent = path.parent().unwrap_or(path);
        std::fs::create_dir_all(parent).map_err(WorkspaceError::io("create the folder", parent))?;
        let taken = |name: &str| self.repository.common.join("worktrees").join(name).exists();
        let mut entry = name.to_owned();
        while taken(&entry) {
            entry.push('_');
        }
        let reason = TreeOwner::current(self.run.as_str())?.reason();
        let add = || {
            let full = format!("refs/heads/{branch}");
            let reference = match start {
                Some(start) => repository.reference(&full, start, false, "flow: new worktree")?,
                None => repository.find_reference(&full)?,
            };
            let mut options = git2::WorktreeAddOptions::new();
            options.reference(Some(&reference));
            let worktree = repository.worktree(&entry, path, Some(&options))?;
            worktree.lock(Some(&reason))
        };
        add().map_err(|source| WorkspaceError::library("add a worktree", source))
    }

    /// Writes the files of a new tree.
    fn fill(&self, path: &Path, chain: &Chain) -> Result<(), WorkspaceError> {
        if !self.git.is_there() {
            // The library has written them already.
            return Ok(());
        }
        let args = ["reset", "--hard", "--quiet", "--no-recurse-submodules"];
        patiently(self.patience.git, || self.git.run(self.dirs(chain, path), &args)).map(drop)
    }

    /// The project's folder in a tree; made when the commit doesn't have it.
    pub(super) fn folder_in(&self, path: &Path) -> Result<PathBuf, WorkspaceError> {
        let dir = inside(path, self.repository.folder());
        std::fs::create_dir_all(&dir).map_err(WorkspaceError::io("create the folder", &dir))?;
        // At another commit a part of the way may be a symbolic link.
        match (dir.canonicalize(), path.canonicalize()) {
            (Ok(whole), Ok(tree)) if whole.starts_with(&tree) => Ok(dir),
            (Ok(_) | Err(_), Ok(_) | Err(_)) => Err(WorkspaceError::Outside { dir }),
        }
    }

    /// A commit of the checkout as it is, ignored files aside. Uses an index of its own, so that the checkout's stays.
    fn commit_of_checkout(&self) -> Result<Oid, WorkspaceError> {
        let head = self.repository.commit(None)?;
        let Some(checkout) = &self.repository.checkout else {
            return Ok(head);
        };
        if !self.git.is_there() {
            return Err(WorkspaceError::NoProgram { what: "`base: dirty`" });
        }
        let scratch = tempfile::Builder::new()
            .prefix(".index-")
            .tempdir_in(&self.home)
            .map_err(WorkspaceError::io("create a folder in", &self.home))?;
        let index = scratch.path().join("index");
        let from = self.repository.git_dir.join("index");
        if from.exists() {
            std::fs::copy(&from, &index).map_err(WorkspaceError::io("copy", &from))?;
        }
        let dirs = GitDirs {
            git_dir: &self.repository.git_dir,
            common: &self.repository.common,
            tree: Some(checkout),
            index: Some(&index),
        };
        let changes = changes::look(&self.git, dirs, Untracked::Files)?;
        if changes.files.is_empty() {
            return Ok(head);
        }
        let tree = changes::stage(&self.git, dirs, &changes)?;
        self.commit(tree, Some(head), &format!("Uncommitted files at the start of run {}", self.run))
    }

    /// Makes a commit that no branch has yet: without hooks and without a signature.
    pub(super) fn commit(
        &self,
        tree: Oid,
        parent: Option<Oid>,
        message: &str,
    ) -> Result<Oid, WorkspaceError> {
        let repository = self.repository.open_shared()?;
        let config =
            repository.config().map_err(|source| WorkspaceError::library("read git's config", source))?;
        let author = author(&config)?;
        let commit = || {
            let parent = parent.map(|parent| repository.find_commit(parent)).transpose()?;
            let tree = repository.find_tree(tree)?;
            repository.commit(None, &author, &author, message, &tree, parent.as_ref().as_slice())
        };
        commit().map_err(|source| WorkspaceError::library("make a commit", source))
    }

    /// Removes a tree's folder and its entry in `.git/worktrees`. The entry stays locked to its end: one without a lock and
    /// without a folder is what `git worktree prune` deletes, and by then another tree may have taken its name.
    pub(super) fn remove(&self, chain: &Chain, path: &Path) -> Result<(), WorkspaceError> {
        let removed = remove_folder(path).and_then(|()| {
            let _lock = self.lock()?;
            self.remove_entry(chain.admin())
        });
        if removed.is_err() {
            // What stays belongs to nobody.
            self.unlock(chain)?;
        }
        // Only the last tree of a run leaves it empty.
        let _ = path.parent().map(std::fs::remove_dir);
        removed
    }

    /// Removes an entry in `.git/worktrees`. The caller holds the lock.
    pub(super) fn remove_entry(&self, admin: &Path) -> Result<(), WorkspaceError> {
        // Away from its name in one step: a prune that is about to delete it by its name must not meet the next tree's.
        let parent = admin.parent().unwrap_or(admin);
        let moved = tempfile::Builder::new().prefix("gone-").tempdir_in(parent).and_then(|gone| {
            std::fs::rename(admin, gone.path().join("entry"))?;
            Ok(gone)
        });
        match moved {
            Ok(gone) => remove_folder(gone.path())?,
            Err(_) => remove_folder(admin)?,
        }
        // Git removes the folder with its last entry too.
        let _ = std::fs::remove_dir(self.repository.common.join("worktrees"));
        Ok(())
    }

    /// Takes git's lock off a tree, so that it can be moved or removed like any other.
    pub(super) fn unlock(&self, chain: &Chain) -> Result<(), WorkspaceError> {
        let lock = chain.admin().join("locked");
        match std::fs::remove_file(&lock) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(WorkspaceError::io("remove", lock)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Deletes a branch, unless it has moved from `expected`.
    pub(super) fn delete_branch(&self, branch: &str, expected: Oid) -> Result<(), WorkspaceError> {
        let _lock = self.lock()?;
        self.delete_branch_locked(branch, expected)
    }

    fn delete_branch_locked(&self, branch: &str, expected: Oid) -> Result<(), WorkspaceError> {
        let name = format!("refs/heads/{branch}");
        patiently(self.patience.git, || {
            let repository = &self.repository.open_shared()?;
            Reference { repository, dirs: self.repository.shared(), name: &name }.delete(&self.git, expected)
        })
    }

    /// The programs that the repository's own configuration lets git run on files.
    pub(super) fn filters(&self) -> Result<Vec<(String, String)>, WorkspaceError> {
        let file = self.repository.common.join("config");
        let read = || {
            let config = git2::Config::open(&file)?;
            let mut filters = Vec::new();
            let mut entries = config.entries(Some("^(filter|include|includeif)\\."))?;
            while let Some(entry) = entries.next() {
                let entry = entry?;
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                filters.push((text(entry.name_bytes()), text(entry.value_bytes())));
            }
            Ok(filters)
        };
        read().map_err(|source| WorkspaceError::library("read git's config", source))
    }
}

/// How the uncommitted files of the checkout are listed that a tree lacks; a tree that begins with them lacks none.
pub(super) fn uncommitted_of(base: Option<&str>) -> Option<Untracked> {
    if base == Some("dirty") { None } else { Some(Untracked::Folders) }
}

/// Whether git says that what it had just made was gone.
fn is_pruned(message: &str) -> bool {
    ["No such file or directory", "could not find created worktree"].iter().any(|said| message.contains(said))
}

#[cfg(test)]
#[path = "worktree_tests.rs"]
mod tests;
