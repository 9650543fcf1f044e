//! Every example runs as its first lines say, without a key.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Flow, git};

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn copy(from: &Path, flow: &Flow, to: &str) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = format!("{to}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            copy(&entry.path(), flow, &name);
        } else {
            flow.write(&name, &std::fs::read_to_string(entry.path()).unwrap());
        }
    }
}

#[test]
fn every_example_is_played_here_and_compiles() {
    let mut names: Vec<_> = std::fs::read_dir(repository().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["quickstart", "review"]);
    for name in names {
        let flow = Flow::new();
        let dir = repository().display().to_string();
        flow.run(&["-C", &dir, "check", &format!("examples/{name}/plan.yaml")]).exits(0);
    }
}

#[test]
fn every_shipped_workflow_runs_by_its_name() {
    let mut names: Vec<_> = std::fs::read_dir(repository().join("workflows"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().replace(".yaml", ""))
        .collect();
    names.sort();
    assert_eq!(names, ["tour"]);
    let flow = Flow::new()
        .file("a.txt", "a\n")
        .model("explore: [{ say: It is a letter. }]\ntour: [{ say: '# A tour' }]\n");
    let ran = flow.run(&["run", "tour", "--model-script", "model.yaml", "-i", "focus=letters"]).exits(0);
    assert_eq!(ran.json(), json!({ "tour": "# A tour" }));
    assert_eq!(flow.report()["counts"]["completed"], 6);
}

#[test]
fn quickstart_explores_in_parallel_and_joins() {
    let flow = Flow::new();
    copy(&repository().join("examples/quickstart"), &flow, "examples/quickstart");
    let ran = flow.run(&["run", "examples/quickstart/plan.yaml"]).exits(0);
    let outputs = ran.json();
    assert_eq!(outputs["files"], 3);
    assert_eq!(outputs["confirmed"].as_array().unwrap().len(), 2);
    assert_eq!(outputs["refuted"].as_array().unwrap().len(), 2);
    let report = flow.report();
    assert_eq!(report["counts"]["completed"], 5);
    assert!(ran.stderr.contains("report.md"), "{}", ran.stderr);
    let explored = ["structure", "tests", "risks"].map(|key| flow.task(&format!("explore[{key}]")));
    for task in &explored {
        assert_eq!(task["state"], "completed");
        assert_eq!(task["denials"], json!(null), "its tools ran on the real files: {task:#}");
        assert!(task["usage"]["tool_uses"].as_u64() > Some(0));
    }
    let transcript = std::fs::read_to_string(flow.newest_run().join("tasks/verify/context.jsonl")).unwrap();
    assert!(transcript.contains("percent // 100"), "the verifier read the file");
    let page = flow.run(&["report", "latest"]).exits(0).stdout;
    assert!(page.contains("explore[risks]") && page.contains("Explore"), "{page}");
}

#[test]
fn review_blocks_a_bad_change_with_its_own_exit_code() {
    let flow = Flow::new();
    copy(&repository().join("examples/review"), &flow, "review");
    flow.shell("review/demo.sh repo").exits(0);
    let ran = flow.run(&["-C", "repo", "run", "../review/plan.yaml"]).exits(8);
    assert_eq!(ran.json()["verdict"], "BLOCK");
    let verdicts: Vec<_> = ran.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["output"]["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["confirmed", "confirmed", "refuted"]);
    assert!(ran.stderr.contains("expect.that"), "{}", ran.stderr);
    assert_eq!(git(&flow.path("repo"), &["status", "--porcelain"]), "", "the repository is as it was");
}
