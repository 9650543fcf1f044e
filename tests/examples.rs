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
    assert_eq!(names, ["fix-flaky", "quickstart", "review"]);
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

#[test]
fn fix_flaky_hands_back_proved_patches_and_says_which_test_could_not_be_mended() {
    let flow = Flow::new();
    copy(&repository().join("examples/fix-flaky"), &flow, "fix-flaky");
    flow.shell("fix-flaky/demo.sh repo").exits(0);
    let repo = flow.path("repo");
    let files = || git(&repo, &["ls-files", "-cos", "--exclude=.flow"]);
    let before = files();
    let ran = flow.run(&["-C", "repo", "run", "../fix-flaky/plan.yaml"]).exits(1);
    let ran = ran.says(&["fix[quota]", "check_failed", "the service refused"]);

    let run = std::fs::read_dir(repo.join(".flow/runs")).unwrap().next().unwrap().unwrap().path();
    let report = flow.report_of(&run);
    let tasks = report["tasks"].as_array().unwrap();
    let task = |address: &str| tasks.iter().find(|task| task["address"] == address).unwrap();
    let state = |address: &str| task(address)["state"].as_str().unwrap();
    let all = ["fix[order]", "fix[cache]", "fix[quota]", "proof[order]", "proof[cache]", "table"];
    assert_eq!(all.map(state), ["completed", "completed", "failed", "completed", "completed", "completed"]);
    assert!(tasks.iter().all(|task| task["address"] != "proof[quota]" && task["address"] != "fix[sum]"));

    let bases: Vec<_> = all[..3].iter().map(|address| task(address)["dir"].as_str().unwrap()).collect();
    assert!(bases[0] != bases[1] && bases[1] != bases[2], "each has a tree of its own: {bases:?}");
    let transcript =
        |key: &str| std::fs::read_to_string(run.join(format!("tasks/fix.5B{key}.5D/context.jsonl"))).unwrap();
    let refused = "Your work was checked";
    assert!(!transcript("order").contains(refused));
    assert!(transcript("cache").contains(refused) && transcript("cache").contains("there before the test"));

    let table: Vec<String> = serde_json::from_value(ran.json()["table"].clone()).unwrap();
    let words: Vec<Vec<&str>> = table.iter().map(|line| line.split_whitespace().collect()).collect();
    let status: Vec<_> = words.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(status, [("cache", "mended"), ("order", "mended"), ("quota", "failed")]);
    assert!(table.iter().all(|line| line.len() <= 73), "it fits 80 columns with its indent: {table:?}");
    for row in &words {
        let stat = git(&repo, &["diff", "--numstat", &format!("main...{}", row[4])]);
        let stat: Vec<&str> = stat.split_whitespace().collect();
        assert_eq!(stat, [&row[2][1..], &row[3][1..], &format!("tests/{}.sh", row[0])]);
    }

    assert_eq!(
        (files(), git(&repo, &["status", "--porcelain"])),
        (before, String::new()),
        "the checkout is as it was"
    );
    let trees = git(&repo, &["worktree", "list"]);
    assert_eq!(trees.lines().count(), 2, "only the tree of the failed one is kept: {trees}");
    let twenty = |test: &str| format!("for n in $(seq 20); do bash tests/{test}.sh || exit 1; done");
    for key in ["order", "cache"] {
        let patch = run.join(task(&format!("fix[{key}]"))["worktree"]["patch"].as_str().unwrap());
        git(&repo, &["apply", patch.to_str().unwrap()]);
        flow.finish(flow.command_in(&repo, "bash", &["-c", &twenty(key)])).exits(0);
    }
}
