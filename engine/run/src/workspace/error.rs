//! What can be in the way of a private tree.

use std::path::{Path, PathBuf};

use flow_core::model::Reason;
use flow_core::text::chain_in_words;

/// Why a private tree could not be made, looked at or taken down.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// There is no repository.
    #[error("`{root}` is not in a git repository")]
    NoRepository {
        /// The project root.
        root: PathBuf,
    },
    /// Git would make an orphan branch.
    #[error("the git repository of `{root}` has no commit yet")]
    NoCommits {
        /// The project root.
        root: PathBuf,
    },
    /// The repository belongs to somebody else, so its configuration can't be trusted.
    #[error("the git repository of `{root}` belongs to another user (see `safe.directory` in git-config(1))")]
    Foreign {
        /// The project root.
        root: PathBuf,
    },
    /// The start that was asked for doesn't exist.
    #[error("`base: {base}` names no commit")]
    Base {
        /// As it was given.
        base: String,
        /// What the library says.
        source: git2::Error,
    },
    /// The folder for worktrees lies in the checkout, where every one of them would show as untracked files.
    #[error(
        "the folder for worktrees, `{dir}`, lies inside the checkout; set `[worktrees] dir` to one outside"
    )]
    InsideCheckout {
        /// The folder.
        dir: PathBuf,
    },
    /// Neither `XDG_STATE_HOME` nor `HOME` says where to put worktrees.
    #[error("no place for worktrees: neither `XDG_STATE_HOME` nor `HOME` is set")]
    NoHome,
    /// A folder or branch of that name is there already. It may hold somebody's work.
    #[error("`{what}` exists already")]
    Exists {
        /// The folder or branch.
        what: String,
    },
    /// Git's own lock was held all the time.
    #[error("git is locked by `{lock}`; when no git process is running, remove that file")]
    GitLocked {
        /// The lock, as git names it.
        lock: String,
    },
    /// Another flow held the repository's lock all the time.
    #[error("another flow process holds `{lock}`")]
    Busy {
        /// Our own lock file.
        lock: PathBuf,
    },
    /// The tree belongs to a live process.
    #[error("the worktree belongs to process {pid}, which is running: `{path}`")]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        pid: i32,
    },
    /// The way from the tree to its repository was changed. Git was not called.
    #[error("the git files of the worktree were changed: {what}")]
    Tampered {
        /// The folder.
        path: PathBuf,
        /// Which file, and how.
        what: String,
    },
    /// The folder is gone.
    #[error("the task's tree is gone: `{path}`")]
    Lost {
        /// The folder.
        path: PathBuf,
    },
    /// There is no tree to write to.
    #[error("the repository `{common}` is bare: there is no tree to apply changes to")]
    NoCheckout {
        /// The repository.
        common: PathBuf,
    },
    /// A merge, rebase or the like of the person is under way.
    #[error("a merge, rebase or the like is under way in `{git_dir}`; end it first")]
    Unfinished {
        /// The git folder of the checkout.
        git_dir: PathBuf,
    },
    /// Somebody wrote a file in the very moment in which it was to be replaced.
    #[error("`{path}` was changed while the work was brought home; nothing was written")]
    ChangedMeanwhile {
        /// The file.
        path: PathBuf,
    },
    /// The project's folder leads out of the tree at that commit.
    #[error("`{dir}` leads out of the worktree")]
    Outside {
        /// The folder.
        dir: PathBuf,
    },
    /// Something that only the git program can do.
    #[error("{what} needs the git program, which is not on PATH")]
    NoProgram {
        /// What.
        what: &'static str,
    },
    /// The git program failed.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// The subcommand.
        command: String,
        /// What it said.
        message: String,
    },
    /// The git library failed.
    #[error("can't {doing}")]
    Library {
        /// What was being done.
        doing: &'static str,
        /// What it says.
        source: git2::Error,
    },
    /// A file or process could not be handled.
    #[error("can't {doing} `{path}`")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A pattern of `include` is none.
    #[error("`include` can't use `{pattern}`")]
    Include {
        /// The pattern, or the file it stands in.
        pattern: String,
        /// Why not.
        source: ignore::Error,
    },
    /// Somebody removed the entry of a tree in `.git/worktrees` while the tree was made.
    #[error("the git files of the new worktree were removed while it was made, as `git worktree prune` does")]
    Pruned {
        /// What was in the way.
        source: Box<WorkspaceError>,
    },
    /// A tree could not be taken down. Nothing of it was lost.
    #[error("the work is kept in `{path}`{}", on_branch(branch))]
    Kept {
        /// The folder.
        path: PathBuf,
        /// The branch; empty for a copy.
        branch: String,
        /// What was in the way.
        source: Box<WorkspaceError>,
    },
}

fn on_branch(branch: &str) -> String {
    if branch.is_empty() { String::new() } else { format!(" on branch `{branch}`") }
}

impl WorkspaceError {
    /// What happened to a tree that holds work: it stays where it is.
    pub(super) fn kept(path: &Path, branch: &str, source: Self) -> Self {
        WorkspaceError::Kept { path: path.to_owned(), branch: branch.to_owned(), source: Box::new(source) }
    }

    /// The error and what caused it on one line, for an outcome's message.
    pub fn one_line(&self) -> String {
        if let WorkspaceError::Kept { source, branch, .. } = self {
            // The folder that is gone keeps nothing.
            return match (&**source, branch.is_empty()) {
                (lost @ WorkspaceError::Lost { .. }, true) => lost.one_line(),
                (lost @ WorkspaceError::Lost { .. }, false) => {
                    format!("{}; what was committed is on branch `{branch}`", lost.one_line())
                }
                (other, _) => format!("{}; {self}", other.one_line()),
            };
        }
        // The library's own form ends in numbers that help nobody.
        chain_in_words(self, |error| match error.downcast_ref::<git2::Error>() {
            Some(error) => error.message().to_owned(),
            None => error.to_string(),
        })
    }

    /// The word that an outcome has for it.
    pub fn reason(&self) -> Reason {
        match self {
            WorkspaceError::GitLocked { .. } | WorkspaceError::Busy { .. } => Reason::GitLocked,
            WorkspaceError::Tampered { .. } => Reason::Tampered,
            WorkspaceError::Unfinished { .. } | WorkspaceError::ChangedMeanwhile { .. } => {
                Reason::MergeConflict
            }
            WorkspaceError::Lost { .. } => Reason::WorkspaceLost,
            WorkspaceError::Kept { source, .. } => source.reason(),
            WorkspaceError::Git { message, .. } if message.contains("No space left on device") => {
                Reason::NoSpace
            }
            WorkspaceError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                Reason::NoSpace
            }
            WorkspaceError::NoRepository { .. }
            | WorkspaceError::NoCommits { .. }
            | WorkspaceError::Foreign { .. }
            | WorkspaceError::Base { .. }
            | WorkspaceError::InsideCheckout { .. }
            | WorkspaceError::NoHome
            | WorkspaceError::Exists { .. }
            | WorkspaceError::InUse { .. }
            | WorkspaceError::Include { .. }
            | WorkspaceError::NoCheckout { .. }
            | WorkspaceError::Outside { .. }
            | WorkspaceError::Pruned { .. }
            | WorkspaceError::NoProgram { .. }
            | WorkspaceError::Git { .. }
            | WorkspaceError::Library { .. }
            | WorkspaceError::Io { .. } => Reason::Isolation,
        }
    }

    /// Whether a branch had moved since it was read.
    pub(super) fn is_outrun(&self) -> bool {
        match self {
            WorkspaceError::Git { command, message } => {
                command == "update-ref" && message.contains("but expected")
            }
            WorkspaceError::Library { source, .. } => source.code() == git2::ErrorCode::Modified,
            _ => false,
        }
    }

    /// An error of the library, with git's locks told apart.
    pub(super) fn library(doing: &'static str, source: git2::Error) -> Self {
        if source.code() == git2::ErrorCode::Locked {
            return WorkspaceError::GitLocked { lock: source.message().to_owned() };
        }
        WorkspaceError::Library { doing, source }
    }

    /// An error of the operating system.
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> WorkspaceError {
        let path = path.into();
        move |source| WorkspaceError::Io { doing, path, source }
    }
}
