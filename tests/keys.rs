//! Keys of tasks and plans that people rely on: prompt files, words of a command, pairs, artifacts, checks, locks, pools,
//! what a resume does with lost work, the background.

use std::time::Duration;

use serde_json::json;

use crate::support::{Flow, signal, wait_until};

const DONE: &str = "default: [{ say: done, repeat: 9 }]\n";

fn script<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--model-script", "model.yaml"]].concat()
}

#[test]
fn a_prompt_file_is_rendered_and_a_resume_renders_the_same() {
    let flow = Flow::new()
        .file("plans/p.yaml", "flow: 1\ntasks:\n  a: { run: echo blue }\n  b: { run: test -f go, needs: [a] }\n  c: { needs: { b: done }, prompt: { file: texts/c.md } }\n")
        .file("plans/texts/c.md", "The colour is ${{ tasks.a.output }}.\n")
        .model(DONE);
    flow.run(&script(&["run", "plans/p.yaml"])).exits(1);
    let prompt = || std::fs::read_to_string(flow.newest_run().join("tasks/c/prompt.md")).unwrap();
    assert_eq!(prompt(), "The colour is blue.\n");
    flow.write("plans/texts/c.md", "Something else.\n");
    flow.write("go", "");
    flow.run(&script(&["resume", "latest"])).exits(0);
    assert_eq!(prompt(), "The colour is blue.\n");
    flow.write("plans/texts/c.md", "Fine.\nBut ${{ tasks.x.output }}.\n");
    flow.run(&["check", "plans/p.yaml"]).exits(3).says(&["plans/texts/c.md:2:9", "there is no task `x`"]);
}

#[test]
fn a_run_that_is_a_list_passes_every_word_as_it_is() {
    let flow = Flow::new().plan(
        "inputs: { x: { default: '$(touch leak) * \"q\"' }, flag: { default: '--upload-pack=x' } }\n\
         tasks:\n  list: { run: [printf, '[%s]', \"${{ inputs.x }}\", \"a${{ inputs.x }}\", $HOME, 7] }\n  \
           many: { run: [printf, '[%s]', \"${{ ['a b', '', 'c'] }}\"] }\n  \
           dash: { run: [printf, \"${{ inputs.flag }}\"], continue_on_error: true }\n  \
           safe: { run: [printf, '%s', --, \"${{ inputs.flag }}\"] }\n  \
           own: { run: [printf, \"-${{ 'x' }}\"] }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(0);
    let text = |task: &str| flow.run(&["logs", "latest", task]).exits(0).stdout;
    assert_eq!(text("list"), "[$(touch leak) * \"q\"][a$(touch leak) * \"q\"][$HOME][7]");
    assert_eq!(text("many"), "[a b][][c]");
    assert!(!flow.exists("leak"));
    let dash = flow.task("dash");
    assert_eq!(dash["reason"], "expression");
    assert!(dash["message"].as_str().unwrap().contains("put `--` before it"), "{dash:#}");
    assert_eq!(flow.task("safe")["state"], "completed");
    // What the plan itself writes as an option is one.
    assert_eq!(flow.task("own")["state"], "completed");
    assert_eq!(flow.task("safe")["description"], "printf %s -- --upload-pack=x");
    // What is known to fail when it starts is refused by the dry run.
    flow.run(&["run", "-n", "plan.yaml"]).exits(3).says(&["put `--` before it"]);
}

#[test]
fn pairs_are_an_object_of_what_a_task_wrote_to_its_file() {
    let flow = Flow::new().env("TOKEN", "very-secret-token").plan(
        "secrets: [TOKEN]\ntasks:\n  a:\n    output: pairs\n    env: { T: '${{ secrets.TOKEN }}' }\n    run: |\n      echo printed\n      echo version=1.2 >> $FLOW_OUTPUT\n      printf 'log<<END\\none\\ntwo\\nEND\\n' >> $FLOW_OUTPUT\n      echo token=$T >> $FLOW_OUTPUT\n  \
         b: { run: 'echo ${{ tasks.a.output.version }}; echo \"${{ tasks.a.output.log }}\"' }\n  \
         none: { output: pairs, run: rm $FLOW_OUTPUT }\n  \
         link: { output: pairs, run: ln -sf /etc/hostname $FLOW_OUTPUT, continue_on_error: true }\n  \
         bad: { output: pairs, run: echo hello > $FLOW_OUTPUT, continue_on_error: true }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(0);
    let expected = json!({ "version": "1.2", "log": "one\ntwo", "token": "***" });
    assert_eq!(flow.task("a")["output"], expected);
    assert_eq!(flow.run(&["logs", "latest", "b"]).exits(0).stdout, "1.2\none\ntwo\n");
    assert_eq!(flow.task("none")["output"], json!({}));
    for task in ["link", "bad"] {
        assert_eq!(flow.task(task)["reason"], "invalid_output", "{task}");
    }
    let everything = flow.shell("grep -r very-secret-token .flow | wc -l").exits(0).stdout;
    assert_eq!(everything.trim(), "0");
}

#[test]
fn artifacts_are_kept_whatever_became_of_the_task_and_can_be_read() {
    let flow = Flow::new().plan(
        "tasks:\n  a:\n    artifacts: ['out/**', 'v-${{ run.ci }}.txt', 'no*.txt']\n    run: |\n      mkdir -p out/deep; echo 1 > out/a.txt; echo 22 > out/deep/b.txt; echo v > v-false.txt\n      ln -s a.txt out/link; exit 3\n    continue_on_error: true\n  \
           b: { run: 'echo ok > r.txt', artifacts: r.txt }\n  \
           c: { run: 'cat ${{ tasks.b.artifacts }} ${{ tasks.b.artifacts[0] }}' }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(0);
    let kept = flow.task("a")["artifacts"].clone();
    let paths: Vec<_> = kept.as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["out/a.txt", "out/deep/b.txt", "v-false.txt"]);
    assert_eq!(kept[1]["bytes"], 3);
    // It failed on its own account.
    assert_eq!(flow.task("a")["reason"], "exit_code");
    let file = flow.newest_run().join(kept[1]["file"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "22\n");
    assert_eq!(flow.run(&["logs", "latest", "c"]).exits(0).stdout, "ok\nok\n");
    let report = flow.run(&["report", "latest"]).exits(0).stdout;
    assert!(report.contains("## Artifacts") && report.contains("`out/deep/b.txt` | 3"), "{report}");
}

#[test]
fn an_artifact_that_could_be_something_else_is_refused() {
    let flow = Flow::new().file("../outside", "secret").plan(
        "concurrency: 1\ntasks:\n  \
           link: { run: ln -s /etc/hostname leak, artifacts: leak, continue_on_error: true }\n  \
           dir: { run: ln -s /etc ld, artifacts: ld/hostname, continue_on_error: true }\n  \
           hard: { run: ln ../outside hl, artifacts: hl, continue_on_error: true }\n  \
           pipe: { run: mkfifo p, artifacts: p, continue_on_error: true }\n  \
           big: { run: truncate -s 2G big, artifacts: big, continue_on_error: true }\n  \
           device: { run: touch CON, artifacts: CON, continue_on_error: true }\n  \
           up: { run: 'true', env: { U: .. }, artifacts: '${{ \"../outside\" }}', continue_on_error: true }\n  \
           twice: { run: echo > t1; ln t1 t2, artifacts: [t1] }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(0);
    for (task, why) in [
        ("link", "no regular file"),
        ("dir", "a link or a file stands in its path"),
        ("hard", "another name outside"),
        ("pipe", "no regular file"),
        ("big", "1 GiB"),
        ("device", "a device"),
        ("up", "leads out"),
    ] {
        let found = flow.task(task);
        assert_eq!(found["reason"], "missing_artifact", "{found:#}");
        assert!(found["message"].as_str().unwrap().contains(why), "{found:#}");
        assert!(found["artifacts"].is_null(), "{found:#}");
    }
    assert_eq!(flow.task("twice")["artifacts"][0]["path"], "t1");
}

#[test]
fn a_failed_check_goes_back_to_the_agent_and_then_fails_the_task() {
    let plan = "tasks:\n  t:\n    prompt: p\n    tools: [Write]\n    env: { WORD: hello }\n    checks:\n      - test -n \"$WORD\"\n      - |\n        echo looking for ${{ 'mended' }}\n        test -f mended.txt\n";
    let write = "  - call: Write\n    with: { file_path: mended.txt, content: x }\n";
    let flow = Flow::new().plan(plan).model(&format!("t:\n  - say: first\n{write}  - say: second\n"));
    flow.run(&script(&["run", "plan.yaml"])).exits(0);
    let transcript = std::fs::read_to_string(flow.newest_run().join("tasks/t/context.jsonl")).unwrap();
    assert!(transcript.contains("looking for mended") && transcript.contains("exit code 1"), "{transcript}");
    assert_eq!(flow.run(&["logs", "latest", "t", "--raw"]).exits(0).stdout.trim_end(), "second");

    let flow = Flow::new().plan(plan).model("t:\n  - say: first\n  - say: second\n  - say: third\n");
    flow.run(&script(&["run", "plan.yaml"])).exits(1).says(&["check_failed"]);
    let task = flow.task("t");
    assert_eq!((&task["reason"], &task["usage"]["turns"]), (&"check_failed".into(), &2.into()));
    assert!(task["message"].as_str().unwrap().contains("exit code 1"), "{task:#}");
    let report = flow.run(&["report", "latest"]).exits(0).stdout;
    assert!(report.contains("looking for mended"), "{report}");
}

#[test]
fn a_check_works_in_the_agents_tree_and_stops_with_it() {
    let flow = Flow::new()
        .plan("tasks:\n  t: { prompt: p, isolation: worktree, checks: 'test \"$PWD\" != \"$OUT\" && echo > checked', env: { OUT: '${{ git.root }}' }, expect: { files: [checked] } }\n  u: { prompt: p, checks: sleep 60, timeout: 1s }\n")
        .model(DONE)
        .git();
    let ran = flow.run(&script(&["run", "plan.yaml"])).exits(1);
    assert_eq!(flow.task("t")["state"], "completed");
    assert_eq!(flow.task("u")["reason"], "timeout");
    assert!(!flow.exists("checked") && ran.took < Duration::from_secs(30));
}

#[test]
fn a_secret_in_env_reaches_neither_the_commands_of_an_agent_nor_its_checks() {
    let flow = Flow::new().env("TOKEN", "very-secret-token").plan(
        "secrets: [TOKEN]\nenv: { A: '${{ secrets.TOKEN }}' }\ntasks:\n  t:\n    prompt: p\n    tools: [Bash]\n    env: { B: '${{ env.A }}', OPEN: seen }\n    checks: test -z \"$A$B$TOKEN\" && test $OPEN = seen\n",
    );
    let flow = flow.model("t:\n  - call: Bash\n    with: { command: 'env > env.txt' }\n  - say: done\n");
    flow.run(&script(&["run", "plan.yaml"])).exits(0);
    let env = flow.read("env.txt");
    assert!(!env.contains("very-secret-token") && env.contains("OPEN=seen"), "{env}");
}

#[test]
fn one_run_at_a_time_holds_a_lock_and_another_one_is_told_which() {
    let flow = Flow::new().plan(
        "lock: deploy-${{ inputs.to }}\ninputs: { to: { default: here } }\ntasks:\n  a: { run: 'touch up; until test -f go; do sleep 0.02; done' }\n",
    );
    let first = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(20), || flow.exists("up")));
    let run = flow.newest_run().file_name().unwrap().to_string_lossy().into_owned();
    flow.run(&["run", "plan.yaml"]).exits(9).says(&["the lock `deploy-here` is held by run", &run]);
    assert_eq!(
        std::fs::read_dir(flow.path(".flow/runs")).unwrap().count(),
        1,
        "the refused run left nothing"
    );
    let other = flow.start(&["run", "plan.yaml", "-i", "to=there"]);
    assert!(wait_until(Duration::from_secs(20), || {
        std::fs::read_dir(flow.path(".flow/runs")).unwrap().count() == 2
    }));
    flow.write("go", "");
    first.wait().exits(0);
    other.wait().exits(0);
    flow.run(&["run", "plan.yaml"]).exits(0);
}

#[test]
fn a_resume_takes_the_lock_too() {
    let flow = Flow::new()
        .plan("lock: one\ntasks:\n  a: { run: 'test -f go1' }\n  b: { run: 'touch up; until test -f go2; do sleep 0.02; done' }\n");
    flow.write("go2", "");
    flow.run(&["run", "plan.yaml"]).exits(1);
    std::fs::remove_file(flow.path("go2")).unwrap();
    std::fs::remove_file(flow.path("up")).unwrap();
    let run = flow.newest_run().file_name().unwrap().to_string_lossy().into_owned();
    let second = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(20), || flow.exists("up")));
    flow.run(&["resume", &run]).exits(9).says(&["the lock `one` is held by"]);
    flow.write("go1", "");
    flow.write("go2", "");
    second.wait();
    flow.run(&["resume", &run]).exits(0);
}

#[test]
fn a_pool_bounds_its_tasks_and_lets_the_others_run() {
    let flow = Flow::new().plan(
        "concurrency: 8\npools: { db: 1 }\ndefaults: { pool: db }\ntasks:\n  \
           many: { for_each: [1, 2, 3, 4], run: 'mkdir held; sleep 0.1; rmdir held' }\n  \
           one: { run: 'mkdir held; sleep 0.1; rmdir held' }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(0);
    let shown = flow.run(&["plan", "plan.yaml"]).exits(0).stdout;
    assert!(shown.contains("db, 1 at once"), "{shown}");
}

#[test]
fn a_lost_command_runs_again_and_a_lost_agent_only_where_that_does_no_harm() {
    let flow = Flow::new()
        .plan("tasks:\n  shell: { run: 'echo s >> log; test -f go || sleep 60' }\n  once: { prompt: p }\n  again: { prompt: p, idempotent: true }\n  mine: { run: 'echo m >> log; test -f go || sleep 60', on_lost: fail }\n")
        .model("default: [{ say: done, sleep: 60s }]\n");
    let child = flow.start(&script(&["run", "plan.yaml"]));
    let running = || {
        let text = std::fs::read_to_string(flow.newest_run().join("events.jsonl")).unwrap_or_default();
        text.matches("\"attempt_running\"").count() == 4
    };
    let both = || flow.exists("log") && flow.read("log").contains('s') && flow.read("log").contains('m');
    assert!(wait_until(Duration::from_secs(20), || both() && running()));
    signal(child.id(), "KILL");
    child.wait();
    flow.write("go", "");
    flow.write("model.yaml", DONE);
    flow.run(&script(&["resume", "latest"])).exits(1).says(&["lost and not run twice: `once`, `mine`"]);
    let state = |task: &str| flow.task(task)["state"].as_str().unwrap().to_owned();
    assert_eq!(["shell", "once", "again", "mine"].map(state), ["completed", "lost", "completed", "lost"]);
    assert_eq!(flow.read("log").matches('m').count(), 1);
    let lost = flow.task("once");
    assert_eq!(lost["attempts"].as_array().unwrap().len(), 1);
    assert!(lost["message"].as_str().unwrap().contains("on_lost"), "{lost:#}");
    // The person resumes again, knowing of it.
    flow.run(&script(&["resume", "latest"])).exits(0);
    assert_eq!(flow.task("once")["state"], "completed");
}

#[test]
fn an_agent_in_the_background_asks_nobody_and_its_readers_wait_for_it() {
    let flow = Flow::new()
        .file("agents/shy.md", "---\nname: shy\ndescription: d\nflow: { supports_background: false }\n---\nBe.\n")
        .plan("tasks:\n  t: { prompt: p, background: true }\n  s: { run: sleep 0.3; echo s, background: true }\n  u: { run: 'echo ${{ tasks.t.output }} ${{ tasks.s.output }}' }\n")
        .model("t:\n  - call: Bash\n    with: { command: make all }\n    sleep: 300ms\n  - say: waited\n");
    flow.run(&script(&["run", "plan.yaml"])).exits(0);
    assert_eq!(flow.task("t")["denials"][0]["reason"], "async_agent");
    assert_eq!((&flow.task("t")["background"], &flow.task("s")["background"]), (&true.into(), &true.into()));
    assert_eq!(flow.run(&["logs", "latest", "u"]).exits(0).stdout, "waited s\n");
    flow.write("plan.yaml", "flow: 1\ntasks:\n  t: { agent: shy, prompt: p, background: true }\n");
    flow.run(&["check", "plan.yaml"]).exits(3).says(&["can't work in the background"]);
}
