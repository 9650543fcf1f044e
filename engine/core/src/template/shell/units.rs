//! A script cut into bytes and holes.

use std::ops::Range;

use super::super::error::TemplateError;
use super::super::parse::open_hole;
use super::super::scan::{Marker, extent, next_marker};

/// A byte of the script, or a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Byte(u8),
    Hole(usize),
}

/// A script as the lexer sees it.
#[derive(Debug, Default)]
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    /// Where each unit begins in the source, and where the source ends.
    pub(crate) starts: Vec<usize>,
    pub(crate) holes: Vec<Hole>,
    /// The units at which blocks (`${%`) begin.
    pub(crate) blocks: Vec<usize>,
    /// The script in order: plain bytes, and holes by number. Comments of the template language are gone.
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of a script.
#[derive(Debug)]
pub(crate) enum Piece {
    Plain(Range<usize>),
    Hole(usize),
}

/// A hole that was cut out.
#[derive(Debug)]
pub(crate) struct Hole {
    /// Its bytes in the source.
    pub(crate) at: Range<usize>,
    /// What is wrong with the cut itself. It counts unless the hole turns out to stand in a comment.
    pub(crate) fault: Option<TemplateError>,
}

/// How a hole is written as a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// `"${V}"`
    Bare,
    /// `${V}`: quoted already.
    Double,
    /// `'"${V}"'`: leaves the single quotes and returns to them.
    Single,
    /// `'"${V}"$'`: likewise for `$'…'`.
    Ansi,
    /// Not at all: it stands in a comment.
    Comment,
}

/// What a value must be before the script may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Anything.
    Any,
    /// An integer by type: the place is arithmetic, where a shell runs what text holds.
    Integer,
    /// Not the name of a command that runs its arguments as shell text.
    CommandName,
    /// Nothing that begins with `-` or `+`: a shell reads options here, and `-c` runs text.
    NoOption,
}

/// How a hole is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) quoting: Quoting,
    pub(crate) rule: Rule,
    /// Whether a list becomes one word an element.
    pub(crate) spreads: bool,
}

impl Units {
    /// Cuts the holes out. Blocks become bytes; the lexer refuses them outside comments.
    pub(crate) fn cut(source: &str) -> Units {
        let mut cut = Units::default();
        let mut from = 0;
        let mut plain = 0;
        while let Some((start, marker)) = next_marker(source, from) {
            if marker == Marker::Block {
                cut.blocks.push(cut.units.len() + start - plain);
                from = start + 3;
                continue;
            }
            cut.bytes(source, plain..start);
            let (at, fault) = match extent(source, start, marker) {
                Some(at) => (at, None),
                None => never_closed(source, start),
            };
            (from, plain) = (at.end, at.end);
            if marker == Marker::Hole || fault.is_some() {
                cut.pieces.push(Piece::Hole(cut.holes.len()));
                cut.units.push(Unit::Hole(cut.holes.len()));
                cut.starts.push(start);
                cut.holes.push(Hole { at, fault });
            }
        }
        cut.bytes(source, plain..source.len());
        cut.starts.push(source.len());
        cut
    }

    fn bytes(&mut self, source: &str, range: Range<usize>) {
        self.starts.extend(range.clone());
        self.units.extend(source.as_bytes()[range.clone()].iter().map(|byte| Unit::Byte(*byte)));
        self.pieces.push(Piece::Plain(range));
    }
}

/// A hole without an end: as far as its line, so that a comment can hold one.
fn never_closed(source: &str, start: usize) -> (Range<usize>, Option<TemplateError>) {
    let line = source[start..].find('\n').map_or(source.len(), |end| start + end);
    let closed = source[start..line].find("}}").map(|end| start + end + 2);
    (start..closed.unwrap_or(line), Some(open_hole(start)))
}
