//! The work of a branch as a patch.

use std::io::Write;
use std::path::Path;

use git2::{DiffFormat, DiffOptions, Oid};

use super::WorkspaceError;

/// The difference of two commits: how many files, and the patch on disk where one is wanted. The patch is complete there
/// or not at all.
pub(super) fn write_difference(
    repository: &git2::Repository,
    base: Oid,
    tip: Oid,
    patch_to: Option<&Path>,
) -> Result<u32, WorkspaceError> {
    let failed = |source| WorkspaceError::library("compare with the start", source);
    let tree = |commit: Oid| repository.find_commit(commit)?.tree();
    let (old, new) = (tree(base).map_err(failed)?, tree(tip).map_err(failed)?);
    let mut options = DiffOptions::new();
    // Said here, because the person's config may say otherwise and `git apply` could not read that.
    options.old_prefix("a").new_prefix("b").show_binary(true).id_abbrev(40).context_lines(3);
    let diff = repository.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options)).map_err(failed)?;
    let files = u32::try_from(diff.deltas().len()).unwrap_or(u32::MAX);
    let Some(path) = patch_to else {
        return Ok(files);
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let io = |doing| move |source| WorkspaceError::Io { doing, path: path.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(io("create the folder of"))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io("write"))?;
    let mut written = Ok(());
    {
        let mut out = std::io::BufWriter::new(file.as_file_mut());
        let mut put = |bytes: &[u8]| {
            if written.is_ok() {
                written = out.write_all(bytes);
            }
            written.is_ok()
        };
        let printed = diff.print(DiffFormat::Patch, |_, _, line| match line.origin() {
            sign @ ('+' | '-' | ' ') => put(&[sign as u8]) && put(line.content()),
            _ => put(line.content()),
        });
        written = written.and_then(|()| out.flush());
        // A failed write also ends the printing, with an error that says less.
        written.map_err(io("write"))?;
        printed.map_err(failed)?;
    }
    file.as_file().sync_all().map_err(io("write"))?;
    file.persist(path).map_err(|error| io("write")(error.error))?;
    // The name must be as safe as the content, since the branch is deleted next.
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("write"))?;
    Ok(files)
}
