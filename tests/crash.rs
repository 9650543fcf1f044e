//! The engine dies in the middle; nothing is lost, nothing runs twice.

use std::collections::HashMap;
use std::time::Duration;

use crate::support::{Flow, alive, signal, wait_until};

#[test]
fn a_killed_engine_of_fifty_tasks_resumes_without_a_second_run_or_a_gap() {
    let tasks: String = (0..50)
        .map(|number| {
            let needs = if number >= 5 { format!("needs: [t{}], ", number - 5) } else { String::new() };
            format!(
                "  t{number}: {{ {needs}run: 'echo $$ >> pids; echo begin {number} >> log; sleep 0.05; echo end {number} >> log' }}\n"
            )
        })
        .collect();
    let flow = Flow::new().plan(&format!("concurrency: 5\ntasks:\n{tasks}"));
    let running = flow.start(&["run", "plan.yaml"]);
    let ends = |flow: &Flow| if flow.exists("log") { flow.read("log").matches("end").count() } else { 0 };
    assert!(wait_until(Duration::from_secs(20), || ends(&flow) >= 20));
    signal(running.id(), "KILL");
    assert_eq!(running.wait().code, None);
    // What the journal has as ended is what must not run again.
    let finished: Vec<String> = flow
        .events()
        .iter()
        .filter(|event| event["ev"] == "task_ended" && event["state"] == "completed")
        .map(|event| event["task"].as_str().unwrap().to_owned())
        .collect();
    assert!(finished.len() >= 15 && finished.len() < 50, "{}", finished.len());
    flow.run(&["resume", "latest"]).exits(0);
    let mut begun: HashMap<String, usize> = HashMap::new();
    for line in flow.read("log").lines().filter(|line| line.starts_with("begin")) {
        *begun.entry(format!("t{}", &line[6..])).or_default() += 1;
    }
    assert_eq!(begun.len(), 50, "none is missing");
    for task in &finished {
        assert_eq!(begun[task], 1, "{task} had finished");
    }
    assert!(begun.values().all(|times| *times <= 2));
    assert_eq!(flow.report()["counts"]["completed"], 50);
    assert!(flow.read("pids").lines().all(|pid| !alive(pid)), "no child is left");
}

#[test]
fn a_torn_last_line_is_cut_off_with_a_note() {
    let flow = Flow::new()
        .plan("tasks:\n  a: { run: echo a >> log }\n  b: { needs: [a], run: 'echo b >> log; test -f go' }\n");
    flow.run(&["run", "plan.yaml"]).exits(1);
    let journal = flow.newest_run().join("events.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &whole[..whole.len() - 7]).unwrap();
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0).says(&["torn"]);
    assert_eq!(flow.read("log"), "a\nb\nb\n");
}

#[test]
fn a_corrupt_middle_line_stops_with_its_number() {
    let flow = Flow::new().plan("tasks:\n  a: { run: exit 1 }\n");
    flow.run(&["run", "plan.yaml"]).exits(1);
    let journal = flow.newest_run().join("events.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap().replacen("task_ready", "task_reedy", 1);
    std::fs::write(&journal, text).unwrap();
    flow.run(&["resume", "latest"]).exits(74).says(&["line 2"]);
}

#[test]
fn a_live_run_has_one_owner() {
    let flow = Flow::new().plan("tasks:\n  a: { run: touch began; until test -f go; do sleep 0.02; done }\n");
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(10), || flow.exists("began")));
    flow.run(&["resume", "latest"]).exits(9).says(&["is being run by"]);
    assert_eq!(flow.run(&["ps", "-o", "json"]).exits(0).json()[0]["status"], "running");
    flow.write("go", "");
    running.wait().exits(0);
}
