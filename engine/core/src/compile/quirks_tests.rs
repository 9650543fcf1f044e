//! Agent files from the field, each with what it must become: `import/quirks.jsonl`, field by field.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::AgentText;
use crate::diagnostic::{Diagnostic, SourceFile};
use crate::import::import;
use crate::model::{AgentDef, AgentSource, ModelRef, ToolPolicy};
use crate::text::list_some;

const TABLE: &str = include_str!("../import/quirks.jsonl");

/// Rows of other formats, which need importers of their own.
const FOREIGN: &[(&str, &str)] = &[(
    "tools-opencode-map",
    "OpenCode's `tools` and `permission` are mappings; read as ours they'd be an error, which the row can't expect",
)];

/// What a file comes to, the definition also where the tools make it unusable.
struct Read {
    agent: Option<AgentDef>,
    found: Vec<Diagnostic>,
}

fn read(text: &str) -> Read {
    let file = Arc::new(SourceFile::new("agents/file-stem.md", text));
    let mut found = Vec::new();
    let text = AgentText::new(AgentSource::Project, "agents", file);
    let agent = import(&text.file).and_then(|import| {
        found = import.found;
        import.agent.map(|agent| super::agent_def::agent_def(agent, &text, &mut found))
    });
    Read { agent, found }
}

#[test]
fn every_row_of_the_table_becomes_what_it_must() {
    let mut seen = 0;
    for line in TABLE.lines() {
        let row: Map<String, Value> = serde_json::from_str(line).unwrap();
        let id = row["id"].as_str().unwrap();
        if FOREIGN.iter().any(|(foreign, _)| *foreign == id) {
            continue;
        }
        seen += 1;
        let huge = format!("---\nname: a\ndescription: d\n---\n{}", "body line\n".repeat(6_000));
        let file = if id == "huge-body" { &huge } else { row["file"].as_str().unwrap() };
        let read = read(file);
        for (field, expected) in row["expected"].as_object().unwrap() {
            check(id, field, expected, file, &read);
        }
        // A row that speaks of no trouble has none.
        let quiet =
            ["warn", "error", "skip", "error_or_alias"].iter().all(|key| row["expected"].get(key).is_none());
        // That flow lacks a tool is said of every file that names one.
        let lacks = |message: &&str| message.starts_with("flow has no ");
        let noise: Vec<&str> =
            read.found.iter().map(|found| found.message.as_str()).filter(|said| !lacks(said)).collect();
        let harmless = ["tools-flow-multiline", "model-list", "hooks-map", "skills-string"].contains(&id);
        let no_name = row["expected"].get("name") == Some(&Value::from("<file stem>"));
        assert!(!quiet || harmless || no_name || noise.is_empty(), "{id}: {noise:?}");
    }
    assert_eq!(seen + FOREIGN.len(), 46);
}

/// Compares one field of a row's expectation.
fn check(id: &str, field: &str, expected: &Value, file: &str, read: &Read) {
    let said = |part: &str| read.found.iter().any(|found| said_of(found).contains(part));
    let agent = || read.agent.as_ref().unwrap_or_else(|| panic!("{id}: no agent: {:?}", read.found));
    match field {
        "name" if expected == "<file stem>" => assert_eq!(agent().name, "file-stem", "{id}"),
        "name" => assert_eq!(agent().name, *expected, "{id}"),
        "description" => assert_eq!(agent().description, *expected, "{id}"),
        "color" => assert_eq!(Value::from(agent().color.clone()), *expected, "{id}"),
        "skills" => {
            assert_eq!(Value::from(agent().skills.clone()), *expected, "{id}");
            assert!(said("no effect yet"), "{id}: kept, and not given");
        }
        "tools" => assert_eq!(tools(&agent().tools, expected), *expected, "{id}"),
        // Of a list the first counts; `meaning` is said in a warning.
        "model" => {
            let first = expected.get(0).unwrap_or(expected).as_str().unwrap();
            assert_eq!(agent().model, ModelRef::Named(first.to_owned()), "{id}");
        }
        "meaning" => assert!(said("only the first is used"), "{id}"),
        "body" if id == "body-braces" || id == "huge-body" => {
            assert_eq!(agent().body, file.splitn(3, "---\n").nth(2).unwrap(), "{id}");
        }
        // The table leaves out the last newline, which we keep.
        "body" => assert_eq!(agent().body.trim_end_matches('\n'), *expected, "{id}"),
        "hooks" => {
            assert!(import(&Arc::new(SourceFile::new("a.md", file))).unwrap().agent.unwrap().hooks.is_some());
            assert!(said("no effect yet"), "{id}: kept, and not run");
        }
        "skip" => assert!(read.agent.is_none() && read.found.is_empty(), "{id}"),
        "warn" => warned(id, expected, read),
        "error" => {
            let error = read.found.iter().find(|found| found.is_error()).unwrap_or_else(|| panic!("{id}"));
            let parts: &[&str] = match id {
                "no-close" => &["front matter", "never closed"],
                "dup-key" => &["`name` is written twice", "a.md:4"],
                other => panic!("{other} expects an error that this test doesn't know"),
            };
            let place = error.labels[0].file.at(error.labels[0].span.start).replace("file-stem", "a");
            let whole = format!("{place} {}", said_of(error));
            assert!(parts.iter().all(|part| whole.contains(part)), "{id}: {whole}");
        }
        "error_or_alias" => {
            assert!(said("read as `tools`"), "{id}");
            assert_eq!(tools(&agent().tools, &Value::Null), serde_json::json!(["Read"]), "{id}");
        }
        other => panic!("{id}: the table expects `{other}`, which this test doesn't know"),
    }
}

fn warned(id: &str, expected: &Value, read: &Read) {
    let warnings: Vec<String> = read.found.iter().map(said_of).collect();
    let parts: &[&str] = match (id, expected) {
        (_, Value::Bool(true)) => &[],
        ("tools-lowercase", _) => &["no tool `read`", "did you mean `Read`?"],
        ("tools-foreign", _) => &["no tool `search/codebase`, and the agent has no other"],
        ("hash-cuts-desc", _) => &["` #` begins a comment"],
        ("empty-body", _) => &["the system prompt is empty"],
        other => panic!("{other:?} expects a warning that this test doesn't know"),
    };
    let found = warnings.iter().any(|warning| parts.iter().all(|part| warning.contains(part)));
    assert!(found, "{id}: {}", list_some(warnings.iter().map(String::as_str), 9));
    let unusable = ["tools-lowercase", "tools-foreign"].contains(&id);
    assert_eq!(read.found.iter().any(Diagnostic::is_error), unusable, "{id}");
}

fn said_of(found: &Diagnostic) -> String {
    format!("{}; {}", found.message, found.help.as_deref().unwrap_or_default())
}

/// A policy as the table writes it. `*` and no key at all are one policy; the table tells them apart.
fn tools(policy: &ToolPolicy, expected: &Value) -> Value {
    match policy {
        ToolPolicy::Inherit if *expected == "ALL" => Value::from("ALL"),
        ToolPolicy::Inherit => Value::from("INHERIT"),
        ToolPolicy::Only(rules) => rules.iter().map(ToString::to_string).collect(),
    }
}
