//! Edges, conditions, retries, expansions, keys, templates.

use super::play;

#[test]
fn c41_a_timed_out_attempt_is_tried_again() {
    let (flow, ran) = play("C41");
    ran.exits(0);
    let attempts = flow.task("t")["attempts"].clone();
    let ends: Vec<_> = attempts
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| (attempt["end"].as_str().unwrap(), attempt["reason"].as_str()))
        .collect();
    assert_eq!(ends, [("failed", Some("timeout")), ("completed", None)]);
}

#[test]
fn c43_a_task_that_passes_on_retry_is_a_success() {
    let (flow, ran) = play("C43");
    ran.exits(0);
    let task = flow.task("t");
    assert_eq!((&task["state"], task["attempts"].as_array().unwrap().len()), (&"completed".into(), 2));
    assert_eq!(flow.task("u")["state"], "completed");
}

#[test]
fn c44_only_the_last_attempts_results_are_collected() {
    let (flow, ran) = play("C44");
    ran.exits(0);
    assert_eq!(flow.read("j.txt"), "one,two,three\n");
}

#[test]
fn c46_skipped_blocked_and_always() {
    let (flow, ran) = play("C46");
    ran.exits(0);
    let state = |task: &str| (flow.task(task)["state"].clone(), flow.task(task)["reason"].clone());
    assert_eq!(state("b"), ("skipped".into(), "condition".into()));
    assert_eq!(state("c"), ("blocked".into(), "upstream".into()));
    assert_eq!(state("d").0, "completed");
    assert!(!flow.exists("b") && !flow.exists("c") && flow.exists("d"));
    let plain = flow.read("plan.yaml").replace("{ b: completed }", "[b]");
    flow.write("plan.yaml", &plain);
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert!(flow.exists("c"), "a skipped task satisfies the default edge");
}

#[test]
fn c47_an_allowed_failure_leaves_a_trace() {
    let (flow, ran) = play("C47");
    ran.exits(0).says(&["1 allowed failure"]);
    assert_eq!(flow.read("b.txt"), "failed 3\n");
    let task = flow.task("a");
    assert_eq!((&task["state"], &task["allowed"]), (&"failed".into(), &true.into()));
    assert_eq!(flow.report()["counts"]["allowed_failures"], 1);
}

#[test]
fn c50_unknown_nested_keys_are_errors_with_their_place() {
    let (_, ran) = play("C50");
    ran.exits(3).says(&["`maxx`", "did you mean `max`?", "plan.yaml:6:7", "`continue-on`", "plan.yaml:7:5"]);
}

#[test]
fn c52_a_skipped_task_says_so_and_its_output_is_empty() {
    let (flow, ran) = play("C52");
    ran.exits(0);
    assert_eq!(flow.read("b.txt"), "[skipped][]\n");
    let unknown = flow.read("plan.yaml").replace("tasks.a.output", "tasks.x.output");
    flow.write("plan.yaml", &unknown);
    flow.run(&["check", "plan.yaml"]).exits(3).says(&["`x`"]);
}

#[test]
fn c53_agent_text_in_a_script_is_only_ever_a_value() {
    let (flow, ran) = play("C53");
    ran.exits(0);
    assert!(!flow.exists("leak") && !flow.exists("leak2"));
    assert_eq!(flow.read("b.txt"), "use `touch leak` and $(touch leak2); \"q\" 's' \\ end");
}
