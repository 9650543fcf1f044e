//! What a task wrote is what its readers get, or they get an error: never an empty or another value.

use crate::support::Flow;

/// `b` reads what `a` printed, after `c` has done something to the file that holds it.
fn meddled(meddle: &str) -> Flow {
    Flow::new().plan(&format!(
        "tasks:\n  a: {{ run: echo precious }}\n  c: {{ needs: [a], run: '{meddle}' }}\n  \
         b: {{ needs: [c], run: 'echo \"got=${{{{ tasks.a.output }}}}=\" > got' }}\n"
    ))
}

#[test]
fn an_output_that_is_gone_cut_off_or_changed_fails_its_reader() {
    let file = ".flow/runs/*/out/0.out";
    for (meddle, why) in [
        (format!("rm {file}"), "is gone"),
        ("git clean -fdxq . 2>/dev/null || rm -r .flow/runs/*/out".to_owned(), "is gone"),
        (format!("sed -i s/precious/PRECIOUS/ {file}"), "was changed after the task had written it"),
        (format!("sed -i s/precious// {file}"), "was cut off: 1 of 9 bytes are left"),
    ] {
        let flow = meddled(&meddle);
        flow.run(&["run", "plan.yaml"]).exits(1).says(&["`output` of `a` can't be read", why]);
        assert!(!flow.exists("got"), "{meddle}");
        assert_eq!(flow.task("b")["reason"], "resource", "{meddle}");
    }
}

#[test]
fn a_task_that_cuts_off_what_it_prints_to_has_not_run_well() {
    let flow = meddled("echo mine; truncate -s 3 .flow/runs/*/out/0.out");
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["tampered", "`out/0.out`", "was cut off while it ran"]);
    assert!(!flow.exists("got"));
}

#[test]
fn outputs_of_the_plan_are_no_other_value_either() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { run: echo precious }\n  c: { needs: [a], run: 'rm .flow/runs/*/out/0.out' }\noutputs: { a: \"${{ tasks.a.output }}\" }\n",
    );
    let ran = flow.run(&["run", "plan.yaml"]).exits(1).says(&["`outputs.a`", "is gone"]);
    assert_eq!(ran.stdout.trim(), "{}");
}

#[test]
fn large_outputs_and_kept_files_are_looked_at_too() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { output: json, artifacts: [f.txt], run: \"echo 12345 > f.txt; python3 -c 'print(list(range(20000)))'\" }\n  \
         c: { needs: [a], run: \"sed -i 's/1999/2999/' .flow/runs/*/tasks/a/output.json; echo 54321 > $(echo .flow/runs/*/tasks/a/artifacts/f.txt)\" }\n  \
         b: { needs: [c], run: 'echo ${{ tasks.a.output | length }} > got' }\n  \
         d: { needs: [c], run: 'cat ${{ tasks.a.artifacts }} > got' }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(1).says(&[
        "`output` of `a` can't be read",
        "`artifacts` of `a` can't be read",
        "was changed",
    ]);
    assert!(!flow.exists("got"));
}

#[test]
fn a_resume_runs_again_what_wrote_a_lost_output_that_somebody_still_reads() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { run: 'echo a >> ran; echo precious' }\n  aside: { run: 'echo aside >> ran' }\n  \
         m: { for_each: [x, y], run: 'echo ${{ item }} >> ran; echo ${{ item }}' }\n  \
         b: { needs: [a, aside, m], run: 'test -f go && echo \"${{ tasks.a.output }} ${{ tasks.m.output | join(\"+\") }}\" > got' }\n",
    );
    flow.run(&["run", "plan.yaml", "-j1"]).exits(1);
    let out = flow.newest_run().join("out/0.out");
    let text = std::fs::read_to_string(&out).unwrap();
    // Cut in the middle: what was written first is still there.
    std::fs::write(&out, text.replace("precious", "PRECIOUS").replace("y\n", "")).unwrap();
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0).says(&[
        "`output` of `a` can't be read",
        "was changed after the task had written it; it runs again",
        "`output` of `m[y]` can't be read",
    ]);
    assert_eq!(flow.read("got"), "precious x+y\n");
    let mut ran: Vec<_> = flow.read("ran").lines().map(str::to_owned).collect();
    ran.sort();
    assert_eq!(ran, ["a", "a", "aside", "x", "y", "y"]);
}

#[test]
fn what_must_not_run_twice_is_run_again_only_by_name() {
    let flow = Flow::new().plan(
        "tasks:\n  a: { on_lost: fail, run: 'echo a >> ran; echo precious' }\n  \
         b: { needs: [a], run: 'test -f go && echo ${{ tasks.a.output }} > got' }\n",
    );
    flow.run(&["run", "plan.yaml"]).exits(1);
    std::fs::remove_file(flow.newest_run().join("out/0.out")).unwrap();
    flow.write("go", "");
    flow.run(&["resume", "latest"])
        .exits(1)
        .says(&["it does not run twice by itself, `flow retry", "is gone"]);
    assert_eq!(flow.read("ran"), "a\n");
    flow.run(&["retry", "latest", "a"]).exits(0);
    assert_eq!((flow.read("ran"), flow.read("got")), ("a\na\n".to_owned(), "precious\n".to_owned()));
}

#[test]
fn logs_show_what_a_task_wrote_or_say_why_they_can_not() {
    let flow = Flow::new().plan("tasks:\n  a: { run: echo precious }\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(flow.run(&["logs", "latest", "a"]).exits(0).stdout, "precious\n");
    let out = flow.newest_run().join("out/0.out");
    for (text, why) in [("PRECIOUS\n", "was changed after the task had written it"), ("pre", "was cut off")] {
        std::fs::write(&out, text).unwrap();
        let ran = flow.run(&["logs", "latest", "a"]).exits(74).says(&["can't show the output of `a`", why]);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_report_says_where_a_text_would_stand_that_it_can_not_have() {
    let flow = Flow::new().plan("tasks:\n  a: { run: 'echo why >&2; exit 1' }\n");
    flow.run(&["run", "plan.yaml"]).exits(1);
    std::fs::remove_dir_all(flow.newest_run().join("out")).unwrap();
    let page = flow.run(&["report", "latest", "--format", "junit"]).exits(0).stdout;
    assert!(page.contains("can't be shown") && page.contains("is gone"), "{page}");
}

#[test]
fn a_run_whose_journal_is_taken_away_is_no_success() {
    for meddle in ["rm .flow/runs/*/events.jsonl", "echo >> $(echo .flow/runs/*/events.jsonl)"] {
        let flow = Flow::new()
            .plan(&format!("tasks:\n  a: {{ run: '{meddle}' }}\n  b: {{ needs: [a], run: touch ran }}\n"));
        flow.run(&["run", "plan.yaml"]).exits(74).says(&["can't write the journal", "under the run"]);
        assert!(!flow.exists("ran"), "nothing happens that no journal tells");
    }
}

#[test]
fn a_prompt_file_that_names_git_gets_its_value_and_ci_is_what_ci_says() {
    let flow = Flow::new()
        .plan("tasks:\n  a: { tools: [Read], prompt: { file: p.md } }\n  b: { run: 'echo ${{ run.ci }} > ci' }\n")
        .file("p.md", "On branch [${{ git.branch }}]")
        .model("default: [{ say: done }]\n")
        .env("CI", "false")
        .git();
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    let prompt = std::fs::read_to_string(flow.newest_run().join("tasks/a/prompt.md")).unwrap();
    assert!(prompt.contains("On branch [main]"), "{prompt}");
    assert_eq!(flow.read("ci"), "false\n");
}
