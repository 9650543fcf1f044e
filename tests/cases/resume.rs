//! What a run that broke off leaves, and what runs again.

use std::time::Duration;

use super::set_up;
use crate::support::{alive, signal, wait_until};

#[test]
fn c37_after_a_crash_nothing_runs_for_ever_and_nothing_finished_runs_again() {
    let (flow, _) = set_up("C37");
    flow.write(
        "plan.yaml",
        &flow.read("plan.yaml").replace("run: sleep 30", "run: echo $$ >> b.pid; test -f go || sleep 30"),
    );
    let child = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(10), || flow.exists("b.pid") && !flow.read("b.pid").is_empty()));
    signal(child.id(), "KILL");
    child.wait();
    let runs = flow.run(&["ps", "-o", "json"]).exits(0).json();
    assert_eq!(runs[0]["status"], "lost");
    let state = |task: &str| {
        let tasks = runs[0]["tasks"].as_array().unwrap();
        tasks.iter().find(|entry| entry["address"] == task).unwrap()["state"].clone()
    };
    assert_eq!((state("a"), state("b")), ("completed".into(), "lost".into()));
    flow.write("go", "");
    std::fs::remove_file(flow.path("a.txt")).unwrap();
    flow.run(&["resume", "latest"]).exits(0);
    assert!(!flow.exists("a.txt"), "a does not run again");
    let pids = flow.read("b.pid");
    assert_eq!(pids.lines().count(), 2, "b began anew");
    assert!(pids.lines().all(|pid| !alive(pid)), "nothing of the first run is left");
}

#[test]
fn c49_a_resume_runs_the_failed_item_and_no_other() {
    let (flow, _) = set_up("C49");
    flow.run(&["run", "plan.yaml"]).exits(1);
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0);
    let mut items: Vec<_> = flow.read("count").lines().map(str::to_owned).collect();
    items.sort();
    assert_eq!(items, ["1", "2", "2", "3"]);
}
