//! `flow gc`: what goes, what stays, what it says.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::{Flow, git, signal, wait_until};

fn gc(flow: &Flow, args: &[&str]) -> Vec<Value> {
    let all = [&["gc", "-o", "json"], args].concat();
    flow.run(&all).exits(0).json().as_array().unwrap().clone()
}

fn actions(rows: &[Value]) -> Vec<(String, String)> {
    let word = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter().map(|row| (word(row, "state"), word(row, "action"))).collect()
}

fn pair(state: &str, action: &str) -> (String, String) {
    (state.to_owned(), action.to_owned())
}

#[test]
fn work_stays_until_it_is_merged_or_force_is_used() {
    let flow = Flow::new().plan("tasks:\n  t: { isolation: worktree, run: date +%N > x }\n").git();
    assert_eq!(flow.run(&["gc"]).exits(0).stdout, "nothing is left behind\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    let branch = flow.task("t")["worktree"]["branch"].as_str().unwrap().to_owned();
    assert_eq!(actions(&gc(&flow, &[])), [pair("unmerged", "kept")]);
    assert!(
        flow.run(&["gc"]).exits(0).stdout.contains("no other branch has its commits; --force drops them")
    );
    git(&flow.dir(), &["merge", "-q", &branch]);
    assert_eq!(actions(&gc(&flow, &["--dry-run"])), [pair("clean", "would_remove")]);
    assert_eq!(git(&flow.dir(), &["branch", "--list", "flow/*"]).lines().count(), 1);
    let rows = gc(&flow, &[]);
    assert_eq!(
        (actions(&rows), rows[0]["branch"].as_str()),
        (vec![pair("clean", "removed")], Some(&*branch))
    );
    assert_eq!(git(&flow.dir(), &["branch", "--list", "flow/*"]), "");
    assert_eq!(git(&flow.dir(), &["worktree", "list"]).lines().count(), 1);
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert!(
        flow.run(&["gc", "--force", "-n"]).exits(0).stdout.contains("by force: nothing else has its work")
    );
    assert_eq!(actions(&gc(&flow, &["--force"])), [pair("unmerged", "removed")]);
}

#[test]
fn what_a_killed_engine_left_is_found_and_what_a_live_one_has_is_not_touched() {
    let flow = Flow::new()
        .plan("tasks:\n  w: { isolation: worktree, run: 'echo w > w; touch \"$HOME/w\"; sleep 60' }\n  c: { isolation: copy, run: 'touch \"$HOME/c\"; sleep 60' }\n")
        .git();
    let running = flow.start(&["run", "plan.yaml"]);
    let begun = || ["w", "c"].iter().all(|name| flow.home().join(name).exists());
    assert!(wait_until(Duration::from_secs(30), begun));
    assert_eq!(actions(&gc(&flow, &["--force"])), [pair("live", "kept"), pair("live", "kept")]);
    signal(running.id(), "KILL");
    running.wait();
    // Its commands live on until somebody looks; the trees are nobody's.
    flow.run(&["gc"]).exits(0);
    let rows = gc(&flow, &["--force"]);
    assert_eq!(actions(&rows), [pair("dirty", "removed")], "the clean copy had gone already: {rows:?}");
    assert_eq!(git(&flow.dir(), &["branch", "--list", "flow/*"]), "");
    git(&flow.dir(), &["fsck", "--strict"]);
}

#[test]
fn old_runs_go_and_the_newest_those_with_patches_and_those_with_trees_stay() {
    let flow = Flow::new().plan("tasks:\n  t: { run: 'true' }\n").git();
    for _ in 0..3 {
        flow.run(&["run", "plan.yaml"]).exits(0);
    }
    let patch = "flow: 1\ntasks:\n  t: { isolation: worktree, merge: patch, run: echo b > a.txt }\n";
    flow.write("plan.yaml", patch);
    flow.run(&["run", "plan.yaml"]).exits(0);
    let with_patch = flow.newest_run();
    flow.write("plan.yaml", &patch.replace("patch", "branch"));
    flow.run(&["run", "plan.yaml"]).exits(0);
    let with_branch = flow.newest_run();
    // Few and young: all stay.
    assert!(gc(&flow, &[]).iter().all(|row| row["kind"] == "tree"));
    let rows = gc(&flow, &["--keep", "0", "--dry-run"]);
    assert_eq!(rows.iter().filter(|row| row["action"] == "would_remove").count(), 3);
    gc(&flow, &["--keep", "0"]);
    let mut left: Vec<_> =
        std::fs::read_dir(flow.path(".flow/runs")).unwrap().map(|run| run.unwrap().path()).collect();
    left.sort();
    assert_eq!(left, [with_patch, with_branch]);
    gc(&flow, &["--keep", "0", "--force"]);
    assert_eq!(std::fs::read_dir(flow.path(".flow/runs")).unwrap().count(), 0);
}

#[test]
fn past_twenty_runs_those_of_two_weeks_ago_go() {
    let flow = Flow::new().plan("tasks:\n  t: { run: 'true' }\n");
    for _ in 0..22 {
        flow.run(&["run", "plan.yaml", "-o", "quiet"]).exits(0);
    }
    assert_eq!(gc(&flow, &[]).len(), 0);
    let mut runs: Vec<_> =
        std::fs::read_dir(flow.path(".flow/runs")).unwrap().map(|run| run.unwrap().path()).collect();
    runs.sort();
    let long_ago = SystemTime::now() - Duration::from_secs(15 * 24 * 60 * 60);
    for run in &runs {
        let journal = std::fs::File::options().append(true).open(run.join("events.jsonl")).unwrap();
        journal.set_modified(long_ago).unwrap();
    }
    assert_eq!(actions(&gc(&flow, &[])), [pair("old", "removed"), pair("old", "removed")]);
    assert!(!runs[0].exists() && !runs[1].exists() && runs[2].exists());
}
