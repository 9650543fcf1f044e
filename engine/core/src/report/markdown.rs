//! Texts of others inside Markdown: each stays in its paragraph, cell, span or fence.

use crate::text::{one_line, visible};

/// The longest text in a table or a sentence, in characters: a message names branches and folders at its end.
const WIDTH: usize = 400;

/// Text that stays text: on one line, without anything that Markdown or HTML would read.
pub(super) fn plain(text: &str) -> String {
    short(text, WIDTH)
}

/// The same in at most `width` characters before what guards it.
pub(super) fn short(text: &str, width: usize) -> String {
    literal(&one_line(&visible(text), width))
}

/// A line of which Markdown reads nothing. What it would leave alone stays as it is: people read reports in terminals too.
pub(super) fn literal(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let many = |sign: char| line.matches(sign).count() > 1;
    let (struck, math) = (many('~'), many('$'));
    let mut before = None;
    for (at, c) in line.char_indices() {
        let rest = &line[at + c.len_utf8()..];
        let next = rest.chars().next();
        let guarded = match c {
            // What would make a list, a heading, a quote or a rule of the line.
            '-' | '+' | '=' | '#' | '>' => at == 0,
            '.' | ')' => at == digits && at > 0 && next.is_none_or(char::is_whitespace),
            '<' => begins_tag(next),
            '&' => begins_entity(rest),
            // Inside a word it is part of a name.
            '_' => !(before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)),
            '~' => struck || at == 0,
            '$' => math,
            '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
            '`' | '*' | '[' | '|' => true,
            _ => false,
        };
        match c {
            '<' if guarded => out.push_str(less_than(&line[..at])),
            '@' if calls(before, next) => out.push_str("&#64;"),
            _ if guarded => out.extend(['\\', c]),
            _ => out.push(c),
        }
        before = Some(c);
    }
    out
}

/// Whether `<` before this would begin HTML.
pub(super) fn begins_tag(next: Option<char>) -> bool {
    next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'))
}

/// A `<` that begins nothing, behind this.
pub(super) fn less_than(before: &str) -> &'static str {
    if in_address(before) { "&lt;" } else { "\\<" }
}

/// Whether what stands behind this belongs to an address that makes a link of itself: it takes in backslashes and backticks,
/// so that neither guards anything.
pub(super) fn in_address(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    ["://", "www.", "mailto:", "xmpp:"].iter().any(|sign| word.contains(sign))
}

/// Whether `@` between these would call on a person where the report is posted.
pub(super) fn calls(before: Option<char>, next: Option<char>) -> bool {
    next.is_some_and(char::is_alphanumeric) && !before.is_some_and(char::is_alphanumeric)
}

fn begins_entity(rest: &str) -> bool {
    let named = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '#');
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
    named && end.is_some_and(|end| rest[end..].starts_with(';'))
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

/// Names in code spans, the first `most` of them.
pub(super) fn codes<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let all: Vec<String> = names.take(most).map(code).collect();
    match more {
        0 => all.join(", "),
        more => format!("{} and {more} more", all.join(", ")),
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
