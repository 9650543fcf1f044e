//! Finding holes in text without parsing what is in them.

use std::ops::Range;

/// What begins at a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// `${{`
    Hole,
    /// `${%`
    Block,
    /// `${{#`
    Comment,
}

impl Marker {
    fn end(self) -> &'static str {
        match self {
            Marker::Hole => "}}",
            Marker::Block => "%}",
            Marker::Comment => "#}}",
        }
    }

    fn len(self) -> usize {
        match self {
            Marker::Hole | Marker::Block => 3,
            Marker::Comment => 4,
        }
    }
}

/// Whether there is anything in the text that isn't itself.
pub(super) fn has_markers(text: &str) -> bool {
    text.contains("${{") || text.contains("${%")
}

/// The first marker at or after `from`.
pub(super) fn next_marker(text: &str, from: usize) -> Option<(usize, Marker)> {
    let rest = text.get(from..)?;
    rest.match_indices("${").find_map(|(offset, _)| {
        let after = &rest[offset + 2..];
        let marker = match after.as_bytes() {
            [b'{', b'#', ..] => Marker::Comment,
            [b'{', ..] => Marker::Hole,
            [b'%', ..] => Marker::Block,
            _ => return None,
        };
        Some((from + offset, marker))
    })
}

/// The bytes of what begins with `marker` at `start`; `None`: it is never closed. Closing signs inside quotes or
/// brackets don't count.
pub(super) fn extent(text: &str, start: usize, marker: Marker) -> Option<Range<usize>> {
    let inside = start + marker.len();
    let end = marker.end();
    if marker == Marker::Comment {
        return text[inside..].find(end).map(|offset| start..inside + offset + end.len());
    }
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (inside, 0i32);
    while at < bytes.len() {
        if depth == 0 && bytes[at..].starts_with(end.as_bytes()) {
            return Some(start..at + end.len());
        }
        match bytes[at] {
            quote @ (b'"' | b'\'') => at = string_end(bytes, at, quote)?,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The position of the quote that closes the one at `start`.
fn string_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The first operator of another language outside quotes, with what to write.
pub(super) fn foreign_operator(text: &str) -> Option<(Range<usize>, &'static str, &'static str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (quote @ (b'"' | b'\''), _) => at = string_end(bytes, at, quote)?,
            (b'&', Some(b'&')) => return Some((at..at + 2, "&&", "and")),
            (b'|', Some(b'|')) => return Some((at..at + 2, "||", "or")),
            (b'!', Some(b'=')) => at += 1,
            (b'!', _) => return Some((at..at + 1, "!", "not")),
            _ => {}
        }
        at += 1;
    }
    None
}
