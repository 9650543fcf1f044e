//! `if` of tasks that become many: asked of the task, or of each instance.

use serde_json::{Value, json};

use crate::support::Flow;

/// Areas, of which the one of low risk is not reviewed.
const REVIEW: &str = r#"
tasks:
  plan:
    run: |
      echo '[{"id":"auth","risk":"high"},{"id":"docs","risk":"low"},{"id":"api","risk":"high"}]'
    output: json
  review:
    for_each: ${{ tasks.plan.output }}
    as: area
    key: ${{ area.id }}
    if: area.risk != "low"
    run: |
      echo ${{ area.id }} >> ran.txt
      test ${{ area.id }} != api || test ! -e broken
      echo ${{ area.id }}
outputs:
  done: ${{ tasks.review.output }}
  all: ${{ tasks.review.results | map(attribute="status") | list }}
"#;

fn state(flow: &Flow, task: &str) -> (Value, Value) {
    let task = flow.task(task);
    (task["state"].clone(), task["reason"].clone())
}

#[test]
fn an_instance_whose_condition_is_false_is_skipped_and_its_siblings_go_on() {
    let flow = Flow::new().plan(REVIEW);
    let ran = flow.run(&["run", "plan.yaml", "-j", "1"]).exits(0).says(&["3 completed, 1 skipped"]);
    assert_eq!(ran.json(), json!({ "done": ["auth", "api"], "all": ["completed", "skipped", "completed"] }));
    assert_eq!(state(&flow, "review[docs]"), ("skipped".into(), "condition".into()));
    assert_eq!(flow.read("ran.txt"), "auth\napi\n");
    assert!(flow.run(&["plan", "plan.yaml"]).exits(0).stdout.contains("each if    area.risk != \"low\""));
}

#[test]
fn a_task_whose_instances_are_all_skipped_completes_with_an_empty_list() {
    let plan =
        REVIEW.replace("area.risk != \"low\"", "key == \"none\"") + "  behind: ${{ tasks.behind.output }}\n";
    let plan =
        plan.replace("outputs:", "  behind: { needs: { review: completed }, run: echo ran }\noutputs:");
    let flow = Flow::new().plan(&plan);
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.json(), json!({ "done": [], "all": ["skipped", "skipped", "skipped"], "behind": "ran" }));
    assert_eq!(state(&flow, "review"), ("completed".into(), Value::Null));
    assert!(!flow.exists("ran.txt"));
}

#[test]
fn a_condition_that_names_no_item_is_asked_before_the_list_is_made() {
    // There is no such list, so whoever makes it fails.
    let plan = |condition: &str| {
        format!(
            "tasks:\n  plan: {{ run: \"echo '{{}}'\", output: json }}\n  m:\n    \
             for_each: ${{{{ tasks.plan.output.areas }}}}\n    if: {condition}\n    run: echo\n"
        )
    };
    let flow = Flow::new().plan(&plan("tasks.plan.output.go | default(false)"));
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(state(&flow, "m"), ("skipped".into(), "condition".into()));
    flow.write("plan.yaml", &format!("flow: 1\n{}", plan("item and false")));
    flow.run(&["run", "plan.yaml"]).exits(1);
    assert_eq!(state(&flow, "m"), ("failed".into(), "expression".into()));
}

#[test]
fn combinations_of_a_matrix_are_asked_one_by_one() {
    let flow = Flow::new().plan(
        "tasks:\n  m:\n    matrix: { os: [x, y], level: [1, 2] }\n    \
         if: matrix.os == \"x\" or key == \"y,2\"\n    run: echo ${{ key }}\n\
         outputs: { ran: \"${{ tasks.m.output }}\" }\n",
    );
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.json(), json!({ "ran": ["x,1", "x,2", "y,2"] }));
    assert_eq!(state(&flow, "m[y,1]"), ("skipped".into(), "condition".into()));
}

#[test]
fn status_functions_and_the_item_go_together() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { run: exit 3 }\n  clean:\n    needs: [a]\n    for_each: [one, two]\n    \
         if: failure() and item != \"one\"\n    run: touch ${{ item }}\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(1);
    assert!(flow.exists("two") && !flow.exists("one"));
    assert_eq!(state(&flow, "clean"), ("completed".into(), Value::Null));
}

#[test]
fn a_condition_that_fails_fails_its_instance_only() {
    let plan = "tasks:\n  m:\n    for_each: [{ risk: low }, { rsik: low }]\n    as: area\n    \
                if: area.risk == \"low\"\n    run: echo\n";
    let flow = Flow::new().plan(plan);
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["m[1]", "`if`", "risk"]);
    assert_eq!(state(&flow, "m[0]").0, "completed");
    assert_eq!(state(&flow, "m[1]"), ("failed".into(), "expression".into()));
}

#[test]
fn a_resume_runs_the_failed_instance_and_leaves_the_skipped_one_alone() {
    let flow = Flow::new().plan(REVIEW).file("broken", "");
    flow.run(&["run", "plan.yaml", "-j", "1"]).exits(1);
    assert_eq!(state(&flow, "review[api]").0, "failed");
    std::fs::remove_file(flow.path("broken")).unwrap();
    let ran = flow.run(&["resume", "latest"]).exits(0);
    assert_eq!(ran.json(), json!({ "done": ["auth", "api"], "all": ["completed", "skipped", "completed"] }));
    assert_eq!(flow.read("ran.txt"), "auth\napi\napi\n");
    let ends = flow.events().into_iter().filter(|event| {
        event["ev"] == "task_ended" && event["task"] == "review[docs]" && event["state"] == "skipped"
    });
    assert_eq!(ends.count(), 1);
}

#[test]
fn what_must_change_nothing_fails_when_the_tree_is_another() {
    let flow = Flow::new()
        .plan(
            "concurrency: 1\ndefaults: { expect: { changes: false } }\ntasks:\n  good: { run: 'cat a.txt; echo log > a.log' }\n  \
             bad: { needs: [good], run: 'echo x >> a.txt', continue_on_error: true }\n  \
             tree: { needs: [bad], isolation: worktree, run: 'echo x > new', continue_on_error: true }\n  \
             calm: { needs: [tree], isolation: worktree, run: cat a.txt }\n  \
             copy: { needs: [calm], isolation: copy, run: rm a.txt, continue_on_error: true }\n",
        )
        .file(".gitignore", "*.log\n")
        .git();
    flow.run(&["run", "plan.yaml"]).exits(0).says(&[
        "`expect.changes: false`: changed while it ran: `a.txt`",
        "`expect.changes: false`: the tree is not as it was at the start",
    ]);
    for (task, state) in [
        ("good", "completed"),
        ("bad", "failed"),
        ("tree", "failed"),
        ("calm", "completed"),
        ("copy", "failed"),
    ] {
        assert_eq!(flow.task(task)["state"], state, "{task}");
        assert_eq!(
            flow.task(task)["reason"],
            if state == "failed" { "expectation".into() } else { serde_json::Value::Null }
        );
    }
}

#[test]
fn a_verdict_that_blocks_says_why_in_the_outputs() {
    let flow = Flow::new().plan(
        "tasks:\n  v: { output: json, run: 'echo ''{\"ok\": false, \"why\": \"tests\"}''', expect: { that: task.output.ok } }\n\
         outputs: { why: \"${{ tasks.v.output.why }}\" }\n",
    );
    assert_eq!(flow.run(&["run", "plan.yaml"]).exits(8).json()["why"], "tests");
}

#[test]
fn instances_that_may_fail_make_a_failure_that_is_allowed() {
    let flow = Flow::new().plan(
        "tasks:\n  m: { for_each: [0, 1], continue_on_error: true, run: 'exit ${{ item }}' }\n  \
         r: { run: 'echo ${{ tasks.m.status }} > r' }\n  w: { needs: { m: completed }, run: 'true' }\n  \
         x: { needs: { m: failure }, run: 'true' }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(0).says(&["allowed m ", "blocked w"]);
    assert_eq!(flow.read("r"), "failed\n");
    assert_eq!(flow.task("x")["state"], "completed");
    flow.run(&["run", "plan.yaml", "--strict"]).exits(5);
}
