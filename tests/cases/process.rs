//! Exit codes, limits on what runs at once, processes and their children.

use std::time::Duration;

use super::{play, set_up};
use crate::support::{alive, wait_until};

#[test]
fn c25_an_exit_code_is_kept_and_a_signal_is_named() {
    let (flow, ran) = play("C25");
    ran.exits(1);
    assert_eq!(flow.task("t")["exit_code"], 7);
    flow.write("plan.yaml", "flow: 1\ntasks:\n  t:\n    run: kill -KILL $$\n");
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["SIGKILL"]);
    let task = flow.task("t");
    assert_eq!((&task["reason"], &task["signal"]), (&"signal".into(), &"SIGKILL".into()));
    assert!(task["exit_code"].is_null());
}

#[test]
fn c23_a_missing_artifact_fails_the_task_and_the_others_are_kept() {
    let (flow, ran) = play("C23");
    ran.exits(1).says(&["out2.txt"]);
    let task = flow.task("t");
    assert_eq!((&task["state"], &task["reason"]), (&"failed".into(), &"missing_artifact".into()));
    assert_eq!(task["message"], "artifact `out2.txt` is missing");
    let kept = flow.newest_run().join("tasks/t/artifacts/out1.txt");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "one\n");
}

#[test]
fn c28_a_run_of_background_tasks_ends_with_them() {
    let (flow, ran) = play("C28");
    let ran = ran.exits(0);
    assert!(ran.took < Duration::from_secs(3), "{:?}", ran.took);
    assert_eq!(flow.report()["counts"]["completed"], 2);
}

#[test]
fn c29_background_agents_that_end_together_are_notified_of_each() {
    let (flow, ran) = play("C29");
    ran.exits(0);
    let xml = flow.run(&["report", "latest", "--format", "notifications"]).exits(0).stdout;
    flow.write("n.xml", &xml);
    flow.write("check.py", READ_XML);
    let found = flow.shell("python3 check.py n.xml").exits(0).json();
    let found = found.as_array().unwrap();
    let ids: std::collections::BTreeSet<_> =
        found.iter().map(|one| one["task_id"].as_str().unwrap()).collect();
    assert_eq!((found.len(), ids.len()), (8, 8), "{xml}");
    for one in found {
        assert_eq!(one["status"], "completed");
        assert!(std::path::Path::new(one["output_file"].as_str().unwrap()).is_file(), "{one}");
    }
}

/// A parser that is not ours reads the document.
const READ_XML: &str = r#"
import json, sys, xml.etree.ElementTree as tree
found = tree.parse(sys.argv[1]).getroot().iter("task-notification")
print(json.dumps([{part.tag: part.text for part in one} for one in found]))
"#;

#[test]
fn c32_a_large_output_is_whole_in_its_file_and_reaches_readers_by_path() {
    let (flow, ran) = play("C32");
    ran.exits(0);
    assert_eq!(flow.read("tail.txt"), "END\n");
    assert_eq!(flow.run(&["logs", "latest", "t"]).exits(0).stdout.len(), 300_004);
    flow.write("n.xml", &flow.run(&["report", "latest", "--format", "notifications"]).exits(0).stdout);
    flow.write("check.py", READ_XML);
    let found = flow.shell("python3 check.py n.xml").exits(0).json();
    // A shell's notification holds none of its output, so nothing of it can be cut; it names the file.
    let file = std::fs::read_to_string(found[0]["output_file"].as_str().unwrap()).unwrap();
    assert!(file.contains("xxxEND\n") && found[0]["result"].is_null());
    let (flow, _) = set_up("C32");
    flow.write("plan.yaml", &flow.read("plan.yaml").replace(" | file", ""));
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["| file"]);
    assert_eq!(flow.task("u")["reason"], "expression");
    assert!(!flow.exists("tail.txt"), "u never began");
}

#[test]
fn c35_a_task_past_the_limit_waits() {
    let (flow, ran) = play("C35");
    let ran = ran.exits(0);
    let (mut now, mut most) = (0, 0);
    for line in flow.read("log").lines() {
        now += if line == "s" { 1 } else { -1 };
        most = most.max(now);
    }
    assert_eq!((now, most), (0, 2));
    assert_eq!(flow.report()["counts"]["completed"], 7);
    // Four rounds of 0.3 s; a serial run takes 2.1 s.
    assert!(
        ran.took > Duration::from_millis(1200) && ran.took < Duration::from_millis(2000),
        "{:?}",
        ran.took
    );
}

#[test]
fn c38_a_stopped_task_takes_its_grandchildren_along() {
    let (flow, ran) = play("C38");
    let ran = ran.exits(1);
    assert!(ran.took < Duration::from_secs(4), "{:?}", ran.took);
    assert_eq!(flow.task("t")["reason"], "timeout");
    assert!(!alive(&flow.read("kid.pid")));

    let (flow, _) = set_up("C38");
    flow.write("plan.yaml", &flow.read("plan.yaml").replace("timeout: 1s", "timeout: 60s"));
    let child = flow.start(&["run", "plan.yaml"]);
    assert!(
        wait_until(Duration::from_secs(10), || flow.exists("kid.pid") && !flow.read("kid.pid").is_empty())
    );
    crate::support::signal(child.id(), "INT");
    child.wait().exits(130);
    assert!(!alive(&flow.read("kid.pid")));

    let (flow, _) = set_up("C38");
    let both = "flow: 1\ntasks:\n  t:\n    run: (sleep 60 & echo $! > kid.pid; wait)\n  \
        f:\n    run: until test -s kid.pid; do sleep 0.02; done; exit 1\n";
    flow.write("plan.yaml", both);
    flow.run(&["run", "plan.yaml", "--fail-fast"]).exits(1);
    assert_eq!(flow.task("t")["reason"], "fail_fast");
    assert!(!alive(&flow.read("kid.pid")));
}

#[test]
fn c40_a_task_reads_an_empty_closed_input() {
    let (flow, _) = set_up("C40");
    let ran = flow.shell("{ sleep 5 & } | flow run plan.yaml --model-script model.yaml").exits(0);
    assert!(ran.took < Duration::from_secs(4), "{:?}", ran.took);
    assert_eq!(flow.read("in.txt"), "");
}
