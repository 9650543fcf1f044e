//! Texts of others inside Markdown: each stays in its paragraph, cell, span or fence.

use crate::text::{one_line, visible};

/// The longest text in a table or a sentence, in characters: a message names branches and folders at its end.
const WIDTH: usize = 400;

/// Text that stays text: on one line, without anything that Markdown or HTML would read.
pub(super) fn plain(text: &str) -> String {
    let line = one_line(&visible(text), WIDTH);
    let mut out = String::with_capacity(line.len());
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    for (at, c) in line.char_indices() {
        match c {
            // What would make a list, a heading or a rule of the line.
            '-' | '+' | '=' if at == 0 => out.extend(['\\', c]),
            '.' | ')' if at == digits => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // `@` would call on a person where the report is posted.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '|' | '~' | '#' | '!' | '$' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// A code span in a table cell, which ends at a bar even there.
pub(super) fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Text as it is, on one line, in a code span that it can't end.
pub(super) fn code(text: &str) -> String {
    let line = one_line(&visible(text), WIDTH);
    let fence = "`".repeat(longest_run(&line) + 1);
    match line.starts_with('`') || line.ends_with('`') || line.is_empty() {
        true => format!("{fence} {line} {fence}"),
        false => format!("{fence}{line}{fence}"),
    }
}

/// Text as it is, in a block whose fence is longer than any it has.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let text = visible(text.trim_end_matches('\n'));
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
