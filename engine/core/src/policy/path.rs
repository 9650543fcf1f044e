//! Paths as text, and the patterns of rules over them, read as gitignore reads them.

use std::path::{Component, Path, PathBuf};

use regex::Regex;

/// A path made absolute and free of `.` and `..`, without looking at any file. `None`: it can't be a path.
pub(super) fn resolve(base: &Path, path: &str) -> Option<PathBuf> {
    if path.contains('\0') {
        return None;
    }
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            // At the root there is nothing above.
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out.is_absolute().then_some(out)
}

/// The part of a path with file wildcards that is certain, or `None` where a wildcard could lead anywhere.
pub(super) fn before_wildcards(pattern: &str) -> Option<String> {
    let mut certain = Vec::new();
    let mut wild = false;
    for part in pattern.split('/') {
        wild |= part.contains(['*', '?', '[', '{']);
        if !wild {
            certain.push(part);
        } else if part.contains("..") {
            return None;
        }
    }
    match certain.as_slice() {
        // `/*`: the certain part is the root.
        [""] if pattern.starts_with('/') => Some("/".to_owned()),
        [] => Some(".".to_owned()),
        parts => Some(parts.join("/")),
    }
}

/// Where the patterns of rules begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roots<'a> {
    pub(super) tree: &'a Path,
    pub(super) home: Option<&'a Path>,
}

/// Whether a pattern speaks of a path. `//x` begins at the root of the disk, `~/x` at home, all others at the tree; one
/// without a slash inside matches at any depth; what matches a folder matches all that is in it. `None`: the pattern
/// can't be read here.
pub(super) fn pattern_matches(pattern: &str, path: &Path, roots: Roots<'_>) -> Option<bool> {
    let (base, rest) = if let Some(rest) = pattern.strip_prefix("//") {
        (Path::new("/"), format!("/{rest}"))
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        (roots.home?, format!("/{rest}"))
    } else {
        (roots.tree, pattern.strip_prefix("./").map_or_else(|| pattern.to_owned(), |rest| format!("/{rest}")))
    };
    let mut base = base.to_path_buf();
    let mut rest = rest.strip_suffix('/').unwrap_or(&rest);
    while let Some(above) = rest.strip_prefix("../").or_else(|| rest.strip_prefix("/../")) {
        base.pop();
        rest = above;
    }
    let anchored = rest.contains('/') || base != roots.tree;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    if rest.split('/').any(|part| part == "..") || rest.starts_with('!') {
        return None;
    }
    let regex = Regex::new(&to_regex(rest, anchored)).ok()?;
    let Ok(below) = path.strip_prefix(&base) else { return Some(false) };
    Some(below.to_str().is_some_and(|below| regex.is_match(below)))
}

fn to_regex(pattern: &str, anchored: bool) -> String {
    let mut out = String::from(if anchored { "(?s)^" } else { "(?s)^(?:.*/)?" });
    let mut parts = pattern.split('/').peekable();
    while let Some(part) = parts.next() {
        match (part, parts.peek()) {
            ("**", Some(_)) => out.push_str("(?:.*/)?"),
            ("**", None) => out.push_str(".*"),
            (part, next) => {
                segment(part, &mut out);
                if next.is_some() {
                    out.push('/');
                }
            }
        }
    }
    out.push_str("(?:/.*)?$");
    out
}

/// One step of a pattern: `*`, `?` and `[...]` never cross a slash; `\` takes the next character as it is.
fn segment(part: &str, out: &mut String) {
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => match rest.as_str().split_once(']') {
                Some((set, after)) if !set.is_empty() && set != "!" && set != "^" => {
                    class(set, out);
                    rest = after.chars();
                }
                _ => out.push_str("\\["),
            },
            '\\' => out.push_str(&regex::escape(rest.next().unwrap_or('\\').encode_utf8(&mut [0; 4]))),
            c => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
}

fn class(set: &str, out: &mut String) {
    let (negated, set) = match set.strip_prefix(['!', '^']) {
        Some(set) => (true, set),
        None => (false, set),
    };
    out.push_str(if negated { "[^/" } else { "[" });
    for c in set.chars() {
        if c != '-' && !c.is_alphanumeric() {
            out.push('\\');
        }
        out.push(c);
    }
    out.push(']');
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
