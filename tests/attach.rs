//! Looking on: the live view of one's own terminal, and `flow attach` to what another process runs.

use std::time::Duration;

use crate::support::{Flow, Running, signal, wait_until};

const SOON: Duration = Duration::from_secs(20);

/// A detached run of `wait`, which fails once the file `go` is there, and of `bad`, which has failed.
fn detached() -> (Flow, String) {
    let flow = Flow::new().plan(
        "tasks:\n  bad: { run: exit 5 }\n  wait: { run: 'until test -f go; do sleep 0.02; done; echo gone >&2; exit 3' }\n  \
         after: { needs: [wait], run: 'true' }\noutputs: { said: hello }\n",
    );
    let started = flow.run(&["run", "plan.yaml", "-d"]).exits(0).says(&["see it with `flow attach"]);
    let run = started.stdout.trim().to_owned();
    let failed = || flow.events().iter().any(|event| event["ev"] == "task_ended" && event["task"] == "bad");
    assert!(wait_until(SOON, failed));
    (flow, run)
}

fn says(running: &Running, text: &str) -> bool {
    wait_until(SOON, || running.stderr().contains(text))
}

#[test]
fn attach_shows_a_detached_run_to_its_end_and_ends_as_it_does() {
    let (flow, run) = detached();
    let attached = flow.start(&["attach"]);
    assert!(says(&attached, "FAILED  bad"), "what failed before: {}", attached.stderr());
    flow.write("go", "");
    let ran = attached.wait().exits(1);
    let ran = ran.says(&[&format!("note: run {run}; Ctrl-C leaves it running"), "exit code 3", "| gone"]);
    let ran = ran.says(&["blocked after", "2 failed, 1 blocked", "report.md"]);
    assert_eq!(ran.stderr.matches("FAILED  bad").count(), 1, "{}", ran.stderr);
    assert_eq!(ran.json(), serde_json::json!({ "said": "hello" }));
    // A run that is over is shown by its last words, and by its exit code.
    let over = flow.run(&["attach", &run]).exits(1).says(&["2 failed, 1 blocked"]);
    assert!(!over.stderr.contains("leaves it running"), "{}", over.stderr);
    flow.run(&["attach"]).exits(4).says(&["no run is under way here", "flow ps"]);
}

#[test]
fn ctrl_c_leaves_the_run_going_and_says_so() {
    let (flow, run) = detached();
    let attached = flow.start(&["attach", "latest", "-o", "plain"]);
    assert!(says(&attached, "leaves it running"));
    assert!(says(&attached, "FAILED  bad"), "it listens by now");
    signal(attached.id(), "INT");
    let again = [format!("See it again: flow attach {run}"), format!("End it: flow stop {run}")];
    attached.wait().exits(130).says(&[&format!("run {run} goes on"), &again[0], &again[1]]);
    assert_eq!(flow.run(&["status", "-o", "json"]).exits(0).json()["status"], "running");
    let attached = flow.start(&["attach", "-o", "json"]);
    flow.run(&["stop", &run]).exits(0);
    let ran = attached.wait().exits(143);
    let events: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().enumerate().all(|(at, event)| event["seq"] == at), "each once, in order");
    assert_eq!(events.last().unwrap()["ev"], "run_ended");
}

#[test]
fn attach_shows_what_the_agents_of_another_process_do() {
    let flow = Flow::new()
        .plan("tasks:\n  look: { prompt: Look, tools: [Read] }\n")
        .file("notes.txt", "n\n")
        .model("look: [{ say: First I read, call: Read, with: { file_path: notes.txt } }, { hang: true }]\n");
    let started = flow.run(&["run", "plan.yaml", "-d", "--model-script", "model.yaml"]).exits(0);
    let attached = flow.start(&["attach", started.stdout.trim(), "-v"]);
    assert!(says(&attached, "tool    look"), "{}", attached.stderr());
    assert!(attached.stderr().contains("Read notes.txt"), "{}", attached.stderr());
    flow.run(&["stop", "latest"]).exits(0);
    attached.wait().exits(143).says(&["stopped look"]);
}

#[test]
fn the_death_of_an_engine_ends_the_view_with_a_failure_and_the_way_on() {
    let (flow, run) = detached();
    let attached = flow.start(&["attach"]);
    assert!(says(&attached, "FAILED  bad"));
    let owner = std::fs::read_to_string(flow.newest_run().join("owner")).unwrap();
    let owner: serde_json::Value = serde_json::from_str(&owner).unwrap();
    signal(u32::try_from(owner["pid"].as_u64().unwrap()).unwrap(), "KILL");
    attached.wait().exits(1).says(&[&format!("the engine of run {run} died"), "flow resume"]);
}

/// What a terminal of 24 lines and 80 columns is sent.
fn on_a_terminal(flow: &Flow, command: &str) -> Running {
    let line = format!("TERM=xterm exec script -qec 'stty rows 24 cols 80; {command}' /dev/null");
    flow.start_shell(&line)
}

#[test]
fn an_interrupted_run_leaves_no_row_on_the_screen() {
    let flow = Flow::new().plan(
        "concurrency: 3\ntasks:\n  m:\n    for_each: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n    \
         run: 'touch at-${{ item }}; until test -f go; do sleep 0.02; done'\n  n: { needs: [m], run: 'true' }\n",
    );
    let running = on_a_terminal(&flow, "flow run plan.yaml");
    let drawn = |text: &str| wait_until(SOON, || running.stdout().contains(text));
    assert!(drawn("m  0/12 · 9 queued"), "{}", running.stdout());
    assert!(drawn("3 of 12 at once: the run allows 3 (concurrency)"), "{}", running.stdout());
    let owner = std::fs::read_to_string(flow.newest_run().join("owner")).unwrap();
    let owner: serde_json::Value = serde_json::from_str(&owner).unwrap();
    signal(u32::try_from(owner["pid"].as_u64().unwrap()).unwrap(), "INT");
    let text = running.wait().exits(130).stdout;
    // Each frame ends by clearing what is below it.
    let (_, last) = text.rsplit_once("\u{1b}[J").unwrap();
    let (frames, _) = text.rsplit_once("\u{1b}[J").unwrap();
    let (_, frame) = frames.rsplit_once("\u{1b}[J").unwrap();
    assert!(!frame.contains('⠋') && !last.contains('⠋'), "{frame}\n---\n{last}");
    assert!(text.contains("3 stopped, 9 not run"), "{text}");
    assert_eq!(text.matches("not run").count(), 3, "one line for m, one for n, one in the end: {text}");
}
