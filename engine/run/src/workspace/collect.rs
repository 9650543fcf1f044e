//! What runs left behind: found, told apart, removed.
//!
//! 1. What belongs to a live process or a live run is left alone.
//! 2. Work that no other branch reaches goes only by force. Branches of flow don't count as others: two of them that reach
//!    each other would both go.
//! 3. Only what flow has made is looked at: by its place or git's entry, its branch and its run.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use flow_core::ids::RunId;
use git2::{ErrorCode, Oid};

use super::WorkspaceError;
use super::baseline::Baseline;
use super::chain::Chain;
use super::changes::{self, Untracked};
use super::copies::remove_copy;
use super::git::Git;
use super::home::{home, place, recover_in, remove_folder};
use super::lock::Patience;
use super::owner::TreeOwner;
use super::repository::Repository;
use super::worktree::{MADE, Worktrees};

/// Something that a run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The run that made it.
    pub run: RunId,
    /// Its folder.
    pub path: PathBuf,
    /// Whether the folder is there.
    pub exists: bool,
    /// Its branch, unless it is a copy or has lost it.
    pub branch: Option<String>,
    /// The last commit of the branch.
    pub commit: Option<String>,
    /// Whether and why it may go.
    pub standing: Standing,
    /// Its entries in `.git/worktrees`.
    entries: Vec<PathBuf>,
}

/// Whether and why a leftover may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A live process or run has it.
    Live,
    /// It was never made to its end, so nobody has worked in it.
    Unmade,
    /// Nothing is in it that is not elsewhere.
    Clean,
    /// Its branch has commits that no other branch has.
    Unmerged,
    /// It holds changes that were never committed.
    Dirty,
    /// It can't be looked at, and why.
    Unclear(String),
}

impl Standing {
    /// The word for people and JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Standing::Live => "live",
            Standing::Unmade => "unmade",
            Standing::Clean => "clean",
            Standing::Unmerged => "unmerged",
            Standing::Dirty => "dirty",
            Standing::Unclear(_) => "unclear",
        }
    }

    /// Whether it may be removed.
    pub fn may_go(&self, force: bool) -> bool {
        match self {
            Standing::Unmade | Standing::Clean => true,
            Standing::Unmerged | Standing::Dirty => force,
            Standing::Live | Standing::Unclear(_) => false,
        }
    }
}

/// Finds and removes what runs of a project left behind.
#[derive(Debug)]
pub struct Collector {
    root: PathBuf,
    dir: Option<PathBuf>,
    git: Git,
    repository: Option<Repository>,
    home: PathBuf,
    patience: Patience,
}

/// What is known of a leftover before it is looked at.
#[derive(Debug, Default)]
struct Trace {
    branch: Option<(String, Oid)>,
    entries: Vec<PathBuf>,
    /// Its folder, when that is in another place than the settings of today say.
    elsewhere: Option<PathBuf>,
    /// Where somebody else has its branch checked out.
    checked_out: Option<PathBuf>,
}

impl Collector {
    /// Looks where the trees of a project would be. Makes nothing.
    pub fn open(root: &Path, dir: Option<PathBuf>) -> Result<Self, WorkspaceError> {
        let root = root.canonicalize().map_err(WorkspaceError::io("find", root))?;
        let repository = match Repository::discover(&root) {
            Ok(repository) => Some(repository),
            Err(WorkspaceError::NoRepository { .. }) => None,
            Err(error) => return Err(error),
        };
        let home = place(repository.as_ref(), &root, dir.clone())?;
        Ok(Collector { root, dir, git: Git::find(), repository, home, patience: Patience::default() })
    }

    /// Undoes merges that a dead engine left half done; names them.
    pub fn recover(&self) -> Result<Vec<String>, WorkspaceError> {
        recover_in(&self.git, self.repository.as_ref(), &self.home, self.patience)
    }

    /// Everything that is left, by run and name.
    pub fn survey(&self, is_live: &dyn Fn(&RunId) -> bool) -> Result<Vec<Leftover>, WorkspaceError> {
        let mut traces: BTreeMap<(String, String), Trace> = BTreeMap::new();
        self.find_folders(&mut traces);
        self.find_entries(&mut traces);
        self.find_branches(&mut traces)?;
        let mut found = Vec::with_capacity(traces.len());
        for ((run, name), trace) in traces {
            let path = trace.elsewhere.clone().unwrap_or_else(|| self.home.join(&run).join(&name));
            let Some(run) = run_id(&run) else { continue };
            let standing = if is_live(&run) { Standing::Live } else { self.standing(&path, &trace) };
            found.push(Leftover {
                run,
                exists: path.symlink_metadata().is_ok(),
                path,
                commit: trace.branch.as_ref().map(|(_, tip)| tip.to_string()),
                branch: trace.branch.map(|(branch, _)| branch),
                standing,
                entries: trace.entries,
            });
        }
        Ok(found)
    }

    /// Removes a leftover, unless its standing forbids it. True when it is gone.
    pub fn remove(&self, leftover: &Leftover, force: bool) -> Result<bool, WorkspaceError> {
        if !leftover.standing.may_go(force) || leftover.entries.iter().any(|entry| owner_lives(entry)) {
            return Ok(false);
        }
        let Some(repository) = &self.repository else {
            remove_copy(&leftover.path)?;
            return Ok(true);
        };
        home(Some(repository), &self.root, self.dir.clone())?;
        let worktrees = self.worktrees(repository, &leftover.run);
        remove_copy(&leftover.path)?;
        {
            let _lock = worktrees.lock()?;
            for entry in &leftover.entries {
                worktrees.remove_entry(entry)?;
            }
        }
        if let (Some(branch), Some(commit)) = (&leftover.branch, &leftover.commit) {
            let tip = Oid::from_str(commit)
                .map_err(|source| WorkspaceError::library("read the id of a commit", source))?;
            worktrees.delete_branch(branch, tip)?;
        }
        Ok(true)
    }

    /// Removes the entries in `.git/worktrees` of a tree whose folder is gone, whatever becomes of its branch.
    pub fn prune(&self, leftover: &Leftover) -> Result<(), WorkspaceError> {
        let Some(repository) = &self.repository else { return Ok(()) };
        let idle = leftover.standing != Standing::Live && leftover.path.symlink_metadata().is_err();
        if !idle || leftover.entries.iter().all(|entry| !entry.exists()) {
            return Ok(());
        }
        home(Some(repository), &self.root, self.dir.clone())?;
        let worktrees = self.worktrees(repository, &leftover.run);
        let _lock = worktrees.lock()?;
        leftover.entries.iter().try_for_each(|entry| worktrees.remove_entry(entry))
    }

    /// Removes what is nobody's: folders for work in progress, and folders of runs that became empty.
    pub fn sweep(&self) -> Result<(), WorkspaceError> {
        let _lock = match self.home.exists() {
            true => super::merge_home::merge_lock(&self.home, self.patience.flow)?,
            false => return Ok(()),
        };
        for entry in std::fs::read_dir(&self.home).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(".merge-") && name != ".merge-lock" {
                remove_folder(&entry.path())?;
            } else if run_id(&name).is_some() {
                // Only one that is empty goes.
                let _ = std::fs::remove_dir(entry.path());
            }
        }
        Ok(())
    }

    fn worktrees(&self, repository: &Repository, run: &RunId) -> Worktrees {
        Worktrees {
            began_on: None,
            git: self.git.clone(),
            repository: repository.clone(),
            home: self.home.clone(),
            run: run.clone(),
            patience: self.patience,
            names: Default::default(),
            landed: Default::default(),
        }
    }

    fn find_folders(&self, traces: &mut BTreeMap<(String, String), Trace>) {
        for run in std::fs::read_dir(&self.home).into_iter().flatten().flatten() {
            let Some(id) = run.file_name().to_str().and_then(run_id) else { continue };
            for tree in std::fs::read_dir(run.path()).into_iter().flatten().flatten() {
                let name = tree.file_name().to_string_lossy().into_owned();
                let list = name.strip_prefix('.').and_then(|name| name.strip_suffix(".json"));
                let name = list.unwrap_or(&name);
                if is_tree(name) {
                    traces.entry((id.to_string(), name.to_owned())).or_default();
                }
            }
        }
    }

    fn find_entries(&self, traces: &mut BTreeMap<(String, String), Trace>) {
        let Some(repository) = &self.repository else { return };
        let mut in_use = |git_dir: &Path, at: &Path, own: Option<&(String, String)>| {
            if let Some(branch) = head_of(git_dir).filter(|branch| own != Some(branch)) {
                traces.entry(branch).or_default().checked_out = Some(at.to_owned());
            }
        };
        in_use(&repository.common, repository.checkout.as_deref().unwrap_or(&repository.common), None);
        let mut ours = Vec::new();
        for entry in std::fs::read_dir(repository.common.join("worktrees")).into_iter().flatten().flatten() {
            let admin = entry.path();
            let back = std::fs::read(admin.join("gitdir")).unwrap_or_default();
            let dot_git = Path::new(std::ffi::OsStr::from_bytes(back.trim_ascii_end()));
            let Some(tree) = dot_git.parent().filter(|_| dot_git.ends_with(".git")) else { continue };
            let names = names_of(tree);
            let at_home = names.as_ref().is_some_and(|(run, name)| tree == self.home.join(run).join(name));
            // In another place anybody may have made a tree of such a name.
            let is_ours = at_home || (names.is_some() && admin.join(MADE).exists());
            in_use(&admin, tree, names.as_ref().filter(|_| is_ours));
            if let Some(names) = names.filter(|_| is_ours) {
                ours.push((names, (!at_home).then(|| tree.to_owned()), admin));
            }
        }
        for (names, elsewhere, admin) in ours {
            let trace = traces.entry(names).or_default();
            trace.elsewhere = elsewhere;
            trace.entries.push(admin);
        }
    }

    fn find_branches(&self, traces: &mut BTreeMap<(String, String), Trace>) -> Result<(), WorkspaceError> {
        let Some(repository) = &self.repository else { return Ok(()) };
        let opened = repository.open_shared()?;
        let failed = |source| WorkspaceError::library("list branches", source);
        for glob in ["refs/heads/flow/*", "refs/heads/flow-run/*"] {
            for reference in opened.references_glob(glob).map_err(failed)? {
                let reference = reference.map_err(failed)?;
                let Ok(name) = std::str::from_utf8(reference.name_bytes()) else { continue };
                let (Some((run, tree)), Some(tip)) = (our_branch(name), reference.target()) else { continue };
                let branch = name.trim_start_matches("refs/heads/").to_owned();
                traces.entry((run.to_owned(), tree.to_owned())).or_default().branch = Some((branch, tip));
            }
        }
        Ok(())
    }

    fn standing(&self, path: &Path, trace: &Trace) -> Standing {
        if let Some(at) = &trace.checked_out {
            return Standing::Unclear(format!("its branch is checked out in `{}`", at.display()));
        }
        let looked = match (path.symlink_metadata(), Baseline::read(path)) {
            (_, Err(error)) => Err(error),
            (Err(_), Ok(_)) => self.of_branch(trace),
            (Ok(_), Ok(Some(baseline))) => self.of_copy(path, &baseline),
            (Ok(_), Ok(None)) => self.of_worktree(path, trace),
        };
        looked.unwrap_or_else(|error| Standing::Unclear(error.one_line()))
    }

    fn of_copy(&self, path: &Path, baseline: &Baseline) -> Result<Standing, WorkspaceError> {
        if baseline.owner().is_some_and(|owner| owner.process.is_another_alive()) {
            return Ok(Standing::Live);
        }
        if !baseline.complete {
            return Ok(Standing::Unmade);
        }
        let rules = self.repository.as_ref().map(|repository| repository.common.join("info/exclude"));
        let found = baseline.differences(path, rules.as_deref()).map_err(WorkspaceError::io("read", path))?;
        let clean = found.files.is_empty() && !found.loose;
        Ok(if clean { Standing::Clean } else { Standing::Dirty })
    }

    fn of_worktree(&self, path: &Path, trace: &Trace) -> Result<Standing, WorkspaceError> {
        let empty = || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        let Some(repository) = &self.repository else {
            // The crash came before the list of a copy.
            return Ok(if empty() {
                Standing::Unmade
            } else {
                Standing::Unclear("flow did not make it".into())
            });
        };
        if trace.entries.iter().any(|entry| owner_lives(entry)) {
            return Ok(Standing::Live);
        }
        if trace.entries.is_empty() && empty() {
            return Ok(Standing::Unmade);
        }
        let chain = match Chain::read(path, &repository.common) {
            Ok(chain) => chain,
            // Git was stopped between the entry and the folder's own file.
            Err(_) if empty() => return Ok(Standing::Unmade),
            Err(error) => return Err(error),
        };
        let admin = chain.admin();
        if !admin.join(MADE).exists() {
            // The branch is where it began, since nobody has been here.
            return Ok(Standing::Unmade);
        }
        let dirs =
            super::git::GitDirs { git_dir: admin, common: &repository.common, tree: Some(path), index: None };
        let changes = changes::look(&self.git, dirs, Untracked::Files)?;
        if !changes.is_empty() || admin.join("modules").exists() {
            return Ok(Standing::Dirty);
        }
        let head = std::fs::read_to_string(admin.join("HEAD")).unwrap_or_default();
        if let Ok(detached) = Oid::from_str(head.trim())
            && !self.is_reached(repository, detached)?
        {
            return Ok(Standing::Unmerged);
        }
        self.of_branch(trace)
    }

    fn of_branch(&self, trace: &Trace) -> Result<Standing, WorkspaceError> {
        if trace.entries.iter().any(|entry| owner_lives(entry)) {
            return Ok(Standing::Live);
        }
        match (&self.repository, &trace.branch) {
            (Some(repository), Some((_, tip))) if !self.is_reached(repository, *tip)? => {
                Ok(Standing::Unmerged)
            }
            (Some(_) | None, Some(_) | None) => Ok(Standing::Clean),
        }
    }

    /// Whether something that is not flow's reaches a commit.
    fn is_reached(&self, repository: &Repository, commit: Oid) -> Result<bool, WorkspaceError> {
        let opened = repository.open_shared()?;
        let look = || {
            let mut walk = opened.revwalk()?;
            walk.push(commit)?;
            for reference in opened.references()? {
                let reference = reference?;
                let ours =
                    std::str::from_utf8(reference.name_bytes()).is_ok_and(|name| our_branch(name).is_some());
                if let (false, Ok(other)) = (ours, reference.peel_to_commit()) {
                    walk.hide(other.id())?;
                }
            }
            match opened.head().and_then(|head| head.peel_to_commit()) {
                Ok(head) if opened.head_detached()? => walk.hide(head.id())?,
                Ok(_) => {}
                Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => {}
                Err(error) => return Err(error),
            }
            Ok(walk.next().transpose()?.is_none())
        };
        look().map_err(|source| WorkspaceError::library("compare branches", source))
    }
}

/// Run and name of the branch that is checked out, if flow made it.
fn head_of(git_dir: &Path) -> Option<(String, String)> {
    let head = std::fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let (run, name) = our_branch(head.trim().strip_prefix("ref: ")?)?;
    Some((run.to_owned(), name.to_owned()))
}

/// Run and name of a tree, as its folder is called.
fn names_of(tree: &Path) -> Option<(String, String)> {
    let (name, run) = (tree.file_name()?.to_str()?, tree.parent()?.file_name()?.to_str()?);
    (run_id(run).is_some() && is_tree(name)).then(|| (run.to_owned(), name.to_owned()))
}

/// Run and name of a branch that flow made.
fn our_branch(reference: &str) -> Option<(&str, &str)> {
    let rest = reference.strip_prefix("refs/heads/")?;
    let rest = rest.strip_prefix("flow/").or(rest.strip_prefix("flow-run/"))?;
    let (run, tree) = rest.split_once('/')?;
    (run_id(run).is_some() && is_tree(tree)).then_some((run, tree))
}

/// A run's id in full: date, time and six more. A branch of a person may begin like one of flow's.
fn run_id(text: &str) -> Option<RunId> {
    let mut parts = text.split('-');
    let digits = |part: Option<&str>, length| {
        part.is_some_and(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let date_and_time = digits(parts.next(), 8) && digits(parts.next(), 6);
    let rest = parts.next().is_some_and(|part| part.len() == 6) && parts.next().is_none();
    (date_and_time && rest).then(|| RunId::parse(text)).flatten()
}

/// Whether a name is that of a task's attempt.
fn is_tree(name: &str) -> bool {
    let attempt = name.rsplit_once('.').filter(|(task, _)| !task.is_empty() && !task.starts_with('.'));
    attempt
        .is_some_and(|(_, attempt)| !attempt.is_empty() && attempt.bytes().all(|byte| byte.is_ascii_digit()))
        && !name.contains('/')
}

fn owner_lives(entry: &Path) -> bool {
    TreeOwner::of_entry(entry).is_some_and(|owner| owner.process.is_another_alive())
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
