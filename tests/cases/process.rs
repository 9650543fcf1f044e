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
