//! The comforts of the first ten minutes: M1 (init), M10 (after kill -9), M13 (what a run prints), M14 (dry runs).

use std::time::Duration;

use crate::support::{Flow, Running, alive, git, signal, wait_until};

#[test]
fn m1_init_then_run_is_green_at_once_without_key_or_network() {
    let flow = Flow::new();
    flow.run(&["init"]).exits(0).says(&[
        "wrote plan.yaml",
        "run it: flow run plan.yaml",
        "ANTHROPIC_API_KEY",
    ]);
    flow.run(&["check"]).exits(0).says(&["plan.yaml: 3 tasks fine; 0 warnings"]);
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert!(ran.took < Duration::from_secs(2), "{:?}", ran.took);
    assert!(ran.json()["words"].as_u64().unwrap() > 10, "{}", ran.stdout);
    ran.says(&["the written model `model.yaml` answers for `look`", "3 completed"]);
}

#[test]
fn m1_init_overwrites_nothing_and_works_in_a_repository_of_its_own_kind() {
    let flow = Flow::new().file("flow.toml", "concurrency = 2\n").file("src/a.txt", "a\n").git();
    flow.run(&["init"]).exits(0).says(&[
        "flow.toml is there already and was left as it is",
        "run it: flow run plan.yaml --model-script model.yaml",
    ]);
    assert_eq!(flow.read("flow.toml"), "concurrency = 2\n");
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    let before = flow.read("plan.yaml");
    flow.run(&["init"]).exits(0).says(&["plan.yaml is there already"]);
    assert_eq!(flow.read("plan.yaml"), before);
    assert_eq!(git(&flow.dir(), &["status", "--porcelain", "a.txt", "src", "flow.toml"]), "");
}

#[test]
fn m1_init_makes_the_folder_that_it_is_given() {
    let flow = Flow::new();
    flow.run(&["init", "new/one"]).exits(0).says(&["run it: flow -C new/one run plan.yaml"]);
    flow.run(&["-C", "new/one", "run", "plan.yaml"]).exits(0);
}

/// A run whose engine was killed while a task with a grandchild worked in a private tree.
fn killed() -> (Flow, String) {
    let flow = Flow::new();
    let dir = flow.dir().display().to_string();
    let flow = flow
        .plan(&format!(
            "tasks:\n  first: {{ run: echo first >> log }}\n  tree:\n    needs: [first]\n    isolation: worktree\n    run: |\n      \
             echo tree >> {dir}/log\n      test ! -f {dir}/go || exit 0\n      echo work > new.txt\n      \
             (sleep 60 & echo $! > {dir}/kid.pid; wait) &\n      wait\n"
        ))
        .file("other.yaml", "flow: 1\ntasks:\n  a: { run: 'true' }\n")
        .file(".gitignore", ".flow\nlog\n*.pid\ngo\n")
        .git();
    let running: Running = flow.start(&["run", "plan.yaml"]);
    assert!(
        wait_until(Duration::from_secs(20), || flow.exists("kid.pid") && !flow.read("kid.pid").is_empty())
    );
    signal(running.id(), "KILL");
    running.wait();
    assert!(alive(&flow.read("kid.pid")), "nobody has ended it yet");
    let run = flow.newest_run().file_name().unwrap().to_string_lossy().into_owned();
    (flow, run)
}

#[test]
fn m10_the_next_command_ends_orphans_reclaims_trees_and_says_so_once() {
    for command in [&["ps", "-o", "json"][..], &["status", "latest", "-o", "json"], &["run", "other.yaml"]] {
        let (flow, run) = killed();
        let died = format!(
            "the engine of run {run} died: what it left running was ended; what `tree` had done is on branch flow/{run}/tree.1"
        );
        let ran = flow.run(command).exits(0).says(&[&died, &format!("go on with `flow resume {run}`")]);
        assert!(!alive(&flow.read("kid.pid")), "{command:?}");
        assert!(!git(&flow.dir(), &["worktree", "list", "--porcelain"]).contains("locked"), "{command:?}");
        match command[0] {
            "ps" => assert_eq!(ran.json()[0]["status"], "lost"),
            "status" => assert_eq!(ran.json()["status"], "lost"),
            _ => {}
        }
        let again = flow.run(&["ps"]).exits(0);
        assert!(!again.stderr.contains("died") && again.stdout.contains("lost"), "{again:?}");
    }
}

#[test]
fn m10_only_what_ran_runs_again_and_its_work_is_on_a_branch() {
    let (flow, run) = killed();
    flow.run(&["ps"]).exits(0);
    assert_eq!(git(&flow.dir(), &["show", &format!("flow/{run}/tree.1:new.txt")]), "work\n");
    flow.write("go", "");
    flow.run(&["resume", &run]).exits(0).says(&["lost with the last engine: `tree`"]);
    assert_eq!(flow.read("log"), "first\ntree\ntree\n");
}

#[test]
fn m10_a_journal_that_cannot_be_read_is_told_once_and_stops_no_other_run() {
    let (flow, run) = killed();
    let journal = flow.newest_run().join("events.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap().replacen("task_ready", "task_reedy", 1);
    std::fs::write(&journal, text).unwrap();
    let told = format!("what run {run} left behind can't be looked at");
    flow.run(&["run", "other.yaml"]).exits(0).says(&[&told, "line 2"]);
    let again = flow.run(&["run", "other.yaml"]).exits(0);
    assert!(!again.stderr.contains(&told), "{}", again.stderr);
    // Without a journal nothing says that its engine died, so the test ends the process itself.
    signal(flow.read("kid.pid").trim().parse().unwrap(), "KILL");
}

#[test]
fn m10_a_live_run_is_left_alone() {
    let flow = Flow::new().plan("tasks:\n  a: { run: touch began; until test -f go; do sleep 0.02; done }\n");
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(10), || flow.exists("began")));
    for command in [&["ps"][..], &["status", "latest"], &["doctor"]] {
        let ran = flow.run(command);
        assert!(!ran.stderr.contains("died") && !ran.stdout.contains("died"), "{ran:?}");
    }
    flow.write("go", "");
    running.wait().exits(0);
}

#[test]
fn m10_doctor_names_what_a_dead_run_left_and_changes_nothing() {
    let (flow, run) = killed();
    let pid = flow.read("kid.pid").trim().to_owned();
    let ran = flow.run(&["doctor"]).exits(1);
    let told = format!("the engine of {run} died and left processes:");
    assert!(ran.stdout.contains(&told) && ran.stdout.contains(&pid), "{}", ran.stdout);
    assert!(ran.stdout.contains("is locked by run"), "{}", ran.stdout);
    assert!(alive(&pid));
    flow.run(&["ps"]).exits(0);
    let ran = flow.run(&["doctor"]).exits(0);
    assert!(ran.stdout.contains(&format!("-> go on with `flow resume {run}`")), "{}", ran.stdout);
}

const LINES: &str = "\
tasks:
  good: { run: 'echo fine' }
  agent: { prompt: Say something, tools: [Read] }
  bad:
    needs: [good]
    run: |
      seq 1 30
      echo the reason >&2
      test -f go || exit 3
  after: { needs: [bad], run: 'echo after >> log' }
";

fn settled(text: &str, check: impl FnOnce(&str)) {
    insta::with_settings!({filters => vec![
        (r"\d{8}-\d{6}-[0-9a-z]{6}", "RUN"),
        (r" +\d+(\.\d+)?(ms|s)\b", " T"),
        (r"\d+ tokens", "N tokens"),
        (r"-C \S+", "-C DIR"),
    ]}, { check(text) });
}

#[test]
fn m13_a_run_prints_a_line_a_task_the_reason_and_the_exact_command_to_try_again() {
    let flow = Flow::new().plan(LINES).model("default: [{ say: hello }]\n");
    let ran = flow.run(&["run", "plan.yaml", "-j", "1", "--model-script", "model.yaml"]).exits(1);
    settled(&ran.stderr, |text| {
        insta::assert_snapshot!(text, @r"
        warning[W0507]: the written model `model.yaml` answers for `agent`: what it says was written down beforehand
        note: run RUN of `plan`, 1 at once
        ok      good T
        FAILED  bad T  exit code 3
                | the reason
        blocked after                                 by bad (exit code 3)
        ok      agent T  1 turn, N tokens
        run RUN: failed in T: 2 completed, 1 failed, 1 blocked; N tokens
        report: .flow/runs/RUN/report.md
        Why: flow logs RUN --failed -C DIR
        Try again: flow retry RUN bad -C DIR
        ");
    });
    flow.write("go", "");
    let line = ran.stderr.lines().find_map(|line| line.strip_prefix("Try again: ")).unwrap();
    flow.shell(line).exits(0).says(&["to run: `bad`, `after`"]);
    assert_eq!(flow.read("log"), "after\n");
}

#[test]
fn m13_many_failures_are_listed_at_the_end_with_one_command_for_all() {
    let flow = Flow::new().plan(
        "tasks:\n  one: { run: exit 3 }\n  two: { timeout: 100ms, run: sleep 9 }\n  \
         many: { for_each: [a b], run: exit 1 }\n",
    );
    let ran = flow.run(&["run", "plan.yaml"]).exits(1);
    let end = &ran.stderr[ran.stderr.find("failed:").unwrap()..];
    settled(end, |text| {
        insta::assert_snapshot!(text, @r"
        failed:
          one                          exit code 3
          two                          ran longer than T (`timeout`)
          many[a b]                    exit code 1
        report: .flow/runs/RUN/report.md
        Why: flow logs RUN --failed -C DIR
        Try again: flow retry RUN one two 'many[a b]' -C DIR
        ");
    });
}

#[test]
fn m13_a_run_is_told_as_junit_markdown_json_and_annotations() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n  b: { run: exit 2 }\n");
    let reports =
        ["junit=r.xml", "md=r.md", "json=r.json", "github=r.txt"].map(|report| ["--report", report]);
    flow.run(&[&["run", "plan.yaml"], reports.as_flattened()].concat()).exits(1);
    assert!(
        flow.read("r.xml").contains("<testcase name=\"b\"") && flow.read("r.xml").contains("failures=\"1\"")
    );
    assert!(flow.read("r.md").contains("# plan: failed"));
    assert!(flow.read("r.json").contains("\"status\": \"failed\""));
    assert_eq!(flow.read("r.txt"), "::error file=plan.yaml,line=4,title=b%3A exit code 2::exit code 2\n");
}

#[test]
fn m14_a_dry_run_shows_rendered_commands_and_marks_what_only_the_run_knows() {
    let flow = Flow::new().plan(
        "name: p\ninputs: { t: { type: string } }\ntasks:\n  list: { run: 'ls ${{ inputs.t }}', output: lines }\n  \
         build:\n    matrix: { os: [linux, mac], fast: [true] }\n    run: make ${{ matrix.os }} ${{ matrix.fast }}\n  \
         use: { needs: [build], run: 'echo ${{ tasks.list.output | length }} ${{ inputs.t }}' }\n",
    );
    let ran = flow.run(&["run", "-n", "plan.yaml", "-i", "t=$(id)"]).exits(0);
    insta::assert_snapshot!(ran.stdout, @r#"
    p: 3 tasks
      input t = "$(id)"

    list
      run        ls '$(id)'
      output     lines

    build ×2
      run        [linux,true] make linux true
      run        [mac,true] make mac true

    use
      needs      list, build
      run        echo ${{ tasks.list.output | length }} '$(id)'
      later      known at run time: tasks.list.output
    "#);
    assert!(!flow.exists(".flow"), "a dry run leaves nothing");
}

/// Demands that dry run and run end with the same code.
#[track_caller]
fn agree(flow: &Flow, args: &[&str], code: i32) {
    flow.run(&[&["run", "-n", "plan.yaml"], args].concat()).exits(code);
    flow.run(&[&["run", "plan.yaml"], args].concat()).exits(code);
}

#[test]
fn m14_what_a_dry_run_accepts_starts_and_what_it_refuses_does_not() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n");
    agree(&flow, &[], 0);
    agree(&flow, &["--only", "a"], 0);
    agree(&flow, &["--only", "b"], 4);
    agree(&flow, &["--report", "nonsense"], 2);
    agree(&flow, &["--model-script", "none.yaml"], 3);
    agree(&flow, &["-i", "x=1"], 3);
    agree(&flow, &["--inputs-file", "none.yaml"], 3);
    let no_git = Flow::new().plan("tasks:\n  a: { run: 'true', isolation: worktree }\n");
    agree(&no_git, &[], 3);
    let broken = Flow::new().plan("tasks:\n  a: { run: 'true' }\n").file("flow.toml", "[models\n");
    agree(&broken, &[], 3);
    // Without a model the agent's task would fail; a dry run says it before anything has run.
    let agent = Flow::new().plan("tasks:\n  a: { prompt: p }\n");
    agent.run(&["run", "-n", "plan.yaml"]).exits(3).says(&["`a` would not start", "ANTHROPIC_API_KEY"]);
    let fails = Flow::new().plan(
        "inputs: { n: { type: integer, default: 0 } }\ntasks:\n  a: { run: 'echo ${{ 1 // inputs.n }}' }\n",
    );
    fails.run(&["run", "-n", "plan.yaml"]).exits(3).says(&["`a` would not start", "`run`"]);
    let skipped = Flow::new().plan(
        "inputs: { n: { type: integer, default: 0 } }\ntasks:\n  \
         a: { run: 'echo ${{ 1 // inputs.n }}', if: inputs.n > 0 }\n",
    );
    agree(&skipped, &[], 0);
    assert!(skipped.run(&["plan", "plan.yaml"]).exits(0).stdout.contains("  fails      `run`: "));
}

#[test]
fn a_person_of_a_plan_without_outputs_reads_no_empty_object_and_a_pipe_does() {
    let flow = Flow::new().plan("tasks: { a: { run: 'true' } }\n");
    assert_eq!(flow.run(&["run", "plan.yaml"]).exits(0).stdout, "{}\n");
    let seen = flow.shell("script -qec 'flow run plan.yaml' /dev/null");
    assert!(seen.code != Some(0) || !seen.stdout.contains("{}"), "{}", seen.stdout);
    let plan = "flow: 1\ntasks: { a: { run: 'true' } }\noutputs: { x: 1 }\n";
    flow.write("plan.yaml", plan);
    let seen = flow.shell("script -qec 'flow run plan.yaml' /dev/null");
    assert!(seen.code != Some(0) || seen.stdout.contains("\"x\""), "{}", seen.stdout);
}
