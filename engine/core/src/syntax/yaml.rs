//! YAML as our own tree, composed from the parser's events.
//!
//! 1. A scalar means what YAML 1.2's core schema says: `yes`, `no` and `on` are text.
//! 2. Every span is in bytes of the whole file. A copy that an alias makes keeps the place of what it copies.
//! 3. Nothing here recurses on what the file says: the open collections are a stack of at most `DEPTH`.
//! 4. Aliases may copy `COPIES` nodes in all, so a small file can't become a large tree.

use std::ops::Range;
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, StructureStyle};

use super::key::{Key, KeyTable};
use super::node::{Entry, Node, NodeKind};
use super::yaml_keys::{merge, report_duplicates};
use super::yaml_scalar::plain_scalar;
use super::yaml_trouble::{explain, tag_refused};
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span};

const NODES: usize = 2_000_000;
const DEPTH: usize = 64;
const ALIASES: usize = 100;
const COPIES: usize = 50_000;
/// This many bytes of text weigh as much as a node when an alias copies them.
const BYTES_PER_COPY: usize = 64;

/// Reads a file as one YAML document. A file without content is null.
pub fn parse_yaml(file: &Arc<SourceFile>) -> Result<Node, Vec<Diagnostic>> {
    match compose(file, 0..file.text.len()) {
        Composed { node: Some(node), problems } if problems.is_empty() => Ok(node),
        Composed { problems, .. } => Err(problems),
    }
}

/// What a text came to: a tree unless it isn't well-formed, and everything that is wrong with it.
pub(crate) struct Composed {
    /// The tree, without what was refused (tags, second keys).
    pub(crate) node: Option<Node>,
    /// All errors.
    pub(crate) problems: Vec<Diagnostic>,
}

/// Reads a part of a file.
pub(crate) fn compose(file: &Arc<SourceFile>, part: Range<usize>) -> Composed {
    let Some(text) = file.text.get(part.clone()) else {
        return Composed { node: None, problems: Vec::new() };
    };
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    };
    let mut composer = Composer {
        file,
        base: part.start,
        open: Vec::new(),
        root: None,
        anchors: Vec::new(),
        keys: KeyTable::default(),
        nodes: 0,
        aliases: 0,
        copies: 0,
        problems: Vec::new(),
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let went_on = match event {
            Ok((event, span)) => composer.take(event, span),
            Err(error) => {
                let at = part.start + error.marker().byte_offset().unwrap_or(text.len());
                composer.syntax_error(error.kind(), at)
            }
        };
        if went_on.is_err() {
            return Composed { node: None, problems: composer.problems };
        }
    }
    let end = Span::new(part.end, part.end);
    let node = composer.root.unwrap_or(Node { span: end, kind: NodeKind::Null });
    Composed { node: Some(node), problems: composer.problems }
}

/// The rest of the file can't be read; the reason is among the problems.
struct Stop;

struct Composer<'a> {
    file: &'a Arc<SourceFile>,
    base: usize,
    open: Vec<Open>,
    root: Option<Node>,
    /// By the parser's anchor id, which counts from 1.
    anchors: Vec<Anchor>,
    keys: KeyTable,
    nodes: usize,
    aliases: usize,
    copies: usize,
    problems: Vec<Diagnostic>,
}

/// A collection whose end has not come yet.
struct Open {
    start: u32,
    /// The end of its last child so far.
    end: u32,
    style: StructureStyle,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, pending: Pending, merges: bool },
}

/// The key of a mapping that waits for its value.
enum Pending {
    Nothing,
    Named(Key, Span),
    /// Something that can't be a key; its value is dropped.
    Refused,
}

enum Anchor {
    Open,
    Ready { node: Node, weight: usize, height: usize },
    TooLarge,
}

impl Composer<'_> {
    fn take(&mut self, event: Event<'_>, at: granit_parser::Span) -> Result<(), Stop> {
        let span = self.span(&at);
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                if tag.is_some() {
                    self.tag(&at, Some(span));
                }
                let kind = match style {
                    // Something was written, so whoever reads the tree needn't complain of a missing value too.
                    ScalarStyle::Plain if tag.is_some() => {
                        NodeKind::Text { value: value.into(), plain: false }
                    }
                    ScalarStyle::Plain => plain_scalar(value),
                    ScalarStyle::SingleQuoted
                    | ScalarStyle::DoubleQuoted
                    | ScalarStyle::Literal
                    | ScalarStyle::Folded => NodeKind::Text { value: value.into(), plain: false },
                };
                self.count(span)?;
                self.place(Node { span: self.without_final_lines(span, style), kind }, anchor)
            }
            Event::SequenceStart(style, anchor, tag) => {
                if tag.is_some() {
                    self.tag(&at, None);
                }
                self.begin(style, anchor, span, Content::List(Vec::new()))
            }
            Event::MappingStart(style, anchor, tag) => {
                if tag.is_some() {
                    self.tag(&at, None);
                }
                let content = Content::Map { entries: Vec::new(), pending: Pending::Nothing, merges: false };
                self.begin(style, anchor, span, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(id) => self.alias(id, span),
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document begins here";
                self.stop(Code::Malformed, span, message, "one file is one document: take out the `---`")
            }
            _ => Ok(()),
        }
    }

    fn begin(
        &mut self,
        style: StructureStyle,
        anchor: usize,
        span: Span,
        content: Content,
    ) -> Result<(), Stop> {
        self.count(span)?;
        if self.open.len() >= DEPTH {
            return self.too_deep(span);
        }
        self.set_anchor(anchor, Anchor::Open);
        self.open.push(Open { start: span.start, end: span.end, style, anchor, content });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let end = match open.style {
            StructureStyle::Flow => span.end,
            // The parser ends a block where the next thing begins; ours ends with its last child.
            StructureStyle::Block => open.end.max(open.start),
        };
        let kind = match open.content {
            Content::List(items) => NodeKind::List(items.into()),
            Content::Map { mut entries, merges, .. } => {
                report_duplicates(self.file, &mut entries, &mut self.problems);
                if merges {
                    entries = merge(self.file, entries, &mut self.problems);
                }
                NodeKind::Map(entries.into())
            }
        };
        self.place(Node { span: Span { start: open.start, end }, kind }, open.anchor)
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor != 0 {
            let kept = self.keep(&node);
            self.set_anchor(anchor, kept);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.end = open.end.max(node.span.end);
        match &mut open.content {
            Content::List(items) => items.push(node),
            Content::Map { entries, pending, merges } => match std::mem::replace(pending, Pending::Nothing) {
                Pending::Named(key, key_span) => entries.push(Entry { key, key_span, value: node }),
                Pending::Refused => {}
                Pending::Nothing => {
                    *pending = as_key(self.file, node, merges, &mut self.keys, &mut self.problems);
                }
            },
        }
        Ok(())
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), Stop> {
        self.aliases += 1;
        if self.aliases > ALIASES {
            let message = format!("more than {ALIASES} aliases in one file");
            return self.stop(Code::Limit, span, message, "write the repeated part out, or use `defaults:`");
        }
        let (node, weight, height) = match self.anchors.get(id) {
            Some(Anchor::Ready { node, weight, height }) => (node, *weight, *height),
            Some(Anchor::Open) => {
                let message = "an alias inside the very thing that it stands for";
                return self.stop(Code::Malformed, span, message, "write the part out");
            }
            Some(Anchor::TooLarge) | None => return self.too_many_copies(span),
        };
        if self.copies + weight > COPIES {
            return self.too_many_copies(span);
        }
        if self.open.len() + height > DEPTH {
            return self.too_deep(span);
        }
        self.copies += weight;
        let node = node.clone();
        self.count(span)?;
        self.place(node, 0)
    }

    /// Keeps a copy for the aliases to come, unless that alone would be too much.
    fn keep(&mut self, node: &Node) -> Anchor {
        let room = COPIES.saturating_sub(self.copies);
        match weigh(node, room) {
            Some((weight, height)) => {
                self.copies += weight;
                Anchor::Ready { node: node.clone(), weight, height }
            }
            None => Anchor::TooLarge,
        }
    }

    fn set_anchor(&mut self, id: usize, anchor: Anchor) {
        if id == 0 {
            return;
        }
        while self.anchors.len() <= id {
            self.anchors.push(Anchor::TooLarge);
        }
        self.anchors[id] = anchor;
    }

    fn count(&mut self, span: Span) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes <= NODES {
            return Ok(());
        }
        let message = format!("more than {NODES} values in one file");
        self.stop(Code::Limit, span, message, "split the file, or read the data at run time")
    }

    /// `scalar`: the place of the value that has the tag, unless it's a collection.
    fn tag(&mut self, at: &granit_parser::Span, scalar: Option<Span>) {
        let key = self.pending_key().map(str::to_owned);
        let tag = self.span(&at.tag_span().unwrap_or(*at));
        self.problems.push(tag_refused(self.file, tag, scalar, key.as_deref()));
    }

    fn pending_key(&self) -> Option<&str> {
        match &self.open.last()?.content {
            Content::Map { pending: Pending::Named(name, _), .. } => Some(name),
            Content::Map { .. } | Content::List(_) => None,
        }
    }

    fn syntax_error(&mut self, kind: &ErrorKind, at: usize) -> Result<(), Stop> {
        if matches!(kind, ErrorKind::RecursionLimitExceeded) {
            return self.too_deep(Span::new(at, at));
        }
        let flow = self.open.iter().find(|open| open.style == StructureStyle::Flow);
        let flow = flow.map(|open| open.start as usize);
        self.problems.push(explain(self.file, kind, at, flow, self.base));
        Err(Stop)
    }

    fn too_deep(&mut self, span: Span) -> Result<(), Stop> {
        let message = format!("values nested more than {DEPTH} deep");
        self.stop(Code::Limit, span, message, "a plan never needs that depth; check the brackets")
    }

    fn too_many_copies(&mut self, span: Span) -> Result<(), Stop> {
        let message = format!("aliases that copy more than {COPIES} values");
        self.stop(Code::Limit, span, message, "write the repeated part out, or use `defaults:`")
    }

    fn stop(&mut self, code: Code, span: Span, message: impl Into<String>, help: &str) -> Result<(), Stop> {
        self.problems.push(Diagnostic::new(code, self.file, span, message).help(help));
        Err(Stop)
    }

    fn span(&self, at: &granit_parser::Span) -> Span {
        let range = at.byte_range().unwrap_or(0..0);
        Span::new(self.base + range.start, self.base + range.end)
    }

    /// A block scalar's span reaches to the next key; a mark under it should end with its text.
    fn without_final_lines(&self, span: Span, style: ScalarStyle) -> Span {
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let text = self.file.slice(span).trim_end_matches(['\n', '\r', ' ', '\t']);
                Span::new(span.start as usize, span.start as usize + text.len())
            }
            ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => span,
        }
    }
}

fn as_key(
    file: &Arc<SourceFile>,
    node: Node,
    merges: &mut bool,
    keys: &mut KeyTable,
    problems: &mut Vec<Diagnostic>,
) -> Pending {
    match node.kind {
        NodeKind::Text { value, plain } => {
            *merges |= plain && &*value == "<<";
            Pending::Named(keys.key(&value), node.span)
        }
        NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {
            Pending::Named(keys.key(file.slice(node.span)), node.span)
        }
        NodeKind::Null => {
            let written = file.slice(node.span);
            let message =
                if written.is_empty() { "a value without a key" } else { "null can't be a key; quote it" };
            problems.push(Diagnostic::new(Code::Malformed, file, node.span, message));
            Pending::Refused
        }
        NodeKind::List(_) | NodeKind::Map(_) => {
            let what = if matches!(node.kind, NodeKind::List(_)) { "a list" } else { "a mapping" };
            let message = format!("{what} can't be a key");
            let help =
                "text that begins with `{` or `[` needs quotes; a value is filled in with `\"${{ … }}\"`";
            problems.push(Diagnostic::new(Code::Malformed, file, node.span, message).help(help));
            Pending::Refused
        }
    }
}

/// How many nodes a copy makes and how deep it is; `None` when past `room`. The depth of `node` is bounded.
fn weigh(node: &Node, room: usize) -> Option<(usize, usize)> {
    let mut weight = 1;
    let mut height = 0;
    let mut add = |child: &Node, extra: usize| {
        let (more, depth) = weigh(child, room.checked_sub(weight)?)?;
        weight += more + extra / BYTES_PER_COPY;
        height = height.max(depth);
        Some(())
    };
    match &node.kind {
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {}
        NodeKind::Text { value, .. } => weight += value.len() / BYTES_PER_COPY,
        NodeKind::List(items) => {
            for item in items {
                add(item, 0)?;
            }
            height += 1;
        }
        NodeKind::Map(entries) => {
            for entry in entries {
                add(&entry.value, entry.key.len())?;
            }
            height += 1;
        }
    }
    (weight <= room).then_some((weight, height))
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
