//! `Edit`: one text in place of another.

use std::fmt::Write;
use std::io::Read;

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Answer, Failure, Run, Tool, arguments};
use super::context::ToolContext;
use super::judge::Named;
use super::lines::clip;
use super::path;

/// Larger files are no text that a model should rewrite.
const MAX_FILE: u64 = 16 * 1024 * 1024;
const AROUND: usize = 3;
const SHOWN: usize = 60;

pub(super) const TOOL: Tool = Tool {
    name: "Edit",
    description: "Replaces `old_string` by `new_string` in a file that was Read before. `old_string` is taken \
                  exactly, white space included and without the line numbers that Read shows, and must stand in \
                  the file once: add lines around it until it does, or set `replace_all`.",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "file_path": { "type": "string", "description": "The file, absolute or relative to the working folder" },
                "old_string": { "type": "string", "minLength": 1, "description": "The text to replace" },
                "new_string": { "type": "string", "description": "The text to put there" },
                "replace_all": { "type": "boolean", "description": "Replace every occurrence; false unless set" }
            },
            "required": ["file_path", "old_string", "new_string"],
            "additionalProperties": false
        })
    },
    run: Run::Blocking(edit),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

fn edit(input: Value, context: &ToolContext) -> Answer {
    let Arguments { file_path, old_string, new_string, replace_all } = arguments(input)?;
    if old_string.is_empty() {
        return Err("`old_string` is empty; to write a whole file, use Write".into());
    }
    if old_string == new_string {
        return Err("`old_string` and `new_string` are the same".into());
    }
    let path = path::find(context, &named(&file_path))?;
    let (mut file, metadata) = path::open(&path, &file_path)?;
    path::must_know(context, &path, &file_path, &metadata)?;
    if metadata.len() > MAX_FILE {
        return Err(Failure::of(format!("`{file_path}` is larger than 16 MiB")));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| Failure::io("read", &path, &error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::of(format!("`{file_path}` is not UTF-8, and an edit would damage it")))?;

    let (old, new) = line_ends_of(&text, old_string, new_string);
    let count = text.matches(&old).count();
    if count == 0 {
        return Err(Failure::of(format!("`old_string` is not in `{file_path}`{}", near(&text, &old))));
    }
    if count > 1 && !replace_all {
        return Err(Failure::of(format!(
            "`old_string` stands {count} times in `{file_path}`; add lines around it, or set `replace_all`"
        )));
    }
    let first = text.find(&old).unwrap_or_default();
    let changed = text.replace(&old, &new);
    let now = path::replace(&path, changed.as_bytes(), Some(&metadata))?;
    context.reads.remember(&path, &now);
    Ok(match count {
        1 => format!("changed `{file_path}`; it now reads:\n{}", excerpt(&changed, first, new.len())),
        _ => format!("changed `{file_path}` in {count} places"),
    })
}

/// Read shows no carriage returns, so a model can't write them: in a file that has them, they are put back.
fn line_ends_of(text: &str, old: String, new: String) -> (String, String) {
    if !text.contains("\r\n") || old.contains('\r') || (!old.contains('\n') && !new.contains('\n')) {
        return (old, new);
    }
    let crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let both = (crlf(&old), crlf(&new));
    // A file of mixed line ends may hold the text as it was given.
    if text.contains(&both.0) { both } else { (old, new) }
}

/// Says where something like the wanted text stands, if anywhere.
fn near(text: &str, old: &str) -> String {
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    let numbered =
        |line: &str| line.split_once('\t').is_some_and(|(number, _)| number.trim().parse::<u32>().is_ok());
    if old.lines().all(numbered) {
        return "; leave out the line numbers that Read shows".to_owned();
    }
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if let Some(at) = lines.windows(wanted.len().max(1)).position(|window| window == wanted) {
        return format!("; the lines from {} on differ from it in white space only", at + 1);
    }
    let longest = wanted.iter().max_by_key(|line| line.len()).filter(|line| line.len() >= 4);
    match longest.and_then(|longest| lines.iter().position(|line| line.contains(longest))) {
        Some(at) if wanted.len() > 1 => {
            format!("; one of its lines is line {}, but those around it differ: Read it again", at + 1)
        }
        Some(_) | None => "; Read the file again".to_owned(),
    }
}

/// The changed lines with some around them, numbered.
fn excerpt(text: &str, at: usize, len: usize) -> String {
    let first = text[..at].matches('\n').count();
    let last = first + text[at..at + len].matches('\n').count();
    let from = first.saturating_sub(AROUND);
    let mut out = String::new();
    for (index, line) in text.lines().enumerate().skip(from).take((last + AROUND + 1 - from).min(SHOWN)) {
        let _ = writeln!(out, "{:>6}\t{}", index + 1, clip(line, 500, 0));
    }
    out
}

fn named(path: &str) -> Named<'_> {
    Named { tool: TOOL.name, parameter: "file_path", path }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
