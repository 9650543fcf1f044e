//! The project: which folder is its root, and how its files are called in messages.

use std::path::{Component, Path, PathBuf};

/// The project that the person stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder that tasks work in and that state and definitions belong to.
    pub root: PathBuf,
    /// The top of the checkout that the root lies in; the root itself where there is none.
    pub top: PathBuf,
    /// Where runs are kept.
    pub state_dir: PathBuf,
    /// The current folder, from which paths are given and shown.
    pub here: PathBuf,
}

impl Project {
    /// Finds the root from the current folder: the nearest `flow.toml` at or above it, else the top of the git checkout,
    /// else the folder itself. `state_dir`, relative to the current folder, replaces `.flow` at the root.
    pub fn locate(start: &Path, state_dir: Option<PathBuf>) -> Self {
        let here = start.canonicalize().or_else(|_| std::path::absolute(start));
        let here = here.unwrap_or_else(|_| start.to_owned());
        let nearest = |found: fn(&Path) -> bool| here.ancestors().find(|folder| found(folder));
        let root = nearest(|folder| folder.join("flow.toml").is_file())
            // A file in a linked worktree or a submodule, a folder else.
            .or_else(|| nearest(|folder| folder.join(".git").exists()))
            .unwrap_or(&here)
            .to_owned();
        let top = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&root).to_owned();
        let state_dir = state_dir.map_or_else(|| root.join(".flow"), |dir| here.join(dir));
        Project { root, top, state_dir, here }
    }

    /// A path as a person in the current folder would write it: relative inside the checkout, else whole.
    pub fn show(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.here) {
            return shown(inside);
        }
        if !path.starts_with(&self.top) || !self.here.starts_with(&self.top) {
            return shown(path);
        }
        let same = path.components().zip(self.here.components()).take_while(|(a, b)| a == b).count();
        let up = self.here.components().skip(same).map(|_| Component::ParentDir);
        shown(&up.chain(path.components().skip(same)).collect::<PathBuf>())
    }

    /// The folders from the root down to the plan's, which may bring settings. A plan from elsewhere brings those of its
    /// own folder.
    pub(super) fn levels(&self, plan_dir: &Path) -> Vec<PathBuf> {
        let Ok(inside) = plan_dir.strip_prefix(&self.root) else {
            return vec![self.root.clone(), plan_dir.to_owned()];
        };
        let mut levels = vec![self.root.clone()];
        for name in inside.components() {
            let next = levels.last().map(|level| level.join(name));
            levels.extend(next);
        }
        levels
    }

    /// The folders that may bring agents: those levels, and before them what lies above the root in the same checkout. A
    /// part of a repository that has settings of its own keeps the agents of the whole.
    pub(super) fn agent_levels(&self, plan_dir: &Path) -> Vec<PathBuf> {
        let above = self.root.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.top));
        let mut levels: Vec<PathBuf> = above.map(Path::to_owned).collect();
        levels.reverse();
        levels.extend(self.levels(plan_dir));
        levels
    }
}

fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
