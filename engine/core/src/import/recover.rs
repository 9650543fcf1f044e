//! Front matter that isn't YAML, read key by key.
//!
//! The block is cut where a line begins at column 0 with a known key and a colon. Each piece is parsed alone; one that
//! fails is text. So a colon in a description costs a warning, and `tools: [Read, Grep]` below it stays a list. A tab in
//! front of a line counts as a blank: nothing else can have been meant.

use std::ops::Range;
use std::sync::Arc;

use super::native::{begins_entry, is_words, without_quotes};
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};
use crate::syntax::fields::{Reader, first_line};
use crate::syntax::yaml::{Composed, compose};
use crate::syntax::yaml_trouble::quoted;
use crate::syntax::{Entry, Node, NodeKind, split_words};

/// Reads a block piece by piece. `reasons`: why the whole isn't YAML.
pub(super) fn recover(reader: &mut Reader<'_>, block: Range<usize>, reasons: Vec<Diagnostic>) -> Vec<Entry> {
    let pieces = pieces(&reader.file.text, block);
    if pieces.iter().all(|piece| piece.key.is_none()) {
        // Nothing to hold on to.
        reader.found.extend(reasons);
        return Vec::new();
    }
    let mut entries: Vec<Entry> = Vec::new();
    for piece in pieces {
        for entry in read_piece(reader, &piece) {
            match entries.iter().find(|earlier| earlier.key == entry.key) {
                None => entries.push(entry),
                Some(first) => {
                    let message = format!("`{}` is written twice", entry.key);
                    let problem = Diagnostic::new(Code::DuplicateKey, reader.file, entry.key_span, message)
                        .label(reader.file, first.key_span, "first here")
                        .help("take one of them out");
                    reader.found.push(problem);
                }
            }
        }
    }
    entries
}

/// A part of the block: from a known key to the line before the next.
struct Piece {
    /// Where the key is; `None` for what stands before the first.
    key: Option<Range<usize>>,
    all: Range<usize>,
}

fn pieces(text: &str, block: Range<usize>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = block.start;
    for line in text[block.clone()].split_inclusive('\n') {
        let key = key_of(line).map(|len| at..at + len);
        let end = at + line.len();
        match pieces.last_mut() {
            Some(last) if key.is_none() => last.all.end = end,
            _ => pieces.push(Piece { key, all: at..end }),
        }
        at = end;
    }
    pieces
}

/// The length of the key that a line begins with, if it begins an entry.
fn key_of(line: &str) -> Option<usize> {
    let colon = line.find(':')?;
    let after = line[colon + 1..].chars().next();
    let key = line[..colon].trim_end();
    (after.is_none_or(char::is_whitespace) && begins_entry(key)).then_some(key.len())
}

fn read_piece(reader: &mut Reader<'_>, piece: &Piece) -> Box<[Entry]> {
    let Composed { node, problems } = compose(reader.file, piece.all.clone());
    let Some(key) = &piece.key else {
        // Whatever stands in front belongs to no key; it's shown rather than guessed at.
        return match node.map(|node| node.kind) {
            Some(NodeKind::Map(entries)) => {
                reader.found.extend(problems);
                entries
            }
            Some(NodeKind::Null) => Box::default(),
            _ => {
                let span = first_line(reader.file, Span::new(piece.all.start, piece.all.end));
                let message = "what stands above the first key belongs to none and is left out";
                reader.problem(Code::Recovered, span, message).help = Some("take it out".to_owned());
                Box::default()
            }
        };
    };
    if let Some(Node { kind: NodeKind::Map(entries), .. }) = node {
        reader.found.extend(problems);
        return entries;
    }
    if let Some(entries) = read_untabbed(reader, key.clone(), piece.all.clone()) {
        return entries;
    }
    let file = reader.file;
    let key_span = Span::new(key.start, key.end);
    let name = file.text[key.clone()].to_owned();
    let colon = key.end + file.text[key.end..].find(':').map_or(0, |colon| colon + 1);
    let written = &file.text[colon..piece.all.end];
    let start = colon + written.len() - written.trim_start().len();
    let written = written.trim();
    let span = Span::new(start, start + written.len());
    let (value, plain) = match inside_quotes(written) {
        Some(value) => (value, false),
        None => (written.to_owned(), true),
    };
    if let Some(why) = problems.first() {
        let message = format!("`{name}` is read as plain text: {}", why.message);
        reader.problem(Code::Recovered, key_span, message).help = Some(as_yaml(&name, &value));
    }
    let kind = NodeKind::Text { value: value.into(), plain };
    Box::from([Entry { key: name.into(), key_span, value: Node { span, kind } }])
}

/// The entries of a piece that is YAML once its lines begin with blanks in place of tabs.
fn read_untabbed(reader: &mut Reader<'_>, key: Range<usize>, piece: Range<usize>) -> Option<Box<[Entry]>> {
    let file = reader.file;
    let tab = piece.start + first_tab(&file.text[piece.clone()])?;
    let mut text = file.text.clone();
    text.replace_range(piece.clone(), &untabbed(&file.text[piece.clone()]));
    // Every byte keeps its place, so the places of the entries hold in the file as it is.
    let composed = compose(&Arc::new(SourceFile::new(file.name.clone(), text)), piece);
    let NodeKind::Map(entries) = composed.node?.kind else { return None };
    let message = format!("a tab indents a line of `{}`, and is read as a blank", &file.text[key]);
    reader.problem(Code::Recovered, Span::new(tab, tab + 1), message).help =
        Some("indent with blanks: YAML allows no tabs there".to_owned());
    for mut problem in composed.problems {
        problem.labels.iter_mut().for_each(|label| label.file = Arc::clone(file));
        reader.found.push(problem);
    }
    Some(entries)
}

/// The first tab that stands before a line's text.
fn first_tab(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let blanks = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        if let Some(tab) = blanks.find('\t') {
            return Some(start + tab);
        }
        start += line.len();
    }
    None
}

fn untabbed(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let written = line.trim_start_matches([' ', '\t']);
        " ".repeat(line.len() - written.len()) + written
    });
    lines.collect()
}

/// What was written between quotes that enclose all of it. Where a quote stands inside, it was meant as one when a letter
/// follows: `'Use when it's late'`, but not `"one" and "two"`.
fn inside_quotes(written: &str) -> Option<String> {
    let quote = written.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    if quote == '"' && !written[1..].contains(quote) {
        // Never closed. (A single quote may be an apostrophe.)
        return Some(unescaped(&written[1..]));
    }
    let inner = written[1..].strip_suffix(quote)?;
    let escaped = if quote == '"' { "\\\"" } else { "''" };
    let bare = inner.replace(escaped, "  ");
    let after = bare.split_once(quote).map(|(_, after)| after);
    let encloses = after.is_none_or(|after| after.starts_with(char::is_alphanumeric));
    encloses.then(|| if quote == '"' { unescaped(inner) } else { inner.replace("''", "'") })
}

/// The text of double quotes; an escape that YAML doesn't know is what it looks like.
fn unescaped(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        let known = match rest.as_str().chars().next().filter(|_| c == '\\') {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some(same @ ('"' | '\\')) => Some(same),
            Some(_) | None => None,
        };
        out.push(known.unwrap_or(c));
        if known.is_some() {
            rest.next();
        }
    }
    out
}

/// What to write, so that YAML reads what we did.
fn as_yaml(key: &str, value: &str) -> String {
    if is_words(key) && value.contains(['"', '\'']) {
        let words: Vec<&str> =
            split_words(value).into_iter().map(|word| without_quotes(&value[word])).collect();
        return format!("write `{key}: {}`", words.join(", "));
    }
    if value.contains('\n') && !matches!(key, "description" | "initialPrompt") {
        return format!("write `{key}` on one line, and begin every key at the left margin");
    }
    match quoted(value) {
        Some(quoted) => format!("write `{key}: {quoted}`"),
        None => format!("write `{key}: |` and the whole text below it, indented"),
    }
}
