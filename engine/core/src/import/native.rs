//! Our own format, which is Claude Code's with one key more (`flow:`): Markdown with front matter.
//!
//! Real files are messy, so what can be understood is read with a warning. One thing is never guessed: a key that limits
//! an agent must not vanish through a misspelling.

use std::sync::Arc;

use super::agent_file::{AgentFile, ToolsFile};
use super::recover::recover;
use super::{Import, Importer};
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span, Spanned};
use crate::syntax::fields::{Field, Reader, first_line, key_help, snake_case, take_text};
use crate::syntax::foreign::Place;
use crate::syntax::task_values::{cut_by_anchor, cut_by_comment};
use crate::syntax::toml::parse_toml_part;
use crate::syntax::yaml::compose;
use crate::syntax::{
    Entry, MatterKind, Node, NodeKind, Text, hidden_front_matter, place_in, split_front_matter, split_words,
};
use crate::text::{did_you_mean, file_stem, last_name};

/// The format.
pub(super) const IMPORTER: Importer = Importer { takes, read };

/// Pages about agents live in the same folders.
const PAGES: &[&str] = &["readme.md", "contributing.md"];

/// Keys that limit what an agent may do. A near miss of one is an error: ignoring it would widen what the agent may do.
const LIMITS: &[&str] = &["disallowedTools", "permissionMode", "maxTurns", "isolation"];

/// What other programs call them.
const FOREIGN_LIMITS: &[(&[&str], &str)] = &[
    (&["permission", "permissions"], "permissionMode"),
    (
        &["deny", "denied_tools", "deny_tools", "exclude_tools", "excluded_tools", "blocked_tools"],
        "disallowedTools",
    ),
    (&["steps", "max_steps", "max_iterations"], "maxTurns"),
];

/// Spellings of `tools` that are clear enough to be read as it: that can only narrow the set.
const TOOLS_TOO: &[&str] = &["allowed_tools", "allow_tools", "tool", "allowedtools", "tools"];

/// Keys that are read in this spelling only: those that limit, where a guess could widen, and those that start programs.
const EXACT: &[&str] =
    &["tools", "disallowedTools", "permissionMode", "maxTurns", "isolation", "mcpServers", "hooks", "flow"];

/// Keys of other programs that look like one of ours and aren't.
const ELSEWHERE: &[&str] = &["mode"];

/// Keys under `flow:`.
pub(super) const FLOW: &[&str] = &[
    "when_to_use",
    "version",
    "supports_background",
    "extends",
    "template",
    "args",
    "backend",
    "output",
    "timeout",
    "retry",
    "budget",
    "checks",
];

pub(super) const KEYS: &[Field<AgentFile>] = &[
    Field { name: "name", read: |reader, agent, entry| agent.name = optional_text(reader, entry) },
    Field {
        name: "description",
        read: |reader, agent, entry| agent.description = description(reader, entry),
    },
    Field { name: "tools", read: |reader, agent, entry| agent.tools = tools(reader, entry) },
    Field {
        name: "disallowedTools",
        read: |reader, agent, entry| agent.disallowed_tools = tool_words(reader, entry),
    },
    Field { name: "model", read: |reader, agent, entry| agent.model = models(reader, entry) },
    Field { name: "effort", read: |reader, agent, entry| agent.effort = optional_text(reader, entry) },
    Field { name: "permissionMode", read: |reader, agent, entry| agent.permission_mode = reader.text(entry) },
    Field { name: "maxTurns", read: |reader, agent, entry| agent.max_turns = reader.int(entry) },
    Field { name: "isolation", read: |reader, agent, entry| agent.isolation = reader.text(entry) },
    Field { name: "background", read: |reader, agent, entry| agent.background = reader.flag(entry) },
    Field { name: "memory", read: |reader, agent, entry| agent.memory = optional_text(reader, entry) },
    Field { name: "skills", read: |reader, agent, entry| agent.skills = reader.words(entry) },
    Field { name: "mcpServers", read: |_, agent, entry| agent.mcp_servers = Some(entry.value) },
    Field { name: "hooks", read: |_, agent, entry| agent.hooks = Some(entry.value) },
    Field { name: "color", read: |reader, agent, entry| agent.color = optional_text(reader, entry) },
    Field {
        name: "initialPrompt",
        read: |reader, agent, entry| agent.initial_prompt = optional_text(reader, entry),
    },
    Field {
        name: "version",
        read: |reader, agent, entry| {
            let version = optional_text(reader, entry);
            agent.version = agent.version.take().or(version);
        },
    },
    Field { name: "flow", read: flow },
];

/// Everything but those pages: what is looked at is for whoever finds the files to say.
fn takes(name: &str) -> bool {
    let last = last_name(name);
    !PAGES.contains(&last.to_ascii_lowercase().as_str())
}

fn read(file: &Arc<SourceFile>) -> Import {
    let parts = match split_front_matter(file) {
        Ok(Some(parts)) => parts,
        Ok(None) => return Import { agent: None, found: hidden_front_matter(file).into_iter().collect() },
        Err(problem) => return Import { agent: None, found: vec![problem] },
    };
    let file = parts.file;
    let mut reader = Reader::new(&file);
    reader.found = parts.warnings;
    let entries = match parts.kind {
        MatterKind::Yaml => yaml_entries(&mut reader, parts.block.clone()),
        MatterKind::Toml => match parse_toml_part(&file, parts.block.clone()) {
            Ok(node) => mapping(&mut reader, node),
            Err(mut problems) => {
                reader.found.append(&mut problems);
                Vec::new()
            }
        },
    };
    let mut agent = AgentFile::new(&file, file.text[parts.body.clone()].to_owned());
    // Where nothing could be read, what is missing is no news.
    let readable = !entries.is_empty() || !reader.found.iter().any(Diagnostic::is_error);
    let given: Vec<String> =
        entries.iter().filter(|entry| !is_null(&entry.value)).map(|entry| entry.key.to_string()).collect();
    fields(&mut reader, entries, &mut agent);
    if readable {
        let place = Span::new(parts.block.start, parts.block.start);
        look_over(&mut reader, &agent, &given, place, parts.body.start);
    }
    Import { agent: Some(agent), found: reader.found }
}

fn is_null(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Null)
}

/// What a definition should have and lacks. `given`: the keys with a value, of which whatever is wrong has been said.
fn look_over(reader: &mut Reader<'_>, agent: &AgentFile, given: &[String], front: Span, body: usize) {
    let given = |name: &str| given.iter().any(|key| key == name);
    if agent.name.is_none() && !given("name") {
        let stem = file_stem(&reader.file.name).to_owned();
        let message = format!("no `name`, so the file's name stands in: `{stem}`");
        reader.problem(Code::Recovered, front, message).help = Some(format!("write `name: {stem}`"));
    }
    if agent.description.is_none() && !given("description") {
        let message = "no `description`, so nobody can tell when to use it";
        reader.problem(Code::Suspicious, front, message).help =
            Some("write one sentence that begins with \"Use\"".to_owned());
    }
    if agent.body.trim().is_empty() {
        let message = "the system prompt is empty";
        reader.problem(Code::Suspicious, Span::new(body, body), message).help =
            Some("write it below the front matter".to_owned());
    }
}

fn yaml_entries(reader: &mut Reader<'_>, block: std::ops::Range<usize>) -> Vec<Entry> {
    let composed = compose(reader.file, block.clone());
    match composed.node {
        Some(node) => {
            reader.found.extend(composed.problems);
            mapping(reader, node)
        }
        // Not well-formed: one bad line must not cost the others.
        None => recover(reader, block, composed.problems),
    }
}

fn mapping(reader: &mut Reader<'_>, node: Node) -> Vec<Entry> {
    match node.kind {
        NodeKind::Map(entries) => entries.into(),
        NodeKind::Null => Vec::new(),
        NodeKind::Bool(_)
        | NodeKind::Int(_)
        | NodeKind::Float(_)
        | NodeKind::Text { .. }
        | NodeKind::List(_) => {
            let span = first_line(reader.file, node.span);
            reader.problem(Code::WrongType, span, "front matter is a mapping of keys").help =
                Some("write `name: …` and `description: …`".to_owned());
            Vec::new()
        }
    }
}

/// Whether a line that begins with this key begins an entry, for text that isn't YAML.
pub(super) fn begins_entry(key: &str) -> bool {
    known(key) || key.starts_with("x-") || reads_as_tools(key) || near_limit(key).is_some()
}

fn known(key: &str) -> bool {
    KEYS.iter().any(|field| field.name == key)
}

fn reads_as_tools(key: &str) -> bool {
    key != "tools" && TOOLS_TOO.contains(&snake_case(key).trim_matches('_'))
}

/// The limiting key that was probably meant.
fn near_limit(key: &str) -> Option<&'static str> {
    let given = snake_case(key);
    let foreign = FOREIGN_LIMITS.iter().find(|(names, _)| names.contains(&given.as_str()));
    foreign.map(|(_, ours)| *ours).or_else(|| {
        LIMITS.iter().copied().find(|limit| {
            let limit = snake_case(limit);
            given == limit || did_you_mean(&given, [limit.as_str()]).is_some()
        })
    })
}

/// The key that this is in another spelling: `Name`, `initial_prompt`.
fn respelt(key: &str) -> Option<&'static Field<AgentFile>> {
    let apart = |c: char| c == '-' || c == '_' || c.is_whitespace();
    let letters = |key: &str| key.replace(apart, "").to_lowercase();
    let given = letters(key);
    KEYS.iter().find(|field| !EXACT.contains(&field.name) && letters(field.name) == given)
}

/// Whether a key takes words in one line.
pub(super) fn is_words(key: &str) -> bool {
    matches!(key, "tools" | "disallowedTools" | "skills") || reads_as_tools(key)
}

fn fields(reader: &mut Reader<'_>, entries: Vec<Entry>, agent: &mut AgentFile) {
    let (mut known_entries, mut misspelt, mut others) =
        (Vec::with_capacity(entries.len()), Vec::new(), Vec::new());
    for entry in entries {
        if known(&entry.key) {
            known_entries.push(entry);
        } else if reads_as_tools(&entry.key) {
            misspelt.push(entry);
        } else if !entry.key.starts_with("x-") {
            others.push(entry);
        }
    }
    let written = reader.fields(Place::Other("front matter"), known_entries.into(), KEYS, agent);
    let mut written: Vec<&str> = written.into_iter().map(|(name, _)| name).collect();
    for entry in others {
        match respelt(&entry.key).filter(|field| !written.contains(&field.name)) {
            Some(field) => {
                written.push(field.name);
                let message = format!("`{}` is read as `{}`", entry.key, field.name);
                reader.problem(Code::Recovered, entry.key_span, message).help =
                    Some(format!("write `{}`", field.name));
                (field.read)(reader, agent, Entry { key: field.name.into(), ..entry });
            }
            None => unknown_key(reader, &entry),
        }
    }
    for entry in misspelt {
        if agent.tools.is_some() {
            let message = format!("`{}` beside `tools`: which of the two limits the agent?", entry.key);
            reader.problem(Code::KeyConflict, entry.key_span, message).help = Some("keep `tools`".to_owned());
            continue;
        }
        let message = format!("`{}` is read as `tools`", entry.key);
        reader.problem(Code::Recovered, entry.key_span, message).help = Some("write `tools`".to_owned());
        agent.tools = tools(reader, entry);
    }
}

fn unknown_key(reader: &mut Reader<'_>, entry: &Entry) {
    if let Some(limit) = near_limit(&entry.key) {
        let message = format!("unknown key `{}`; it looks like one that limits the agent", entry.key);
        reader.problem(Code::UnknownKey, entry.key_span, message).help =
            Some(format!("did you mean `{limit}`? a key of your own would be `x-{}`", entry.key));
        return;
    }
    let names = KEYS.iter().map(|field| field.name);
    let near = did_you_mean(&entry.key, names).filter(|_| !ELSEWHERE.contains(&entry.key.as_str()));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("take it out, or call it `x-{}`", entry.key),
    };
    let message = format!("unknown key `{}` is ignored", entry.key);
    reader.problem(Code::IgnoredKey, entry.key_span, message).help = Some(help);
}

/// Text whatever YAML makes of it; nothing written is nothing said.
fn optional_text(reader: &mut Reader<'_>, entry: Entry) -> Option<Text> {
    match entry.value.kind {
        NodeKind::Null => None,
        _ => reader.any_text(entry),
    }
}

fn description(reader: &mut Reader<'_>, mut entry: Entry) -> Option<Text> {
    let plain = matches!(entry.value.kind, NodeKind::Text { plain: true, .. });
    if plain {
        take_in_hashes(reader.file, &mut entry.value);
    }
    if let NodeKind::Text { value, plain: true } = &entry.value.kind {
        cut_by_comment(reader, "description", value, entry.value.span);
        cut_by_anchor(reader, "description", value, entry.value.span);
    }
    let text = optional_text(reader, entry)?;
    // Files written by machines have `\n` in plain text, where YAML keeps it as two characters.
    Some(if plain { text.map(|text| text.replace("\\n", "\n")) } else { text })
}

/// `Fix bug #12`: to YAML `#12` is a comment, to everybody else a number. A `#` with a blank behind it stays a comment.
fn take_in_hashes(file: &SourceFile, node: &mut Node) {
    let after = &file.text[node.span.end as usize..];
    let line = after.lines().next().unwrap_or_default();
    let comment = line.match_indices('#').map(|(at, _)| at).find(|at| {
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        blank(line[..*at].chars().next_back()) && blank(line[at + 1..].chars().next())
    });
    let kept = line[..comment.unwrap_or(line.len())].trim_end();
    if let NodeKind::Text { value, .. } = &mut node.kind
        && kept.trim_start().starts_with('#')
    {
        *value = format!("{value}{kept}").into();
        node.span.end = Span::new(0, node.span.end as usize + kept.len()).end;
    }
}

fn models(reader: &mut Reader<'_>, entry: Entry) -> Vec<Text> {
    match entry.value.kind {
        NodeKind::List(items) => reader.elements(&entry.key, items),
        _ => optional_text(reader, entry).into_iter().collect(),
    }
}

fn tools(reader: &mut Reader<'_>, entry: Entry) -> Option<Spanned<ToolsFile>> {
    let span = reader.shown(&entry);
    let wrong = !matches!(entry.value.kind, NodeKind::Null | NodeKind::Text { .. } | NodeKind::List(_));
    if let NodeKind::Map(_) = entry.value.kind {
        reader.wrong_type(&entry, "names of tools").help =
            Some(format!("write all that it may use, such as `{}: Read, Grep`", entry.key));
        return Some(Spanned::new(ToolsFile::Only(Vec::new()), span));
    }
    let words = tool_words(reader, entry);
    // What can't be read grants nothing; the error about it stands anyway.
    let all = !wrong && words.iter().any(|word| word.value == "*");
    Some(Spanned::new(if all { ToolsFile::All } else { ToolsFile::Only(words) }, span))
}

/// Tools in a line or a list; an element of a list may hold several too.
fn tool_words(reader: &mut Reader<'_>, entry: Entry) -> Vec<Text> {
    let NodeKind::List(items) = entry.value.kind else {
        let words = reader.words(entry).into_iter();
        return words.map(|word| word.map(|word| without_quotes(&word).to_owned())).collect();
    };
    let mut words = Vec::with_capacity(items.len());
    for mut item in joined(reader, items) {
        match take_text(reader.file, &mut item) {
            Some(text) => words.extend(split_words(&text.value).into_iter().map(|word| {
                let place = place_in(reader.file, text.span, &text.value, word.clone());
                Spanned::new(text.value[word].to_owned(), place)
            })),
            None => {
                let span = first_line(reader.file, item.span);
                let message = format!("an element of `{}` must be the name of a tool", entry.key);
                reader.problem(Code::WrongType, span, message);
            }
        }
    }
    words
}

/// A word without quotes of its own: `Read, "Grep"` is one text to YAML, and no tool has a quote in its name.
pub(super) fn without_quotes(word: &str) -> &str {
    let inner = |quote| word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(word)
}

/// `[Bash(git log:*, git diff:*)]`: to YAML two elements, to its author one.
fn joined(reader: &mut Reader<'_>, items: Box<[Node]>) -> Vec<Node> {
    let mut whole = Vec::with_capacity(items.len());
    let mut items = items.into_iter();
    while let Some(mut item) = items.next() {
        let Some(more) = goes_on(reader.file, &item, items.as_slice()) else {
            whole.push(item);
            continue;
        };
        item.span.end = items.nth(more).map_or(item.span.end, |last| last.span.end);
        let text = reader.file.slice(item.span).to_owned();
        let message = format!("the list is cut at the comma in `{text}`, which is read as one");
        reader.problem(Code::Recovered, item.span, message).help = Some(format!("write `\"{text}\"`"));
        item.kind = NodeKind::Text { value: text.into(), plain: true };
        whole.push(item);
    }
    whole
}

/// Which of the elements behind this one closes the parenthesis that it leaves open.
fn goes_on(file: &SourceFile, item: &Node, after: &[Node]) -> Option<usize> {
    let depth = |text: &str| text.matches('(').count().checked_sub(text.matches(')').count());
    let plain = |node: &Node| matches!(node.kind, NodeKind::Text { plain: true, .. });
    let is_open = plain(item) && depth(file.slice(item.span)).is_some_and(|depth| depth > 0);
    let until = |last: &Node| file.slice(Span { start: item.span.start, end: last.span.end });
    let last = after
        .iter()
        .take_while(|node| is_open && plain(node))
        .position(|last| depth(until(last)) == Some(0))?;
    (!until(&after[last]).contains('\n')).then_some(last)
}

/// Keys under `flow:` that a task has too; here they have no effect yet.
const OF_TASKS: &[&str] = &["output", "timeout", "retry", "checks"];

/// Our own key.
fn flow(reader: &mut Reader<'_>, agent: &mut AgentFile, entry: Entry) {
    for entry in reader.mapping(entry, "a mapping").unwrap_or_default() {
        match entry.key.as_str() {
            "when_to_use" => agent.when_to_use = optional_text(reader, entry),
            "version" => agent.version = optional_text(reader, entry).or(agent.version.take()),
            "supports_background" => agent.supports_background = reader.flag(entry),
            key if key.starts_with("x-") => {}
            key if FLOW.contains(&key) => {
                let message = format!("`{key}` has no effect yet");
                let help = match OF_TASKS.contains(&key) {
                    true => format!("write `{key}` on the task that the agent works on"),
                    false => "take it out until this program knows it".to_owned(),
                };
                reader.problem(Code::IgnoredKey, entry.key_span, message).help = Some(help);
            }
            key => {
                let message = format!("unknown key `{key}` under `flow` is ignored");
                let help = key_help(Place::Other("`flow`"), key, FLOW.iter().copied());
                reader.problem(Code::IgnoredKey, entry.key_span, message).help = help;
            }
        }
    }
}

#[cfg(test)]
#[path = "native_tests.rs"]
mod tests;
