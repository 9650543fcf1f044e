//! Reading what stands under the keys of a task, where that is more than a word.

use std::sync::Arc;

use super::fields::{Field, Reader, first_line};
use super::foreign::Place;
use super::node::{Entry, Node, NodeKind, Text};
use super::place::place_in;
use super::task_file::{
    CheckFile, ExpectFile, MatrixFile, NeedFile, PermissionsFile, PromptText, RetryFile, RunText, TimeoutFile,
};
use super::workflow::check_name;
use super::yaml_trouble::quote_help;
use crate::diagnostic::{Code, Span, Spanned};

/// `isolation`, a word; somebody who writes `true` wants a tree of its own.
pub(super) fn isolation(reader: &mut Reader<'_>, entry: Entry) -> Option<Text> {
    if let NodeKind::Bool(wanted) = entry.value.kind {
        let word = if wanted { "worktree" } else { "none" };
        reader.wrong_type(&entry, "a word").help = Some(format!("write `isolation: {word}`"));
        return None;
    }
    reader.text(entry)
}

/// A value that people write without quotes though it is long: `run` and `prompt`.
fn long_text(reader: &mut Reader<'_>, entry: Entry) -> Option<Text> {
    if let NodeKind::Text { value, plain: true } = &entry.value.kind {
        cut_by_comment(reader, &entry.key, value, entry.value.span);
        cut_by_anchor(reader, &entry.key, value, entry.value.span);
    }
    if matches!(entry.value.kind, NodeKind::List(_)) {
        reader.wrong_type(&entry, "text").help =
            Some(format!("write `{}: |` and put the lines under it, indented", entry.key));
        return None;
    }
    reader.text(entry)
}

/// `run: text`, or `run: [program, argument]`.
pub(super) fn run(reader: &mut Reader<'_>, entry: Entry) -> Option<RunText> {
    match entry.value.kind {
        NodeKind::List(_) => {
            let span = reader.shown(&entry);
            Some(RunText::Words(Box::new(Spanned::new(reader.texts(entry), span))))
        }
        _ => long_text(reader, entry).map(RunText::Script),
    }
}

pub(super) const PROMPT: &[Field<Option<Text>>] =
    &[Field { name: "file", read: |reader, file, entry| *file = reader.text(entry) }];

/// `prompt: text`, or `prompt: { file: x.md }`.
pub(super) fn prompt(reader: &mut Reader<'_>, entry: Entry) -> Option<PromptText> {
    let span = reader.shown(&entry);
    let NodeKind::Map(keys) = entry.value.kind else {
        return long_text(reader, entry).map(PromptText::Inline);
    };
    let (found, mut file) = (reader.found.len(), None);
    let written = reader.fields(Place::Other("`prompt`"), keys, PROMPT, &mut file);
    if written.is_empty() && reader.found.len() == found {
        reader.problem(Code::MissingKey, span, "`prompt` names no file").help =
            Some("write `prompt: { file: prompt.md }`".to_owned());
    }
    file.map(PromptText::File)
}

/// A ` #` ends a plain value, and the rest of the line is lost without a word.
pub(crate) fn cut_by_comment(reader: &mut Reader<'_>, key: &str, value: &str, span: Span) {
    let after = &reader.file.text[span.end as usize..];
    let line = after.lines().next().unwrap_or_default();
    let comment = line.trim_start_matches([' ', '\t']);
    if !comment.starts_with('#') || comment.len() == line.len() {
        return;
    }
    let start = span.end as usize + line.len() - comment.len();
    let place = Span::new(start, start + comment.trim_end().len());
    let whole = format!("{value} {}", comment.trim_end());
    let message = format!("` #` begins a comment, so this isn't part of `{key}`");
    let help = format!("{}; for a comment, give it a line of its own", quote_help(Some(key), &whole));
    reader.problem(Code::Suspicious, place, message).help = Some(help);
}

/// `prompt: &x is …`: to YAML `&x` names the value. Where nothing refers to the name it was meant as text.
pub(crate) fn cut_by_anchor(reader: &mut Reader<'_>, key: &str, value: &str, span: Span) {
    let text = &reader.file.text;
    let before = text[..span.start as usize].trim_end_matches([' ', '\t']);
    let anchor = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = before.len() - anchor.len();
    let Some(name) = anchor.strip_prefix('&') else { return };
    if text.contains(&format!("*{name}")) {
        return;
    }
    let message = format!("`{anchor}` names a part of the file, so it isn't part of `{key}`");
    let help = quote_help(Some(key), &format!("{anchor} {value}"));
    reader.problem(Code::Suspicious, Span::new(start, before.len()), message).help = Some(help);
}

pub(super) fn needs(reader: &mut Reader<'_>, entry: Entry) -> Box<[NeedFile]> {
    let file = Arc::clone(reader.file);
    match entry.value.kind {
        NodeKind::Map(entries) => entries
            .into_iter()
            .filter_map(|entry| {
                let task = entry.name();
                let kind = reader.any_text(entry)?;
                Some(NeedFile::new(&file, task, Some(kind)))
            })
            .collect(),
        NodeKind::Text { ref value, .. } if value.contains(',') => {
            let names = value.split(',').map(str::trim).collect::<Vec<_>>().join(", ");
            let span = reader.shown(&entry);
            reader.problem(Code::WrongType, span, "`needs` names one task, or a list of them").help =
                Some(format!("write `needs: [{names}]`"));
            Box::default()
        }
        NodeKind::List(items) if items.iter().any(|item| matches!(item.kind, NodeKind::Map(_))) => {
            let span = first_line(&file, entry.value.span);
            reader.problem(Code::WrongType, span, "an element of `needs` must be text, not a mapping").help =
                Some("with edge types it is one mapping: `needs: { build: done, lint: success }`".to_owned());
            Box::default()
        }
        _ => reader.one_or_many(entry).into_iter().map(|task| NeedFile::new(&file, task, None)).collect(),
    }
}

pub(super) fn matrix(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<MatrixFile>>> {
    let span = reader.shown(&entry);
    let NodeKind::Map(entries) = entry.value.kind else {
        reader.wrong_type(&entry, "a mapping of axes to lists").help =
            Some("write `matrix: { os: [linux, mac] }`".to_owned());
        return None;
    };
    if entries.iter().all(|entry| entry.key == "exclude") {
        reader.problem(Code::BadValue, span, "`matrix` has no axis").help =
            Some("write `matrix: { os: [linux, mac] }`".to_owned());
        return None;
    }
    let mut matrix = MatrixFile { axes: Vec::new(), include: Vec::new(), exclude: Vec::new() };
    for entry in entries {
        match entry.key.as_str() {
            "include" => matrix.include = combinations(reader, entry),
            "exclude" => matrix.exclude = combinations(reader, entry),
            _ => {
                let name = entry.name();
                if let Some(meant) = rule_meant(&name.value) {
                    let message = format!("`{}` is one more axis of this matrix", name.value);
                    reader.problem(Code::Suspicious, name.span, message).help =
                        Some(format!("did you mean `{meant}`?"));
                }
                check_name(reader, "an axis", &name.value, name.span);
                if let Some(values) = reader.list_or_text(entry) {
                    matrix.axes.push((name, values));
                }
            }
        }
    }
    Some(Spanned::new(Box::new(matrix), span))
}

/// The rule that somebody meant whose word YAML makes an axis.
fn rule_meant(axis: &str) -> Option<&'static str> {
    match axis.to_ascii_lowercase().as_str() {
        "includes" | "included" | "inclusions" | "inlcude" | "incude" => Some("include"),
        "excludes" | "excluded" | "exclusions" | "exlcude" | "exlude" => Some("exclude"),
        _ => None,
    }
}

fn combinations(reader: &mut Reader<'_>, entry: Entry) -> Vec<Node> {
    let NodeKind::List(items) = entry.value.kind else {
        reader.wrong_type(&entry, "a list of mappings");
        return Vec::new();
    };
    let (maps, others): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| matches!(item.kind, NodeKind::Map(_)));
    for other in others {
        let span = first_line(reader.file, other.span);
        let message = format!("an element of `{}` must be a mapping of axes to values", entry.key);
        reader.problem(Code::WrongType, span, message);
    }
    maps
}

pub(super) fn item_name(reader: &mut Reader<'_>, entry: Entry) -> Option<Text> {
    let name = reader.any_text(entry)?;
    check_name(reader, "an item", &name.value, name.span).then_some(name)
}

pub(super) const RETRY: &[Field<RetryFile>] = &[
    Field { name: "max", read: |reader, retry, entry| retry.max = reader.int(entry) },
    Field { name: "delay", read: |reader, retry, entry| retry.delay = reader.any_text(entry) },
    Field { name: "backoff", read: |reader, retry, entry| retry.backoff = reader.float(entry) },
    Field { name: "max_delay", read: |reader, retry, entry| retry.max_delay = reader.any_text(entry) },
    Field { name: "jitter", read: |reader, retry, entry| retry.jitter = reader.flag(entry) },
    Field {
        name: "on",
        read: |reader, retry, entry| {
            let span = entry.value.span;
            retry.on = Some(Spanned::new(reader.one_or_many(entry), span));
        },
    },
    Field { name: "if", read: |reader, retry, entry| retry.condition = reader.any_text(entry) },
];

pub(super) fn retry(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<RetryFile>>> {
    let span = reader.shown(&entry);
    let mut retry = RetryFile::default();
    match entry.value.kind {
        NodeKind::Int(number) => retry.max = Some(Spanned::new(number, entry.value.span)),
        NodeKind::Map(entries) => {
            reader.fields(Place::Other("`retry`"), entries, RETRY, &mut retry);
        }
        NodeKind::Null
        | NodeKind::Bool(_)
        | NodeKind::Float(_)
        | NodeKind::Text { .. }
        | NodeKind::List(_) => {
            let problem = reader.wrong_type(&entry, "a number of further attempts, or a mapping");
            problem
                .help
                .get_or_insert_with(|| "write `retry: 2` or `retry: { max: 2, delay: 5s }`".to_owned());
            return None;
        }
    }
    Some(Spanned::new(Box::new(retry), span))
}

pub(super) const TIMEOUT: &[Field<TimeoutFile>] = &[
    Field { name: "run", read: |reader, timeout, entry| timeout.run = reader.any_text(entry) },
    Field { name: "idle", read: |reader, timeout, entry| timeout.idle = reader.any_text(entry) },
    Field { name: "grace", read: |reader, timeout, entry| timeout.grace = reader.any_text(entry) },
];

pub(super) fn timeout(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<TimeoutFile>>> {
    let span = reader.shown(&entry);
    let mut timeout = TimeoutFile::default();
    match entry.value.kind {
        NodeKind::Map(entries) => {
            reader.fields(Place::Other("`timeout`"), entries, TIMEOUT, &mut timeout);
        }
        // A number without a unit is text here, so that the reader of lengths can say what it lacks.
        NodeKind::Text { .. } | NodeKind::Int(_) | NodeKind::Float(_) => {
            timeout.run = reader.any_text(entry);
        }
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::List(_) => {
            reader.wrong_type(&entry, "a length of time such as `10m`, or a mapping").help =
                Some("write `timeout: 10m` or `timeout: { run: 10m, idle: 1m }`".to_owned());
            return None;
        }
    }
    Some(Spanned::new(Box::new(timeout), span))
}

/// `merge` as a mapping.
#[derive(Default)]
pub(super) struct MergeFile {
    how: Option<Text>,
    message: Option<Text>,
}

pub(super) const MERGE: &[Field<MergeFile>] = &[
    Field { name: "how", read: |reader, merge, entry| merge.how = reader.text(entry) },
    Field { name: "message", read: |reader, merge, entry| merge.message = reader.any_text(entry) },
];

/// `merge: squash`, or `merge: { how: squash, message: text }`.
pub(super) fn merge(reader: &mut Reader<'_>, entry: Entry) -> (Option<Text>, Option<Text>) {
    let span = reader.shown(&entry);
    let NodeKind::Map(keys) = entry.value.kind else {
        return (reader.text(entry), None);
    };
    let (found, mut merge) = (reader.found.len(), MergeFile::default());
    reader.fields(Place::Other("`merge`"), keys, MERGE, &mut merge);
    if merge.how.is_none() && reader.found.len() == found {
        reader.problem(Code::MissingKey, span, "`merge` does not say how").help =
            Some("write `merge: { how: squash, message: … }`".to_owned());
    }
    (merge.how, merge.message)
}

pub(super) const EXPECT: &[Field<ExpectFile>] = &[
    Field { name: "files", read: |reader, expect, entry| expect.files = reader.one_or_many(entry) },
    Field { name: "changes", read: |reader, expect, entry| expect.changes = reader.flag(entry) },
    Field { name: "denied", read: |reader, expect, entry| expect.denied = reader.flag(entry) },
    Field { name: "that", read: |reader, expect, entry| expect.that = reader.any_text(entry) },
];

pub(super) fn expect(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<ExpectFile>>> {
    let span = reader.shown(&entry);
    let mut expect = ExpectFile::default();
    let NodeKind::Map(entries) = entry.value.kind else {
        reader.wrong_type(&entry, "a mapping").help =
            Some("write `expect: { files: [out.txt] }` or `expect: { that: … }`".to_owned());
        return None;
    };
    reader.fields(Place::Other("`expect`"), entries, EXPECT, &mut expect);
    Some(Spanned::new(Box::new(expect), span))
}

pub(super) const PERMISSIONS: &[Field<PermissionsFile>] = &[
    Field { name: "allow", read: |reader, rules, entry| rules.allow = reader.words(entry) },
    Field { name: "ask", read: |reader, rules, entry| rules.ask = reader.words(entry) },
    Field { name: "deny", read: |reader, rules, entry| rules.deny = reader.words(entry) },
];

pub(super) fn permissions(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<PermissionsFile>>> {
    let span = reader.shown(&entry);
    let mut rules = PermissionsFile::default();
    let NodeKind::Map(entries) = entry.value.kind else {
        reader.wrong_type(&entry, "a mapping").help =
            Some("write `permissions: { allow: [...], ask: [...], deny: [...] }`".to_owned());
        return None;
    };
    reader.fields(Place::Other("`permissions`"), entries, PERMISSIONS, &mut rules);
    Some(Spanned::new(Box::new(rules), span))
}

/// A check while it is read: its script, its `timeout`.
type Check = (Option<Text>, Option<Text>);

const CHECK: &[Field<Check>] = &[
    Field { name: "run", read: |reader, check, entry| check.0 = reader.text(entry) },
    Field { name: "timeout", read: |reader, check, entry| check.1 = reader.any_text(entry) },
];

/// A script or a list of scripts, each by itself or as `{ run, timeout }`.
pub(super) fn checks(reader: &mut Reader<'_>, entry: Entry) -> Spanned<Vec<CheckFile>> {
    let span = reader.shown(&entry);
    let NodeKind::List(items) = entry.value.kind else {
        let scripts = reader.one_or_many(entry);
        let scripts = scripts.into_iter().map(|run| CheckFile { run, timeout: None });
        return Spanned::new(scripts.collect(), span);
    };
    let mut checks = Vec::with_capacity(items.len());
    for item in items {
        let place = first_line(reader.file, item.span);
        match item.kind {
            NodeKind::Map(keys) => {
                let (found, mut check) = (reader.found.len(), Check::default());
                reader.fields(Place::Other("a check"), keys, CHECK, &mut check);
                let (run, timeout) = check;
                if run.is_none() && reader.found.len() == found {
                    reader.problem(Code::MissingKey, place, "this check runs nothing").help =
                        Some("write `{ run: cargo test, timeout: 5m }`".to_owned());
                }
                checks.extend(run.map(|run| CheckFile { run, timeout }));
            }
            kind => {
                let script = reader.elements(&entry.key, Box::new([Node { span: item.span, kind }]));
                checks.extend(script.into_iter().map(|run| CheckFile { run, timeout: None }));
            }
        }
    }
    Spanned::new(checks, span)
}

/// A text or a list of texts.
pub(super) fn one_or_more(reader: &mut Reader<'_>, entry: Entry) -> Spanned<Vec<Text>> {
    let span = reader.shown(&entry);
    Spanned::new(reader.one_or_many(entry), span)
}

pub(super) fn tools(reader: &mut Reader<'_>, entry: Entry) -> Spanned<Vec<Text>> {
    let span = reader.shown(&entry);
    Spanned::new(reader.words(entry), span)
}

pub(super) fn output(reader: &mut Reader<'_>, entry: Entry) -> Option<Node> {
    match entry.value.kind {
        NodeKind::Text { .. } | NodeKind::Map(_) => Some(entry.value),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::List(_) => {
            reader.wrong_type(&entry, "`text`, `json`, `lines`, `pairs` or a JSON Schema");
            None
        }
    }
}

pub(super) fn size(reader: &mut Reader<'_>, entry: Entry) -> Option<Node> {
    match entry.value.kind {
        NodeKind::Text { .. } | NodeKind::Int(_) => Some(entry.value),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Float(_) | NodeKind::List(_) | NodeKind::Map(_) => {
            reader.wrong_type(&entry, "a number of bytes, or a size such as `64MiB`");
            None
        }
    }
}

/// `shell: bash -e` or `shell: [bash, -e]`.
pub(super) fn shell(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Vec<Text>>> {
    let span = reader.shown(&entry);
    let words = match entry.value.kind {
        NodeKind::Text { ref value, .. } => value
            .split_ascii_whitespace()
            .map(|word| {
                let at = word.as_ptr() as usize - value.as_ptr() as usize;
                let place = place_in(reader.file, entry.value.span, value, at..at + word.len());
                Spanned::new(word.to_owned(), place)
            })
            .collect(),
        NodeKind::List(_) => reader.texts(entry),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::Map(_) => {
            reader.wrong_type(&entry, "the words of a command, such as `bash -e` or `[node, -e]`");
            return None;
        }
    };
    Some(Spanned::new(words, span))
}
