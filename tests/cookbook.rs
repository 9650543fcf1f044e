//! The plans of `engine/docs/cookbook.md`, played with written models: each does what its page says.

use serde_json::json;

use crate::docs::{page, plans};
use crate::support::{Flow, Ran, git};

/// A repository in which `make test` fails where there is a file `broken`, and a plan of the cookbook that is not committed.
fn kitchen(name: &str, script: &str) -> Flow {
    let (_, plan) = plans(&page("cookbook.md")).into_iter().find(|(found, _)| found == name).unwrap();
    let flow = Flow::new().file("Makefile", "test:\n\ttest ! -e broken\n").git();
    flow.write(name, &plan);
    flow.write("model.yaml", script);
    flow
}

/// Commits a file.
fn commit(flow: &Flow, path: &str, text: &str) {
    flow.write(path, text);
    git(&flow.dir(), &["add", path]);
    git(&flow.dir(), &["commit", "-q", "-m", path]);
}

fn play(flow: &Flow, name: &str, args: &[&str]) -> Ran {
    flow.run(&[&["run", name, "--model-script", "model.yaml"], args].concat())
}

#[test]
fn exploring_joins_what_was_found_and_says_what_was_not() {
    let script = r###"
"explore[tests]": [{ fail: { status: 400, message: no } }]
explore: [{ say: It begins in main.rs. }]
page:
  - expect: { prompt_contains: "## tests\n(nobody could look at it)" }
    say: "# Overview"
"###;
    let flow = kitchen("explore.yaml", script);
    let areas = ["-i", "areas:=[\"entry points\", \"tests\"]"];
    assert_eq!(play(&flow, "explore.yaml", &areas).exits(0).json(), json!({ "page": "# Overview" }));
    assert_eq!(flow.report()["counts"]["allowed_failures"], 1);
}

#[test]
fn a_review_blocks_what_is_grave_and_needs_the_base() {
    let findings = |grave: bool| {
        format!(
            "review:\n  - call: StructuredOutput\n    with: {{ findings: [{{ place: 'b.txt:1', what: wrong, grave: {grave} }}] }}\n"
        )
    };
    for (grave, code) in [(true, 8), (false, 0)] {
        let flow = kitchen("review.yaml", &findings(grave));
        commit(&flow, "b.txt", "b\n");
        let ran = play(&flow, "review.yaml", &["-i", "base=HEAD~1"]).exits(code);
        let found = json!({ "place": "b.txt:1", "what": "wrong", "grave": grave });
        assert_eq!(ran.json()["findings"], json!([found, found, found]));
    }
    let flow = kitchen("review.yaml", &findings(true));
    assert_eq!(
        play(&flow, "review.yaml", &["-i", "base=HEAD"]).exits(0).json(),
        json!({ "findings": [] }),
        "no change, no review"
    );
    play(&flow, "review.yaml", &["-i", "base=origin/gone"]).exits(1).says(&["fetch-depth: 0"]);
}

#[test]
fn each_fix_is_a_branch_and_who_only_talks_has_none() {
    let script = r#"
"fix[b.txt.1]":
  - call: Write
    with: { file_path: done.txt, content: "done\n" }
  - say: Done.
fix: [{ say: I would mend that. }]
"#;
    let flow = kitchen("fix.yaml", script);
    commit(&flow, "b.txt", "TODO: b\nTODO: c\n");
    let ran = play(&flow, "fix.yaml", &[]).exits(0);
    let branches = ran.json()["branches"].as_array().unwrap().clone();
    assert_eq!(branches.len(), 1, "{branches:?}");
    let branch = branches[0].as_str().unwrap();
    assert_eq!(git(&flow.dir(), &["diff", "--name-only", &format!("main...{branch}")]).trim(), "done.txt");
    assert_eq!(flow.task("fix[b.txt.2]")["reason"], "expectation");
    assert!(!flow.exists("done.txt"), "the checkout is as it was");
}

#[test]
fn the_page_of_the_night_is_written_though_the_tests_fail() {
    let flow = kitchen("nightly.yaml", "words: [{ say: Nothing new. }]\n");
    flow.write("broken", "");
    let ran = play(&flow, "nightly.yaml", &[]).exits(0);
    let text = flow.read("nightly.md");
    assert!(text.contains("Nothing new.\n\n- tests: failed\n- commits: 1\n"), "{text}");
    assert!(text.contains("## The end of the tests\n\n    make"), "{text}");
    assert_eq!(std::fs::read_to_string(ran.json()["page"].as_str().unwrap()).unwrap(), text);
}

#[test]
fn only_the_parts_that_changed_are_tested_and_what_fails_is_explained() {
    let flow = kitchen("parts.yaml", "explain: [{ expect: { prompt_contains: wrong }, say: Line 2. }]\n");
    for part in ["packages/old/Makefile", "packages/good/Makefile", "packages/bad/Makefile"] {
        let rule = if part.contains("bad") { "@echo wrong; false" } else { "@true" };
        commit(&flow, part, &format!("test:\n\t{rule}\n"));
    }
    let ran = play(&flow, "parts.yaml", &["-i", "base=HEAD~2"]).exits(0);
    assert_eq!(ran.json(), json!({ "explained": ["Line 2."] }));
    assert_eq!(flow.task("test[good]")["state"], "completed");
    assert_eq!(flow.report()["counts"]["total"], 4, "parts, two tests, one explanation");
}

#[test]
fn the_comment_is_made_after_a_failure_too_and_nobody_else_has_the_token() {
    for (script, said) in [
        ("look: [{ say: It adds a file. }]\n", "It adds a file.\n"),
        ("look: [{ fail: { status: 400 } }]\n", "The change could not be looked at: provider\n"),
    ] {
        let flow = kitchen("comment.yaml", script);
        flow.write(
            "bin/gh",
            "#!/bin/sh\necho \"$@\" > args\necho $GH_TOKEN | wc -c >> args\ncat > comment\n",
        );
        let path = format!("{}:{}", flow.path("bin").display(), std::env::var("PATH").unwrap());
        let flow = flow.env("CI", "true").env("GH_TOKEN", "t0k3n-of-github").env("PATH", &path);
        let ran = play(&flow, "comment.yaml", &["-i", "number=7", "-i", "base=HEAD"]);
        assert_eq!(flow.read("comment"), said, "{ran:?}");
        assert_eq!(flow.read("args"), "pr comment 7 --body-file -\n16\n");
    }
}
