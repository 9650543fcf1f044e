//! Faults of layout, found by looking at the lines: wrong indentation, quotes inside quotes, what is missing between the
//! entries of `{ }`. Asked before a sign of YAML is blamed, for a line may hold brackets that have nothing to do with it.

use std::ops::Range;

use granit_parser::ErrorKind;

use super::yaml_trouble::{Trouble, key_and_value, line_of, quoted, shown_line, trouble};
use crate::text::one_line;

/// The longest piece of a line that a message repeats.
const SHOWN: usize = 30;

/// A key whose indentation fits nothing: deeper than the key above, whose value is complete, or between two levels.
pub(super) fn indentation(text: &str, kind: &ErrorKind, at: usize) -> Option<Trouble> {
    let fits = matches!(
        kind,
        ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::InvalidSimpleKey
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::InvalidIndentation
    );
    let line = line_of(text, at);
    if !fits || !is_key_line(&text[line.clone()]) {
        return None;
    }
    let own = blanks(&text[line.clone()]);
    let above = lines_above(text, line.start).find(|above| !is_empty(&text[above.clone()]))?;
    let (key, value) = match key_and_value(text, above.clone()) {
        Some((key, value)) => (key, Some(value)),
        None => (text[above.clone()].trim().strip_suffix(':')?, None),
    };
    let level = blanks(&text[above.clone()]) + list_signs(&text[above.clone()]);
    let key_at = above.start + level..above.start + level + key.len();
    let like = match level {
        0 => format!("begin it where `{key}` begins"),
        1 => format!("indent it like `{key}` (1 blank)"),
        _ => format!("indent it like `{key}` ({level} blanks)"),
    };
    if own > level {
        let value = &text[value?];
        let message = match value.chars().next()? {
            '|' | '>' | '&' | '*' | '!' => return None,
            '[' | '{' | '"' | '\'' => {
                format!("this line is indented deeper than `{key}` above, which has its value already")
            }
            _ => format!("this line is indented deeper than `{key}` above, so it continues its text"),
        };
        let found = trouble(shown_line(text, line), message, like);
        return Some(found.label(key_at, format!("`{key}` is here")));
    }
    let is_level = |above: Range<usize>| {
        let found = blanks(&text[above.clone()]) + list_signs(&text[above.clone()]);
        found == own || blanks(&text[above]) == own
    };
    if own < level && !lines_above(text, line.start).any(is_level) {
        let message = format!("this line is indented less than `{key}` above, and like no other key");
        let found = trouble(shown_line(text, line), message, like);
        return Some(found.label(key_at, format!("`{key}` is here")));
    }
    None
}

/// `'don't'` and `"say "hi""`: the quote ends where the inner one begins.
pub(super) fn quotes_in_quotes(text: &str, at: usize) -> Option<Trouble> {
    let line = line_of(text, at);
    let bytes = text.as_bytes();
    let mut from = line.start;
    while from < line.end {
        let starts_value = |at: usize| {
            let before = text[line.start..at].trim_end_matches(' ');
            before.ends_with([':', '[', '{', ',', '-']) && before.len() < at - line.start + 1
        };
        if !matches!(bytes[from], b'"' | b'\'') || !starts_value(from) {
            from += 1;
            continue;
        }
        let quote = bytes[from];
        let end = closing(bytes, from, line.end)?;
        let after = &text[end + 1..line.end];
        let next = after.trim_start().chars().next();
        let sign = char::from(quote);
        if !matches!(next, None | Some(',' | ']' | '}' | ':' | '#')) && after.contains(sign) {
            let last = end + 1 + after.rfind(sign)?;
            let whole = &text[from + 1..last];
            let key = text[line.start..from].trim_end().strip_suffix(':').map(|before| {
                let rest = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
                &before[rest.len()..]
            });
            let prefix = key.filter(|key| !key.is_empty()).map(|key| format!("{key}: ")).unwrap_or_default();
            let help = match quoted(whole) {
                Some(whole) => format!("write `{prefix}{whole}`"),
                None => format!("write `{prefix}|` and put the text on the next line, indented"),
            };
            let column = |at: usize| text[line.start..at].chars().count() + 1;
            let rest: String =
                after.trim_start().chars().take_while(|c| !c.is_whitespace() && *c != sign).collect();
            let message = format!(
                "the quote that opens at {} ends at {}; `{}` follows",
                column(from),
                column(end),
                one_line(&rest, SHOWN)
            );
            return Some(trouble(from..end + 1, message, help));
        }
        from = end + 1;
    }
    None
}

/// What is missing in `{ }` and `[ ]` on one line: a comma between entries, a blank behind a colon.
pub(super) fn missing_sign(text: &str, at: usize, flow: Option<usize>) -> Option<Trouble> {
    let start = flow?;
    let line = line_of(text, at);
    if line_of(text, start) != line {
        return None;
    }
    let bytes = text.as_bytes();
    let mut open: Vec<usize> = Vec::new();
    let mut here = start;
    while here < line.end {
        match bytes[here] {
            b'"' | b'\'' if text[..here].ends_with([' ', '[', '{', ',']) => {
                here = closing(bytes, here, line.end)?
            }
            b'[' | b'{' => open.push(here),
            b']' | b'}' => {
                let from = open.pop()?;
                let rest = &text[here + 1..line.end];
                let next = rest.trim_start();
                let follows = next.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                if !open.is_empty() && follows && rest.starts_with(' ') {
                    let place = line.end - next.len();
                    let word = next.split_whitespace().next().unwrap_or_default();
                    let before = one_line(&text[from..=here], SHOWN);
                    let message = format!("a `,` is missing between `{before}` and `{word}`");
                    let help = format!("write `{before}, {word} …`");
                    return Some(trouble(place..place + word.len(), message, help));
                }
            }
            b':' if open.last().is_some_and(|open| bytes[*open] == b'{') => {
                let before = &text[start..here];
                let rest = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
                let (key, begins) = (&before[rest.len()..], rest.trim_end().ends_with(['{', ',']));
                let next = text[here + 1..line.end].chars().next();
                if begins
                    && !key.is_empty()
                    && next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '[' | '{' | '"'))
                {
                    let message = format!("a blank is missing after `{key}:`");
                    let place = here - key.len()..here + 1;
                    return Some(trouble(place, message, format!("write `{key}: …`")));
                }
            }
            _ => {}
        }
        here += 1;
    }
    None
}

/// Whether a value that begins with a bracket is a whole collection, with nothing behind it.
pub(super) fn is_whole_collection(value: &str) -> bool {
    let bytes = value.as_bytes();
    let mut depth = 0i32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' if at > 0 && matches!(bytes[at - 1], b' ' | b'[' | b'{' | b',') => {
                match closing(bytes, at, bytes.len()) {
                    Some(end) => at = end,
                    None => return false,
                }
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return value[at..].trim().is_empty() || value[at..].trim_start().starts_with('#');
        }
    }
    false
}

/// Where the quote that opens at a place ends, before `end`.
fn closing(bytes: &[u8], open: usize, end: usize) -> Option<usize> {
    let quote = bytes[open];
    let mut at = open + 1;
    while at < end {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 1,
            b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 1,
            byte if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// `key: value` or `key:`.
fn is_key_line(line: &str) -> bool {
    let bare = line.trim_start();
    let key = bare.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(0);
    key > 0 && bare[key..].starts_with(':') && bare[key + 1..].chars().next().is_none_or(char::is_whitespace)
}

fn is_empty(line: &str) -> bool {
    let bare = line.trim();
    bare.is_empty() || bare.starts_with('#')
}

/// The lines above a place, the nearest first.
fn lines_above(text: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    let mut end = start;
    std::iter::from_fn(move || {
        let last = end.checked_sub(1)?;
        let line = line_of(text, last);
        let line = line.start..last;
        end = line.start;
        Some(line)
    })
}

fn blanks(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// How far `- ` puts a key behind the blanks of its line.
fn list_signs(line: &str) -> usize {
    let bare = line.trim_start_matches(' ');
    let mut rest = bare;
    while let Some(inner) = rest.strip_prefix("- ") {
        rest = inner.trim_start_matches(' ');
    }
    bare.len() - rest.len()
}

#[cfg(test)]
#[path = "yaml_layout_tests.rs"]
mod tests;
