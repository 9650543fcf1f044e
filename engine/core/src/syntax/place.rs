//! Where a part of a value stands in the file: back through quotes, escapes, folded lines and indentation.

use std::ops::Range;

use crate::diagnostic::{SourceFile, Span};

/// The place of the bytes `at` of a scalar's value. `span` is the scalar's own place. Where the two can't be matched
/// (a copy whose text was changed), the scalar itself is the answer.
pub fn place_in(file: &SourceFile, span: Span, value: &str, at: Range<usize>) -> Span {
    let raw = file.slice(span);
    let start = span.start as usize;
    let base = |range: Range<usize>| Span::new(start + range.start, start + range.end);
    if raw == value {
        return base(at.start.min(raw.len())..at.end.min(raw.len()));
    }
    let quoted = match raw.as_bytes().first() {
        Some(b'"') => walk(raw, value, &at, Style::Double),
        Some(b'\'') => walk(raw, value, &at, Style::Single),
        _ => None,
    };
    let column = start - file.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    quoted
        .or_else(|| walk(raw, value, &at, Style::Block { column }))
        .or_else(|| walk(raw, value, &at, Style::Plain))
        .map_or(span, base)
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    Single,
    Double,
    /// `column`: how far the first line is indented.
    Block {
        column: usize,
    },
}

/// The range of `raw` that stands for the range `at` of `value`; `None` when `raw` isn't `value` in this style.
fn walk(raw: &str, value: &str, at: &Range<usize>, style: Style) -> Option<Range<usize>> {
    let mut found = Found { start: None, end: None, at };
    let (mut from, mut to) = (0, 0);
    if matches!(style, Style::Single | Style::Double) {
        from = 1;
    }
    let indent = if let Style::Block { column } = style {
        // Lines that are indented further than the first keep the rest of their blanks.
        let blank_lines = value.len() - value.trim_start_matches('\n').len();
        to = blank_lines;
        let kept = value[blank_lines..].len() - value[blank_lines..].trim_start_matches(' ').len();
        let seen = raw.len() - raw.trim_start_matches(' ').len();
        column + seen - kept.min(column + seen)
    } else {
        0
    };
    while to < value.len() {
        let (raw_len, value_len) = step(&raw[from..], &value[to..], style, indent)?;
        found.pass(from, raw_len, to, value_len);
        from += raw_len;
        to += value_len;
    }
    let end = from;
    let start = found.start.unwrap_or(end);
    Some(start..found.end.unwrap_or(end).max(start))
}

struct Found<'a> {
    start: Option<usize>,
    end: Option<usize>,
    at: &'a Range<usize>,
}

impl Found<'_> {
    /// `raw_len` bytes from `from` stand for `value_len` bytes from `to`.
    fn pass(&mut self, from: usize, raw_len: usize, to: usize, value_len: usize) {
        let inside = |offset: usize| (to..to + value_len).contains(&offset);
        // Bytes that stand for themselves are found exactly; an escape or a fold only as a whole.
        let exact = raw_len == value_len;
        if self.start.is_none() && inside(self.at.start) {
            self.start = Some(if exact { from + self.at.start - to } else { from });
        }
        let last = self.at.end.wrapping_sub(1);
        if self.end.is_none() && self.at.end > self.at.start && inside(last) {
            self.end = Some(if exact { from + last - to + 1 } else { from + raw_len });
        }
        if self.at.is_empty() {
            self.end = self.start;
        }
    }
}

/// One step: how many bytes of `raw` make how many bytes of `value`.
fn step(raw: &str, value: &str, style: Style, indent: usize) -> Option<(usize, usize)> {
    let first = raw.chars().next();
    match (style, first) {
        // At its end a block or a plain text may lack the line break that its value has.
        (Style::Block { .. }, None) => value.chars().all(|c| c == '\n').then_some((0, value.len())),
        (_, None) => None,
        (Style::Single, Some('\'')) => (raw.starts_with("''") && value.starts_with('\'')).then_some((2, 1)),
        (Style::Double, Some('"')) => None,
        (Style::Double, Some('\\')) => escape(raw, value),
        (Style::Block { .. }, Some('\n' | '\r')) => block_break(raw, value, indent),
        (Style::Plain | Style::Single | Style::Double, Some(c)) if c.is_ascii_whitespace() => {
            fold(raw, value).or_else(|| value.starts_with(c).then_some((1, 1)))
        }
        (_, Some(_)) => same(raw, value),
    }
}

/// Bytes up to the next sign that may mean something.
fn same(raw: &str, value: &str) -> Option<(usize, usize)> {
    let special = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'\'' | b'"');
    let first = raw.chars().next()?.len_utf8();
    let run = raw.bytes().skip(first).position(special).map_or(raw.len(), |more| first + more);
    let run = run.min(value.len());
    let common = raw.as_bytes()[..run].iter().zip(value.as_bytes()).take_while(|(a, b)| a == b).count();
    let common = (0..=common).rev().find(|at| raw.is_char_boundary(*at) && value.is_char_boundary(*at))?;
    (common > 0).then_some((common, common))
}

/// Blanks with line breaks among them: one break is a blank, more are one break less.
fn fold(raw: &str, value: &str) -> Option<(usize, usize)> {
    let len = raw.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(raw.len());
    let breaks = raw[..len].matches('\n').count();
    match breaks {
        0 => None,
        1 => value.starts_with(' ').then_some((len, 1)),
        more => {
            let kept = value.as_bytes().get(..more - 1)?;
            kept.iter().all(|byte| *byte == b'\n').then_some((len, more - 1))
        }
    }
}

/// The end of a line of a block, with the next line's indentation.
fn block_break(raw: &str, value: &str, indent: usize) -> Option<(usize, usize)> {
    let line_end = if raw.starts_with("\r\n") { 2 } else { 1 };
    let blanks = raw[line_end..].bytes().take(indent).take_while(|byte| *byte == b' ').count();
    let kept = usize::from(value.starts_with('\n') || value.starts_with(' '));
    // A folded text shows one break less than there are blank lines; such a break stands for nothing.
    Some((line_end + blanks, kept))
}

fn escape(raw: &str, value: &str) -> Option<(usize, usize)> {
    let digits = match raw.as_bytes().get(1)? {
        b'\n' | b'\r' => {
            let len = 1 + raw[1..].find(|c: char| !c.is_ascii_whitespace()).unwrap_or(raw.len() - 1);
            return Some((len, 0));
        }
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => 0,
    };
    let made = value.chars().next()?.len_utf8();
    // A pair of `\u` makes one character past the basic plane.
    let pair = digits == 4 && made == 4;
    let len = if pair { 12 } else { 2 + digits };
    let len = if digits == 0 { 1 + raw[1..].chars().next()?.len_utf8() } else { len };
    (len <= raw.len() && raw.is_char_boundary(len)).then_some((len, made))
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
