//! Names of files: those that any address can have, for a git branch too, and the parts of those that are there.

/// Encodes an address so that it is one path level and one valid git ref component, and no two addresses share it:
/// every byte outside `[A-Za-z0-9_-]` becomes `.XX` (upper-case hex); past 100 bytes it is cut before an escape and
/// `.` + 16 hex digits of the address's BLAKE3 hash follow.
pub fn file_name(address: &str) -> String {
    use std::fmt::Write;

    const MOST: usize = 100;
    let mut out = String::with_capacity(address.len());
    for byte in address.bytes() {
        let before = out.len();
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            out.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
            let _ = write!(out, ".{byte:02X}");
        }
        if out.len() > MOST {
            out.truncate(before);
            let hash = blake3::hash(address.as_bytes()).to_hex();
            let _ = write!(out, ".{}", &hash[..16]);
            break;
        }
    }
    out
}

/// A readable name for a branch and a folder: what is neither letter, digit, `.`, `_` nor `-` becomes `-`, once for several.
/// Several addresses may share it; a name that is the address itself is its own.
pub fn branch_name(address: &str) -> String {
    const MOST: usize = 80;
    let mut out = String::with_capacity(address.len());
    for letter in address.chars() {
        let plain = letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        let next = if plain { letter } else { '-' };
        let doubled = (!plain && out.ends_with('-')) || (next == '.' && out.ends_with('.'));
        if !doubled {
            out.push(next);
        }
        if out.len() >= MOST {
            break;
        }
    }
    let out = out.trim_matches(['-', '.']);
    if out.is_empty() { "task".to_owned() } else { out.to_owned() }
}

/// A program or file without its folders, as a shell names it: a backslash is a part of the name.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A file's name without its folders, whichever system wrote the path.
pub fn last_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The same without its ending.
pub fn file_stem(path: &str) -> &str {
    let name = last_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
#[path = "file_name_tests.rs"]
mod tests;
