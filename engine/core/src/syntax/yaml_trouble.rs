//! Why a text isn't YAML, in words for somebody who didn't mean to write YAML: most errors come from a value that
//! should have had quotes, so the line is looked at before the parser's own reason is told.

use std::ops::Range;
use std::sync::Arc;

use granit_parser::ErrorKind;

use super::yaml_layout;
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};

/// What a plain value may not begin with, in the order of a keyboard.
const INDICATORS: &str = "[]{}*&!|>@%`\"',?-:";

/// The longest value that is worth showing again with quotes.
const SHOWN: usize = 60;

/// Explains a syntax error at a byte. `flow`: where the outermost open `[` or `{` stands. `base`: where the text begins.
pub(crate) fn explain(
    file: &Arc<SourceFile>,
    kind: &ErrorKind,
    at: usize,
    flow: Option<usize>,
    base: usize,
) -> Diagnostic {
    let text = &file.text[base..];
    let at = floor_boundary(text, at.saturating_sub(base));
    let flow = flow.map(|flow| floor_boundary(text, flow.saturating_sub(base)));
    let found = tab(text, kind, at)
        .or_else(|| yaml_layout::quotes_in_quotes(text, at))
        .or_else(|| hole_in_flow(text, at, flow))
        .or_else(|| yaml_layout::indentation(text, kind, at))
        .or_else(|| yaml_layout::missing_sign(text, at, flow))
        .or_else(|| indicator(text, kind, at, flow))
        .or_else(|| colon(text, kind, at))
        .or_else(|| unknown_alias(text, kind, at))
        .unwrap_or_else(|| plain_reason(text, kind, at, flow));
    let code = if found.tag { Code::Tag } else { Code::Malformed };
    let span = Span::new(base + found.place.start, base + found.place.end);
    let diagnostic = Diagnostic::new(code, file, span, found.message).maybe_help(found.help);
    if let Some((place, label)) = found.label {
        return diagnostic.label(file, Span::new(base + place.start, base + place.end), label);
    }
    match found.open {
        Some(open) if open != found.place.start => {
            diagnostic.label(file, Span::new(base + open, base + open + 1), "opened here")
        }
        _ => diagnostic,
    }
}

/// A tag: flow has none, and where a condition belongs `!` was meant as "not". `scalar`: the place of its value.
pub(crate) fn tag_refused(
    file: &Arc<SourceFile>,
    tag: Span,
    scalar: Option<Span>,
    key: Option<&str>,
) -> Diagnostic {
    let name = file.slice(tag);
    let message = format!("`{name}` is a YAML tag, and flow has no tags");
    let help = match scalar {
        Some(value) if !name.starts_with("!!") => {
            let rest = file.slice(Span { start: tag.end, end: value.end.max(tag.end) }).trim();
            let whole = if rest.is_empty() { name.to_owned() } else { format!("{name} {rest}") };
            not_help(key, &whole)
        }
        Some(_) => "take the tag out; quote the value where it should be text".to_owned(),
        None => "take the tag out".to_owned(),
    };
    Diagnostic::new(Code::Tag, file, tag, message).help(help)
}

/// What to write in place of a value that begins with `!`.
fn not_help(key: Option<&str>, value: &str) -> String {
    if matches!(key, Some("if" | "until" | "that")) {
        let negated = value.trim_start_matches('!').trim();
        format!("write `not {negated}`: `!` has another meaning in YAML")
    } else {
        quote_help(key, value)
    }
}

pub(super) struct Trouble {
    place: Range<usize>,
    message: String,
    help: Option<String>,
    /// Whether it's about a tag.
    tag: bool,
    /// The bracket that is still open there.
    open: Option<usize>,
    /// Another place, and what is there.
    label: Option<(Range<usize>, String)>,
}

impl Trouble {
    /// Adds another place.
    pub(super) fn label(self, place: Range<usize>, text: String) -> Self {
        Trouble { label: Some((place, text)), ..self }
    }
}

pub(super) fn trouble(
    place: Range<usize>,
    message: impl Into<String>,
    help: impl Into<Option<String>>,
) -> Trouble {
    Trouble { place, message: message.into(), help: help.into(), tag: false, open: None, label: None }
}

fn tab(text: &str, kind: &ErrorKind, at: usize) -> Option<Trouble> {
    let about_tabs = matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabAtBlockScalarStart
    );
    // A tab in front of a key can also surface as a mapping where none may stand.
    let line = line_of(text, at);
    let indentation = |line: Range<usize>| {
        let blanks = text[line.clone()].find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
        text[line.start..line.start + blanks].find('\t').map(|tab| line.start + tab)
    };
    let mut tab = indentation(line.clone());
    if about_tabs {
        let mut next = line.end + 1;
        while tab.is_none() && next < text.len() {
            let line = line_of(text, next);
            tab = indentation(line.clone());
            next = line.end + 1;
            // The culprit is the next line that has a text.
            if !text[line].trim().is_empty() {
                break;
            }
        }
        tab = tab.or_else(|| text[at..].starts_with('\t').then_some(at));
    }
    let tab = tab?;
    Some(trouble(tab..tab + 1, "a tab can't indent YAML", "use spaces".to_owned()))
}

/// `[${{ x }}]`: YAML ends the text at the brace.
fn hole_in_flow(text: &str, at: usize, flow: Option<usize>) -> Option<Trouble> {
    let line_end = line_of(text, at).end;
    // The text ended at the hole's first brace, so the last hole that begins before the error is the one.
    let flow = flow?;
    let until = floor_boundary(text, line_end.min(at + 3)).max(flow);
    let start = flow + text[flow..until].rfind("${{")?;
    let end = text[start..line_end].find("}}").map_or(line_end, |close| start + close + 2);
    let hole = &text[start..end];
    let message = "a `${{ … }}` inside `[ ]` or `{ }` needs quotes";
    Some(trouble(start..end, message, format!("write `\"{}\"`", hole.replace('"', "'"))))
}

/// A value that begins with a sign that YAML keeps for itself.
fn indicator(text: &str, kind: &ErrorKind, at: usize, flow: Option<usize>) -> Option<Trouble> {
    let line = line_of(text, flow.unwrap_or(at));
    if line != line_of(text, at) {
        return None;
    }
    let (key, value) = key_and_value(text, line)?;
    let written = &text[value.clone()];
    let first = written.chars().next()?;
    if !INDICATORS.contains(first) {
        return None;
    }
    if matches!(first, '[' | '{') && yaml_layout::is_whole_collection(written) {
        return None;
    }
    // Brackets and quotes are often meant as such; then what they lack is the news.
    let cut_short = matches!(
        kind,
        ErrorKind::UnclosedQuotedScalar
            | ErrorKind::UnknownQuotedScalarEscape
            | ErrorKind::InvalidQuotedScalarHexEscape
            | ErrorKind::DocumentIndicatorInQuotedScalar
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::MismatchedFlowCollectionEnd { .. }
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
    );
    if cut_short {
        return None;
    }
    let message = match first {
        '"' | '\'' => {
            format!("a value that begins with `{first}` ends at the next `{first}`, and more follows")
        }
        '[' | '{' => format!("a value that begins with `{first}` is a YAML collection, and this isn't one"),
        '`' => "a value can't begin with a backtick without quotes".to_owned(),
        _ => format!("a value can't begin with `{first}` without quotes"),
    };
    let help = if first == '!' { not_help(Some(key), written) } else { quote_help(Some(key), written) };
    let tag = first == '!';
    Some(Trouble { tag, ..trouble(value, message, help) })
}

/// `: ` inside a value that has no quotes.
fn colon(text: &str, kind: &ErrorKind, at: usize) -> Option<Trouble> {
    let about_colons = matches!(
        kind,
        ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::InvalidSimpleKey
            | ErrorKind::SimpleKeyExpected
    );
    if !about_colons {
        return None;
    }
    let line = line_of(text, at);
    if let Some((key, value)) = key_and_value(text, line.clone())
        && let Some(colon) = colon_in(&text[value.clone()])
    {
        let colon = value.start + colon;
        let message = "`: ` inside a value without quotes";
        return Some(trouble(colon..colon + 1, message, quote_help(Some(key), &text[value])));
    }
    if !text[at..].starts_with(':') {
        let help = "write `key: value`, or indent the line to go on with the text above";
        return Some(trouble(shown_line(text, line), "a line without a key", help.to_owned()));
    }
    let place = at..at + 1;
    let help = "indent this line like its neighbours, or quote the text above that it continues";
    Some(trouble(place, "`: ` where no key can stand", help.to_owned()))
}

/// `- *.xml`: to YAML an alias.
fn unknown_alias(text: &str, kind: &ErrorKind, at: usize) -> Option<Trouble> {
    if !matches!(kind, ErrorKind::UnknownAnchor) {
        return None;
    }
    let line = line_of(text, at);
    let start = line.start + text[line.clone()].find('*')?;
    let word = &text[start..line.end];
    let word = word[..word.find([',', ']', '}', ' ']).unwrap_or(word.len())].trim_end();
    let is_name = word[1..].chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    let help = match quoted(word) {
        Some(quoted) if !is_name => format!("quote a pattern: `{quoted}`"),
        Some(_) | None => format!("write `&{}` where it is defined, or quote it", &word[1..]),
    };
    let message = format!("`{word}` is an alias to YAML, and nothing above is called `&{}`", &word[1..]);
    Some(trouble(start..start + word.len(), message, help))
}

fn plain_reason(text: &str, kind: &ErrorKind, at: usize, flow: Option<usize>) -> Trouble {
    let place = match kind {
        ErrorKind::UnknownQuotedScalarEscape => bad_escape(text, at),
        _ => None,
    };
    let next = text[at..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    let place = place.unwrap_or(at..at + next);
    let (message, help): (String, Option<&str>) = match kind {
        ErrorKind::UnclosedQuotedScalar => {
            ("a quote that is never closed".into(), Some("close it, or use `|` and indented lines"))
        }
        ErrorKind::UnclosedFlowCollection { open } => {
            (format!("a `{open}` that is never closed"), Some("close it before the next key"))
        }
        ErrorKind::UnexpectedEofFlowSequence => ("a `[` that is never closed".into(), None),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            ("a `{` that is never closed".into(), None)
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            (format!("a `{open}` that is closed by `{close}`"), None)
        }
        ErrorKind::MisplacedFlowCollectionEnd => ("a closing bracket that nothing opened".into(), None),
        ErrorKind::ExpectedFlowSequenceSeparator => (
            "a `,` or `]` is missing here".into(),
            Some("put a comma between the elements, or quote the text"),
        ),
        ErrorKind::ExpectedFlowMappingSeparator => (
            "a `,` or `}` is missing here".into(),
            Some("put a comma between the entries, or quote the text"),
        ),
        ErrorKind::ExpectedBlockMappingKey => {
            ("a key is expected here".into(), Some("write `key: value`, indented like the keys above"))
        }
        ErrorKind::ExpectedBlockSequenceEntry => (
            "a `- ` is expected here".into(),
            Some("a list goes on with `- `; a key must be indented otherwise"),
        ),
        ErrorKind::BlockSequenceEntryNotAllowed => {
            ("a list can't begin here".into(), Some("put `- ` on a new line, indented under its key"))
        }
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::InvalidFlowScalarIndent => {
            ("this line's indentation fits nothing above".into(), Some("indent it like its neighbours"))
        }
        ErrorKind::InvalidBlockScalarIndent => {
            ("a line of a `|` text is indented less than the first".into(), Some("indent all lines alike"))
        }
        ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => {
            ("`|` and `>` stand alone on their line".into(), Some("put the text on the next line, indented"))
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidUnicodeEscape => (
            "a `\\` escape that YAML doesn't know".into(),
            Some("use single quotes, in which `\\` is an ordinary character"),
        ),
        ErrorKind::UnknownAnchor => ("an alias `*…` of something that isn't defined above".into(), None),
        ErrorKind::UnexpectedCharacter { character } => {
            (format!("`{character}` can't begin a value"), Some("quote the value"))
        }
        ErrorKind::DirectiveDisallowed
        | ErrorKind::MissingDirectiveName
        | ErrorKind::InvalidDirectiveName => ("a line can't begin with `%`".into(), None),
        ErrorKind::InvalidDocumentEnd => ("text after `...`, which ends a document".into(), None),
        ErrorKind::CommentNotSeparated => ("a comment needs a blank before `#`".into(), None),
        ErrorKind::BomInsideDocument => ("a byte order mark inside the text".into(), Some("take it out")),
        _ if text[at..].starts_with('%') => ("a line can't begin with `%`".into(), None),
        _ => ("this isn't YAML".into(), Some("quote the text, or check the indentation")),
    };
    let unclosed = matches!(
        kind,
        ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
    );
    match flow {
        Some(flow) if unclosed => trouble(flow..flow + 1, message, help.map(str::to_owned)),
        _ => Trouble { open: flow, ..trouble(place, message, help.map(str::to_owned)) },
    }
}

/// A line without the blanks around its text.
pub(super) fn shown_line(text: &str, line: Range<usize>) -> Range<usize> {
    let written = &text[line.clone()];
    let start = line.start + written.len() - written.trim_start().len();
    start..start + written.trim().len()
}

/// The first escape of a quoted text that YAML doesn't have.
fn bad_escape(text: &str, at: usize) -> Option<Range<usize>> {
    let mut rest = text[at..].char_indices();
    while let Some((start, c)) = rest.next() {
        if c == '\\' {
            let (next, escaped) = rest.next()?;
            if !"0abtnvfre \"/\\N_LPxuU\t\r\n".contains(escaped) {
                return Some(at + start..at + next + escaped.len_utf8());
            }
        }
    }
    None
}

/// `key: value` or `- key: value` on one line, the value without blanks around it.
pub(super) fn key_and_value(text: &str, line: Range<usize>) -> Option<(&str, Range<usize>)> {
    let written = &text[line.clone()];
    let mut start = written.find(|c: char| !c.is_whitespace())?;
    while written[start..].starts_with("- ") {
        start += 2 + written[start + 2..].find(|c: char| !c.is_whitespace())?;
    }
    let colon = start + colon_in(&written[start..])?;
    let key = written[start..colon].trim_end();
    let value_start = colon + 1 + written[colon + 1..].find(|c: char| !c.is_whitespace())?;
    let value_end = written.trim_end().len();
    let is_key = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | '\''));
    (is_key && value_start < value_end).then(|| (key, line.start + value_start..line.start + value_end))
}

/// The first colon that is followed by a blank or ends the text.
fn colon_in(text: &str) -> Option<usize> {
    text.match_indices(':')
        .map(|(at, _)| at)
        .find(|at| text[at + 1..].chars().next().is_none_or(char::is_whitespace))
}

pub(super) fn line_of(text: &str, at: usize) -> Range<usize> {
    let at = floor_boundary(text, at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    start..end
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A value in quotes; `None` where that would be long or hard to read.
pub(crate) fn quoted(value: &str) -> Option<String> {
    let value = value.trim();
    match value {
        _ if value.len() > SHOWN || value.contains('\n') => None,
        _ if !value.contains('\'') => Some(format!("'{value}'")),
        _ if !value.contains(['"', '\\']) => Some(format!("\"{value}\"")),
        _ => None,
    }
}

/// How to write a value that YAML would read otherwise.
pub(crate) fn quote_help(key: Option<&str>, value: &str) -> String {
    let key = key.unwrap_or_default();
    match (quoted(value), key.is_empty()) {
        (Some(quoted), true) => format!("quote it: `{quoted}`"),
        (Some(quoted), false) => {
            format!(
                "quote it: `{key}: {quoted}`, or write `{key}: |` and the text on the next line, indented"
            )
        }
        (None, true) => "put the text into quotes".to_owned(),
        (None, false) => format!("write `{key}: |` and put the text on the next line, indented"),
    }
}

#[cfg(test)]
#[path = "yaml_trouble_tests.rs"]
mod tests;
