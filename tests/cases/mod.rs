//! Public bug reports, turned into small cases (`tests/corpus/cases.jsonl` and `cases-2.jsonl`): each line of a case's `expected` is a check here.

mod agents;
mod checkouts;
mod definitions;
mod edges;
mod graph;
mod markup;
mod permissions;
mod process;
mod resume;
mod signals;
mod streams;
mod trees;
mod values;

use serde_json::Value;

use crate::support::{Flow, Ran};

/// The cases that the tests of this folder check.
const CHECKED: &[&str] = &[
    "C01", "C02", "C04", "C05", "C07", "C08", "C10", "C11", "C13", "C14", "C16", "C17", "C19", "C20", "C22",
    "C23", "C25", "C26", "C28", "C29", "C31", "C32", "C34", "C35", "C37", "C38", "C40", "C41", "C43", "C44",
    "C46", "C47", "C49", "C50", "C52", "C53", "C55", "C56", "C58", "C59", "C61", "C62", "C64", "C65", "N01",
    "N03", "N06", "N08", "N10", "N12", "N15", "N16", "N17", "N19", "N21", "N23", "N27", "N29", "N32", "N34",
    "N36", "N37", "N39", "N41", "N43", "N45", "N47", "N48", "N50", "N51", "N53", "N55", "N57", "N59", "N61",
    "N63", "N65", "N67", "N69", "N71", "N72", "N74",
];

fn all() -> Vec<Value> {
    let corpora = [include_str!("../corpus/cases.jsonl"), include_str!("../corpus/cases-2.jsonl")];
    corpora.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The scratch folder of a case and its command.
fn set_up(id: &str) -> (Flow, String) {
    let case = all().into_iter().find(|case| case["id"] == id).unwrap();
    let setup = &case["setup"];
    // Two cases count on the name: they leave the folder and come back to it.
    let mut flow = if setup["folder"] == "p" { Flow::in_folder("p") } else { Flow::new() };
    for (path, text) in setup["files"].as_object().unwrap() {
        flow = flow.file(path, text.as_str().unwrap());
    }
    if setup["git"] == true {
        flow = if flow.exists("a.txt") { flow.repository() } else { flow.git() };
    }
    std::fs::create_dir_all(flow.home().join("state")).unwrap();
    // In the first corpus they are notes for a reader.
    for line in setup["pre"].as_array().unwrap().iter().filter(|_| id.starts_with('N')) {
        flow.shell(line.as_str().unwrap()).exits(0);
    }
    (flow, case["command"].as_str().unwrap().to_owned())
}

/// Sets a case up and runs its command.
fn play(id: &str) -> (Flow, Ran) {
    let (flow, command) = set_up(id);
    let ran = flow.shell(&command);
    (flow, ran)
}

/// The exit codes that the command of a case printed as `rc=CODE`, in order.
fn codes(ran: &Ran) -> Vec<i32> {
    let lines = ran.stdout.lines();
    lines.filter_map(|line| line.rsplit_once("rc=")).filter_map(|(_, code)| code.parse().ok()).collect()
}

/// What standard output holds between two lines that begin with texts; to its end without the second.
#[track_caller]
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from:?} in {text}"));
    if to.is_empty() { rest } else { rest.split_once(to).map_or(rest, |(part, _)| part) }
}

#[test]
fn every_case_of_the_corpus_is_checked() {
    let mut ids: Vec<_> = all().iter().map(|case| case["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    assert_eq!(CHECKED, ids);
    let tests = [
        include_str!("agents.rs"),
        include_str!("checkouts.rs"),
        include_str!("definitions.rs"),
        include_str!("edges.rs"),
        include_str!("graph.rs"),
        include_str!("markup.rs"),
        include_str!("permissions.rs"),
        include_str!("process.rs"),
        include_str!("resume.rs"),
        include_str!("signals.rs"),
        include_str!("streams.rs"),
        include_str!("trees.rs"),
        include_str!("values.rs"),
    ]
    .concat();
    for id in CHECKED {
        assert!(tests.contains(&format!("\"{id}\"")), "no test plays {id}");
    }
}
