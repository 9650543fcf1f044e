//! The work in a copy as a patch.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Oid, Repository, Signature};

use super::WorkspaceError;
use super::baseline::Difference;
use super::patch::write_difference;
use super::version::{Kind, Version};

/// Writes what differs between two folders. A repository of its own, in a temporary folder, makes the patch the same as
/// that of a worktree.
pub(super) fn write_patch(
    old: &Path,
    new: &Path,
    files: &[Difference],
    patch_to: &Path,
) -> Result<(), WorkspaceError> {
    let scratch = tempfile::TempDir::new().map_err(WorkspaceError::io("create a folder for", patch_to))?;
    let failed = |source| WorkspaceError::library("compare with the start", source);
    let repository = Repository::init_bare(scratch.path()).map_err(failed)?;
    let base = commit(&repository, old, files.iter().map(|file| (&*file.path, file.from.as_ref())))?;
    let tip = commit(&repository, new, files.iter().map(|file| (&*file.path, file.to.as_ref())))?;
    write_difference(&repository, base, tip, Some(patch_to)).map(drop)
}

fn commit<'a>(
    repository: &Repository,
    folder: &Path,
    files: impl Iterator<Item = (&'a Path, Option<&'a Version>)>,
) -> Result<Oid, WorkspaceError> {
    let failed = |source| WorkspaceError::library("compare with the start", source);
    let mut builder = TreeUpdateBuilder::new();
    for (path, version) in files {
        let at = folder.join(path);
        let mode = match version.map(|version| version.kind) {
            Some(Kind::File) => FileMode::Blob,
            Some(Kind::Program) => FileMode::BlobExecutable,
            Some(Kind::Link) => FileMode::Link,
            Some(Kind::Folder | Kind::Other) | None => continue,
        };
        let content = match mode {
            FileMode::Link => at.read_link().map(|target| target.as_os_str().as_bytes().to_vec()),
            _ => std::fs::read(&at),
        };
        let content = content.map_err(WorkspaceError::io("read", at))?;
        let blob = repository.blob(&content).map_err(failed)?;
        builder.upsert(path, blob, mode);
    }
    let mut write = || {
        let empty = repository.find_tree(repository.treebuilder(None)?.write()?)?;
        let tree = repository.find_tree(builder.create_updated(repository, &empty)?)?;
        let author = Signature::now("flow", "flow@localhost")?;
        repository.commit(None, &author, &author, "", &tree, &[])
    };
    write().map_err(failed)
}
