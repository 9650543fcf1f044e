//! From the path that a model wrote to the file that is meant, or a refusal.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use flow_core::model::{DenialReason, READ, is_flow_dir};

use super::call::Failure;
use super::context::{Seen, ToolContext};
use super::judge::{Named, judge};
use crate::sys::files::random_u32;

/// Finds what a path of a call means: absolute, without `.` and `..`, links followed. The file need not exist.
///
/// `..` is taken from the text, as the rules do that judged it: `link/../x` is `x`, wherever `link` leads.
pub(super) fn find(context: &ToolContext, named: &Named<'_>) -> Result<PathBuf, Failure> {
    let given = named.path;
    if given.is_empty() {
        return Err("the path is empty".into());
    }
    if given.contains('\0') {
        return Err("the path holds a NUL byte".into());
    }
    let lexical = normal(&context.dir.join(given));
    guard(context, named.tool, &lexical)?;
    let real = real(&lexical)?;
    guard(context, named.tool, &real)?;
    if real != lexical {
        judge(context, named, &real)?;
    }
    Ok(real)
}

/// The path without `.` and `..`, by its text alone.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// The path for people and models: relative to the folder of the agent where it lies in it.
pub(super) fn shown<'a>(context: &ToolContext, path: &'a Path) -> std::borrow::Cow<'a, str> {
    match path.strip_prefix(&context.dir) {
        Ok(inside) if !inside.as_os_str().is_empty() => inside.to_string_lossy(),
        Ok(_) => ".".into(),
        Err(_) => path.to_string_lossy(),
    }
}

/// Refuses what no rule can allow: flow's own state, but for what the agent was told to read of it, and what processes keep
/// to themselves.
fn guard(context: &ToolContext, tool: &str, path: &Path) -> Result<(), Failure> {
    let closed = |text| Failure::refused(DenialReason::Rule, text);
    let is_opened = tool == READ && context.opened.iter().any(|opened| opened == path);
    if is_own_state(path) && !is_opened {
        return Err(closed("`.flow` holds the state of runs and is closed to tools"));
    }
    let mut parts = path.components().skip(1);
    if parts.next().is_some_and(|part| part.as_os_str() == "proc") {
        let of_process = parts.next().is_some_and(|part| {
            let name = part.as_os_str().to_string_lossy();
            name.ends_with("self") || name.bytes().all(|byte| byte.is_ascii_digit())
        });
        if of_process {
            return Err(closed("the files of a process under `/proc` are closed to tools"));
        }
    }
    Ok(())
}

/// Whether a path lies in a state folder of flow.
fn is_own_state(path: &Path) -> bool {
    path.components().any(|part| is_flow_dir(part.as_os_str()))
}

/// Follows the links of the part that exists.
fn real(path: &Path) -> Result<PathBuf, Failure> {
    let mut known = path;
    let mut rest = Vec::new();
    loop {
        match fs::canonicalize(known) {
            Ok(mut found) => {
                found.extend(rest.iter().rev());
                return Ok(found);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A link to nowhere would be followed by a write, to a place that nobody has judged.
                if known.symlink_metadata().is_ok() {
                    return Err(Failure::of(format!("`{}` is a link that leads nowhere", known.display())));
                }
                let (Some(name), Some(parent)) = (known.file_name(), known.parent()) else {
                    return Err(Failure::io("find", path, &error));
                };
                rest.push(name);
                known = parent;
            }
            Err(error) => return Err(Failure::io("find", path, &error)),
        }
    }
}

/// Opens a regular file. The last step is never through a link, since links were followed when it was judged.
pub(super) fn open(path: &Path, shown: &str) -> Result<(fs::File, fs::Metadata), Failure> {
    // A pipe without a writer would block the open itself, so the kind is looked at first.
    let kind = fs::symlink_metadata(path).map_err(|error| missing(path, shown, &error))?.file_type();
    if kind.is_dir() {
        return Err(Failure::of(format!(
            "`{shown}` is a folder; use Glob, or `ls` in Bash, to see what is in it"
        )));
    }
    if !kind.is_file() {
        return Err(Failure::of(format!("`{shown}` is no regular file")));
    }
    let flags = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| missing(path, shown, &error))?;
    let metadata = file.metadata().map_err(|error| Failure::io("read", path, &error))?;
    Ok((file, metadata))
}

fn missing(path: &Path, shown: &str, error: &std::io::Error) -> Failure {
    if error.kind() != ErrorKind::NotFound {
        return Failure::of(format!("can't read `{shown}`: {error}"));
    }
    let siblings: Vec<String> = path
        .parent()
        .and_then(|parent| fs::read_dir(parent).ok())
        .into_iter()
        .flatten()
        .flatten()
        .take(1_000)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let near = flow_core::text::did_you_mean(&name, siblings.iter().map(String::as_str));
    let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Failure::of(format!("`{shown}` does not exist{help}"))
}

/// Sees to it that the agent knows a file that it is about to change.
pub(super) fn must_know(
    context: &ToolContext,
    path: &Path,
    shown: &str,
    metadata: &fs::Metadata,
) -> Result<(), Failure> {
    match context.reads.seen(path, metadata) {
        Seen::Fresh => Ok(()),
        Seen::Never => Err(Failure::of(format!("`{shown}` was not read yet; Read it first, then change it"))),
        Seen::Stale => Err(Failure::of(format!("`{shown}` was changed since it was read; Read it again"))),
    }
}

/// Puts a whole new content in place of a file's, or makes the file: readers see the old one or the new one.
pub(super) fn replace(
    path: &Path,
    content: &[u8],
    old: Option<&fs::Metadata>,
) -> Result<fs::Metadata, Failure> {
    let fail = |error: std::io::Error| Failure::io("write", path, &error);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let unique = random_u32().map_err(fail)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(40).collect();
    let fresh = folder.join(format!(".{name}.{unique:08x}.tmp"));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&fresh)?;
        file.write_all(content)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        fs::rename(&fresh, path)?;
        file.metadata()
    })();
    written.map_err(|error| {
        // Nothing else knows of the half-written file; if even this fails, the first error is the one to tell.
        let _ = fs::remove_file(&fresh);
        fail(error)
    })
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
