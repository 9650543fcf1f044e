//! Front matter that isn't YAML, read key by key.
//!
//! The block is cut where a line begins at column 0 with a known key and a colon. Each piece is parsed alone; one that
//! fails is text. So a colon in a description costs a warning, and `tools: [Read, Grep]` below it stays a list.

use std::ops::Range;

use super::native::begins_entry;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::syntax::fields::{Reader, first_line};
use crate::syntax::yaml::{Composed, compose};
use crate::syntax::{Entry, Node, NodeKind};

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

fn read_piece(reader: &mut Reader<'_>, piece: &Piece) -> Vec<Entry> {
    let Composed { node, problems } = compose(reader.file, piece.all.clone());
    let Some(key) = &piece.key else {
        // Whatever stands in front belongs to no key; it's shown rather than guessed at.
        return match node.map(|node| node.kind) {
            Some(NodeKind::Map(entries)) => {
                reader.found.extend(problems);
                entries
            }
            Some(NodeKind::Null) => Vec::new(),
            _ => {
                let span = first_line(reader.file, Span::new(piece.all.start, piece.all.end));
                let message = "what stands above the first key belongs to none and is left out";
                reader.problem(Code::Recovered, span, message).help = Some("take it out".to_owned());
                Vec::new()
            }
        };
    };
    if let Some(Node { kind: NodeKind::Map(entries), .. }) = node {
        reader.found.extend(problems);
        return entries;
    }
    let file = reader.file;
    let key_span = Span::new(key.start, key.end);
    let name = file.text[key.clone()].to_owned();
    if let Some(why) = problems.first() {
        let message = format!("`{name}` isn't YAML, so it's read as plain text: {}", why.message);
        let lines = file.text[piece.all.clone()].trim_end().contains('\n');
        let help = match lines {
            true => Some(format!("write `{name}: |` and put all lines of it below, indented")),
            false => why.help.clone(),
        };
        reader.found.push(Diagnostic::new(Code::Recovered, file, key_span, message).maybe_help(help));
    }
    let colon = key.end + file.text[key.end..].find(':').map_or(0, |colon| colon + 1);
    let written = &file.text[colon..piece.all.end];
    let start = colon + written.len() - written.trim_start().len();
    let written = written.trim();
    let span = Span::new(start, start + written.len());
    vec![Entry { key: name, key_span, value: Node { span, kind: text(written) } }]
}

/// What was written, without the quotes that enclose all of it.
fn text(written: &str) -> NodeKind {
    for quote in ['"', '\''] {
        let inner = written.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            return NodeKind::Text { value: inner.to_owned(), plain: false };
        }
    }
    NodeKind::Text { value: written.to_owned(), plain: true }
}
