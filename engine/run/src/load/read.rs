//! Reading one file that a person wrote.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use flow_core::diagnostic::{Code, Diagnostic, SourceFile};
use flow_core::syntax::source_text;
use flow_core::text::{did_you_mean, format_size};

use super::plan::plans_in;

/// Reads a file of at most `limit` bytes. Messages call it `name`.
pub fn read_source(path: &Path, limit: usize, name: &str) -> Result<Arc<SourceFile>, Diagnostic> {
    let unreadable = |why: &str| finding(Code::Unreadable, format!("can't read `{name}`: {why}"));
    let opened = open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => unreadable("no such file").maybe_help(similar(path)),
        _ => unreadable(&why(&error)),
    })?;
    let found = opened.metadata().map_err(|error| unreadable(&why(&error)))?;
    if found.is_dir() {
        return Err(unreadable("it is a folder").maybe_help(inside(path, name)));
    }
    if !found.is_file() {
        return Err(unreadable("it is no regular file"));
    }
    if found.len() > limit as u64 {
        let (has, most) =
            (format_size(usize::try_from(found.len()).unwrap_or(usize::MAX)), format_size(limit));
        let message = format!("`{name}` has {has}, more than the {most} it may have");
        return Err(finding(Code::TooLarge, message));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    // One byte more than allowed, for a file that grows while it is read or does not know its size.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    opened.take(most).read_to_end(&mut bytes).map_err(|error| unreadable(&why(&error)))?;
    source_text(name, bytes, limit)
}

/// A finding about a file that has no text to point at.
pub(super) fn finding(code: Code, message: String) -> Diagnostic {
    Diagnostic { code, message, labels: Vec::new(), help: None }
}

fn open(path: &Path) -> std::io::Result<File> {
    // Opening a pipe must not wait for a writer, nor a terminal become ours.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// The system's words without its number.
pub(super) fn why(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// What to do about a missing file: name the one beside it that was probably meant.
fn similar(path: &Path) -> Option<String> {
    let given = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = files_in(folder, &["yaml", "yml"]);
    let near = did_you_mean(given, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{near}`?"))
}

/// What to do about a folder: name a plan in it.
fn inside(path: &Path, name: &str) -> Option<String> {
    let names = plans_in(path);
    let first = names.first()?;
    Some(format!("name a file in it, such as `{}/{first}`", name.trim_end_matches('/')))
}

/// The names of the files in a folder that end in one of some extensions, sorted. A folder that can't be read has none.
pub(super) fn files_in(folder: &Path, extensions: &[&str]) -> Vec<String> {
    let fits = |name: &str| {
        Path::new(name).extension().is_some_and(|extension| extensions.iter().any(|fits| extension == *fits))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| fits(name)).collect();
    names.sort();
    names
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
