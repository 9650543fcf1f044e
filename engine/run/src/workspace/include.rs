//! Files that git ignores and a private tree gets all the same: `include`, and `.worktreeinclude` in the checkout.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use flow_core::model::is_internal;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::WorkspaceError;
use super::changes::ignored;
use super::copy_file::copy_file;
use super::git::Git;
use super::repository::Repository;

/// The person's own list.
const LIST: &str = ".worktreeinclude";

/// Copies what the patterns name from the checkout into a tree. What the tree has already stays as it is. Gives all that
/// they name.
pub(super) fn include(
    git: &Git,
    repository: &Repository,
    patterns: &[String],
    tree: &Path,
) -> Result<HashSet<PathBuf>, WorkspaceError> {
    let mut named = HashSet::new();
    let Some(checkout) = repository.checkout.as_deref() else { return Ok(named) };
    let list = checkout.join(LIST);
    let mut rules = Vec::new();
    if list.is_file() {
        let mut builder = GitignoreBuilder::new(checkout);
        if let Some(source) = builder.add(&list) {
            return Err(WorkspaceError::Include { pattern: LIST.to_owned(), source });
        }
        rules.push((PathBuf::new(), built(&builder, LIST)?));
    }
    if !patterns.is_empty() {
        // As all paths of a manifest, they are relative to the project.
        let mut builder = GitignoreBuilder::new(&repository.root);
        for pattern in patterns {
            let added = builder.add_line(None, pattern).map(drop);
            added.map_err(|source| WorkspaceError::Include { pattern: pattern.clone(), source })?;
        }
        rules.push((repository.folder().to_owned(), built(&builder, "include")?));
    }
    if rules.is_empty() {
        return Ok(named);
    }
    for path in ignored(git, repository, checkout)?.into_iter().filter(|path| !is_internal(path)) {
        let wanted = rules.iter().any(|(below, rules)| {
            let inside = path.strip_prefix(below);
            inside.is_ok_and(|path| rules.matched_path_or_any_parents(path, false).is_ignore())
        });
        let (from, to) = (checkout.join(&path), tree.join(&path));
        let plain = from.symlink_metadata().is_ok_and(|found| found.is_file() || found.is_symlink());
        if !wanted || !plain {
            continue;
        }
        if to.symlink_metadata().is_ok() {
            named.insert(path);
            continue;
        }
        let parent = to.parent().unwrap_or(tree);
        std::fs::create_dir_all(parent).map_err(WorkspaceError::io("create the folder", parent))?;
        // A commit may have a link on the way, and it may lead anywhere.
        let inside = parent.canonicalize().ok().zip(tree.canonicalize().ok());
        if !inside.is_some_and(|(parent, tree)| parent.starts_with(tree)) {
            return Err(WorkspaceError::Outside { dir: parent.to_owned() });
        }
        copy_file(&from, &to).map_err(WorkspaceError::io("copy", from))?;
        named.insert(path);
    }
    Ok(named)
}

fn built(builder: &GitignoreBuilder, name: &str) -> Result<Gitignore, WorkspaceError> {
    builder.build().map_err(|source| WorkspaceError::Include { pattern: name.to_owned(), source })
}

#[cfg(test)]
#[path = "include_tests.rs"]
mod tests;
