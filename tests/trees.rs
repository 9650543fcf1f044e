//! Private trees beside other engines, beside other programs that hold git's locks, and in the keys that meet in one task.

use serde_json::{Value, json};

use crate::support::{Flow, Ran};

/// One agent with a `setup`, and `checks` that pass once it has written `new.txt`.
fn prepared_and_checked(isolation: &str, setup: &str, keys: &str, turns: &str) -> (Flow, Ran) {
    let plan = format!(
        "tasks:\n  t:\n    prompt: p\n    isolation: {isolation}\n    setup: ['{setup}']\n    \
         checks: ['echo check >> log.tmp; echo noise', 'test -f ${{{{ \"new.txt\" }}}}']\n    \
         artifacts: ['*.tmp']\n    {keys}\n"
    );
    let write = "  - call: Write\n    with: { file_path: new.txt, content: x }\n";
    let flow = Flow::new()
        .plan(&plan)
        .model(&format!("t:\n{}", turns.replace("  - write\n", write)))
        .file(".gitignore", "*.tmp\n")
        .git();
    let ran = flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]);
    (flow, ran)
}

fn log(flow: &Flow) -> String {
    let kept = flow.task("t")["artifacts"][0]["file"].as_str().unwrap().to_owned();
    std::fs::read_to_string(flow.newest_run().join(kept)).unwrap()
}

#[test]
fn setup_runs_once_in_the_tree_that_checks_look_at_each_time() {
    for isolation in ["worktree", "copy"] {
        let turns = "  - say: first\n  - write\n  - say: second\n";
        let (flow, ran) =
            prepared_and_checked(isolation, "echo setup >> log.tmp; echo noise", "merge: apply", turns);
        ran.exits(0);
        assert_eq!(log(&flow), "setup\ncheck\ncheck\n", "{isolation}");
        let said = flow.run(&["logs", "latest", "t"]).exits(0).stdout;
        assert_eq!(said.trim_end(), "second", "what setup and checks print is not the output");
        assert_eq!((flow.read("new.txt"), flow.exists("log.tmp")), ("x".into(), false));
    }
}

#[test]
fn a_second_attempt_is_set_up_and_checked_in_a_tree_of_its_own() {
    for isolation in ["worktree", "copy"] {
        let turns = "  - say: first\n  - say: again first\n  - write\n  - say: second\n";
        let keys = "retry: { max: 1, delay: 1ms, on: [check_failed] }";
        let (flow, ran) = prepared_and_checked(isolation, "echo setup >> log.tmp", keys, turns);
        ran.exits(0);
        assert_eq!(log(&flow), "setup\ncheck\n", "{isolation}");
        let task = flow.task("t");
        let ends: Vec<&Value> =
            task["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["reason"]).collect();
        assert_eq!(ends, [&json!("check_failed"), &json!(null)]);
        let message = task["attempts"][0]["message"].as_str().unwrap();
        assert!(message.contains("check `test -f ${{ \"new.txt\" }}` failed"), "as it is written: {message}");
    }
}

#[test]
fn where_setup_fails_no_model_is_asked_and_nothing_is_checked() {
    for isolation in ["worktree", "copy"] {
        let (flow, ran) =
            prepared_and_checked(isolation, "echo setup > log.tmp; exit 4", "", "  - say: first\n");
        ran.exits(1).says(&["`setup` failed at", "exit code 4"]);
        let task = flow.task("t");
        assert_eq!((&task["reason"], &task["usage"]["turns"]), (&"setup".into(), &json!(null)), "{task:#}");
        assert_eq!(task["dir"].as_str().map(|dir| dir.ends_with('/')), Some(false), "{isolation}");
    }
}
