//! Reading a manifest: every key known, every value of its type; nothing resolved yet.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::{Field, Reader, first_line};
use super::foreign::{Place, advice};
use super::foreign_file::{ForeignFile, agent_file, foreign_file};
use super::misplaced::{beside_task, beside_tasks, is_task_key};
use super::node::{Entry, Node, NodeKind, Text};
use super::task::{TaskKeys, defaults, task};
use super::task_file::PromptText;
use super::workflow_file::{InputFile, TaskFile, WorkflowFile};
use super::yaml::{Composed, compose};
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span, Spanned};
use crate::text::did_you_mean;

/// The format version that this program reads.
const VERSION: i64 = 1;

/// The longest name of a task or an input.
const NAME_LIMIT: usize = 64;

/// Reads a manifest. A file comes back as long as it is a mapping in YAML, whatever else is wrong with it; it may be
/// used only when no diagnostic is an error.
pub fn workflow(file: &Arc<SourceFile>) -> (Option<WorkflowFile>, Vec<Diagnostic>) {
    let mut reader = Reader::new(file);
    if let Some(found) = agent_file(&file.text) {
        say_foreign(&mut reader, &found, Span::new(0, "---".len()));
        return (None, reader.found);
    }
    let Composed { node, problems } = compose(file, 0..file.text.len());
    let read = node.and_then(|node| plan(&mut reader, node));
    let mut found = problems;
    found.append(&mut reader.found);
    // Keys are read in the file's order but some findings come late; people read from the top.
    found.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span.start));
    (read, found)
}

/// A manifest while it is read.
pub(super) struct Draft {
    version: Option<Span>,
    workflow: WorkflowFile,
}

pub(super) const KEYS: &[Field<Draft>] = &[
    Field { name: "flow", read: |reader, draft, entry| draft.version = version(reader, entry) },
    Field { name: "name", read: |reader, draft, entry| draft.workflow.name = reader.any_text(entry) },
    Field {
        name: "description",
        read: |reader, draft, entry| draft.workflow.description = reader.any_text(entry),
    },
    Field { name: "inputs", read: |reader, draft, entry| draft.workflow.inputs = inputs(reader, entry) },
    Field { name: "secrets", read: |reader, draft, entry| draft.workflow.secrets = secrets(reader, entry) },
    Field { name: "env", read: |reader, draft, entry| draft.workflow.env = environment(reader, entry) },
    Field {
        name: "concurrency",
        read: |reader, draft, entry| draft.workflow.concurrency = reader.int(entry),
    },
    Field { name: "pools", read: |reader, draft, entry| draft.workflow.pools = pools(reader, entry) },
    Field { name: "lock", read: |reader, draft, entry| draft.workflow.lock = reader.any_text(entry) },
    Field {
        name: "defaults",
        read: |reader, draft, entry| draft.workflow.defaults = defaults(reader, entry),
    },
    Field {
        name: "briefing",
        read: |reader, draft, entry| draft.workflow.briefing = briefing(reader, entry),
    },
    Field { name: "tasks", read: |reader, draft, entry| draft.workflow.tasks = tasks(reader, entry) },
    Field { name: "outputs", read: |reader, draft, entry| draft.workflow.outputs = reader.text_map(entry) },
];

const BRIEFING: &[Field<Vec<Text>>] =
    &[Field { name: "file", read: |reader, files, entry| *files = reader.one_or_many(entry) }];

/// `briefing: text`, `{ file: CLAUDE.md }`, `{ file: [CLAUDE.md, AGENTS.md] }`, or a list of these.
fn briefing(reader: &mut Reader<'_>, entry: Entry) -> Vec<PromptText> {
    match entry.value.kind {
        NodeKind::List(parts) => {
            let part = |value| Entry { key: entry.key.clone(), key_span: entry.key_span, value };
            parts.into_iter().flat_map(|value| briefing_part(reader, part(value))).collect()
        }
        _ => briefing_part(reader, entry),
    }
}

fn briefing_part(reader: &mut Reader<'_>, entry: Entry) -> Vec<PromptText> {
    let span = reader.shown(&entry);
    let NodeKind::Map(keys) = entry.value.kind else {
        return reader.any_text(entry).map(PromptText::Inline).into_iter().collect();
    };
    let (found, mut files) = (reader.found.len(), Vec::new());
    reader.fields(Place::Other("`briefing`"), keys, BRIEFING, &mut files);
    if files.is_empty() && reader.found.len() == found {
        reader.problem(Code::MissingKey, span, "`briefing` names no file").help =
            Some("write a text, or `briefing: { file: CLAUDE.md }`".to_owned());
    }
    files.into_iter().map(PromptText::File).collect()
}

fn plan(reader: &mut Reader<'_>, node: Node) -> Option<WorkflowFile> {
    let span = node.span;
    let entries = match node.kind {
        NodeKind::Map(entries) => entries,
        NodeKind::Null => {
            no_tasks(reader, span);
            return None;
        }
        NodeKind::Bool(_)
        | NodeKind::Int(_)
        | NodeKind::Float(_)
        | NodeKind::Text { .. }
        | NodeKind::List(_) => {
            let span = first_line(reader.file, span);
            reader.problem(Code::WrongType, span, "a plan is a mapping of keys").help =
                Some("begin with `flow: 1` and `tasks:`".to_owned());
            return None;
        }
    };
    if !entries.iter().any(|entry| entry.key == "flow")
        && let Some(found) = foreign_file(&entries)
    {
        let top = first_line(reader.file, span);
        say_foreign(reader, &found, top);
        return None;
    }
    let has_tasks = entries.iter().any(|entry| entry.key == "tasks");
    // Whoever wrote `jobs` or `task` has tasks; they hear of the key only.
    let means_tasks = |entry: &Entry| {
        advice(Place::Plan, &entry.key).is_some_and(|said| said.contains("`tasks`"))
            || did_you_mean(&entry.key, ["tasks"]).is_some()
    };
    let tasks_elsewhere = entries.iter().any(means_tasks);
    let mut draft = Draft {
        version: None,
        workflow: WorkflowFile {
            file: Arc::clone(reader.file),
            name: None,
            description: None,
            inputs: Vec::new(),
            secrets: Vec::new(),
            env: Vec::new(),
            concurrency: None,
            pools: Vec::new(),
            lock: None,
            briefing: Vec::new(),
            defaults: TaskKeys::default(),
            tasks: Vec::new(),
            outputs: Vec::new(),
        },
    };
    let top = first_line(reader.file, span);
    // Places for what `*` repeats: their content counts where it is repeated.
    let is_own = |key: &str| key.starts_with("x-") || key.starts_with('.');
    let mut entries: Vec<Entry> = entries.into_iter().filter(|entry| !is_own(&entry.key)).collect();
    beside_tasks(reader, &mut entries, KEYS);
    reader.fields(Place::Plan, entries.into(), KEYS, &mut draft);
    if draft.version.is_none() {
        reader.problem(Code::MissingKey, top, "the plan doesn't say which format it has").help =
            Some(format!("begin it with `flow: {VERSION}`"));
    }
    if !has_tasks && !tasks_elsewhere {
        no_tasks(reader, top);
    }
    Some(draft.workflow)
}

fn say_foreign(reader: &mut Reader<'_>, found: &ForeignFile, span: Span) {
    let message = format!("this is {} ({}), not a plan", found.what, found.by);
    reader.problem(Code::MissingKey, span, message).help = Some(found.help.to_owned());
}

fn no_tasks(reader: &mut Reader<'_>, span: Span) {
    reader.problem(Code::NoTasks, span, "plan has no tasks").help =
        Some("write at least one: `tasks: { hello: { run: echo hello } }`".to_owned());
}

fn version(reader: &mut Reader<'_>, entry: Entry) -> Option<Span> {
    // Whatever it says, the key is there: a wrong version is reported once.
    let span = entry.key_span;
    if !matches!(entry.value.kind, NodeKind::Int(VERSION)) {
        let written = reader.file.slice(entry.value.span).to_owned();
        let place = reader.shown(&entry);
        let message = match entry.value.kind {
            NodeKind::Null => "`flow` has no value; it takes the version of the format".to_owned(),
            _ => format!("this program reads format {VERSION}, not `{written}`"),
        };
        reader.problem(Code::BadValue, place, message).help = Some(format!("write `flow: {VERSION}`"));
    }
    Some(span)
}

/// `pools`: names to whole numbers.
fn pools(reader: &mut Reader<'_>, entry: Entry) -> Vec<(Text, Spanned<i64>)> {
    let expected = "a mapping of names to numbers, such as `{ model: 3 }`";
    let entries = reader.mapping(entry, expected).unwrap_or_default();
    let mut pools = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = entry.name();
        check_name(reader, "a pool", &name.value, name.span);
        pools.extend(reader.int(entry).map(|slots| (name, slots)));
    }
    pools
}

fn secrets(reader: &mut Reader<'_>, entry: Entry) -> Vec<Text> {
    let names = reader.texts(entry);
    for name in &names {
        if !is_identifier(&name.value) {
            let message = format!("`{}` can't name a secret", name.value);
            reader.problem(Code::BadName, name.span, message).help =
                Some("a secret is an environment variable: letters, digits and `_`".to_owned());
        }
    }
    names
}

/// `env`: names to texts, each name one that an environment can have.
pub(crate) fn environment(reader: &mut Reader<'_>, entry: Entry) -> Vec<(Text, Text)> {
    let pairs = reader.text_map(entry);
    for (name, _) in &pairs {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            let message = format!("`{}` can't name an environment variable", name.value);
            reader.problem(Code::BadName, name.span, message);
        }
    }
    pairs
}

pub(super) const INPUT: &[Field<InputFile>] = &[
    Field { name: "type", read: |reader, input, entry| input.kind = reader.any_text(entry) },
    Field { name: "description", read: |reader, input, entry| input.description = reader.any_text(entry) },
    Field { name: "default", read: |_, input, entry| input.default = Some(entry.value) },
    Field {
        name: "enum",
        read: |reader, input, entry| {
            let span = entry.value.span;
            match entry.value.kind {
                NodeKind::List(choices) => input.choices = Some(Spanned::new(choices, span)),
                _ => {
                    reader.wrong_type(&entry, "a list");
                }
            }
        },
    },
    Field { name: "minimum", read: |_, input, entry| input.minimum = Some(entry.value) },
    Field { name: "maximum", read: |_, input, entry| input.maximum = Some(entry.value) },
    Field { name: "required", read: |reader, input, entry| input.required = reader.flag(entry) },
];

fn inputs(reader: &mut Reader<'_>, entry: Entry) -> Vec<InputFile> {
    let entries = reader.mapping(entry, "a mapping of names to inputs").unwrap_or_default();
    let mut inputs = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut input = InputFile {
            name: entry.name(),
            kind: None,
            description: None,
            default: None,
            choices: None,
            minimum: None,
            maximum: None,
            required: None,
        };
        match entry.value.kind {
            // `name:` alone is a string without a default.
            NodeKind::Null => {}
            NodeKind::Map(keys) => {
                reader.fields(Place::Other("an input"), keys, INPUT, &mut input);
            }
            _ => {
                let help = format!("write `{}: {{ type: string, default: … }}`", entry.key);
                reader.wrong_type(&entry, "a mapping such as `{ type: string }`").help = Some(help);
            }
        }
        inputs.push(input);
    }
    check_names(reader, "an input", inputs.iter().map(|input| (input.name.value.as_str(), input.name.span)));
    inputs
}

fn tasks(reader: &mut Reader<'_>, entry: Entry) -> Vec<TaskFile> {
    let key_span = entry.key_span;
    let entries = match entry.value.kind {
        NodeKind::Map(entries) => entries,
        NodeKind::Null => Box::default(),
        NodeKind::List(_) => {
            reader.wrong_type(&entry, "a mapping of names to tasks").help =
                Some("write `NAME:` in place of each `- `".to_owned());
            return Vec::new();
        }
        NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::Text { .. } => {
            reader.wrong_type(&entry, "a mapping of names to tasks");
            return Vec::new();
        }
    };
    if entries.is_empty() {
        no_tasks(reader, key_span);
    }
    let mut tasks: Vec<TaskFile> = Vec::with_capacity(entries.len());
    for entry in entries {
        let before = tasks.last().map(|task| task.id.value.as_str());
        if beside_task(reader, &entry, before) {
            continue;
        }
        let id = Spanned::new(entry.key.clone(), entry.key_span);
        let keys = match entry.value.kind {
            NodeKind::Map(keys) => task(reader, entry.value.span, keys),
            _ => {
                let unspaced = match &entry.value.kind {
                    NodeKind::Text { value, .. } => value.split_once(':').filter(|(key, _)| is_task_key(key)),
                    _ => None,
                };
                let help = match unspaced {
                    Some((key, _)) => format!("a blank is missing after `{key}:`"),
                    None => format!("write `{}: {{ run: … }}`", entry.key),
                };
                reader.wrong_type(&entry, "a mapping of keys").help = Some(help);
                continue;
            }
        };
        tasks.push(TaskFile { id, keys });
    }
    check_names(reader, "a task", tasks.iter().map(|task| (task.id.value.as_str(), task.id.span)));
    tasks
}

/// Names are identifiers, and no two differ only in the case of their letters: a file system could take them for one.
fn check_names<'n>(reader: &mut Reader<'_>, what: &str, names: impl Iterator<Item = (&'n str, Span)>) {
    let mut lower: HashMap<String, (&str, Span)> = HashMap::new();
    for (name, span) in names {
        if !check_name(reader, what, name, span) {
            continue;
        }
        if let Some((first, first_span)) = lower.insert(name.to_lowercase(), (name, span)) {
            let message = format!("`{first}` and `{name}` differ only in case");
            let file = Arc::clone(reader.file);
            let problem = reader.problem(Code::BadName, span, message);
            *problem = problem.clone().label(&file, first_span, "the other one").help("rename one of them");
        }
    }
}

/// Checks a name that expressions use; false when it is reported.
pub(crate) fn check_name(reader: &mut Reader<'_>, what: &str, text: &str, span: Span) -> bool {
    if is_identifier(text) && text.len() <= NAME_LIMIT {
        return true;
    }
    let message = if text.len() > NAME_LIMIT {
        format!(
            "the name of {what} may have {NAME_LIMIT} characters, and this one has {}",
            text.chars().count()
        )
    } else {
        format!("`{text}` can't name {what}: letters, digits and `_`, no digit first")
    };
    let mended: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mended = if mended.starts_with(|c: char| c.is_ascii_digit()) { format!("_{mended}") } else { mended };
    let help = match text.chars().find(|c| !c.is_ascii()) {
        _ if text.len() > NAME_LIMIT => None,
        // It may look just like a letter.
        Some(c) => Some(format!("`{c}` is U+{:04X}; write the name in ASCII", u32::from(c))),
        None => mended.chars().any(|c| c != '_').then(|| format!("write `{mended}`")),
    };
    reader.problem(Code::BadName, span, message).help = help;
    false
}

/// `[A-Za-z_][A-Za-z0-9_]*`.
fn is_identifier(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(word) && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
#[path = "workflow_tests.rs"]
mod tests;
