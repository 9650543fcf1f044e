//! `artifacts`: files of a task that its run keeps.
//!
//! What a task left behind is not to be trusted: every part of a path is opened on its own without following links, only
//! regular files are read, and a file that has names outside of the task's folder is not kept.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use flow_core::model::{Artifact, is_internal};
use flow_core::text::visible;
use globset::GlobBuilder;
use rustix::fs::{Mode, OFlags, openat};

use crate::store::Hashing;
use crate::sys::files::{create_exclusively, make_private_dirs};

/// The most that all artifacts of a task may hold together.
const MOST_BYTES: u64 = 1 << 30;

/// The most files.
const MOST_FILES: usize = 10_000;

/// Names that some systems take for devices.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// What came of the declared patterns.
pub(super) struct Collected {
    /// What is kept; `file` is still to be filled in.
    pub(super) kept: Vec<Artifact>,
    /// What is missing or refused, for people.
    pub(super) faults: Vec<String>,
}

/// Copies what the patterns name below `dir` into a folder of its own. What an earlier attempt left there goes.
pub(super) fn collect(dir: &Path, patterns: &[String], into: &Path) -> io::Result<Collected> {
    match std::fs::remove_dir_all(into) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut keeper = Keeper {
        dir,
        root: File::open(dir)?.into(),
        into,
        room: MOST_BYTES,
        links: None,
        collected: Collected { kept: Vec::new(), faults: Vec::new() },
    };
    let mut named = BTreeSet::new();
    for pattern in patterns {
        let found = match find(dir, pattern) {
            Ok(found) => found,
            Err(why) => {
                keeper.fault(pattern, &why);
                continue;
            }
        };
        for path in found {
            if named.len() >= MOST_FILES {
                keeper.fault(
                    pattern,
                    &format!("is not kept whole: there are more than {MOST_FILES} artifacts"),
                );
                break;
            }
            if named.insert(path.clone()) {
                keeper.keep(&path)?;
            }
        }
    }
    Ok(keeper.collected)
}

/// The paths that a pattern names, sorted. One without wildcards names itself, there or not.
fn find(dir: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let path: PathBuf = Path::new(pattern).components().filter(|part| *part != Component::CurDir).collect();
    if !Path::new(pattern).components().all(inside) || path.as_os_str().is_empty() || pattern.contains('\0') {
        return Err("is not kept: it leads out of the task's folder".to_owned());
    }
    let wild = |part: Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    if !path.components().any(wild) {
        return Ok(vec![path]);
    }
    let glob = GlobBuilder::new(&path.to_string_lossy()).literal_separator(true).build();
    let matcher = glob.map_err(|error| format!("is no pattern: {}", error.kind()))?.compile_matcher();
    let base: PathBuf = path.components().take_while(|part| !wild(*part)).collect();
    let mut walk = ignore::WalkBuilder::new(dir.join(base));
    walk.standard_filters(false).follow_links(false).sort_by_file_path(Path::cmp);
    let top = dir.to_owned();
    walk.filter_entry(move |entry| !entry.path().strip_prefix(&top).is_ok_and(is_internal));
    let mut found = Vec::new();
    for entry in walk.build().filter_map(Result::ok) {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let Ok(path) = entry.path().strip_prefix(dir) else { continue };
        if is_file && matcher.is_match(path) {
            found.push(path.to_owned());
        }
    }
    if found.is_empty() { Err("is missing: no file matches".to_owned()) } else { Ok(found) }
}

struct Keeper<'a> {
    dir: &'a Path,
    root: OwnedFd,
    into: &'a Path,
    room: u64,
    /// How many names each file has below `dir`; counted when the first file with more than one turns up.
    links: Option<HashMap<(u64, u64), u64>>,
    collected: Collected,
}

impl Keeper<'_> {
    fn fault(&mut self, path: &str, why: &str) {
        self.collected.faults.push(format!("artifact `{}` {why}", visible(path)));
    }

    /// Keeps one file, or says why not. An error is about the run folder.
    fn keep(&mut self, path: &Path) -> io::Result<()> {
        let shown = path.to_string_lossy().into_owned();
        let (file, size) = match self.open(path) {
            Ok(opened) => opened,
            Err(why) => {
                self.fault(&shown, &why);
                return Ok(());
            }
        };
        let target = self.into.join(path);
        make_private_dirs(target.parent().unwrap_or(self.into))?;
        let mut kept = create_exclusively(&target)?;
        let mut from = Hashing::new(file.take(size));
        let copied = io::copy(&mut from, &mut kept)?;
        self.room -= copied;
        let hash = Some(from.digest());
        self.collected.kept.push(Artifact { path: shown, file: String::new(), bytes: copied, hash });
        Ok(())
    }

    fn open(&mut self, path: &Path) -> Result<(File, u64), String> {
        if let Some(why) = bad_name(path) {
            return Err(format!("is not kept: {why}"));
        }
        let missing = |error: rustix::io::Errno| match error {
            rustix::io::Errno::NOENT => "is missing".to_owned(),
            rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR => {
                "is not kept: a link or a file stands in its path".to_owned()
            }
            other => format!("can't be read: {}", io::Error::from(other)),
        };
        let mut folder: Option<OwnedFd> = None;
        let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
        let Some((name, folders)) = parts.split_last() else { return Err("is missing".to_owned()) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        for part in folders {
            let within = folder.as_ref().unwrap_or(&self.root);
            folder = Some(openat(within, *part, flags | OFlags::DIRECTORY, Mode::empty()).map_err(missing)?);
        }
        let within = folder.as_ref().unwrap_or(&self.root);
        // Looked at first: opening a device may do something.
        let found =
            rustix::fs::statat(within, *name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).map_err(missing)?;
        let is_file =
            |mode: u32| rustix::fs::FileType::from_raw_mode(mode) == rustix::fs::FileType::RegularFile;
        if rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::Directory {
            return Err(format!("is not kept: it is a folder; write `{}/**`", path.display()));
        }
        if !is_file(found.st_mode) {
            return Err("is not kept: it is no regular file".to_owned());
        }
        let file: File =
            openat(within, *name, flags | OFlags::NONBLOCK, Mode::empty()).map_err(missing)?.into();
        let meta = file.metadata().map_err(|error| format!("can't be read: {error}"))?;
        if !meta.is_file() {
            return Err("is not kept: it is no regular file".to_owned());
        }
        if meta.len() > self.room {
            return Err("is not kept: the artifacts of a task may hold 1 GiB together".to_owned());
        }
        if meta.nlink() > 1 && self.names_below(meta.dev(), meta.ino()) < meta.nlink() {
            return Err(
                "is not kept: it has another name outside of the task's folder (a hard link)".to_owned()
            );
        }
        Ok((file, meta.len()))
    }

    fn names_below(&mut self, device: u64, inode: u64) -> u64 {
        let links = self.links.get_or_insert_with(|| {
            let mut links = HashMap::new();
            let mut walk = ignore::WalkBuilder::new(self.dir);
            walk.standard_filters(false).follow_links(false);
            let metas = walk.build().filter_map(Result::ok).filter_map(|entry| entry.metadata().ok());
            for meta in metas.filter(|meta| meta.is_file() && meta.nlink() > 1) {
                *links.entry((meta.dev(), meta.ino())).or_insert(0) += 1;
            }
            links
        });
        links.get(&(device, inode)).copied().unwrap_or(0)
    }
}

/// Why a path can't be kept under its own name.
fn bad_name(path: &Path) -> Option<&'static str> {
    let Some(text) = path.to_str() else { return Some("its name is not UTF-8") };
    if text.chars().any(|c| c.is_control() || c == '\\') {
        return Some("its name has control characters or a backslash");
    }
    let device = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part).trim_end().to_lowercase();
        let numbered = |word: &str| {
            stem.strip_prefix(word)
                .is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
        };
        DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
    };
    text.split('/').any(device).then_some("some systems take its name for a device")
}

#[cfg(test)]
#[path = "artifacts_tests.rs"]
mod tests;
