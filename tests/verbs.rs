//! The commands around a run, each through the built program.

use std::time::Duration;

use crate::support::{Flow, Running, alive, wait_until};

/// A run of `wait` (until the file `go` is there) and `other`, started and at work.
fn at_work() -> (Flow, Running) {
    let flow = Flow::new().plan(
        "tasks:\n  wait:\n    description: Wait for it\n    run: echo $$ > wait.pid; until test -f go; do sleep 0.02; done\n  \
         other: { run: 'touch began; until test -f go; do sleep 0.02; done' }\n  \
         after: { needs: [wait], run: 'touch after' }\n",
    );
    let running = flow.start(&["run", "plan.yaml"]);
    let ready = || flow.exists("began") && flow.exists("wait.pid") && !flow.read("wait.pid").is_empty();
    assert!(wait_until(Duration::from_secs(10), ready));
    (flow, running)
}

#[test]
fn status_shows_what_runs_now_and_events_what_happened() {
    let (flow, running) = at_work();
    let status = flow.run(&["status", "latest", "-o", "json"]).exits(0).json();
    assert_eq!(status["status"], "running");
    assert_eq!(status["running"], serde_json::json!(["wait", "other"]));
    assert_eq!(
        (&status["tasks"][2]["state"], &status["tasks"][2]["attempts"]),
        (&"created".into(), &0.into())
    );
    let text = flow.run(&["status"]).exits(0).stdout;
    assert!(text.contains(": running, ") && text.contains("Wait for it"), "{text}");
    let follower = flow.start(&["events", "latest", "-f", "-o", "json"]);
    flow.write("go", "");
    running.wait().exits(0);
    let lines = follower.wait().exits(0).stdout;
    let events: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().enumerate().all(|(at, event)| event["seq"] == at), "each once, in order");
    assert_eq!(
        (&events[0]["ev"], &events.last().unwrap()["ev"]),
        (&"run_started".into(), &"run_ended".into())
    );
    let text = flow.run(&["events", "latest"]).exits(0).stdout;
    assert_eq!(text.lines().count(), events.len());
    assert!(text.lines().last().unwrap().contains("completed, exit code 0"), "{text}");
}

#[test]
fn stop_ends_a_live_run_from_any_process() {
    let (flow, running) = at_work();
    flow.run(&["stop", "latest"]).exits(0).says(&["ended: killed"]);
    running.wait().exits(143).says(&["Go on: flow resume"]);
    assert!(!alive(&flow.read("wait.pid")) && !flow.exists("after"));
    let kills = flow.events().iter().filter(|event| event["ev"] == "kill_requested").count();
    assert_eq!(kills, 1, "the order is in the journal");
    flow.run(&["stop", "latest"]).exits(4).says(&["does not live any more: killed"]);
    // An order of old does not reach the next engine.
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0);
    assert!(flow.exists("after"));
}

#[test]
fn stop_of_a_task_leaves_the_others_at_work() {
    let (flow, running) = at_work();
    flow.run(&["stop", "latest", "wiat"]).exits(3).says(&["did you mean `wait`?"]);
    flow.run(&["stop", "latest", "wait"]).exits(0).says(&["`wait` ended: killed"]);
    flow.run(&["stop", "latest", "wait"]).exits(4).says(&["has ended already: killed"]);
    assert!(!alive(&flow.read("wait.pid")));
    flow.write("go", "");
    running.wait().exits(1);
    assert_eq!(flow.task("other")["state"], "completed");
    assert_eq!(flow.task("after")["state"], "blocked");
}

#[test]
fn stop_now_does_not_wait_for_a_deaf_task() {
    let flow = Flow::new()
        .plan("tasks:\n  deaf: { run: \"trap '' TERM INT; touch began; while :; do sleep 0.1; done\" }\n");
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(10), || flow.exists("began")));
    flow.run(&["stop", "latest", "--now"]).exits(0);
    let ran = running.wait().exits(143);
    assert!(ran.took < Duration::from_secs(9), "the grace of 10 s was cut short: {:?}", ran.took);
}

#[test]
fn a_run_that_died_says_so_to_stop() {
    let (flow, running) = at_work();
    crate::support::signal(running.id(), "KILL");
    running.wait();
    flow.run(&["stop", "latest"]).exits(4).says(&["does not live any more: lost", "flow resume"]);
    assert!(!alive(&flow.read("wait.pid")));
}

#[test]
fn retry_runs_the_named_task_and_what_needs_it_and_no_other_failure() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { run: 'echo a >> log; test -f go' }\n  b: { run: 'echo b >> log; exit 1' }\n  \
         m: { for_each: [x, y], run: 'echo ${{ item }} >> log; test ${{ item }} = x || test -f go' }\n  \
         after: { needs: [a, m], run: echo after >> log }\n  fine: { run: 'true' }\n",
    );
    flow.run(&["run", "plan.yaml", "-j", "1"]).exits(1);
    for (task, code, says) in [
        ("fine", 3, "`fine` is completed, so there is nothing to retry"),
        ("after", 3, "retry what it needs"),
        ("aa", 3, "the run has no task `aa`"),
    ] {
        flow.run(&["retry", "latest", task]).exits(code).says(&[says]);
    }
    flow.write("go", "");
    flow.write("log", "");
    // `b` has failed and stays so.
    flow.run(&["retry", "latest", "a", "m[y]"]).exits(1).says(&["to run: `a`, `after`, `m[y]`"]);
    let mut lines: Vec<_> = flow.read("log").lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["a", "after", "y"]);
    assert_eq!(flow.task("b")["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn a_resumed_run_tells_only_what_is_new() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n  b: { needs: [a], run: test -f go }\n");
    flow.run(&["run", "plan.yaml"]).exits(1);
    let again = flow.run(&["resume", "latest"]).exits(1);
    assert!(
        !again.stderr.contains("ok      a") && again.stderr.matches("FAILED  b").count() == 1,
        "{}",
        again.stderr
    );
}

const CHAIN: &str = "tasks:\n  a: { run: echo a >> log }\n  b: { needs: [a], run: echo b >> log }\n  \
                     c: { needs: [b], run: echo c >> log }\n  d: { run: echo d >> log }\n";

/// Runs a part of `a <- b <- c` and `d`; gives what ran.
fn part(args: &[&str], code: i32) -> String {
    let flow = Flow::new().plan(CHAIN);
    flow.run(&[&["run", "plan.yaml", "-j", "1"], args].concat()).exits(code);
    let mut ran: Vec<_> = match flow.exists("log") {
        true => flow.read("log").lines().map(str::to_owned).collect(),
        false => Vec::new(),
    };
    ran.sort();
    ran.join("")
}

#[test]
fn a_selection_runs_its_part_as_if_the_rest_were_not_there() {
    for (args, ran) in [
        (&["--only", "b"][..], "b"),
        (&["--only", "[bc]", "--only", "d"], ""),
        (&["--only", "b", "--only", "d"], "bd"),
        (&["--from", "b"], "bc"),
        (&["--until", "b"], "ab"),
        (&["--from", "b", "--until", "b"], "b"),
        (&["--only", "?"], "abcd"),
    ] {
        assert_eq!(part(args, if ran.is_empty() { 4 } else { 0 }), ran, "{args:?}");
    }
}

#[test]
fn a_resume_keeps_the_selection() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { run: echo a >> log }\n  b:\n    needs: { a: completed }\n    run: echo b >> log; test -f go\n  \
         c: { run: echo c >> log }\n",
    );
    let ran = flow.run(&["run", "plan.yaml", "--only", "b"]).exits(1);
    ran.says(&["1 failed, 2 skipped"]);
    assert_eq!(flow.task("a")["reason"], "not_selected");
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0);
    assert_eq!(flow.read("log"), "b\nb\n");
}

#[test]
fn strict_makes_allowed_failures_count() {
    let flow = Flow::new().plan("tasks:\n  a: { run: exit 1, continue_on_error: true }\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    flow.run(&["run", "plan.yaml", "--strict"]).exits(5);
    assert_eq!(flow.report()["exit"], 5);
}

#[test]
fn inputs_come_from_a_file_and_flags_go_before_it() {
    let flow = Flow::new()
        .plan("inputs: { n: { type: integer }, t: { type: string } }\ntasks:\n  a: { run: 'true' }\noutputs: { all: '${{ inputs.t }}${{ inputs.n }}' }\n")
        .file("in.yaml", "n: 1\nt: x\n")
        .file("in.json", "{\"n\": 2, \"t\": \"y\"}")
        .file("bad.yaml", "- n\n");
    let all = |args: &[&str]| {
        let ran = flow.run(&[&["run", "plan.yaml", "-q", "--inputs-file"], args].concat());
        ran.exits(0).json()["all"].as_str().unwrap().to_owned()
    };
    assert_eq!(all(&["in.yaml"]), "x1");
    assert_eq!(all(&["in.json"]), "y2");
    assert_eq!(all(&["in.yaml", "-i", "t=z"]), "z1");
    flow.run(&["run", "plan.yaml", "--inputs-file", "bad.yaml"]).exits(3).says(&["bad.yaml:1:1"]);
}

#[test]
fn a_detached_run_gives_its_id_and_lives_on() {
    let flow =
        Flow::new().plan("tasks:\n  a: { run: 'echo hello; until test -f go; do sleep 0.02; done' }\n");
    let ran = flow.run(&["run", "plan.yaml", "-d"]).exits(0);
    let run = ran.stdout.trim().to_owned();
    assert_eq!(flow.newest_run().file_name().unwrap().to_string_lossy(), run);
    let status = |flow: &Flow| flow.run(&["status", &run, "-o", "json"]).exits(0).json()["status"].clone();
    assert_eq!(status(&flow), "running");
    flow.write("go", "");
    assert!(wait_until(Duration::from_secs(20), || status(&flow) == "completed"));
    let log = flow.newest_run().join("engine.log");
    assert!(wait_until(Duration::from_secs(10), || std::fs::read_to_string(&log)
        .unwrap()
        .contains("1 completed")));
    flow.run(&["run", "no.yaml", "-d"]).exits(3).says(&["no.yaml"]);
}

#[test]
fn a_detached_run_leaves_the_terminal_to_the_person() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n");
    let seen = flow.shell("TERM=xterm script -qec 'flow run plan.yaml -d' /dev/null").exits(0).stdout;
    let said: Vec<&str> = seen.lines().collect();
    assert_eq!(said.len(), 2, "the note and the id: {seen:?}");
    assert!(said[0].contains("flow attach"), "{seen:?}");
    let log = flow.newest_run().join("engine.log");
    let read = || std::fs::read_to_string(&log).unwrap();
    assert!(wait_until(Duration::from_secs(10), || read().contains("1 completed")), "{}", read());
    assert!(!read().contains('\u{1b}'), "no view is drawn into a file: {:?}", read());
}

#[test]
fn quiet_says_nothing_and_verbose_says_what_begins() {
    let flow = Flow::new().plan("tasks:\n  a: { description: Do it, run: 'true' }\n");
    let ran = flow.run(&["run", "plan.yaml", "-q"]).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("{}\n", ""));
    flow.run(&["run", "plan.yaml", "-v"]).exits(0).says(&["start   a                            Do it"]);
}

const MIXED: &str = "tasks:\n  good: { run: echo fine }\n  bad: { needs: [good], run: 'seq 1 50; echo ::error::x; exit 3' }\n";

#[test]
fn in_ci_a_success_is_one_line_and_a_failure_brings_its_last_forty_lines() {
    let flow = Flow::new().plan("tasks:\n  a: { run: echo noise }\n").env("CI", "true");
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let flow = Flow::new().plan(MIXED).env("CI", "true");
    let ran = flow.run(&["run", "plan.yaml"]).exits(1);
    let said = &ran.stderr;
    assert!(!said.contains("good") && !said.contains("| 11\n"), "{said}");
    assert!(said.contains("| 12\n") && said.contains("| 50\n"), "{said}");
    assert!(said.contains("failed:\n  bad                          exit code 3\n"), "{said}");
}

#[test]
fn under_github_actions_failures_are_groups_annotations_and_a_summary() {
    let flow = Flow::new().plan(MIXED).env("CI", "true").env("GITHUB_ACTIONS", "true");
    let summary = flow.path("summary.md").display().to_string();
    let flow = flow.env("GITHUB_STEP_SUMMARY", &summary);
    let ran = flow.run(&["run", "plan.yaml"]).exits(1);
    let said = &ran.stderr;
    let commands: Vec<_> = said.lines().filter(|line| line.trim_start().starts_with("::")).collect();
    assert_eq!(commands.len(), 3, "what a task prints is no command: {commands:?}");
    assert!(commands[0].starts_with("::group::") && commands[1] == "::endgroup::", "{commands:?}");
    assert_eq!(commands[2], "::error file=plan.yaml,line=4,title=bad%3A exit code 3::::error::x");
    assert!(flow.read("summary.md").contains("# plan: failed"));
    flow.write("plan.yaml", "flow: 1\ntasks:\n  a: { rnu: 'true' }\n");
    let ran = flow.run(&["run", "plan.yaml"]).exits(3);
    assert!(ran.stderr.contains("::error file=plan.yaml,line=3,col=8,title=F0201::"), "{}", ran.stderr);
}

#[test]
fn findings_of_check_are_json_with_their_place() {
    let flow = Flow::new().plan("tasks:\n  a: { rnu: 'true', run: 'true' }\n");
    let found = flow.run(&["check", "plan.yaml", "-o", "json"]).exits(3).json();
    assert_eq!(
        found[0],
        serde_json::json!({
            "code": "F0201", "severity": "error", "message": found[0]["message"], "file": "plan.yaml", "line": 3,
            "column": 8, "help": "did you mean `run`?",
        })
    );
    let missing = flow.run(&["check", "none.yaml", "-o", "json"]).exits(3).json();
    assert_eq!(missing[0]["code"], "F0101");
}

#[test]
fn agents_why_shows_what_a_definition_replaces_and_check_each_oddity_with_its_place() {
    let text = |name: &str, more: &str| format!("---\nname: {name}\ndescription: d\n{more}---\nWork.\n");
    let flow = Flow::new()
        .file(".claude/agents/Explore.md", &text("Explore", ""))
        .file("agents/Explore.md", &text("Explore", ""))
        .file("agents/odd.md", &text("odd", "colour: red\n"));
    let ran = flow.run(&["agents", "why", "Explore"]).exits(0);
    insta::assert_snapshot!(ran.stdout, @r"
    counts    project   agents/Explore.md
    replaced  project   .claude/agents/Explore.md
    replaced  built-in  built-in
    ");
    let json = flow.run(&["agents", "why", "Explore", "-o", "json"]).exits(0).json();
    assert_eq!(json["shadowed"].as_array().unwrap().len(), 2);
    flow.run(&["agents", "why", "Exploer"]).exits(3).says(&["did you mean `Explore`?"]);
    let odd = flow.run(&["agents", "check"]).exits(0).stdout;
    assert!(odd.starts_with("agents/odd.md:4:1: warning[W0201]: ") && odd.lines().count() == 1, "{odd}");
    flow.write("agents/broken.md", &text("broken", "isolaton: worktree\n"));
    let broken = flow.run(&["agents", "check"]).exits(3).stdout;
    assert!(broken.contains("agents/broken.md:4:1: error["), "{broken}");
}

#[test]
fn doctor_tells_good_from_bad_and_never_shows_a_key() {
    let flow = Flow::new().env("OPENAI_API_KEY", "sk-very-secret");
    let ran = flow.run(&["doctor"]).exits(0);
    assert!(
        ran.stdout.contains("`OPENAI_API_KEY` set") && !ran.stdout.contains("very-secret"),
        "{}",
        ran.stdout
    );
    flow.write("flow.toml", "[models\n");
    let ran = flow.run(&["doctor"]).exits(1);
    assert!(ran.stdout.contains("x  flow.toml") && ran.stdout.contains("-> see them with `flow check`"));
    let checks = flow.run(&["doctor", "-o", "json"]).exits(1).json();
    let bad: Vec<_> = checks.as_array().unwrap().iter().filter(|check| check["state"] == "error").collect();
    assert_eq!((bad.len(), &bad[0]["check"]), (1, &"flow.toml".into()), "{checks:#}");
}

#[test]
fn completions_are_written_for_every_shell() {
    for (shell, has) in [("bash", "_flow()"), ("zsh", "#compdef flow"), ("fish", "complete -c flow")] {
        let ran = Flow::new().run(&["completions", shell]).exits(0);
        assert!(ran.stdout.contains(has) && ran.stdout.contains("retry"), "{shell}");
    }
    Flow::new().run(&["completions", "tcsh"]).exits(2);
}

#[test]
fn a_value_of_a_task_that_is_left_out_refuses_the_run() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { run: echo dir }\n  b: { run: 'echo rm -rf ${{ tasks.a.output }}/x > ran' }\n  \
         c: { needs: [b], run: \"echo ${{ tasks.a.status }} ${{ tasks.a.output | default('none') }} > c\" }\n",
    );
    for args in [["--from", "b"], ["--only", "b"]] {
        let help = format!("let it take part: `{} a`", args[0]);
        flow.run(&["run", "plan.yaml", args[0], args[1]])
            .exits(3)
            .says(&["`b` reads `tasks.a.output`, and `a` takes no part in this run", &help]);
        flow.run(&["run", "-n", "plan.yaml", args[0], args[1]]).exits(3);
    }
    assert!(!flow.exists(".flow/runs") && !flow.exists("ran"));
    flow.run(&["run", "plan.yaml", "--only", "c"]).exits(0);
    assert_eq!(flow.read("c"), "skipped none\n");
    flow.run(&["run", "plan.yaml", "--only", "a", "--only", "b"]).exits(0);
    assert_eq!(flow.read("ran"), "rm -rf dir/x\n");
}

#[test]
fn one_instance_runs_alone_and_so_it_does_after_a_resume() {
    let flow = Flow::new().plan(
        "tasks:\n  g: { run: \"echo '[1,2]'\", output: json }\n  m: { for_each: [x, y], run: 'echo ${{ item }} >> ran; test -f go' }\n  \
         d: { for_each: \"${{ tasks.g.output }}\", run: 'echo ${{ item }} >> ran' }\n",
    );
    let only = |pattern: &str| flow.run(&["run", "plan.yaml", "--only", pattern, "--only", "g"]);
    only("m[z]").exits(4).says(&["no instance fits `m[z]`", "did you mean `m[x]`?"]);
    only("g[1]").exits(4).says(&["`g` has no instances; write `g`"]);
    only("m[y]").exits(1);
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0);
    assert_eq!(flow.read("ran"), "y\ny\n");
    only("d[2]").exits(0);
    assert_eq!(flow.read("ran"), "y\ny\n2\n");
    only("d[3]").exits(1).says(&["no instance fits `d[3]`; there are `d[1]`, `d[2]`"]);
}
