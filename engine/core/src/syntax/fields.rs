//! Reading a mapping by a table of its keys. Every problem is collected; nothing stops the reading.

use std::mem;
use std::sync::Arc;

use super::foreign::{Place, advice};
use super::node::Text;
use super::node::{Entry, Node, NodeKind};
use super::place::place_in;
use super::tool_list::split_words;
use super::yaml_trouble::quote_help;
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span, Spanned};
use crate::text::{did_you_mean, list_some};

/// A key and how its value gets into a `T`.
pub(crate) struct Field<T: 'static> {
    /// The key.
    pub(crate) name: &'static str,
    /// Takes the value over.
    pub(crate) read: fn(&mut Reader<'_>, &mut T, Entry),
}

/// About how many problems are collected of one file: nobody reads further, and words for a million take time.
pub(crate) const MOST: usize = 1000;

/// Reads values of one file and collects what is wrong with them.
pub(crate) struct Reader<'a> {
    /// The file.
    pub(crate) file: &'a Arc<SourceFile>,
    /// All problems so far.
    pub(crate) found: Vec<Diagnostic>,
    /// The last problem that found no room.
    dropped: Option<Diagnostic>,
}

impl<'a> Reader<'a> {
    /// A reader without problems.
    pub(crate) fn new(file: &'a Arc<SourceFile>) -> Self {
        Reader { file, found: Vec::new(), dropped: None }
    }

    /// Hands every entry to its field, and reports those that have none. Returns the keys that were written, in order.
    pub(crate) fn fields<T>(
        &mut self,
        place: Place,
        entries: Box<[Entry]>,
        table: &'static [Field<T>],
        target: &mut T,
    ) -> Vec<(&'static str, Span)> {
        let mut written = Vec::with_capacity(entries.len());
        for entry in entries {
            match table.iter().find(|field| entry.key == field.name) {
                Some(field) => {
                    written.push((field.name, entry.key_span));
                    (field.read)(self, target, entry);
                }
                None => self.unknown_key(place, &entry, table.iter().map(|field| field.name)),
            }
        }
        written
    }

    /// Reports a key that doesn't belong here.
    pub(crate) fn unknown_key<'k>(
        &mut self,
        place: Place,
        entry: &Entry,
        known: impl Iterator<Item = &'k str> + Clone,
    ) {
        if self.found.len() >= 2 * MOST {
            return;
        }
        let message = format!("unknown key `{}` in {}", entry.key, place.name());
        let help = key_help(place, &entry.key, known);
        self.problem(Code::UnknownKey, entry.key_span, message).help = help;
    }

    /// Adds a problem; the returned place takes its help. Past `MOST` warnings are dropped, past twice that errors too:
    /// so an error is never lost behind warnings.
    pub(crate) fn problem(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let problem = Diagnostic::new(code, self.file, span, message);
        let room = if problem.is_error() { 2 * MOST } else { MOST };
        if self.found.len() >= room {
            return self.dropped.insert(problem);
        }
        self.found.push(problem);
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Reports a value of the wrong type. `expected` fits after "takes ".
    pub(crate) fn wrong_type(&mut self, entry: &Entry, expected: &str) -> &mut Diagnostic {
        let given = type_name(&entry.value.kind);
        let message = match entry.value.kind {
            NodeKind::Null => format!("`{}` has no value; it takes {expected}", entry.key),
            _ => format!("`{}` takes {expected}, not {given}", entry.key),
        };
        let help = match entry.value.kind {
            NodeKind::Null => Some("write a value, or take the key out".to_owned()),
            NodeKind::Text { ref value, .. } if value.contains("${{") => {
                Some(format!("`{}` is taken as written: it holds no templates", entry.key))
            }
            _ => None,
        };
        let span = self.shown(entry);
        let problem = self.problem(Code::WrongType, span, message);
        problem.help = help;
        problem
    }

    /// Where to point for a value: the value when it stands on one line, else its key.
    pub(crate) fn shown(&self, entry: &Entry) -> Span {
        let span = entry.value.span;
        let text = self.file.slice(span);
        if text.is_empty() || text.contains('\n') { entry.key_span } else { span }
    }

    /// Text, and only text: `true` or `5` need quotes, lest somebody else reads them as something else.
    pub(crate) fn text(&mut self, entry: Entry) -> Option<Text> {
        match entry.value.kind {
            NodeKind::Text { value, .. } => Some(Spanned::new(value.into(), entry.value.span)),
            NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {
                let written = self.file.slice(entry.value.span).to_owned();
                let help = quote_help(None, &written);
                self.wrong_type(&entry, "text").help = Some(help);
                None
            }
            NodeKind::Null | NodeKind::List(_) | NodeKind::Map(_) => {
                self.wrong_type(&entry, "text");
                None
            }
        }
    }

    /// Text whatever YAML makes of it: numbers and truth values as they were written.
    pub(crate) fn any_text(&mut self, mut entry: Entry) -> Option<Text> {
        match take_text(self.file, &mut entry.value) {
            Some(text) => Some(text),
            None => {
                let problem = self.wrong_type(&entry, "text");
                if let NodeKind::List(_) = entry.value.kind {
                    problem.help = Some("write one text, without brackets or `- `".to_owned());
                }
                None
            }
        }
    }

    /// A whole number.
    pub(crate) fn int(&mut self, entry: Entry) -> Option<Spanned<i64>> {
        if let NodeKind::Int(number) = entry.value.kind {
            return Some(Spanned::new(number, entry.value.span));
        }
        let in_quotes = match &entry.value.kind {
            NodeKind::Text { value, .. } => value.trim().parse::<i64>().ok(),
            _ => None,
        };
        let problem = self.wrong_type(&entry, "a whole number");
        if let Some(number) = in_quotes {
            problem.help = Some(format!("write it without quotes: `{number}`"));
        }
        None
    }

    /// A number.
    pub(crate) fn float(&mut self, entry: Entry) -> Option<Spanned<f64>> {
        match entry.value.kind {
            // Whoever writes more than 2^53 here gets a range error anyway.
            #[allow(clippy::cast_precision_loss)]
            NodeKind::Int(number) => Some(Spanned::new(number as f64, entry.value.span)),
            NodeKind::Float(number) => Some(Spanned::new(number, entry.value.span)),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Text { .. }
            | NodeKind::List(_)
            | NodeKind::Map(_) => {
                self.wrong_type(&entry, "a number");
                None
            }
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, entry: Entry) -> Option<Spanned<bool>> {
        if let NodeKind::Bool(flag) = entry.value.kind {
            return Some(Spanned::new(flag, entry.value.span));
        }
        let word = match &entry.value.kind {
            NodeKind::Text { value, .. } => value.to_lowercase(),
            _ => String::new(),
        };
        let meant = match word.as_str() {
            "yes" | "on" | "y" | "true" => Some("write `true`"),
            "no" | "off" | "n" | "false" => Some("write `false`"),
            _ => None,
        };
        let problem = self.wrong_type(&entry, "`true` or `false`");
        problem.help = meant.map(str::to_owned).or(problem.help.take());
        None
    }

    /// A list of texts; nothing after the key is an empty list.
    pub(crate) fn texts(&mut self, entry: Entry) -> Vec<Text> {
        match entry.value.kind {
            NodeKind::Null => Vec::new(),
            NodeKind::List(items) => self.elements(&entry.key, items),
            _ => {
                let written = self.file.slice(entry.value.span).trim().to_owned();
                let scalar = !matches!(entry.value.kind, NodeKind::Map(_)) && !written.contains('\n');
                let help = scalar.then(|| format!("put it in brackets: `[{written}]`"));
                self.wrong_type(&entry, "a list").help = help;
                Vec::new()
            }
        }
    }

    /// A list of texts, or one text that names a single element.
    pub(crate) fn one_or_many(&mut self, mut entry: Entry) -> Vec<Text> {
        match take_text(self.file, &mut entry.value) {
            Some(text) => vec![text],
            None => self.texts(entry),
        }
    }

    /// A list, or one line of words; nothing after the key is an empty list.
    pub(crate) fn words(&mut self, entry: Entry) -> Vec<Text> {
        match entry.value.kind {
            NodeKind::Text { value, .. } => split_words(&value)
                .into_iter()
                .map(|word| {
                    let place = place_in(self.file, entry.value.span, &value, word.clone());
                    Spanned::new(value[word].to_owned(), place)
                })
                .collect(),
            _ => self.texts(entry),
        }
    }

    /// The texts of a list.
    pub(crate) fn elements(&mut self, key: &str, items: Box<[Node]>) -> Vec<Text> {
        let mut texts = Vec::with_capacity(items.len());
        for mut item in items {
            match take_text(self.file, &mut item) {
                Some(text) => texts.push(text),
                None => {
                    let given = type_name(&item.kind);
                    let message = format!("an element of `{key}` must be text, not {given}");
                    let span = first_line(self.file, item.span);
                    self.problem(Code::WrongType, span, message);
                }
            }
        }
        texts
    }

    /// A mapping; nothing after the key is an empty one.
    pub(crate) fn mapping(&mut self, entry: Entry, expected: &str) -> Option<Box<[Entry]>> {
        match entry.value.kind {
            NodeKind::Map(entries) => Some(entries),
            NodeKind::Null => Some(Box::default()),
            _ => {
                self.wrong_type(&entry, expected);
                None
            }
        }
    }

    /// A mapping of names to texts, in order.
    pub(crate) fn text_map(&mut self, entry: Entry) -> Vec<(Text, Text)> {
        let entries = self.mapping(entry, "a mapping of names to values").unwrap_or_default();
        let mut pairs = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = entry.name();
            let value = match entry.value.kind {
                NodeKind::Null => Some(Spanned::new(String::new(), entry.value.span)),
                _ => self.any_text(entry),
            };
            pairs.extend(value.map(|value| (name, value)));
        }
        pairs
    }

    /// A list of any values, or one text that computes it.
    pub(crate) fn list_or_text(&mut self, entry: Entry) -> Option<Node> {
        match entry.value.kind {
            NodeKind::List(_) | NodeKind::Text { .. } => Some(entry.value),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::Map(_) => {
                self.wrong_type(&entry, "a list, or one `${{ … }}`");
                None
            }
        }
    }
}

/// Takes a scalar's text out of it: numbers and truth values as they were written. `None` for null and collections.
pub(crate) fn take_text(file: &SourceFile, node: &mut Node) -> Option<Text> {
    match &mut node.kind {
        NodeKind::Text { value, .. } => Some(Spanned::new(mem::take(value).into(), node.span)),
        NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {
            Some(Spanned::new(file.slice(node.span).to_owned(), node.span))
        }
        NodeKind::Null | NodeKind::List(_) | NodeKind::Map(_) => None,
    }
}

/// So many keys are listed where none is like the one that was given.
const FEW: usize = 12;

/// What to do about an unknown key.
pub(crate) fn key_help<'k>(
    place: Place,
    given: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Option<String> {
    if let Some(advice) = advice(place, given) {
        return Some(advice.to_owned());
    }
    if let Some(odd) = given.chars().find(|c| c.is_whitespace() && *c != ' ') {
        return Some(format!(
            "there is a U+{:04X} in it, which looks like a blank: take it out",
            u32::from(odd)
        ));
    }
    if let Some((key, value)) = given.split_once(':')
        && known.clone().any(|known| known == key)
    {
        let value = if value.is_empty() { "…" } else { value };
        return Some(format!("a blank is missing after `:`: write `{key}: {value}`"));
    }
    let snake = snake_case(given);
    let meant = known.clone().find(|known| *known == snake);
    match meant.or_else(|| did_you_mean(&snake, known.clone())) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        // A long list helps nobody.
        None => (known.clone().count() <= FEW).then(|| format!("known keys: {}", list_some(known, FEW))),
    }
}

/// `maxTurns` and `max-turns` as flow would write them.
pub(crate) fn snake_case(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    for (at, c) in key.char_indices() {
        match c {
            '-' | ' ' => out.push('_'),
            c if c.is_ascii_uppercase() => {
                if at > 0 && !out.ends_with('_') {
                    out.push('_');
                }
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c),
        }
    }
    out
}

/// The kind of a value with its article.
pub(crate) fn type_name(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Null => "nothing",
        NodeKind::Bool(_) => "a truth value",
        NodeKind::Int(_) => "a number",
        NodeKind::Float(_) => "a fraction",
        NodeKind::Text { .. } => "text",
        NodeKind::List(_) => "a list",
        NodeKind::Map(_) => "a mapping",
    }
}

/// A place cut to its first line, so that a mark stays short.
pub(crate) fn first_line(file: &SourceFile, span: Span) -> Span {
    let line = file.slice(span).lines().next().unwrap_or_default();
    Span::new(span.start as usize, span.start as usize + line.trim_end().len())
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
