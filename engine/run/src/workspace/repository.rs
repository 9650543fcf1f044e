//! The repository that a project stands in.

use std::path::{Path, PathBuf};

use flow_core::compile::GitPlace;
use git2::{ErrorCode, Oid};

use super::WorkspaceError;
use super::git::GitDirs;

/// Looks what git can do for a project, without starting a process.
pub fn git_place(root: &Path) -> GitPlace {
    match Repository::discover(root) {
        Err(WorkspaceError::NoRepository { .. }) => GitPlace::None,
        // A repository that the library can't read is one nevertheless; making a worktree says what is wrong with it.
        Err(_) => GitPlace::Ready,
        Ok(repository) => match repository.commit(None) {
            Err(WorkspaceError::NoCommits { .. }) => GitPlace::NoCommits,
            Ok(_) | Err(_) if repository.checkout.is_none() => GitPlace::Bare,
            Ok(_) | Err(_) => GitPlace::Ready,
        },
    }
}

/// How many folders a project is below the top of its checkout, of which private trees are made.
pub fn depth(root: &Path) -> usize {
    Repository::discover(root).map_or(0, |repository| repository.folder().components().count())
}

/// The branch that the checkout around a project is on; `HEAD` where it is on none.
pub fn branch(root: &Path) -> Option<String> {
    Repository::discover(root).and_then(|repository| repository.branch()).ok()
}

/// Refuses a repository that belongs to somebody else: its configuration makes git run programs.
pub fn check_owner(root: &Path) -> Result<(), WorkspaceError> {
    match Repository::discover(root) {
        Err(error @ WorkspaceError::Foreign { .. }) => Err(error),
        // Whatever else is wrong is said where it matters.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Where a repository is, seen from a project in it. Opened anew for each piece of work, since handles can't be shared.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// The project root, without symbolic links.
    pub(super) root: PathBuf,
    /// The git folder of the checkout that the root stands in; that of a linked worktree when it is one.
    pub(super) git_dir: PathBuf,
    /// The folder that all its worktrees share.
    pub(super) common: PathBuf,
    /// The checkout, unless the repository is bare.
    pub(super) checkout: Option<PathBuf>,
}

impl Repository {
    /// Finds the repository at or above the project root.
    pub(super) fn discover(root: &Path) -> Result<Self, WorkspaceError> {
        let whole = |path: &Path| path.canonicalize().map_err(WorkspaceError::io("find", path));
        let found = git2::Repository::discover(root).map_err(|source| refusal(root, source))?;
        Ok(Repository {
            root: whole(root)?,
            git_dir: whole(found.path())?,
            common: whole(found.commondir())?,
            checkout: found.workdir().map(whole).transpose()?,
        })
    }

    /// The repository as seen from the checkout: its HEAD.
    pub(super) fn open(&self) -> Result<git2::Repository, WorkspaceError> {
        git2::Repository::open(&self.git_dir)
            .map_err(|source| WorkspaceError::library("open the git repository", source))
    }

    /// The repository as all worktrees share it: objects, branches, configuration.
    pub(super) fn open_shared(&self) -> Result<git2::Repository, WorkspaceError> {
        git2::Repository::open(&self.common)
            .map_err(|source| WorkspaceError::library("open the git repository", source))
    }

    /// The branch of the checkout by its short name, whether it has commits or not; `HEAD` where it is detached.
    pub(super) fn branch(&self) -> Result<String, WorkspaceError> {
        let target = self.head()?;
        Ok(target.strip_prefix("refs/heads/").map_or(target.clone(), str::to_owned))
    }

    /// What a commit in the checkout would move: its branch, or `HEAD` where that is detached.
    pub(super) fn head(&self) -> Result<String, WorkspaceError> {
        let opened = self.open()?;
        let head =
            opened.find_reference("HEAD").map_err(|source| WorkspaceError::library("read HEAD", source))?;
        Ok(head.symbolic_target().ok().flatten().unwrap_or("HEAD").to_owned())
    }

    /// The commit that a revision names; without one, or with `head`, that of the checkout.
    pub(super) fn commit(&self, revision: Option<&str>) -> Result<Oid, WorkspaceError> {
        let repository = self.open()?;
        let no_commits = || WorkspaceError::NoCommits { root: self.root.clone() };
        match revision {
            None | Some("head") => {
                let head = repository.head().map_err(|source| match source.code() {
                    ErrorCode::UnbornBranch | ErrorCode::NotFound => no_commits(),
                    _ => WorkspaceError::library("read HEAD", source),
                })?;
                let commit = head.peel_to_commit();
                Ok(commit.map_err(|source| WorkspaceError::library("read HEAD", source))?.id())
            }
            Some(revision) => {
                if repository.is_empty().unwrap_or(false) {
                    return Err(no_commits());
                }
                let commit = repository.revparse_single(revision).and_then(|object| object.peel_to_commit());
                match commit {
                    Ok(commit) => Ok(commit.id()),
                    Err(source) => Err(WorkspaceError::Base { base: revision.to_owned(), source }),
                }
            }
        }
    }

    /// Where git works on what all worktrees share.
    pub(super) fn shared(&self) -> GitDirs<'_> {
        GitDirs { git_dir: &self.common, common: &self.common, tree: None, index: None }
    }

    /// Where git works on the checkout.
    pub(super) fn dirs<'a>(&'a self, checkout: &'a Path) -> GitDirs<'a> {
        GitDirs { git_dir: &self.git_dir, common: &self.common, tree: Some(checkout), index: None }
    }

    /// The project root relative to the checkout; empty for a bare repository.
    pub(super) fn folder(&self) -> &Path {
        let inside = self.checkout.as_deref().and_then(|checkout| self.root.strip_prefix(checkout).ok());
        inside.unwrap_or(Path::new(""))
    }

    /// A name for people and a hash that no other repository has.
    pub(super) fn key(&self) -> String {
        use std::os::unix::ffi::OsStrExt;

        let place = if self.common.ends_with(".git") { self.common.parent() } else { Some(&*self.common) };
        let name = place.and_then(Path::file_name).map(|name| name.to_string_lossy()).unwrap_or_default();
        let name = name.strip_suffix(".git").unwrap_or(&name);
        let hash = blake3::hash(self.common.as_os_str().as_bytes()).to_hex();
        format!("{}-{}", flow_core::text::file_name(name), &hash[..12])
    }
}

/// What the library's refusal to open a repository means.
pub(super) fn refusal(root: &Path, source: git2::Error) -> WorkspaceError {
    match source.code() {
        ErrorCode::NotFound => WorkspaceError::NoRepository { root: root.to_owned() },
        ErrorCode::Owner => WorkspaceError::Foreign { root: root.to_owned() },
        _ => WorkspaceError::library("open the git repository", source),
    }
}

/// The author of commits that flow makes: the person, as git knows them, else flow itself.
pub(super) fn author(config: &git2::Config) -> Result<git2::Signature<'static>, WorkspaceError> {
    let get = |key| config.get_string(key).ok().filter(|value| !value.trim().is_empty());
    let (name, email) = match (get("user.name"), get("user.email")) {
        (Some(name), Some(email)) => (name, email),
        (None, _) | (_, None) => ("flow".to_owned(), "flow@localhost".to_owned()),
    };
    git2::Signature::now(&name, &email).map_err(|source| WorkspaceError::library("make a signature", source))
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
