//! The folder in which the private trees of one project stand, outside of it.

use std::fs::{DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use flow_core::text::file_name;

use super::WorkspaceError;
use super::git::Git;
use super::lock::Patience;
use super::merge_home::{self, LANDINGS, merge_lock};
use super::repository::Repository;

/// Makes the folder for the trees of a project. `dir`, relative to the root, replaces `$XDG_STATE_HOME/flow/worktrees`.
pub(super) fn home(
    repository: Option<&Repository>,
    root: &Path,
    dir: Option<PathBuf>,
) -> Result<PathBuf, WorkspaceError> {
    let home = place(repository, root, dir)?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&home);
    made.map_err(WorkspaceError::io("create the folder", &home))?;
    Ok(home)
}

/// Where that folder is, or would be.
pub(super) fn place(
    repository: Option<&Repository>,
    root: &Path,
    dir: Option<PathBuf>,
) -> Result<PathBuf, WorkspaceError> {
    let dir = match dir {
        Some(dir) => root.join(dir),
        None => default_dir().ok_or(WorkspaceError::NoHome)?,
    };
    let dir = settle(&dir);
    let common = repository.map(|repository| &*repository.common);
    let main = common.filter(|common| common.ends_with(".git")).and_then(Path::parent);
    let checkout = repository.map_or(Some(root), |repository| repository.checkout.as_deref());
    if [checkout, main, common].into_iter().flatten().any(|inside| dir.starts_with(inside)) {
        return Err(WorkspaceError::InsideCheckout { dir });
    }
    Ok(dir.join(repository.map_or_else(|| key_of(root), Repository::key)))
}

/// A name for people and a hash that no other folder has.
fn key_of(root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let hash = blake3::hash(root.as_os_str().as_bytes()).to_hex();
    format!("{}-{}", file_name(&name), &hash[..12])
}

/// Undoes merges of a project that a dead engine left half done; names them.
pub(super) fn recover(root: &Path, dir: Option<PathBuf>) -> Result<Vec<String>, WorkspaceError> {
    let root = root.canonicalize().map_err(WorkspaceError::io("find", root))?;
    let repository = match Repository::discover(&root) {
        Ok(repository) => Some(repository),
        Err(WorkspaceError::NoRepository { .. }) => None,
        Err(error) => return Err(error),
    };
    let home = place(repository.as_ref(), &root, dir)?;
    recover_in(&Git::find(), repository.as_ref(), &home, Patience::default())
}

/// Undoes merges that a dead engine left half done.
pub(super) fn recover_in(
    git: &Git,
    repository: Option<&Repository>,
    home: &Path,
    patience: Patience,
) -> Result<Vec<String>, WorkspaceError> {
    let nothing = match std::fs::read_dir(home.join(LANDINGS)) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => true,
    };
    if nothing {
        return Ok(Vec::new());
    }
    // Whoever holds the lock may be in the middle of one and well alive.
    let _lock = merge_lock(home, patience.flow)?;
    merge_home::recover(git, repository, home)
}

/// A folder in a tree, or the tree itself; joined with nothing, a path would end with a slash.
pub(super) fn inside(tree: &Path, folder: &Path) -> PathBuf {
    if folder.as_os_str().is_empty() { tree.to_owned() } else { tree.join(folder) }
}

/// Removes a folder with all that is in it; one that is not there is no error.
pub(super) fn remove_folder(path: &Path) -> Result<(), WorkspaceError> {
    let removed = match std::fs::remove_dir_all(path) {
        // Some build tools make what they fetch read-only, folders included.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            make_writable(path);
            std::fs::remove_dir_all(path)
        }
        removed => removed,
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(WorkspaceError::io("remove", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Lets the owner change every folder below. What fails shows when the folder is removed.
fn make_writable(folder: &Path) {
    let _ = std::fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

fn default_dir() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("flow/worktrees"))
}

/// The path without symbolic links, as far as it exists.
fn settle(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(whole), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return whole.join(rest);
        }
    }
    path.to_owned()
}
