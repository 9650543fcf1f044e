//! Agent files as people have them (`tests/agents/`), through the program: what each becomes stands in
//! `tests/corpus/agents.jsonl`, a file a line. `odd`: the place and code of all that is said about it; `agent`: the
//! definition, `null` where there is none that counts.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::support::Flow;

/// What must become of a file.
struct Row {
    /// Its path in `tests/agents/`.
    file: String,
    /// Its path in the project.
    path: String,
    /// `line:column code`.
    odd: Vec<String>,
    agent: Option<Map<String, Value>>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents")
}

/// Flat files are the project's own; the subfolder is Claude Code's, which has some.
fn project_path(file: &str) -> String {
    let folder = if file.contains('/') { ".claude/agents" } else { "agents" };
    format!("{folder}/{file}")
}

fn table() -> Vec<Row> {
    let row = |line: &str| {
        let row: Map<String, Value> = serde_json::from_str(line).unwrap();
        let file = row["file"].as_str().unwrap().to_owned();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let odd = row.get("odd").map_or(Vec::new(), |odd| odd.as_array().unwrap().iter().map(text).collect());
        Row { path: project_path(&file), file, odd, agent: row["agent"].as_object().cloned() }
    };
    include_str!("corpus/agents.jsonl").lines().map(row).collect()
}

/// A project with all of the files, byte for byte.
fn project() -> Flow {
    let flow = Flow::new();
    for row in table() {
        let to = flow.path(&row.path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(folder().join(&row.file), to).unwrap();
    }
    flow
}

fn names(dir: &Path, below: &str, names_of: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => names(&entry.path(), &format!("{name}/"), names_of),
            false => names_of.push(name),
        }
    }
}

#[test]
fn the_table_has_a_row_for_every_file() {
    let mut there = Vec::new();
    names(&folder(), "", &mut there);
    let mut rows: Vec<_> = table().into_iter().map(|row| row.file).collect();
    there.sort();
    rows.sort();
    assert_eq!(there, rows);
    assert!(rows.len() >= 40);
}

#[test]
fn the_files_are_byte_for_byte_what_their_rows_speak_of() {
    let read = |file: &str| fs::read(folder().join(file)).unwrap();
    assert!(read("release-manager.md").windows(2).any(|two| two == b"\r\n"), "CRLF was lost");
    assert!(read("windows-porter.md").starts_with(b"\xef\xbb\xbf---\r\n"), "BOM or CRLF was lost");
    assert!(read("saved-as-utf16.md").starts_with(b"\xff\xfe"));
    assert!(read("sql-tuner.md").starts_with(b"--- \nname:\t"), "blanks were lost");
}

#[test]
fn every_file_becomes_the_agent_that_its_author_meant() {
    let flow = project();
    let list = flow.run(&["agents", "list", "-o", "json"]).exits(0).json();
    let found = |path: &str| list.as_array().unwrap().iter().find(|agent| agent["path"] == path);
    for row in table() {
        let Some(expected) = row.agent else {
            assert_eq!(found(&row.path), None, "{}", row.file);
            continue;
        };
        let agent = found(&row.path).unwrap_or_else(|| panic!("{} is missing", row.file));
        for field in ["name", "description", "model", "tools", "disallowed_tools", "version"] {
            let missing = if field == "disallowed_tools" { json!([]) } else { Value::Null };
            assert_eq!(agent[field], *expected.get(field).unwrap_or(&missing), "{field} of {}", row.file);
        }
        assert_eq!(agent["source"], "project", "{}", row.file);
        assert_eq!(agent["warnings"].as_array().unwrap().len(), row.odd.len(), "{}", row.file);
    }
}

/// The body as `flow` must keep it: all behind the line that closes the front matter.
fn body(file: &str) -> String {
    let text = fs::read_to_string(folder().join(file)).unwrap().replace("\r\n", "\n");
    let marks = |line: &&str| ["---", "+++"].contains(&line.trim_end().trim_start_matches('\u{feff}'));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let closes = lines.iter().enumerate().filter(|(_, line)| marks(line)).nth(1).unwrap().0;
    lines[closes + 1..].concat()
}

#[test]
fn prompts_are_kept_byte_for_byte() {
    let flow = project();
    for row in table() {
        let Some(agent) = row.agent else { continue };
        let shown = flow.run(&["agents", "show", agent["name"].as_str().unwrap(), "-o", "json"]).exits(0);
        assert_eq!(shown.json()["prompt"], body(&row.file), "{}", row.file);
    }
    let long =
        format!("---\nname: long\ndescription: d\n---\n{}", "A line of a long prompt.\n".repeat(2_500));
    flow.write("agents/long.md", &long);
    let shown = flow.run(&["agents", "show", "long", "-o", "json"]).exits(0).json();
    assert_eq!(shown["prompt"].as_str().unwrap().len(), 62_500);
}

/// All that must be said, as `agents/x.md:3:1 W0501`, in the order of files and places.
fn oddities() -> Vec<String> {
    let mut all = Vec::new();
    let mut rows = table();
    rows.sort_by(|one, other| one.path.cmp(&other.path));
    for row in rows {
        all.extend(row.odd.iter().map(|odd| format!("{}:{odd}", row.path)));
    }
    all
}

/// `agents/x.md:3:1 W0501` of `agents/x.md:3:1: warning[W0501]: …; …`; the severity is the code's letter.
fn place_and_code(line: &str) -> String {
    let (place, rest) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
    let (kind, said) = rest.split_once("]: ").unwrap_or_else(|| panic!("{line}"));
    let (severity, code) = kind.split_once('[').unwrap();
    assert_eq!(severity, if code.starts_with('F') { "error" } else { "warning" }, "{line}");
    assert!(said.contains("; "), "what to do is missing: {line}");
    format!("{place} {code}")
}

#[test]
fn check_explains_each_oddity_in_one_line_with_its_place_and_what_to_write() {
    let flow = project();
    let ran = flow.run(&["agents", "check"]).exits(3);
    let lines: Vec<_> = ran.stdout.lines().map(place_and_code).collect();
    assert_eq!(lines, oddities());
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 230, "too long to be read: {line}");
    }
    ran.says(&["44 agents of your own can be used, 10 can't; 17 errors, 37 warnings"]);
    let json = flow.run(&["agents", "check", "-o", "json"]).exits(3).json();
    let entries: Vec<_> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            assert!(
                !found["help"].as_str().unwrap().is_empty() && !found["message"].as_str().unwrap().is_empty()
            );
            let text = |key: &str| found[key].as_str().unwrap();
            format!("{}:{}:{} {}", text("file"), found["line"], found["column"], text("code"))
        })
        .collect();
    assert_eq!(entries, oddities());
}

#[test]
fn without_errors_check_succeeds() {
    let flow = project();
    for row in table().iter().filter(|row| row.odd.iter().any(|odd| odd.contains(" F"))) {
        fs::remove_file(flow.path(&row.path)).unwrap();
    }
    let ran = flow.run(&["agents", "check"]).exits(0);
    assert!(ran.stdout.contains(": warning[") && !ran.stdout.contains(": error["), "{}", ran.stdout);
}

#[test]
fn the_check_of_plans_tells_each_oddity_once_and_errors_only_of_agents_that_a_plan_names() {
    let flow =
        project().plan("tasks:\n  t: { agent: critic, prompt: p }\n  u: { agent: marketer, prompt: p }\n");
    let told = |code: i32| {
        let said = flow.run(&["check"]).exits(code).stderr;
        let lines = said.lines().filter(|line| line.starts_with("agents/")).map(place_and_code);
        lines.collect::<Vec<_>>()
    };
    let as_warning = |odd: &String| match odd.rsplit_once(" F") {
        Some((place, _)) => format!("{place} W0505"),
        None => odd.clone(),
    };
    assert_eq!(told(0), oddities().iter().map(as_warning).collect::<Vec<_>>());
    // Named by two plans and three tasks, it's told with the place that needs it, and only there.
    let needs =
        "flow: 1\ntasks:\n  t: { agent: sandboxed, prompt: p }\n  u: { agent: sandboxed, prompt: p }\n";
    flow.write("plan.yaml", needs);
    flow.write("workflows/w.yaml", needs);
    let said = flow.run(&["check"]).exits(3).stderr;
    for (line, key) in [(5, "isolaton"), (6, "disalowedTools"), (7, "permisionMode"), (8, "maxTurn")] {
        assert_eq!(said.matches(&format!("agents/sandboxed.md:{line}:1")).count(), 1, "{said}");
        assert_eq!(said.matches(&format!("unknown key `{key}`;")).count(), 1, "{said}");
    }
    assert!(said.contains("this task needs agent `sandboxed`"), "{said}");
    assert_eq!(told(3).len(), oddities().len() - 4);
    let json = flow.run(&["check", "-o", "json"]).exits(3).json();
    assert_eq!(json.as_array().unwrap().len(), oddities().len());
}

#[test]
fn a_list_says_which_agents_it_lacks_and_shows_no_snippets() {
    let flow = project();
    let ran = flow.run(&["agents", "list"]).exits(0);
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    ran.says(&["10 agents can't be used: `", "`sandboxed`", "37 warnings", "flow agents check"]);
}

#[test]
fn a_file_that_cannot_be_read_costs_its_own_agent_only() {
    let flow = project().plan("tasks:\n  t: { run: echo fine }\n").model("default:\n  - say: done\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    flow.write("agents.yaml", "flow: 1\ntasks:\n  t: { agent: critic, prompt: p }\n");
    let run = |plan: &str| flow.run(&["run", plan, "--model-script", "model.yaml"]);
    // It might have been the agent that the plan means, so whoever runs agents is told.
    run("agents.yaml").exits(0).says(&["agents/saved-as-utf16.md", "isn't UTF-8", "save it as UTF-8"]);
    flow.write("named.yaml", "flow: 1\ntasks:\n  t: { agent: saved-as-utf16, prompt: p }\n");
    let ran = run("named.yaml").exits(3);
    assert_eq!(ran.stderr.matches("isn't UTF-8").count(), 1, "{}", ran.stderr);
}

#[test]
fn why_of_a_broken_agent_says_each_error_in_one_line() {
    let flow = project();
    let ran = flow.run(&["agents", "why", "sandboxed"]).exits(3);
    let lines: Vec<_> =
        ran.stderr.lines().filter(|line| line.starts_with("agents/")).map(place_and_code).collect();
    assert_eq!(lines, oddities().into_iter().filter(|odd| odd.contains("sandboxed")).collect::<Vec<_>>());
    let shadows = flow.run(&["agents", "why", "critic"]).exits(0).stdout;
    assert_eq!(
        shadows,
        "counts    project   agents/critic.md\nreplaced  project   .claude/agents/team/archive/critic.md\n"
    );
}
