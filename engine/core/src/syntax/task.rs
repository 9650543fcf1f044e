//! Reading the keys of one task.

use std::sync::Arc;

use super::fields::{Field, Reader, first_line};
use super::foreign::Place;
use super::node::{Entry, Node, NodeKind};
use super::place::place_in;
use super::workflow::{check_name, environment};
use super::workflow_file::{
    CheckFile, ExpectFile, MatrixFile, NeedFile, PermissionsFile, PromptText, RetryFile, RunText, TaskKeys,
    Text, TimeoutFile,
};
use super::yaml_trouble::quote_help;
use crate::diagnostic::{Code, Span, Spanned};

/// Keys that mean one task and can't be taken over from `defaults`.
pub(super) const OWN: &[&str] =
    &["description", "needs", "if", "run", "agent", "fork", "prompt", "matrix", "for_each", "as", "key"];

pub(super) const KEYS: &[Field<TaskKeys>] = &[
    Field { name: "run", read: |reader, task, entry| task.run = run(reader, entry) },
    Field { name: "needs", read: |reader, task, entry| task.needs = needs(reader, entry) },
    Field { name: "agent", read: |reader, task, entry| task.agent = reader.any_text(entry) },
    Field { name: "fork", read: |reader, task, entry| task.fork = reader.any_text(entry) },
    Field { name: "prompt", read: |reader, task, entry| task.prompt = prompt(reader, entry) },
    Field { name: "if", read: |reader, task, entry| task.condition = reader.any_text(entry) },
    Field { name: "output", read: |reader, task, entry| task.output = output(reader, entry) },
    Field { name: "env", read: |reader, task, entry| task.env = environment(reader, entry) },
    Field { name: "timeout", read: |reader, task, entry| task.timeout = timeout(reader, entry) },
    Field { name: "retry", read: |reader, task, entry| task.retry = retry(reader, entry) },
    Field {
        name: "continue_on_error",
        read: |reader, task, entry| task.continue_on_error = reader.flag(entry),
    },
    Field { name: "description", read: |reader, task, entry| task.description = reader.any_text(entry) },
    Field { name: "matrix", read: |reader, task, entry| task.matrix = matrix(reader, entry) },
    Field { name: "for_each", read: |reader, task, entry| task.for_each = reader.list_or_text(entry) },
    Field { name: "as", read: |reader, task, entry| task.item_name = item_name(reader, entry) },
    Field { name: "key", read: |reader, task, entry| task.key = reader.any_text(entry) },
    Field { name: "max_parallel", read: |reader, task, entry| task.max_parallel = reader.int(entry) },
    Field { name: "fail_fast", read: |reader, task, entry| task.fail_fast = reader.flag(entry) },
    Field { name: "repair", read: |reader, task, entry| task.repair = reader.int(entry) },
    Field { name: "checks", read: |reader, task, entry| task.checks = Some(checks(reader, entry)) },
    Field {
        name: "artifacts",
        read: |reader, task, entry| task.artifacts = Some(one_or_more(reader, entry)),
    },
    Field { name: "expect", read: |reader, task, entry| task.expect = expect(reader, entry) },
    Field { name: "dir", read: |reader, task, entry| task.dir = reader.any_text(entry) },
    Field { name: "shell", read: |reader, task, entry| task.shell = shell(reader, entry) },
    Field { name: "max_output", read: |reader, task, entry| task.max_output = size(reader, entry) },
    Field { name: "isolation", read: |reader, task, entry| task.isolation = isolation(reader, entry) },
    Field { name: "base", read: |reader, task, entry| task.base = reader.any_text(entry) },
    Field { name: "include", read: |reader, task, entry| task.include = Some(reader.one_or_many(entry)) },
    Field { name: "setup", read: |reader, task, entry| task.setup = Some(reader.one_or_many(entry)) },
    Field { name: "merge", read: |reader, task, entry| merge(reader, task, entry) },
    Field { name: "pool", read: |reader, task, entry| task.pool = reader.any_text(entry) },
    Field { name: "on_lost", read: |reader, task, entry| task.on_lost = reader.text(entry) },
    Field { name: "idempotent", read: |reader, task, entry| task.idempotent = reader.flag(entry) },
    Field { name: "background", read: |reader, task, entry| task.background = reader.flag(entry) },
    Field { name: "model", read: |reader, task, entry| task.model = reader.any_text(entry) },
    Field { name: "tools", read: |reader, task, entry| task.tools = Some(tools(reader, entry)) },
    Field {
        name: "disallowed_tools",
        read: |reader, task, entry| task.disallowed_tools = Some(tools(reader, entry)),
    },
    Field { name: "max_turns", read: |reader, task, entry| task.max_turns = reader.int(entry) },
    Field { name: "permission_mode", read: |reader, task, entry| task.permission_mode = reader.text(entry) },
    Field { name: "permissions", read: |reader, task, entry| task.permissions = permissions(reader, entry) },
];

/// How many keys a task can have.
#[cfg(test)]
pub(crate) const KEY_COUNT: usize = KEYS.len();

/// The keys of a task.
pub(crate) fn task(reader: &mut Reader<'_>, span: Span, entries: Box<[Entry]>) -> TaskKeys {
    let mut keys = TaskKeys { span, ..TaskKeys::default() };
    keys.written = reader.fields(Place::Task, entries, KEYS, &mut keys).into();
    keys
}

/// The keys of `defaults`: those of a task but for what makes it this task.
pub(crate) fn defaults(reader: &mut Reader<'_>, entry: Entry) -> TaskKeys {
    let mut keys = TaskKeys { span: entry.value.span, ..TaskKeys::default() };
    let entries = reader.mapping(entry, "a mapping of a task's keys").unwrap_or_default();
    let (own, shared): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| OWN.contains(&entry.key.as_str()));
    for entry in own {
        let message = format!("`{}` can't stand in `defaults`", entry.key);
        let shell = entry.key == "run" && matches!(entry.value.kind, NodeKind::Map(_));
        reader.problem(Code::UnknownKey, entry.key_span, message).help = Some(match shell {
            true => "write `defaults: { shell: … }`".to_owned(),
            false => "write it on each task that it is meant for".to_owned(),
        });
    }
    keys.written = reader.fields(Place::Defaults, shared.into(), KEYS, &mut keys).into();
    keys
}

/// `isolation`, a word; somebody who writes `true` wants a tree of its own.
fn isolation(reader: &mut Reader<'_>, entry: Entry) -> Option<Text> {
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
fn run(reader: &mut Reader<'_>, entry: Entry) -> Option<RunText> {
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
fn prompt(reader: &mut Reader<'_>, entry: Entry) -> Option<PromptText> {
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

fn needs(reader: &mut Reader<'_>, entry: Entry) -> Box<[NeedFile]> {
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

fn matrix(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<MatrixFile>>> {
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

fn item_name(reader: &mut Reader<'_>, entry: Entry) -> Option<Text> {
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

fn retry(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<RetryFile>>> {
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

fn timeout(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<TimeoutFile>>> {
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
fn merge(reader: &mut Reader<'_>, task: &mut TaskKeys, entry: Entry) {
    let span = reader.shown(&entry);
    let NodeKind::Map(keys) = entry.value.kind else {
        task.merge = reader.text(entry);
        return;
    };
    let (found, mut merge) = (reader.found.len(), MergeFile::default());
    reader.fields(Place::Other("`merge`"), keys, MERGE, &mut merge);
    if merge.how.is_none() && reader.found.len() == found {
        reader.problem(Code::MissingKey, span, "`merge` does not say how").help =
            Some("write `merge: { how: squash, message: … }`".to_owned());
    }
    task.merge = merge.how;
    task.merge_message = merge.message;
}

pub(super) const EXPECT: &[Field<ExpectFile>] = &[
    Field { name: "files", read: |reader, expect, entry| expect.files = reader.one_or_many(entry) },
    Field { name: "changes", read: |reader, expect, entry| expect.changes = reader.flag(entry) },
    Field { name: "denied", read: |reader, expect, entry| expect.denied = reader.flag(entry) },
    Field { name: "that", read: |reader, expect, entry| expect.that = reader.any_text(entry) },
];

fn expect(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<ExpectFile>>> {
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

fn permissions(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Box<PermissionsFile>>> {
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
fn checks(reader: &mut Reader<'_>, entry: Entry) -> Spanned<Vec<CheckFile>> {
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
fn one_or_more(reader: &mut Reader<'_>, entry: Entry) -> Spanned<Vec<Text>> {
    let span = reader.shown(&entry);
    Spanned::new(reader.one_or_many(entry), span)
}

fn tools(reader: &mut Reader<'_>, entry: Entry) -> Spanned<Vec<Text>> {
    let span = reader.shown(&entry);
    Spanned::new(reader.words(entry), span)
}

fn output(reader: &mut Reader<'_>, entry: Entry) -> Option<Node> {
    match entry.value.kind {
        NodeKind::Text { .. } | NodeKind::Map(_) => Some(entry.value),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::List(_) => {
            reader.wrong_type(&entry, "`text`, `json`, `lines`, `pairs` or a JSON Schema");
            None
        }
    }
}

fn size(reader: &mut Reader<'_>, entry: Entry) -> Option<Node> {
    match entry.value.kind {
        NodeKind::Text { .. } | NodeKind::Int(_) => Some(entry.value),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Float(_) | NodeKind::List(_) | NodeKind::Map(_) => {
            reader.wrong_type(&entry, "a number of bytes, or a size such as `64MiB`");
            None
        }
    }
}

/// `shell: bash -e` or `shell: [bash, -e]`.
fn shell(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<Vec<Text>>> {
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
