//! Walking a folder as a programmer sees it: without what `.gitignore` leaves out, git's own files, and flow's state.

use std::path::Path;

use flow_core::model::is_internal_dir;
use ignore::WalkBuilder;

/// A walk below `root`, in the order of names. Links are not followed, so nothing outside `root` is met.
pub(super) fn walk(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .follow_links(false)
        // Rules of a repository hold in a copy of it that has no `.git`; those of the person's home do not.
        .require_git(false)
        .git_global(false)
        .sort_by_file_name(|a, b| a.cmp(b))
        .filter_entry(|entry| entry.depth() == 0 || !is_internal_dir(entry.file_name()));
    builder
}
