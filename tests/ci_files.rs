//! The workflows for GitHub that `flow init` writes and that examples bring: what a reviewer of such a file asks for. The
//! linters for it run in `.ci/run`.

use std::path::Path;

use serde_yaml::Value;

use crate::support::{Flow, git};

/// Every CI file: its name and its text.
fn all() -> Vec<(&'static str, String)> {
    let top = Flow::new().git();
    top.run(&["init"]).exits(0).says(&["wrote .github/workflows/flow.yml"]);
    let part = Flow::new().file("ap ps/[one]/x.txt", "").git();
    part.run(&["-C", "ap ps/[one]", "init"])
        .exits(0)
        .says(&["wrote ../../.github/workflows/flow-ap-ps--one-.yml"]);
    let review = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/review/ci.yml");
    vec![
        ("init", top.read(".github/workflows/flow.yml")),
        ("init in a folder", part.read(".github/workflows/flow-ap-ps--one-.yml")),
        ("review", std::fs::read_to_string(review).unwrap()),
    ]
}

fn parsed(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

fn jobs(file: &Value) -> Vec<&Value> {
    file["jobs"].as_mapping().unwrap().values().collect()
}

fn steps(file: &Value) -> Vec<&Value> {
    jobs(file).into_iter().flat_map(|job| job["steps"].as_sequence().unwrap()).collect()
}

/// The steps that use an action, with what they give it.
fn uses<'a>(file: &'a Value, action: &str) -> Vec<&'a Value> {
    let uses = |step: &&Value| step["uses"].as_str().is_some_and(|used| used.starts_with(action));
    steps(file).into_iter().filter(uses).map(|step| &step["with"]).collect()
}

#[test]
fn actions_are_pinned_by_commit_and_the_version_is_said() {
    for (name, text) in all() {
        let lines: Vec<&str> =
            text.lines().filter_map(|line| line.split_once("uses: ")).map(|(_, used)| used).collect();
        assert!(!lines.is_empty(), "{name}");
        for line in lines {
            let (commit, version) = line.split_once('@').unwrap().1.split_once(" # v").unwrap();
            assert!(
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{name}: {line}"
            );
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{name}: {line}");
        }
    }
}

#[test]
fn jobs_end_by_themselves_may_do_little_and_run_once_for_a_commit() {
    for (name, text) in all() {
        let file = parsed(&text);
        assert_eq!(file["permissions"], parsed("{}"), "{name}: nothing is allowed to all jobs");
        assert!(file["concurrency"]["group"].is_string(), "{name}");
        for job in jobs(&file) {
            assert!(job["timeout-minutes"].is_number(), "{name}");
            let allowed = &job["permissions"];
            assert!(allowed.is_null() || *allowed == parsed("contents: read"), "{name}: {allowed:?}");
        }
        // A push to a branch with a pull request would start both.
        let push = &file["on"]["push"];
        assert!(push.is_null() || *push == parsed("branches: [main, master]"), "{name}: {push:?}");
    }
}

#[test]
fn tasks_see_the_history_and_no_token_of_the_checkout() {
    for (name, text) in all() {
        let file = parsed(&text);
        for with in uses(&file, "actions/checkout@") {
            assert_eq!(*with, parsed("{ fetch-depth: 0, persist-credentials: false }"), "{name}");
        }
    }
}

#[test]
fn the_run_is_kept_whatever_became_of_it() {
    for (name, text) in all() {
        let file = parsed(&text);
        let kept = uses(&file, "actions/upload-artifact@");
        let [kept] = kept.as_slice() else { panic!("{name}: {kept:?}") };
        // Without it the action leaves out what begins with a dot.
        assert_eq!(kept["include-hidden-files"], Value::from(true), "{name}");
        let path: Vec<&str> = kept["path"].as_str().unwrap().lines().collect();
        let expected = match name {
            "init" => vec![".flow/runs", "flow.xml"],
            "init in a folder" => vec!["ap ps/[[]one]/.flow/runs", "ap ps/[[]one]/flow.xml"],
            _ => vec![".flow/runs"],
        };
        assert_eq!(path, expected, "{name}");
        assert!(text.contains("if: always()"), "{name}");
    }
}

#[test]
fn without_a_key_nothing_is_run_and_nothing_is_green() {
    for (name, text) in all() {
        let file = parsed(&text);
        for job in jobs(&file) {
            let steps = job["steps"].as_sequence().unwrap();
            let runs = |step: &Value| step["run"].as_str().is_some_and(|run| run.starts_with("flow run"));
            if steps.iter().any(runs) {
                let condition = job["if"].as_str().unwrap();
                assert!(condition.ends_with(".outputs.model == 'true'"), "{name}: {condition}");
            }
        }
        assert!(text.contains("::warning title="), "{name}: it is said");
    }
}

#[test]
fn no_script_is_made_of_what_others_wrote_and_the_source_is_pinned() {
    for (name, text) in all() {
        let file = parsed(&text);
        let scripts: Vec<&str> = steps(&file).iter().filter_map(|step| step["run"].as_str()).collect();
        assert!(scripts.iter().all(|script| !script.contains("${{")), "{name}: {scripts:?}");
        let build: Vec<_> = scripts.iter().filter(|script| script.contains("cargo install")).collect();
        assert!(
            build.len() == 1 && build[0].contains("--locked") && build[0].contains("--rev"),
            "{name}: {build:?}"
        );
    }
}

#[test]
fn the_workflow_of_a_folder_works_in_it_under_a_name_of_its_own() {
    let all = all();
    let file = |name: &str| parsed(&all.iter().find(|(found, _)| *found == name).unwrap().1);
    assert_eq!(file("init in a folder")["defaults"]["run"]["working-directory"], Value::from("ap ps/[one]"));
    assert_eq!(file("init in a folder")["name"], Value::from("flow: ap ps/[one]"));
    assert_eq!((&file("init")["defaults"], &file("init")["name"]), (&Value::Null, &Value::from("flow")));
}

#[test]
fn init_says_what_the_ci_file_needs_when_it_wrote_one() {
    let flow = Flow::new();
    let told = ["FLOW_REPOSITORY and FLOW_REV", "ANTHROPIC_API_KEY or OPENAI_API_KEY"];
    flow.run(&["init"]).exits(0).says(&told);
    let again = flow.run(&["init"]).exits(0);
    assert!(!again.stderr.contains("FLOW_REV"), "{}", again.stderr);
}

/// The example's folder and the repository that it knows.
fn review() -> Flow {
    let flow = Flow::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/review");
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        flow.write(&format!("review/{}", entry.file_name().to_string_lossy()), &text);
    }
    flow.shell("review/demo.sh repo").exits(0);
    flow
}

#[test]
fn a_shallow_clone_gives_no_verdict_and_says_what_it_lacks() {
    let flow = review();
    git(
        &flow.dir(),
        &["clone", "-q", "--depth", "1", &format!("file://{}", flow.path("repo").display()), "shallow"],
    );
    for base in ["HEAD~1", "origin/gone"] {
        let ran = flow
            .run(&["-C", "shallow", "run", "../review/plan.yaml", "-i", &format!("base={base}")])
            .exits(1);
        let ran = ran.says(&["this clone lacks the commit", "fetch-depth: 0"]);
        assert_eq!(ran.json()["verdict"], serde_json::Value::Null);
    }
}

#[test]
fn the_written_reviewer_says_nothing_of_a_change_that_it_does_not_know() {
    let flow = review();
    flow.write("repo/other.py", "x = 1\n");
    git(&flow.path("repo"), &["add", "-A"]);
    git(&flow.path("repo"), &["commit", "-q", "-m", "Another change"]);
    let ran = flow.run(&["-C", "repo", "run", "../review/plan.yaml"]).exits(1);
    assert_eq!(ran.says(&["the script expects a prompt"]).json()["verdict"], serde_json::Value::Null);
}

#[test]
fn a_review_counts_only_what_the_change_itself_brings() {
    let flow = review();
    let repo = flow.path("repo");
    git(&repo, &["branch", "topic"]);
    git(&repo, &["reset", "-q", "--hard", "HEAD~1"]);
    // What came to the base meanwhile is no part of the change.
    flow.write("repo/base.py", "x = 1\n");
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-q", "-m", "Meanwhile"]);
    git(&repo, &["checkout", "-q", "topic"]);
    flow.run(&["-C", "repo", "run", "../review/plan.yaml", "-i", "base=main", "--only", "diff"]).exits(0);
    let diff = flow.run(&["-C", "repo", "logs", "latest", "diff"]).exits(0).stdout;
    assert!(diff.contains("session.py") && !diff.contains("base.py"), "{diff}");
}
