//! What a new tree lacks that the checkout has, so that nobody wonders why a task didn't see it.

use flow_core::text::visible;
use git2::{ObjectType, Oid, TreeWalkMode, TreeWalkResult};

use super::WorkspaceError;
use super::changes::{self, Untracked};
use super::git::{Git, GitDirs};
use super::repository::Repository;

/// The most names that are listed.
const MOST: usize = 20;

/// What a tree lacks.
#[derive(Debug, Default)]
pub(super) struct Lacked {
    /// At most 20 names and a count.
    pub(super) names: Vec<String>,
    /// How many uncommitted changes there are.
    pub(super) uncommitted: u32,
}

/// Uncommitted files of the checkout (unless they are part of the start) and submodules.
pub(super) fn lacked(
    git: &Git,
    repository: &Repository,
    start: Oid,
    uncommitted: Option<Untracked>,
) -> Lacked {
    let (mut names, mut count) = (Vec::new(), 0);
    if let (Some(checkout), Some(untracked)) = (&repository.checkout, uncommitted) {
        let dirs = GitDirs {
            git_dir: &repository.git_dir,
            common: &repository.common,
            tree: Some(checkout),
            index: None,
        };
        match changes::look(git, dirs, untracked) {
            Ok(changes) => {
                count = changes.files.len();
                names.extend(changes.files.iter().map(|path| visible(&path.to_string_lossy()).into_owned()));
            }
            // A note must not be the reason that a task fails, nor may it be silently empty.
            Err(error) => names.push(format!("uncommitted files (unknown: {})", error.one_line())),
        }
    }
    match submodules(repository, start) {
        Ok(paths) => names.extend(paths.iter().map(|path| format!("{} (submodule)", visible(path)))),
        Err(error) => names.push(format!("submodules (unknown: {})", error.one_line())),
    }
    let more = names.len().saturating_sub(MOST);
    if more > 0 {
        names.truncate(MOST);
        names.push(format!("and {more} more"));
    }
    Lacked { names, uncommitted: u32::try_from(count).unwrap_or(u32::MAX) }
}

/// The submodules of a commit.
fn submodules(repository: &Repository, start: Oid) -> Result<Vec<String>, WorkspaceError> {
    let repository = repository.open_shared()?;
    let list = || {
        let mut paths = Vec::new();
        let tree = repository.find_commit(start)?.tree()?;
        // Reading every folder of the commit is only worth it where there can be one.
        if tree.get_name(".gitmodules").is_none() {
            return Ok(paths);
        }
        tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            if entry.kind() == Some(ObjectType::Commit) {
                paths.push(format!("{}{}", folder, String::from_utf8_lossy(entry.name_bytes())));
            }
            TreeWalkResult::Ok
        })?;
        Ok(paths)
    };
    list().map_err(|source| WorkspaceError::library("list submodules", source))
}
