//! Trees whose engine is gone, as git's own worktree entries show them: no run folder is needed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::owner::TreeOwner;
use super::repository::Repository;

/// A tree that is still locked for a process that no longer lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// Its folder, which may be gone.
    pub path: PathBuf,
    /// The run that made it.
    pub run: String,
}

/// The trees of a project's repository that dead engines left locked; none where there is no repository.
pub fn abandoned(root: &Path) -> Vec<Abandoned> {
    let Ok(repository) = Repository::discover(root) else { return Vec::new() };
    let entries = std::fs::read_dir(repository.common.join("worktrees")).into_iter().flatten().flatten();
    let mut found: Vec<Abandoned> = entries.filter_map(|entry| of_entry(&entry.path())).collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn of_entry(admin: &Path) -> Option<Abandoned> {
    let TreeOwner { run, process } = TreeOwner::of_entry(admin)?;
    if process.is_alive() {
        return None;
    }
    let back = std::fs::read(admin.join("gitdir")).ok()?;
    let path = Path::new(OsStr::from_bytes(back.trim_ascii_end())).parent()?.to_owned();
    Some(Abandoned { path, run })
}

#[cfg(test)]
#[path = "abandoned_tests.rs"]
mod tests;
