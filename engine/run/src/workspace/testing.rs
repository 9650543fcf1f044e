//! A real repository in a temporary folder, and what tests ask of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flow_core::ids::{Address, Attempt, RunId};
use flow_core::model::{Merge, WorktreeOutcome};
use flow_core::values::CommitMessage;
use tempfile::TempDir;

use super::git::Git;
use super::trees::Way;
use super::{WorkspaceError, Worktree, Worktrees};

/// A checkout with one commit: `a.txt`, `sub/b.txt` and a `.gitignore` for `*.tmp`.
pub(crate) struct Checkout {
    pub(super) folder: TempDir,
    pub(crate) root: PathBuf,
}

impl Checkout {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&root).unwrap();
        let checkout = Checkout { folder, root };
        checkout.git(&["init", "-q", "-b", "main"]);
        checkout.git(&["config", "user.name", "Person"]);
        checkout.git(&["config", "user.email", "person@example.org"]);
        checkout.write("a.txt", "a\n");
        checkout.write("sub/b.txt", "b\n");
        checkout.write(".gitignore", "*.tmp\n");
        checkout.commit("first");
        checkout
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        write(&self.root, path, text);
    }

    pub(super) fn git(&self, args: &[&str]) -> String {
        git(&self.root, args)
    }

    pub(super) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("state")
    }

    pub(super) fn worktrees(&self) -> Worktrees {
        self.worktrees_of(&self.root, "r1")
    }

    pub(super) fn worktrees_of(&self, root: &Path, run: &str) -> Worktrees {
        Worktrees::open(root, Some(self.state()), &RunId::parse(run).unwrap()).unwrap()
    }

    /// The same without a git program.
    pub(super) fn worktrees_by_library(&self) -> Worktrees {
        Worktrees { git: Git::none(), ..self.worktrees() }
    }

    pub(super) fn branches(&self) -> String {
        self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"])
    }

    /// Everything of the person's that flow may not change, as bytes.
    pub(super) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(&self.root, &mut files);
        let ours = ["objects", "worktrees", "refs/heads/flow", "logs/refs/heads/flow"];
        files
            .retain(|(path, _)| !ours.iter().any(|ours| path.starts_with(self.root.join(".git").join(ours))));
        files.sort();
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), files);
        } else {
            files.push((entry.path(), std::fs::read(entry.path()).unwrap()));
        }
    }
}

pub(super) fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs git as a person would, without the machine's configuration.
pub(super) fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    let output = command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub(super) fn make(worktrees: &Worktrees, address: &str) -> Result<Worktree, WorkspaceError> {
    worktrees.make(&Address::from(address), Attempt::FIRST, None)
}

pub(super) fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap()
}

impl Worktrees {
    /// The end of a tree that nobody else looks at.
    pub(super) fn finish(
        &self,
        tree: &Worktree,
        completed: bool,
        merge: Merge,
        patch_to: Option<&Path>,
    ) -> Result<WorktreeOutcome, WorkspaceError> {
        let merge = if completed { merge } else { Merge::None };
        self.settle(tree, Way { merge, message: &CommitMessage::Nameless }, patch_to, false)
            .map(|(outcome, _)| outcome)
    }
}
