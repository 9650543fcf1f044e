//! What another attempt may find otherwise.

use std::fs;

use crate::support::Flow;

/// One task waits for the other's first failure, then takes away what was in its way.
const MENDED: &str = r#"
tasks:
  t:
    run: pwd
    isolation: worktree
    retry: { max: 200, delay: 50ms, backoff: 1, on: [isolation] }
  mend:
    run: |
      until grep -q task_retry ${{ run.dir }}/events.jsonl; do sleep 0.02; done
      rm "$HOME/state/flow/worktrees"
"#;

/// Puts a file where the folder for worktrees should be.
fn block(flow: &Flow) {
    fs::create_dir_all(flow.home().join("state/flow")).unwrap();
    fs::write(flow.home().join("state/flow/worktrees"), "in the way").unwrap();
}

#[test]
fn what_was_in_the_way_of_a_tree_may_be_gone_at_the_next_attempt() {
    let flow = Flow::new().plan(MENDED).git();
    block(&flow);
    flow.run(&["run", "plan.yaml"]).exits(0).says(&["isolation"]);
    let attempts = flow.task("t")["attempts"].clone();
    let ends: Vec<_> =
        attempts.as_array().unwrap().iter().map(|attempt| attempt["reason"].as_str()).collect();
    assert!(ends.len() > 1 && ends[0] == Some("isolation"), "{ends:?}");
    assert_eq!(ends.last(), Some(&None));
}

#[test]
fn a_tree_that_can_not_be_made_is_not_tried_again_by_default() {
    let flow = Flow::new().plan("tasks:\n  t: { run: pwd, isolation: worktree, retry: 3 }\n").git();
    block(&flow);
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["isolation"]);
    assert_eq!(flow.task("t")["attempts"].as_array().unwrap().len(), 1);
}
