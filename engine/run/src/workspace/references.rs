//! Branches, written so that nothing is lost beside whoever packs them.
//!
//! The git program writes where there is one: the library reads `packed-refs` before it locks it for the new content, and so it
//! drops what git packs in between.

use git2::{ErrorCode, Oid};

use super::WorkspaceError;
use super::git::{Git, GitDirs};

/// A reference of a repository that is to change.
#[derive(Clone, Copy)]
pub(super) struct Reference<'a> {
    /// The repository, opened just now.
    pub(super) repository: &'a git2::Repository,
    /// Where git works.
    pub(super) dirs: GitDirs<'a>,
    /// Its full name.
    pub(super) name: &'a str,
}

impl Reference<'_> {
    /// Lets it name another commit, provided that it names `from`; without one it must not exist yet.
    pub(super) fn set(self, git: &Git, from: Option<Oid>, to: Oid, why: &str) -> Result<(), WorkspaceError> {
        let Reference { repository, dirs, name } = self;
        if git.is_there() {
            // Nothing stands for what must not exist.
            let (to, from) = (to.to_string(), from.map(|from| from.to_string()).unwrap_or_default());
            return git.run(dirs, &["update-ref", "-m", why, name, &to, &from]).map(drop);
        }
        let set = match from {
            Some(from) => repository.reference_matching(name, to, true, from, why),
            None => repository.reference(name, to, false, why),
        };
        set.map(drop).map_err(|source| WorkspaceError::library("move the branch", source))
    }

    /// Deletes it, unless it is gone or names something else than `expected`.
    pub(super) fn delete(self, git: &Git, expected: Oid) -> Result<(), WorkspaceError> {
        let Reference { repository, dirs, name } = self;
        let failed = |source| WorkspaceError::library("delete the branch", source);
        let find = || match repository.find_reference(name) {
            Ok(found) => Ok(Some(found).filter(|found| found.target() == Some(expected))),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        };
        let Some(mut found) = find()? else { return Ok(()) };
        if !git.is_there() {
            return found.delete().map_err(failed);
        }
        // As a reference: deleting it as a branch would also rewrite the person's config.
        let args = ["update-ref", "--no-deref", "-d", name, &expected.to_string()];
        match git.run(dirs, &args) {
            Err(WorkspaceError::Git { .. }) if find()?.is_none() => Ok(()),
            deleted => deleted.map(drop),
        }
    }
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
