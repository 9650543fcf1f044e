//! The outside, as the compiler asks for it, and what a run knows of this process.

use std::cell::RefCell;
use std::path::Path;

use flow_core::compile::{GitPlace, Place};
use flow_core::syntax::PLAN_LIMIT;
use flow_core::text::format_size;
use indexmap::IndexMap;

use crate::workspace;

/// Whether this is a CI job, as CI systems say it.
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| !matches!(ci.as_str(), "" | "0" | "false"))
}

/// Whether a program is found on the `PATH`.
pub fn has_program(name: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

/// The outside of a plan. What it read once it reads the same again: what is checked is what runs.
pub(super) struct Outside<'a> {
    pub(super) plan_dir: &'a Path,
    root: &'a Path,
    files: RefCell<IndexMap<String, String>>,
}

impl<'a> Outside<'a> {
    /// The outside of a plan in `plan_dir`; `files`: what was read of it before.
    pub(super) fn new(plan_dir: &'a Path, root: &'a Path, files: IndexMap<String, String>) -> Self {
        Outside { plan_dir, root, files: RefCell::new(files) }
    }

    /// The files that were asked for, by the path as written.
    pub(super) fn into_files(self) -> IndexMap<String, String> {
        self.files.into_inner()
    }
}

impl Place for Outside<'_> {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &str) -> Result<String, String> {
        if let Some(text) = self.files.borrow().get(path) {
            return Ok(text.clone());
        }
        let found = self.plan_dir.join(path);
        let meta = found.metadata().map_err(|error| error.to_string())?;
        if !meta.is_file() {
            return Err("it is no regular file".to_owned());
        }
        if meta.len() > PLAN_LIMIT as u64 {
            return Err(format!("it has more than {}", format_size(PLAN_LIMIT)));
        }
        let text = std::fs::read_to_string(found).map_err(|error| error.to_string())?;
        self.files.borrow_mut().insert(path.to_owned(), text.clone());
        Ok(text)
    }

    fn git(&self) -> GitPlace {
        workspace::git_place(self.root)
    }

    fn depth(&self) -> usize {
        workspace::depth(self.root)
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    fn has_program(&self, name: &str) -> bool {
        has_program(name)
    }
}
