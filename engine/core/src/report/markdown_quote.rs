//! Longer texts of others, as they were meant to be read: Markdown as Markdown, prose as prose, all else in a fence.
//!
//! 1. No text leaves its quote or its fence: each line of a quote begins with `>`, and no HTML begins in it.
//! 2. No text loads anything, calls on anybody, or changes what stands beside it: images, mentions and definitions of
//!    links are written out.
//!
//! What is code and what is not is decided only where it is sure; everywhere else the text is guarded, and at worst shows
//! a backslash too many.

use super::markdown::{begins_tag, calls, fenced, in_address, less_than, literal};
use crate::text::visible;

/// From here on a line is prose: a fence would not wrap it.
const LONG_LINE: usize = 120;

/// A text of several lines as a block of its own.
pub(super) fn block(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = visible(text.trim_end());
    if is_markdown(&text) {
        quote(markdown(&text))
    } else if text.lines().any(|line| line.chars().count() > LONG_LINE) {
        quote(with_breaks(text.lines().map(|line| literal(line.trim())).collect()))
    } else {
        fenced(&text, "text")
    }
}

fn quote(lines: Vec<String>) -> String {
    let quoted = |line: String| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
    lines.into_iter().map(quoted).collect::<Vec<_>>().join("\n")
}

/// Whether somebody wrote Markdown; what compares files or logs has lines that only look so.
fn is_markdown(text: &str) -> bool {
    let is_diff = |line: &str| line.starts_with("diff --git ") || line.starts_with("@@ ");
    let says = |line: &str| {
        let line = line.trim_start();
        let heading = line.trim_start_matches('#');
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (heading.len() < line.len() && heading.starts_with(' '))
            || ["- ", "* ", "```", "~~~", "|"].iter().any(|sign| line.starts_with(sign))
            || (number.len() < line.len() && number.starts_with(". "))
            || line.matches("**").count() > 1
            || matches!(line.matches('`').count(), count if count > 0 && count % 2 == 0)
    };
    !text.lines().any(is_diff) && text.lines().any(says)
}

/// A fence that is open: its sign, how often it stands there, and how far in.
struct Fence {
    sign: char,
    count: usize,
    indent: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Fence> {
        let inner = line.trim_start();
        let sign = inner.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = inner.trim_start_matches(sign);
        let count = inner.len() - info.len();
        let opens = count >= 3 && !(sign == '`' && info.contains('`'));
        opens.then_some(Fence { sign, count, indent: line.len() - inner.len() })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim();
        rest.len() >= self.count && rest.chars().all(|c| c == self.sign)
    }

    fn line(&self) -> String {
        self.sign.to_string().repeat(self.count)
    }
}

/// The lines of a Markdown text. Fences stand at the margin, where every reader sees them begin and end.
fn markdown(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut prose = Vec::new();
    let mut fence: Option<Fence> = None;
    // Whether a code span may be open from a line before.
    let mut unsure = false;
    for line in text.lines() {
        if let Some(open) = &fence {
            let indent = open.indent.min(line.len() - line.trim_start().len());
            match open.is_closed_by(line) {
                true => {
                    out.push(open.line());
                    fence = None;
                }
                false => out.push(line.get(indent..).unwrap_or(line).to_owned()),
            }
        } else if let Some(opened) = Fence::opened_by(line) {
            out.append(&mut with_breaks(std::mem::take(&mut prose)));
            let info = line.trim_start().trim_start_matches(opened.sign).trim();
            let language: String = info
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_'))
                .collect();
            out.push(format!("{}{language}", opened.line()));
            (fence, unsure) = (Some(opened), false);
        } else {
            unsure &= !line.trim().is_empty();
            prose.push(guarded(line.trim_end(), &mut unsure));
        }
    }
    out.append(&mut with_breaks(prose));
    out.extend(fence.map(|open| open.line()));
    out
}

/// A line of prose with all that Markdown makes of it but HTML, images, mentions and definitions.
fn guarded(line: &str, unsure: &mut bool) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    let inner = line.trim_start();
    if inner.starts_with('[') && inner.contains("]:") {
        out.push_str(&line[..line.len() - inner.len()]);
        out.push('\\');
        rest = inner;
    }
    // A bar may end a cell, and with it what began there.
    let has_cells = line.contains('|');
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let next = after.chars().next();
        let so_far = &line[..line.len() - rest.len()];
        let taken = match c {
            '\\' => 1 + next.filter(|next| *next != '@').map_or(0, char::len_utf8),
            '`' if !*unsure => match span(rest).filter(|_| !has_cells && !in_address(so_far)) {
                Some(length) => length,
                None => {
                    *unsure = true;
                    1
                }
            },
            _ => c.len_utf8(),
        };
        match c {
            '\\' if next == Some('<') => out.push_str("&lt;"),
            '<' if begins_tag(next) => out.push_str(less_than(so_far)),
            '!' if next == Some('[') => out.push_str("\\!"),
            '@' if calls(before, next) => out.push_str("&#64;"),
            _ => out.push_str(&rest[..taken]),
        }
        before = Some(c);
        rest = &rest[taken..];
    }
    out
}

/// The length of the code span that the text begins with, if it ends in it.
fn span(text: &str) -> Option<usize> {
    let run = |text: &str| text.len() - text.trim_start_matches('`').len();
    let opened = run(text);
    let mut at = opened;
    while let Some(found) = text[at..].find('`') {
        let closed = run(&text[at + found..]);
        at += found + closed;
        if closed == opened {
            return Some(at);
        }
    }
    None
}

/// Two blanks behind each line that goes on in the next, else both would be one line.
fn with_breaks(mut lines: Vec<String>) -> Vec<String> {
    let is_prose = |line: &String| {
        let begins = |sign: &&str| line.starts_with(*sign);
        let number = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(['.', ')']);
        !line.is_empty() && !number && !["#", "-", ">", "|", "=", "* ", "+ ", " ", "\t"].iter().any(begins)
    };
    for at in 1..lines.len() {
        if is_prose(&lines[at - 1]) && is_prose(&lines[at]) {
            lines[at - 1].push_str("  ");
        }
    }
    lines
}

#[cfg(test)]
#[path = "markdown_quote_tests.rs"]
mod tests;
