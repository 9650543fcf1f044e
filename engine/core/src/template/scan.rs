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

/// An operator of another language: where it is, the operator, and what to write.
pub(super) type ForeignOperator = (Range<usize>, &'static str, &'static str);

/// The first operator of another language outside quotes.
pub(super) fn foreign_operator(text: &str) -> Option<ForeignOperator> {
    let bytes = text.as_bytes();
    // `${% set x = … %}` assigns.
    let assigns = text.starts_with("${%");
    let (mut at, mut depth) = (if assigns || text.starts_with("${{") { 3 } else { 0 }, 0i32);
    while at < bytes.len() {
        let found = |length: usize, sign, word| Some((at..at + length, sign, word));
        match (bytes[at], bytes.get(at + 1)) {
            (quote @ (b'"' | b'\''), _) => at = string_end(bytes, at, quote)?,
            (b'(' | b'[' | b'{', _) => depth += 1,
            (b')' | b']' | b'}', _) => depth -= 1,
            (b'&', Some(b'&')) => return found(2, "&&", "and"),
            (b'|', Some(b'|')) => return found(2, "||", "or"),
            (b'?', Some(b'?')) => return found(2, "??", "value | default(other)"),
            (b'?', Some(b'.')) => return found(2, "?.", "value.field | default(other)"),
            (b'?', _) => return found(1, "?", "value if condition else other"),
            (b'=', Some(b'~')) => return found(2, "=~", "text is startingwith(\"prefix\")"),
            (b'=' | b'!' | b'<' | b'>', Some(b'=')) => at += 1,
            (b'!', _) => return found(1, "!", "not"),
            // In parentheses it names an argument.
            (b'=', _) if depth == 0 && !assigns => return found(1, "=", "=="),
            // The first byte of typographic quotes.
            (0xe2, _) => {
                for sign in ["“", "”", "„", "‘", "’"] {
                    if text[at..].starts_with(sign) {
                        return found(sign.len(), sign, "\"");
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Operators that other languages write as words, with what to write.
const WORDS: &[(&str, &str)] = &[
    ("eq", "a == b"),
    ("ne", "a != b"),
    ("lt", "a < b"),
    ("le", "a <= b"),
    ("gt", "a > b"),
    ("ge", "a >= b"),
    ("AND", "a and b"),
    ("OR", "a or b"),
    ("NOT", "not a"),
    ("contains", "\"needle\" in haystack"),
    ("startsWith", "text is startingwith(\"prefix\")"),
    ("startswith", "text is startingwith(\"prefix\")"),
    ("endsWith", "text is endingwith(\"suffix\")"),
    ("endswith", "text is endingwith(\"suffix\")"),
    ("matches", "text is startingwith(\"prefix\")"),
    ("like", "text is startingwith(\"prefix\")"),
];

/// The word of another language that stands at a place, with what to write.
pub(super) fn foreign_word(text: &str, at: usize) -> Option<(&str, &'static str)> {
    let rest = text.get(at..)?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    WORDS.iter().find(|(word, _)| *word == &rest[..end]).map(|(_, help)| (&rest[..end], *help))
}

/// What to write in place of an expression that is a test of the shell.
pub(super) fn shell_test(text: &str) -> Option<String> {
    let bare = text.trim();
    let variable = || {
        let name = bare.split('$').nth(1)?.trim_start_matches('{');
        let name = &name[..name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len())];
        (!name.is_empty() && !bare.contains("${{")).then(|| name.to_owned())
    };
    let inside = bare.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    let inside = inside.or_else(|| bare.strip_prefix("[ ").and_then(|rest| rest.strip_suffix(']')));
    let inside = inside.or_else(|| bare.strip_prefix("test "));
    let name = variable();
    if inside.is_none() && name.is_none() {
        return None;
    }
    let plain = |word: &str| word.trim_matches(['"', '\'']).to_owned();
    let compared = inside.unwrap_or(bare).split_whitespace().collect::<Vec<_>>();
    Some(match (compared.as_slice(), name) {
        ([_, "=" | "==", other], Some(name)) => format!("write `env.{name} == \"{}\"`", plain(other)),
        ([_, "!=", other], Some(name)) => format!("write `env.{name} != \"{}\"`", plain(other)),
        (["-n", _], Some(name)) => format!("write `env.{name} | default(\"\")`"),
        (["-z", _], Some(name)) => format!("write `not env.{name} | default(\"\")`"),
        (_, Some(name)) => format!("write `env.{name}` for `${name}`"),
        (_, None) => {
            "compare values as in `env.B == \"main\"`; what only a command can tell belongs into a task"
                .to_owned()
        }
    })
}

/// An expression with the operators of this language in place of `&&`, `||` and `!`.
pub fn in_our_words(text: &str) -> String {
    let mut out = text.to_owned();
    // Each turn takes one away.
    while let Some((at, sign, word)) = foreign_operator(&out) {
        let word = match sign {
            "&&" | "||" => word.to_owned(),
            "!" => format!("{word} "),
            _ => break,
        };
        out.replace_range(at, &word);
    }
    out
}
