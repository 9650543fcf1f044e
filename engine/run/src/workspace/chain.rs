//! The chain from a tree to its repository: `.git` file -> folder in `.git/worktrees` -> `commondir`, and back.
//!
//! Whoever can write one of these files decides which configuration git reads, and so what git runs. That's why the chain
//! is looked at when a tree is made and compared before every call of git in it.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::WorkspaceError;

/// The chain as it was found.
#[derive(Debug)]
pub(super) struct Chain {
    tree: PathBuf,
    admin: PathBuf,
    admin_id: FileId,
    links: [Link; 3],
}

type FileId = (u64, u64);

#[derive(Debug, PartialEq)]
struct Link {
    path: PathBuf,
    id: FileId,
    content: Vec<u8>,
}

impl Chain {
    /// Follows the chain of a tree; refuses one that doesn't lead to the repository and back.
    pub(super) fn read(tree: &Path, common: &Path) -> Result<Self, WorkspaceError> {
        match tree.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(tampered(tree, "it is no folder")),
            Err(_) => return Err(WorkspaceError::Lost { path: tree.to_owned() }),
        }
        let dot_git = Link::read(tree, tree.join(".git"))?;
        let Some(admin) = dot_git.content.strip_prefix(b"gitdir: ") else {
            return Err(tampered(tree, "`.git` names no folder"));
        };
        let admin = tree.join(path_of(admin));
        let parent = admin.parent().and_then(|parent| parent.canonicalize().ok());
        if parent.is_none() || parent != common.join("worktrees").canonicalize().ok() {
            return Err(tampered(tree, "`.git` leads elsewhere than to the repository's `worktrees`"));
        }
        let admin_id = match admin.symlink_metadata() {
            Ok(found) if found.is_dir() => id(&found),
            Ok(_) | Err(_) => return Err(tampered(tree, "its folder in `.git/worktrees` is missing")),
        };
        let back = Link::read(tree, admin.join("gitdir"))?;
        let back_to = admin.join(path_of(&back.content));
        if back_to.parent().and_then(|parent| parent.canonicalize().ok()) != tree.canonicalize().ok() {
            return Err(tampered(tree, "`gitdir` does not point back"));
        }
        let commondir = Link::read(tree, admin.join("commondir"))?;
        if admin.join(path_of(&commondir.content)).canonicalize().ok().as_deref() != Some(common) {
            return Err(tampered(tree, "`commondir` leads to another repository"));
        }
        let links = [dot_git, back, commondir];
        Ok(Chain { tree: tree.to_owned(), admin, admin_id, links })
    }

    /// The tree's own folder in `.git/worktrees`.
    pub(super) fn admin(&self) -> &Path {
        &self.admin
    }

    /// Refuses when anything is no longer what it was.
    pub(super) fn check(&self) -> Result<(), WorkspaceError> {
        if !self.tree.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return Err(WorkspaceError::Lost { path: self.tree.clone() });
        }
        match self.admin.symlink_metadata() {
            Ok(found) if id(&found) == self.admin_id => {}
            Ok(_) | Err(_) => return Err(tampered(&self.tree, "its folder in `.git/worktrees` is another")),
        }
        for link in &self.links {
            if Link::read(&self.tree, link.path.clone())? != *link {
                return Err(tampered(
                    &self.tree,
                    &format!("`{}` is no longer the same", name_of(&link.path)),
                ));
            }
        }
        Ok(())
    }
}

impl Link {
    fn read(tree: &Path, path: PathBuf) -> Result<Link, WorkspaceError> {
        let missing = |_| tampered(tree, &format!("`{}` is missing", name_of(&path)));
        let found = path.symlink_metadata().map_err(missing)?;
        // A path and a newline; a symbolic link, a pipe or something huge is nothing that git wrote.
        if !found.is_file() || found.len() > 16 * 1024 {
            return Err(tampered(tree, &format!("`{}` is no plain file", name_of(&path))));
        }
        let content = std::fs::read(&path).map_err(missing)?;
        Ok(Link { id: id(&found), content, path })
    }
}

/// The name of a file of the chain: the folder of the tree is named already, and the other is named after it.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn id(found: &Metadata) -> FileId {
    (found.dev(), found.ino())
}

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes.trim_ascii_end()))
}

fn tampered(tree: &Path, what: &str) -> WorkspaceError {
    WorkspaceError::Tampered { path: tree.to_owned(), what: what.to_owned() }
}
