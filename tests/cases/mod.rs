//! Public bug reports, turned into small cases (`tests/corpus/cases.jsonl`): each line of a case's `expected` is a check here.

mod agents;
mod graph;
mod process;
mod resume;
mod trees;

use serde_json::Value;

use crate::support::{Flow, Ran};

/// The cases that the tests of this folder check.
const CHECKED: &[&str] = &[
    "C01", "C02", "C04", "C05", "C07", "C08", "C10", "C11", "C13", "C14", "C16", "C17", "C19", "C20", "C22",
    "C23", "C25", "C26", "C28", "C29", "C31", "C32", "C34", "C35", "C37", "C38", "C40", "C41", "C43", "C44",
    "C46", "C47", "C49", "C50", "C52", "C53", "C55", "C56", "C58", "C59", "C61", "C62", "C64", "C65",
];

fn all() -> Vec<Value> {
    include_str!("../corpus/cases.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The scratch folder of a case and its command.
fn set_up(id: &str) -> (Flow, String) {
    let case = all().into_iter().find(|case| case["id"] == id).unwrap();
    let mut flow = Flow::new();
    for (path, text) in case["setup"]["files"].as_object().unwrap() {
        flow = flow.file(path, text.as_str().unwrap());
    }
    if case["setup"]["git"] == true {
        flow = flow.git();
    }
    (flow, case["command"].as_str().unwrap().to_owned())
}

/// Sets a case up and runs its command.
fn play(id: &str) -> (Flow, Ran) {
    let (flow, command) = set_up(id);
    let ran = flow.shell(&command);
    (flow, ran)
}

#[test]
fn every_case_of_the_corpus_is_checked() {
    let mut ids: Vec<_> = all().iter().map(|case| case["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    assert_eq!(CHECKED, ids);
    let tests = [
        include_str!("agents.rs"),
        include_str!("graph.rs"),
        include_str!("process.rs"),
        include_str!("resume.rs"),
        include_str!("trees.rs"),
    ]
    .concat();
    for id in CHECKED {
        assert!(tests.contains(&format!("\"{id}\"")), "no test plays {id}");
    }
}
