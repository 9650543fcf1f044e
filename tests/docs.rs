//! The pages of `engine/docs` and the README: their plans are checked and the cookbook's run, their links lead somewhere, and
//! their tables of what only the program itself lists say what it lists. The tables of words and keys are held against
//! the compiler's own lists beside it, in the `docs_tests` of flow-core.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Flow;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn page(name: &str) -> String {
    fs::read_to_string(root().join("engine/docs").join(name)).unwrap()
}

/// Every page with its folder.
fn pages() -> Vec<(PathBuf, String)> {
    let folder = root().join("engine/docs");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.push(root().join("README.md"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The fenced texts of a language.
fn fenced<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let open = format!("```{language}\n");
    page.split(&*open).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The plans of a page, with the names that they give themselves in their first line.
pub fn plans(page: &str) -> Vec<(String, String)> {
    let named = |text: &str| {
        let first = text.lines().next().unwrap_or_default();
        first.strip_prefix("# ").filter(|name| name.ends_with(".yaml")).unwrap_or("plan.yaml").to_owned()
    };
    let all = fenced(page, "yaml").into_iter().filter(|text| text.lines().any(|line| line == "flow: 1"));
    all.map(|text| (named(text), text.to_owned())).collect()
}

/// The first cells of the rows under a heading.
fn keys(page: &str, heading: &str) -> BTreeSet<String> {
    let page = format!("\n{page}");
    let section = page.split(&format!("\n{heading}\n")).nth(1).unwrap_or_else(|| panic!("{heading}"));
    let section = section.split("\n## ").next().unwrap();
    let rows =
        section.lines().filter_map(|line| line.strip_prefix("| ")).filter(|row| !row.starts_with("--"));
    rows.skip(1).map(|row| row.split(" |").next().unwrap().replace('`', "")).collect()
}

#[test]
fn every_plan_of_a_page_passes_the_check_without_a_warning() {
    let mut seen = 0;
    for (path, text) in pages() {
        for (name, plan) in plans(&text) {
            let flow = Flow::new().file(&name, &plan).git().env("ANTHROPIC_API_KEY", "k");
            let checked = flow.run(&["check", &name]).exits(0);
            assert!(checked.stderr.contains("0 warnings"), "{}: {}", path.display(), checked.stderr);
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn every_settings_example_is_read() {
    for name in ["settings.md", "models.md"] {
        for text in fenced(&page(name), "toml") {
            let flow = Flow::new();
            let own = flow.home().join("config/flow");
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join("flow.toml"), text).unwrap();
            let told = flow.run(&["doctor"]).stdout;
            assert!(told.contains("ok flow.toml  fine"), "{name}: {text}\n{told}");
        }
    }
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    for (path, text) in pages() {
        for target in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let to = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(to.exists(), "{}: {target}", path.display());
            let slug = |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            let found = heading.is_empty()
                || fs::read_to_string(&to)
                    .unwrap()
                    .lines()
                    .any(|line| line.starts_with('#') && slug(line) == heading);
            assert!(found, "{}: {target}", path.display());
        }
    }
}

#[test]
fn the_index_names_every_page_and_the_readme_the_index() {
    let index = page("README.md");
    for (path, _) in pages().iter().filter(|(path, _)| path.ends_with(".md")) {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(name == "README.md" || index.contains(&format!("]({name})")), "{name}");
    }
    assert!(fs::read_to_string(root().join("README.md")).unwrap().contains("](engine/docs"));
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let help = Flow::new().run(&["--help"]).exits(0).stdout;
    let block = help.split("Exit codes:\n").nth(1).unwrap();
    let words: Vec<&str> = block.split_whitespace().map(|word| word.trim_matches(',')).collect();
    let codes: BTreeSet<String> =
        words.iter().filter(|word| word.parse::<u8>().is_ok()).map(|word| (*word).to_owned()).collect();
    assert_eq!(keys(&page("ci.md"), "## Exit codes"), codes);
}

#[test]
fn commands_that_are_named_exist() {
    let flow = Flow::new();
    let help = flow.run(&["--help"]).exits(0).stdout;
    for command in keys(&page("run-folder.md"), "## Commands that read it") {
        let name = command.strip_prefix("flow ").unwrap();
        assert!(help.contains(&format!("\n  {name} ")), "{command}");
    }
}

#[test]
fn the_agents_that_are_built_in_are_named() {
    let flow = Flow::new();
    let listed = flow.run(&["agents", "list", "-o", "json"]).exits(0).json();
    let known: BTreeSet<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|agent| agent["source"] == "built-in")
        .map(|agent| agent["name"].as_str().unwrap())
        .collect();
    let page = page("agents.md");
    let item = page.split("1. built in:").nth(1).unwrap().split("\n2. ").next().unwrap();
    assert_eq!(item.split('`').skip(1).step_by(2).collect::<BTreeSet<_>>(), known);
}

#[test]
fn variables_are_those_of_the_help() {
    let flow = Flow::new();
    let helps =
        ["run", "resume", "check", "ps"].map(|command| flow.run(&[command, "--help"]).exits(0).stdout);
    let all = helps.concat();
    let named = all.split("[env:").skip(1).map(|rest| rest.split('=').next().unwrap().trim().to_owned());
    assert_eq!(keys(&page("settings.md"), "## Variables"), named.collect::<BTreeSet<_>>());
}

/// The names in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn files_of_a_run_are_in_the_tables() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  \
             long: { run: 'echo ${{ \"x\" | file }}; touch a; echo a=1 > $FLOW_OUTPUT', output: pairs, artifacts: a }\n  \
             look: { prompt: { file: p.md }, tools: [Write], isolation: worktree, merge: patch }\n",
        )
        .file("p.md", "Look.\n")
        .model("look: [{ call: Write, with: { file_path: b, content: b } }, { say: done }]\n")
        .git();
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    let page = page("run-folder.md");
    let known = |heading: &str| -> BTreeSet<String> {
        keys(&page, heading).into_iter().map(|name| name.trim_end_matches('/').to_owned()).collect()
    };
    let run = flow.newest_run();
    let lacking = &names(&run) - &known("# The folder of a run");
    assert!(lacking.is_empty(), "{lacking:?}");
    for task in ["long", "look"] {
        let lacking = &names(&run.join("tasks").join(task)) - &known("## tasks/ADDRESS/");
        assert!(lacking.iter().all(|name| name.starts_with("1.")), "{task}: {lacking:?}");
    }
}
