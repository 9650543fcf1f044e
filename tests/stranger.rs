//! What a stranger ran into on the first day: odd output, odd places, odd ends. Each test stands for its whole kind.

use std::time::Duration;

use crate::support::{Flow, git, signal, wait_until};

#[test]
fn a_resume_tells_only_what_is_new_and_counts_every_task_once() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { run: echo a }\n  b: { needs: [a], run: test -f go }\n  c: { needs: [b], run: echo c }\n  \
         i: { for_each: [1, 2], run: 'test ${{ item }} = 1 || test -f go' }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["2 completed, 2 failed, 1 blocked"]);
    flow.write("go", "");
    let ran = flow.run(&["resume", "latest"]).exits(0).says(&["completed in", ": 5 completed\n"]);
    assert!(!ran.stderr.contains("FAILED") && !ran.stderr.contains(" a "), "{}", ran.stderr);
}

#[test]
fn output_without_lines_or_full_of_signs_is_shown_short_and_harmless() {
    let flow = Flow::new().plan(
        "tasks:\n  zeros: { run: 'head -c 300000 /dev/zero; exit 1' }\n  \
         long: { run: 'yes x | tr -d \"\\n\" | head -c 300000; exit 1' }\n  \
         signs: { run: 'printf \"\\033[31mred\\033[0m \\033]52;c;aGk=\\007\\033[2J\\n10%%\\r100%%\\r\\n\"; exit 1' }\n",
    );
    let ran = flow.run(&["run", "plan.yaml"]).exits(1);
    let report = flow.run(&["report"]).exits(0);
    for text in [&ran.stderr, &report.stdout] {
        assert!(text.lines().all(|line| line.chars().count() < 600), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}') && !text.contains('\0'), "{text}");
        assert!(text.contains("red \\u{1b}]52") && text.contains("100%"), "{text}");
        assert!(!text.lines().any(|line| line.ends_with(" 10%") || line == "10%"), "{text}");
    }
    // The run folder keeps every byte.
    assert!(flow.run(&["logs", "latest", "signs"]).stdout.contains("\u{1b}[31mred"));
}

#[test]
fn a_failure_says_why_once() {
    let flow = Flow::new().plan(
        "tasks:\n  code: { run: exit 7 }\n  signal: { run: kill -SEGV $$ }\n  \
         slow: { run: sleep 60, timeout: 100ms }\n  gone: { run: nosuchcommand }\n",
    );
    let ran = flow.run(&["run", "plan.yaml"]).exits(1).says(&[
        "ms  exit code 7\n",
        "ended by SIGSEGV\n",
        "ran longer than 100ms (`timeout`)",
        "exit code 127: a command was not found\n",
    ]);
    for doubled in ["exit code 7  exit", "SIGSEGV  ended", "exit code 127  exit"] {
        assert!(!ran.stderr.contains(doubled), "{}", ran.stderr);
    }
}

#[test]
fn fail_fast_is_not_taken_for_a_person() {
    let flow = Flow::new().plan("tasks:\n  a: { run: exit 1 }\n  b: { run: sleep 60 }\n");
    let ran = flow.run(&["run", "plan.yaml", "--fail-fast"]).exits(1).says(&["fail fast"]);
    assert!(!ran.stderr.contains("once more kills it"), "{}", ran.stderr);
}

#[test]
fn a_secret_is_masked_wherever_it_comes_from() {
    let flow = Flow::new()
        .plan(
            "secrets: [TOKEN]\ntasks:\n  \
             save: { run: 'echo $T > token.txt', env: { T: '${{ secrets.TOKEN }}' } }\n  \
             leak: { needs: [save], run: cat token.txt; cat token.txt >&2; exit 1, continue_on_error: true }\n  \
             ask: { prompt: 'seen: ${{ tasks.leak.stderr }}', tools: [Read], needs: { leak: done } }\n\
             outputs: { o: '${{ tasks.leak.stdout }}' }\n",
        )
        .model("ask:\n  - call: Read\n    with: { file_path: token.txt }\n  - say: it is hunter2-hunter2\n")
        .env("TOKEN", "hunter2-hunter2");
    let ran = flow.run(&["run", "plan.yaml", "--model-script", "model.yaml", "-o", "json"]).exits(0);
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:#?}");
    assert!(flow.read("token.txt").contains("hunter2-hunter2"), "the command itself had it");
    let found = flow.shell("grep -rl hunter2 .flow; true").exits(0).stdout;
    assert_eq!(found.lines().filter(|path| !path.ends_with("context.jsonl")).collect::<Vec<_>>(), [""; 0]);
    for args in [&["logs", "latest"][..], &["report"], &["report", "--format", "notifications"]] {
        assert!(!flow.run(args).exits(0).stdout.contains("hunter2"), "{args:?}");
    }
}

#[test]
fn a_secret_too_short_to_be_masked_is_said() {
    let flow = Flow::new()
        .plan("secrets: [PIN]\ntasks:\n  a: { run: 'true', env: { P: '${{ secrets.PIN }}' } }\n")
        .env("PIN", "1234");
    flow.run(&["run", "plan.yaml"]).exits(0).says(&["W0602", "`PIN`", "plan.yaml:2:11"]);
}

#[test]
fn a_run_that_never_began_is_no_run() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    std::fs::create_dir(flow.path(".flow/runs/20990101-000000-aaaaaa")).unwrap();
    flow.write(".flow/runs/20990101-000000-aaaaaa/events.jsonl", "");
    let ran = flow.run(&["ps"]).exits(0);
    assert!(ran.stderr.is_empty() && ran.stdout.lines().count() == 2, "{ran:#?}");
    flow.run(&["report", "latest"]).exits(0);
}

#[test]
fn help_is_found_where_people_look_for_it_and_shows_examples() {
    let flow = Flow::new();
    for args in [&["help"][..], &["help", "run"], &["run", "--help"], &["logs", "--help"], &["--help"]] {
        let ran = flow.run(args).exits(0);
        assert!(
            ran.stdout.contains("Examples:") && ran.stdout.contains("Options of every command"),
            "{args:?}"
        );
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    }
    let help = flow.run(&["--help"]).stdout;
    for code in ["0", "1", "2", "3", "4", "8", "9", "70", "74", "77", "129", "130", "141", "143"] {
        let spelled = format!("{code:>3} ");
        assert!(help.contains(&spelled), "{code}");
    }
}

#[test]
fn a_slip_on_the_command_line_is_answered_in_words_of_people() {
    let flow =
        Flow::new().plan("inputs: { n: { type: string, default: x } }\ntasks:\n  a: { run: 'true' }\n");
    flow.run(&["run", "plan.yaml", "-j", "0"]).exits(2).says(&["it must be a number from 1"]);
    flow.run(&["run", "plan.yaml", "-i", "=x"]).exits(2).says(&["names no input"]);
    flow.run(&["run"]).exits(2).says(&["which plan?", "`flow run plan.yaml`, `flow run tour`"]);
    let empty = Flow::new().file(".pre-commit-config.yaml", "repos: []\n");
    empty.run(&["run"]).exits(2).says(&["which plan?", "write one with `flow init`, or try `flow run tour`"]);
    empty.run(&["run", "hello"]).exits(3).says(&["help: there are `tour`\n"]);
    empty.run(&["check"]).exits(4).says(&["there is nothing to check here", "flow check PLAN"]);
    let blocked = Flow::new().plan("tasks:\n  a: { run: 'true' }\n").file("taken", "");
    blocked.run(&["run", "plan.yaml", "--state-dir", "taken/x"]).exits(74).says(&["taken/x", "--state-dir"]);
}

#[test]
fn a_plan_shows_how_many_instances_are_known() {
    let flow = Flow::new().plan(
        "tasks:\n  m: { matrix: { a: [1, 2], b: [x, y], exclude: [{ a: 2, b: y }], include: [{ a: 9 }] }, run: 'true' }\n  \
         f: { for_each: [1, 2, 3], run: 'true' }\n  g: { for_each: '${{ tasks.f.output }}', run: 'true' }\n",
    );
    let shown = flow.run(&["plan", "plan.yaml"]).exits(0).stdout;
    assert!(shown.contains("m ×4\n") && shown.contains("f ×3\n") && shown.contains("g ×?\n"), "{shown}");
}

#[test]
fn without_threads_or_space_the_engine_says_so_and_does_not_panic() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'true' }\n");
    let ran = flow.shell(
        "chmod 777 . && as='setpriv --reuid 65534 --clear-groups prlimit --nproc=3' && $as true 2> /dev/null || exit 99; \
         HOME=/ $as $(command -v flow) run plan.yaml --state-dir state",
    );
    if ran.code != Some(99) {
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn commands_that_the_report_prints_work() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  b: { isolation: worktree, merge: branch, run: echo b > b.txt }\n  \
               p: { isolation: worktree, merge: patch, run: 'echo p > \"p q.txt\"' }\n",
        )
        .git();
    flow.run(&["run", "plan.yaml"]).exits(0);
    let report = flow.run(&["report"]).exits(0).stdout;
    let mut commands = 0;
    for block in report.split("```sh\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            flow.shell(line).exits(0);
            commands += 1;
        }
    }
    assert!(commands >= 3 && flow.exists("b.txt") && flow.exists("p q.txt"), "{report}");
    assert!(git(&flow.dir(), &["status", "--porcelain"]).contains("p q.txt"));
}

#[test]
fn commands_shown_after_a_run_work_in_any_folder() {
    let flow = Flow::new().file("my proj/plan.yaml", "flow: 1\ntasks:\n  a: { run: 'echo said; exit 3' }\n");
    for told in [
        flow.run(&["-C", "my proj", "run", "plan.yaml"]),
        flow.shell("cd 'my proj' && flow run plan.yaml"),
        flow.shell("cd 'my proj' && flow run plan.yaml --state-dir ../kept"),
    ] {
        let told = told.exits(1).stderr;
        let after = |word: &str| told.lines().find_map(|line| line.strip_prefix(word)).unwrap().to_owned();
        let elsewhere = |command: &str| flow.shell(&format!("cd / && {command}"));
        assert!(elsewhere(&after("Why: ")).exits(0).stdout.contains("said"), "{told}");
        elsewhere(&after("Try again: ")).exits(1);
    }
    let told = flow.run(&["-C", "my proj", "run", "plan.yaml"]).exits(1).stderr;
    let report = told.lines().find_map(|line| line.strip_prefix("report: ")).unwrap();
    assert!(std::path::Path::new(report).exists(), "{told}");
}

#[test]
fn a_report_shows_commands_as_they_were_written() {
    let flow = Flow::new().plan("tasks:\n  a: { for_each: [x], run: 'echo ${{ item }} | cat' }\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    let report = flow.run(&["report"]).exits(0).stdout;
    assert!(report.contains("echo ${{ item }} \\| cat") && !report.contains("FLOW"), "{report}");
}

#[test]
fn stopped_by_a_person_nothing_is_shown_of_what_was_killed() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'echo noise; touch began; sleep 60' }\n");
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(10), || flow.exists("began")));
    signal(running.id(), "TERM");
    let ran = running.wait().exits(143);
    assert!(ran.stderr.contains("stopped") && !ran.stderr.contains("noise"), "{}", ran.stderr);
}

#[test]
fn logs_show_what_a_task_prints_while_it_runs_and_what_it_had_printed_when_the_engine_died() {
    let flow = Flow::new().plan(
        "concurrency: 2\ntasks:\n  a: { run: echo before }\n  \
         b: { needs: [a], run: 'echo one; until test -f go; do sleep 0.02; done; echo two; sleep 60' }\n",
    );
    let running = flow.start(&["run", "plan.yaml"]);
    let log = || flow.run(&["logs", "latest", "b"]).stdout;
    assert!(wait_until(Duration::from_secs(10), || flow.exists(".flow/runs") && log() == "one\n"));
    let follow = flow.start(&["logs", "latest", "-f"]);
    flow.write("go", "");
    assert!(wait_until(Duration::from_secs(10), || log() == "one\ntwo\n"));
    signal(running.id(), "KILL");
    running.wait();
    let followed = follow.wait().exits(0).stdout;
    assert_eq!(followed.matches("==> b <==").count(), 1, "{followed}");
    assert!(followed.contains("==> a <==\nbefore\n") && followed.contains("one\n"), "{followed}");
    assert_eq!(log(), "one\ntwo\n");
    flow.run(&["ps"]).exits(0).says(&["what it left running was ended"]);
}

#[test]
fn what_a_model_refuses_names_model_and_agent_once() {
    let flow = Flow::new()
        .plan("tasks:\n  a: { agent: worker, prompt: p }\n")
        .file("agents/worker.md", "---\nname: worker\ndescription: d\ntools: Read\n---\nWork.\n")
        .model("a: [{ fail: { status: 404, message: model not found } }]\n");
    let ran = flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
    let line = ran.stderr.lines().find(|line| line.starts_with("FAILED")).unwrap().to_owned();
    for part in ["404", "model not found", "agent `worker`", "agents/worker.md"] {
        assert_eq!(line.matches(part).count(), 1, "{part}: {line}");
    }
}
