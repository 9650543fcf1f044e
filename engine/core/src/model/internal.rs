//! The folders of a tree that hold no task's work: git's own, and flow's.

use std::ffi::OsStr;
use std::path::Path;

/// The folder of a repository, or the file that leads to it.
pub const GIT_DIR: &str = ".git";

/// The folder of flow in a project: its agents, and the state of its runs.
pub const FLOW_DIR: &str = ".flow";

/// Whether a name is that of git's folder. In any case, since there are file systems that don't tell them apart.
pub fn is_git_dir(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(GIT_DIR)
}

/// Whether a name is that of flow's folder.
pub fn is_flow_dir(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(FLOW_DIR)
}

/// Whether a name is that of a folder that holds no task's work.
pub fn is_internal_dir(name: &OsStr) -> bool {
    is_git_dir(name) || is_flow_dir(name)
}

/// Whether a path is, or leads through, a folder that holds no task's work.
pub fn is_internal(path: &Path) -> bool {
    path.components().any(|part| is_internal_dir(part.as_os_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_internal_by_any_of_its_parts_and_by_whole_names() {
        for path in [".git", "a/.git/config", "/p/.flow/runs", ".GIT/hooks/x", "a/b/.Flow"] {
            assert!(is_internal(Path::new(path)), "{path}");
        }
        for path in ["git", ".gitignore", "a/.github/x", ".flows", "x.flow", ""] {
            assert!(!is_internal(Path::new(path)), "{path}");
        }
    }
}
