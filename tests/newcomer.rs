//! The first ten minutes: the moments in which other tools fail a newcomer. Each test names its moment (M2 … M15).

use std::time::Duration;

use crate::support::{Flow, alive, signal, wait_until};

/// Demands that a plan is refused with all of these texts, by check and by run, and that nothing ran.
#[track_caller]
fn refused(plan: &str, says: &[&str]) {
    let flow = Flow::new().plan(plan);
    for command in ["check", "run"] {
        flow.run(&[command, "plan.yaml"]).exits(3).says(says);
    }
    assert!(!flow.exists("ran"), "something ran");
}

#[test]
fn m2_misspelt_keys_are_all_found_at_once_with_place_and_suggestion() {
    refused(
        "tasks:\n  a:\n    run: touch ran\n    neeeds: []\n  b:\n    run: touch ran\n    retry: { maxx: 1 }\n",
        &["plan.yaml:5:5", "did you mean `needs`?", "plan.yaml:8:14", "did you mean `max`?", "^"],
    );
}

#[test]
fn m3_a_misspelt_safety_option_is_never_ignored() {
    refused(
        "tasks:\n  a: { run: touch ran, isolaton: worktree }\n",
        &["plan.yaml:3:24", "did you mean `isolation`?"],
    );
    refused("tasks:\n  a: { run: touch ran, isolation: worktre }\n", &["did you mean `worktree`?"]);
    let flow = Flow::new().plan("tasks:\n  a: { agent: careful, prompt: p }\n").file(
        "agents/careful.md",
        "---\nname: careful\ndescription: d\nisolaton: worktree\n---\nBe careful.\n",
    );
    flow.run(&["check", "plan.yaml"]).exits(3).says(&[
        "agents/careful.md",
        "isolaton",
        "did you mean `isolation`?",
    ]);
    let flow = Flow::new()
        .plan("tasks:\n  a: { run: touch ran }\n")
        .file("flow.toml", "[permissions]\ndenny = [\"Bash\"]\n");
    flow.run(&["run", "plan.yaml"]).exits(3).says(&["flow.toml:2", "did you mean `deny`?"]);
    assert!(!flow.exists("ran"));
}

#[test]
fn m4_a_cycle_is_shown_as_a_path_with_every_line() {
    refused(
        "tasks:\n  a: { run: touch ran, needs: [c] }\n  b: { run: touch ran, needs: [a] }\n  c: { run: touch ran, needs: [b] }\n",
        &["a -> c -> b -> a", "3 |", "4 |", "5 |"],
    );
    refused("tasks:\n  a: { run: touch ran, needs: [a] }\n", &["`a`"]);
}

#[test]
fn m5_an_unknown_reference_inside_a_script_is_found_by_check() {
    refused(
        "tasks:\n  build: { run: touch ran }\n  use:\n    run: |\n      echo one\n      echo ${{ tasks.biuld.output }}\n",
        &["plan.yaml:7:16", "`biuld`", "did you mean `build`?"],
    );
}

#[test]
fn m6_a_failed_step_fails_the_run_with_a_documented_code() {
    let flow = Flow::new().plan("tasks:\n  a: { run: exit 3 }\n  b: { run: touch ran, needs: [a] }\n");
    let ran = flow.run(&["run", "plan.yaml"]).exits(1);
    ran.says(&["FAILED", "exit code 3", "1 failed", "1 blocked"]);
    assert!(!flow.exists("ran"));
    let help = flow.run(&["--help"]).exits(0);
    assert!(help.stdout.contains("1 a task failed"), "{}", help.stdout);
}

#[test]
fn m7_inputs_are_judged_before_any_work() {
    let flow = Flow::new().plan(
        "inputs:\n  name: { type: string }\n  count: { type: integer, default: 1, minimum: 1 }\n  \
         level: { type: string, enum: [low, high], default: low }\ntasks:\n  a: { run: touch ran }\n",
    );
    for (inputs, says) in [
        (&[][..], &["`name`"][..]),
        (&["-i", "nam=x"], &["`nam`", "did you mean `name`?"]),
        (&["-i", "name=x", "-i", "count=many"], &["`count`", "integer"]),
        (&["-i", "name=x", "-i", "count=0"], &["`count`", "1"]),
        (&["-i", "name=x", "-i", "level=mid"], &["`level`", "`low`", "`high`"]),
    ] {
        flow.run(&[&["run", "plan.yaml"], inputs].concat()).exits(3).says(says);
    }
    flow.run(&["run", "plan.yaml", "-i", "name"]).exits(2);
    assert!(!flow.exists("ran"));
    flow.run(&["run", "plan.yaml", "-i", "name=x", "-i", "count:=2"]).exits(0);
    assert!(flow.exists("ran"));
}

#[test]
fn m8_an_input_is_never_executed() {
    let flow = Flow::new()
        .plan("inputs:\n  t: { type: string }\ntasks:\n  a:\n    run: printf '%s' ${{ inputs.t }} > out\n");
    for value in ["$(id -un)", "`id`", "; touch ran", "' \" \\", "a\nb", "%s ${HOME} *"] {
        flow.run(&["run", "plan.yaml", "-i", &format!("t={value}")]).exits(0);
        assert_eq!(flow.read("out"), value);
    }
    assert!(!flow.exists("ran"));
}

#[test]
fn m9_ctrl_c_ends_the_whole_tree_and_says_how_to_go_on() {
    let flow = Flow::new().plan(
        "tasks:\n  first: { run: echo done }\n  long:\n    needs: [first]\n    run: |\n      (sleep 60 & echo $! > kid.pid; wait) &\n      \
         echo $! > child.pid\n      wait\n  later: { needs: [long], run: touch ran }\n",
    );
    let program = flow.command(&["run", "plan.yaml"]);
    let running = flow.spawn(program);
    let is_there = |name: &str| flow.exists(name) && !flow.read(name).is_empty();
    assert!(wait_until(Duration::from_secs(10), || is_there("kid.pid") && is_there("child.pid")));
    signal(running.id(), "INT");
    let ran = running.wait();
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let run = flow.newest_run().file_name().unwrap().to_string_lossy().into_owned();
    let ran = ran.says(&[&format!("Go on: flow resume {run}")]);
    assert!(!ran.stderr.contains("panicked"));
    assert!(!alive(&flow.read("kid.pid")) && !alive(&flow.read("child.pid")));
    let report = std::fs::read_to_string(flow.newest_run().join("report.md")).unwrap();
    assert!(report.contains("`first`") && report.contains("| `long` | stopped |"), "{report}");
    assert_eq!(flow.task("first")["state"], "completed");
    assert_eq!(flow.task("long")["state"], "killed");
    assert!(!flow.exists("ran"));
}

#[test]
fn m9_a_second_ctrl_c_kills_what_does_not_listen() {
    let flow = Flow::new().plan(
        "tasks:\n  deaf:\n    run: |\n      trap '' INT TERM\n      echo $$ > deaf.pid\n      while :; do sleep 1; done\n",
    );
    let running = flow.spawn(flow.command(&["run", "plan.yaml"]));
    assert!(
        wait_until(Duration::from_secs(10), || flow.exists("deaf.pid") && !flow.read("deaf.pid").is_empty())
    );
    signal(running.id(), "INT");
    let journal = flow.newest_run().join("events.jsonl");
    let asked = || std::fs::read_to_string(&journal).unwrap().contains("kill_requested");
    assert!(wait_until(Duration::from_secs(5), asked));
    signal(running.id(), "INT");
    let ran = running.wait();
    assert_eq!(ran.code, Some(130));
    assert!(ran.took < Duration::from_secs(9), "the grace of 10 s was cut short: {:?}", ran.took);
    assert!(!alive(&flow.read("deaf.pid")));
}

#[test]
fn m11_a_resume_runs_the_failed_item_and_what_needs_it_and_says_so() {
    let flow = Flow::new().plan(
        "tasks:\n  item:\n    for_each: [1, 2, 3, 4, 5]\n    run: echo ${{ item }} >> log; test ${{ item }} != 3 || test -f go\n  \
         sum: { needs: [item], run: echo sum >> log }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(1);
    flow.write("go", "");
    flow.write("log", "");
    // Another folder, another shell: only the project matters.
    let dir = flow.dir().display().to_string();
    let elsewhere =
        flow.command_in(&flow.home(), env!("CARGO_BIN_EXE_flow"), &["-C", &dir, "resume", "latest"]);
    flow.finish(elsewhere).exits(0).says(&["item[3]", "sum"]);
    assert_eq!(flow.read("log"), "3\nsum\n");
}

#[test]
fn m12_a_hundred_steps_cost_little_memory() {
    let tasks: String =
        (0..100).map(|number| format!("  t{number}: {{ run: 'true', shell: sh }}\n")).collect();
    let flow = Flow::new().plan(&format!("tasks:\n{tasks}"));
    flow.run(&["run", "plan.yaml", "-o", "quiet"]).exits(0);
    let measured = flow.shell(
        "python3 - <<'EOF'\nimport os, resource, subprocess\n\
         subprocess.run(['flow', 'run', 'plan.yaml', '-o', 'quiet'], check=True, stdout=subprocess.DEVNULL)\n\
         print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\nEOF",
    );
    let kilobytes: u64 = measured.exits(0).stdout.trim().parse().unwrap();
    // An unoptimised build is larger than what people install; the goal for that is 15 MB.
    assert!(kilobytes < 60_000, "{kilobytes} kB");
}

#[test]
fn m15_a_closed_pipe_is_no_panic() {
    let flow = Flow::new().plan("tasks:\n  a: { run: seq 1 200000 }\n");
    let ran = flow.shell(
        "flow run plan.yaml | head -c 1 > /dev/null; flow logs latest | head -n 1; echo ${PIPESTATUS[0]}",
    );
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("==> a <==\n") && ran.stdout.ends_with("141\n"), "{}", ran.stdout);
}

#[test]
fn m15_a_users_error_shows_no_backtrace_and_tasks_get_no_terminal_input() {
    let flow = Flow::new().plan("tasks:\n  a: { run: cat }\n").env("RUST_BACKTRACE", "1");
    let ran = flow.run(&["run", "no-such.yaml"]).exits(3);
    assert!(!ran.stderr.contains("backtrace") && ran.stderr.contains("no-such.yaml"), "{}", ran.stderr);
    flow.shell("yes | flow run plan.yaml").exits(0);
    assert_eq!(flow.run(&["logs", "latest"]).stdout, "");
}

#[test]
fn m15_nothing_is_left_outside_the_project_and_nothing_is_fetched() {
    let flow = Flow::new()
        .plan("tasks:\n  a: { run: echo a }\n  b: { prompt: p }\n")
        .model("default: [{ say: hello }]\n");
    let traced =
        flow.shell("strace -f -e trace=socket,connect -o trace flow run plan.yaml --model-script model.yaml");
    if traced.code != Some(127) {
        traced.exits(0);
        let trace = flow.read("trace");
        assert!(!trace.contains("AF_INET"), "{trace}");
    }
    let mut left: Vec<_> =
        std::fs::read_dir(flow.dir()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    left.retain(|name| name != "trace");
    assert_eq!(left, [".flow", "model.yaml", "plan.yaml"]);
    assert_eq!(std::fs::read_dir(flow.tmp()).unwrap().count(), 0, "the folder for temporary files is empty");
    assert_eq!(std::fs::read_dir(flow.home()).unwrap().count(), 0, "the home folder is untouched");
}
