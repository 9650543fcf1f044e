//! Patterns of `include` that no file of the checkout can match. They are read as a `.gitignore` is, which surprises people
//! who think of paths.

/// What is wrong with a pattern, and what to write; `exists` knows the project, `before` whether a pattern stands before.
pub(super) fn in_vain(
    pattern: &str,
    before: bool,
    exists: impl Fn(&str) -> bool,
) -> Option<(String, &'static str)> {
    let named = |why: &str| format!("`{pattern}` of `include` can match nothing: {why}");
    let trimmed = pattern.trim();
    if trimmed.is_empty() {
        return Some((named("it is empty"), "write the name or the pattern of a file that git ignores"));
    }
    if trimmed.starts_with('#') {
        return Some((named("it is read as a comment"), "write `\\#` for a name that begins with `#`"));
    }
    let body = match trimmed.strip_prefix('!') {
        Some(_) if !before => {
            let why = "it takes back what a pattern before it names, and there is none";
            return Some((named(why), "write what is wanted first, then what of it is not"));
        }
        Some(body) => body,
        None => trimmed,
    };
    if body.split('/').any(|part| part == "..") {
        let why = "it leads out of the checkout, and a tree gets files of the checkout alone";
        return Some((named(why), "let `setup` copy what stands elsewhere"));
    }
    if body.starts_with("~/") || body == "~" {
        let why = "`~` is a name here, not your home";
        return Some((named(why), "let `setup` copy what stands elsewhere"));
    }
    if body.starts_with("./") || body.contains("/./") {
        return Some((
            named("no path has a `.` in it"),
            "write it without `./`; `/` at the front means this folder alone",
        ));
    }
    let first = body.strip_prefix('/').map(|rest| rest.split('/').next().unwrap_or_default());
    match first {
        Some(first) if !first.contains(['*', '?', '[', '{', '\\']) && !exists(first) => {
            let why = format!("`/` is the project here, and it has no `{first}`");
            Some((named(&why), "write a path below the project; let `setup` copy what stands elsewhere"))
        }
        Some(_) | None => None,
    }
}

#[cfg(test)]
#[path = "include_tests.rs"]
mod tests;
