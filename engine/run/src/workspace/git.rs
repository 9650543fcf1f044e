//! The git program, called so that nothing in a repository or a tree makes it run anything, but for the filters (such as
//! git-lfs) that the person configured.

use std::ffi::{OsStr, OsString};
use std::io::{Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::WorkspaceError;

/// The git program, where there is one. Without it libgit2 does what it can.
#[derive(Clone, Debug)]
pub(super) struct Git {
    program: Option<PathBuf>,
}

/// Where git works. Everything is named, so that git looks for nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct GitDirs<'a> {
    /// `.git`, or the tree's own folder in `.git/worktrees`.
    pub(super) git_dir: &'a Path,
    /// The repository's shared folder. Named, because the file `commondir` could be rewritten.
    pub(super) common: &'a Path,
    /// The tree; none for work on the repository itself.
    pub(super) tree: Option<&'a Path>,
    /// Another index than the tree's own.
    pub(super) index: Option<&'a Path>,
}

/// Settings that win over every configuration file. Each takes away a way to make git run a program or change its
/// meaning.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.splitIndex=false",
    "diff.external=",
    "protocol.ext.allow=never",
    "protocol.file.allow=user",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    // With relative paths git would write an extension into the repository's config.
    "worktree.useRelativePaths=false",
    // A mixed line ending must not be the reason that work can't be committed.
    "core.safecrlf=false",
];

/// Variables that say where the person's own configuration stands; every other `GIT_*` is cleared.
const KEPT_VARIABLES: &[&str] = &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

impl Git {
    /// The program on PATH.
    pub(super) fn find() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .map(|folder| folder.join("git"))
            .find(|candidate| candidate.is_absolute() && candidate.is_file());
        Git { program }
    }

    /// No program, whatever is on PATH.
    pub(super) fn none() -> Self {
        Git { program: None }
    }

    /// Where it is.
    #[cfg(test)]
    pub(super) fn path(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// A program of one's own.
    #[cfg(test)]
    pub(super) fn at(program: PathBuf) -> Self {
        Git { program: Some(program) }
    }

    /// Whether there is a program.
    pub(super) fn is_there(&self) -> bool {
        self.program.is_some()
    }

    /// Runs a subcommand and gives its standard output.
    pub(super) fn run<S: AsRef<OsStr>>(
        &self,
        dirs: GitDirs<'_>,
        args: &[S],
    ) -> Result<Vec<u8>, WorkspaceError> {
        self.run_with(dirs, args, Stdio::null())
    }

    /// Runs a subcommand that reads something.
    pub(super) fn feed<S: AsRef<OsStr>>(
        &self,
        dirs: GitDirs<'_>,
        args: &[S],
        input: &[u8],
    ) -> Result<Vec<u8>, WorkspaceError> {
        // A file, not a pipe: the program may write before it has read everything.
        let file = tempfile::tempfile().and_then(|mut file| {
            file.write_all(input)?;
            file.rewind()?;
            Ok(file)
        });
        let file = file.map_err(WorkspaceError::io("write a list for", "git"))?;
        self.run_with(dirs, args, Stdio::from(file))
    }

    fn run_with<S: AsRef<OsStr>>(
        &self,
        dirs: GitDirs<'_>,
        args: &[S],
        input: Stdio,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let name = || args.first().map(|arg| arg.as_ref().to_string_lossy().into_owned()).unwrap_or_default();
        let Some(program) = &self.program else {
            return Err(WorkspaceError::NoProgram { what: "this" });
        };
        let output = command(program, dirs)
            .args(args)
            .stdin(input)
            .output()
            .map_err(WorkspaceError::io("run", program))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if let Some(lock) = held_lock(&message) {
            return Err(WorkspaceError::GitLocked { lock });
        }
        let message = if message.is_empty() { output.status.to_string() } else { message };
        Err(WorkspaceError::Git { command: name(), message })
    }
}

fn command(program: &Path, dirs: GitDirs<'_>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") && !KEPT_VARIABLES.iter().any(|kept| name == *kept) {
            command.env_remove(name);
        }
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        // Looking at the person's checkout must not rewrite its index.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_COMMON_DIR", dirs.common)
        .current_dir(dirs.tree.unwrap_or(dirs.common))
        // A Ctrl-C on the terminal must not leave half a tree.
        .process_group(0);
    if let Some(index) = dirs.index {
        command.env("GIT_INDEX_FILE", index);
    }
    command.arg(option("--git-dir=", dirs.git_dir));
    if let Some(tree) = dirs.tree {
        command.arg(option("--work-tree=", tree));
    }
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// The lock that git found held, from its message.
fn held_lock(message: &str) -> Option<String> {
    message.lines().find_map(|line| {
        if line.contains("could not lock config file") {
            return Some("config.lock".to_owned());
        }
        let (_, rest) = line.split_once("Unable to create '")?;
        let (path, why) = rest.split_once('\'')?;
        (path.ends_with(".lock") && why.contains("File exists")).then(|| path.to_owned())
    })
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
