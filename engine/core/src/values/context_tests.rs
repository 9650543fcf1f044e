use serde_json::json;

use super::super::testing::{Middle, instance};
use super::super::{Sealed, WorkKind, work_of_task};
use super::Scope;
use crate::compile::testing::Trial;
use crate::model::{AttemptEnd, Digest, Outcome, OutputSlice, Reason, Settings, TaskState, Usage};
use crate::plan::USAGE;
use crate::report::testing::{What, exit, said};
use crate::template::Template;

/// A run of `a` (a command) that ended like this, and `b` (an agent), whose prompt is rendered.
fn prompt_after(code: i32, prompt: &str) -> String {
    let mut run = Middle::of(&format!(
        "tasks:\n  a: {{ run: x, continue_on_error: true }}\n  b: {{ needs: [a], prompt: {} }}\n",
        serde_json::to_string(prompt).unwrap()
    ));
    let out = run.journal.text("out", "one\ntwo\n\n");
    run.journal.run("a", 1, What::Shell, Outcome { stdout: Some(out), ..exit(code) });
    run.prompt("b")
}

#[test]
fn a_task_reads_every_value_of_another() {
    assert_eq!(prompt_after(0, "[${{ tasks.a.output }}]"), "[one\ntwo]", "trailing newlines are no output");
    assert_eq!(prompt_after(0, "[${{ tasks.a.stdout }}]"), "[one\ntwo\n\n]");
    let all = "${{ tasks.a.status }} ${{ tasks.a.exit_code }} ${{ tasks.a.reason }} ${{ tasks.a.attempts }} ${{ tasks.a.duration }}";
    assert_eq!(prompt_after(3, all), "failed 3 exit_code 1 1.2");
    assert_eq!(prompt_after(0, all), "completed 0  1 1.2");
}

#[test]
fn the_output_of_a_task_that_did_not_complete_is_null_through_every_field() {
    assert_eq!(prompt_after(1, "[${{ tasks.a.output }}]"), "[]");
    assert_eq!(
        prompt_after(1, "${{ tasks.a.output | default('none') }} ${{ tasks.a.stdout | head(1) }}"),
        "none one"
    );
}

#[test]
fn every_fact_of_what_an_agent_used_can_be_read() {
    let reads: Vec<String> =
        USAGE.iter().map(|(name, _)| format!("{name}=${{{{ tasks.a.usage.{name} }}}}")).collect();
    let plan = format!("tasks:\n  a: {{ prompt: p }}\n  b: {{ prompt: '{}' }}\n", reads.join(" "));
    let mut run = Middle::of(&plan);
    let slice = run.journal.text("a", "done");
    let usage = Usage { turns: 2, input_tokens: 30, cache_read_tokens: 10, ..Usage::default() };
    run.journal.run("a", 1, What::Agent, Outcome { usage: Some(usage), ..said(slice) });
    assert_eq!(
        run.prompt("b"),
        "turns=2 tool_uses=0 total_tokens=40 input_tokens=30 output_tokens=0 cache_read_tokens=10 \
         cache_write_tokens=0 model="
    );
}

#[test]
fn a_task_reads_what_it_is_called_itself() {
    let own = "${{ task.id }} ${{ task.address }} ${{ task.key }} ${{ task.attempt }}";
    assert_eq!(prompt_after(0, own), "b b  1");
    let run = Middle::of("tasks:\n  m: { for_each: [x, y], prompt: p }\n");
    let template = Template::text(own).expect("a template");
    let shown = run.look("m", Some(&instance("y", json!("y"))), |scope, _| {
        template.render(&scope.context(&template.references))
    });
    assert_eq!(shown, Ok("m m[y] y 1".to_owned()));
}

#[test]
fn a_missing_field_of_an_output_is_an_expression_failure_that_names_the_key() {
    let mut run = Middle::of(
        "tasks:\n  a: { run: x, output: json }\n  b: { prompt: \"${{ tasks.a.output.nope }}\" }\n",
    );
    run.journal.run("a", 1, What::Shell, Outcome { output: Some(json!({ "yes": 1 })), ..exit(0) });
    let said = run.prompt("b");
    assert!(said.starts_with("error: `prompt`:") && said.contains("nope") && said.contains("yes"), "{said}");
}

#[test]
fn an_expanded_task_gives_outputs_of_completed_instances_in_item_order_and_all_results() {
    let mut run = Middle::of(
        "tasks:\n  m: { for_each: [x, y, z], prompt: p, continue_on_error: true }\n  b: { prompt: \"${{ tasks.m.output | join(',') }} \
         ${{ tasks.m.results | map(attribute='status') | join(',') }} ${{ tasks.m.results[1].key }} ${{ tasks.m.status }}\" }\n",
    );
    run.journal.expand("m", &["x", "y", "z"]);
    for (key, text) in [("z", "three"), ("x", "one")] {
        let slice = run.journal.text(key, text);
        run.journal.run(&format!("m[{key}]"), 1, What::Agent, said(slice));
    }
    run.journal.run("m[y]", 1, What::Agent, Outcome::bare(AttemptEnd::Failed, Some(Reason::NoOutput), None));
    run.journal.ended("m", TaskState::Completed, None);
    assert_eq!(run.prompt("b"), "one,three completed,failed,completed y completed");
}

#[test]
fn variables_come_from_the_plan_then_the_process_and_secrets_from_the_process() {
    let trial = Trial::of(
        "secrets: [TOKEN]\nenv: { A: \"${{ env.HOST }}!\", B: \"${{ env.A }}?\" }\ntasks:\n  t:\n    run: echo ${{ env.B }}\n    \
         env: { KEY: \"${{ secrets.TOKEN }}\", SAME: \"${{ env.A }}\" }\n",
    )
    .env("HOST", "h")
    .env("TOKEN", "s3cret-value");
    let run = Middle::compiled(trial).env("HOST", "h").env("TOKEN", "s3cret-value");
    let (script, env) = run.script("t");
    let shown: Vec<_> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(shown, ["A=h!", "B=h!?", "KEY=s3cret-value", "SAME=h!", "FLOW_1=h!?"]);
    assert_eq!(script, "echo \"${FLOW_1}\"");
}

#[test]
fn a_variable_that_holds_a_secret_stays_out_of_an_agents_commands() {
    let trial = Trial::of(
        "secrets: [TOKEN]\nenv: { PLAIN: p, KEY: \"${{ secrets.TOKEN }}\", DERIVED: \"Bearer ${{ env.KEY }}\" }\n\
         tasks:\n  t: { prompt: p }\n",
    )
    .env("TOKEN", "s3cret-value");
    let run = Middle::compiled(trial).env("TOKEN", "s3cret-value");
    assert_eq!(run.work("t").unwrap().open_env().collect::<Vec<_>>(), [("PLAIN", "p")]);
}

#[test]
fn an_instance_sees_its_item_and_key_and_a_matrix_its_row() {
    let run = Middle::of(
        "tasks:\n  e: { for_each: [{ id: a }], as: area, prompt: \"${{ area.id }} ${{ key }}\" }\n  \
         m: { matrix: { os: [x] }, prompt: \"${{ matrix.os }}\" }\n",
    );
    let render = |task: &str, instance: &crate::event::Instance| {
        let work =
            |scope: &Scope<'_>, task: &_| work_of_task(scope, task, &Settings::default()).unwrap().kind;
        match run.look(task, Some(instance), work) {
            WorkKind::Agent(agent) => agent.prompt,
            WorkKind::Shell(_) => panic!("it is an agent"),
        }
    };
    assert_eq!(render("e", &instance("k", json!({ "id": "a" }))), "a k");
    assert_eq!(render("m", &instance("x", json!({ "os": "x" }))), "x");
}

#[test]
fn a_verdict_reads_the_outcome_and_a_retry_the_last_attempt() {
    let mut run = Middle::of(
        "tasks:\n  t:\n    run: x\n    output: json\n    expect: { that: task.output.verdict != \"BLOCK\" and task.attempt == 1 }\n    \
         retry: { max: 1, if: task.exit_code == 75 and \"busy\" in task.stderr }\n",
    );
    let verdict = |word: &str| Outcome { output: Some(json!({ "verdict": word })), ..exit(0) };
    for (word, holds) in [("PASS", true), ("BLOCK", false)] {
        let judged = run.look("t", None, |scope, task| {
            let that = task.expect.that.as_ref().unwrap();
            that.truth(&scope.context_of_outcome(that, &verdict(word)))
        });
        assert_eq!(judged.unwrap(), holds, "{word}");
    }
    let err = run.journal.text("err", "the server is busy\n");
    run.journal.start("t", 1, What::Shell).attempt_ended("t", 1, Outcome { stderr: Some(err), ..exit(75) });
    let again = run.look("t", None, |scope, task| {
        let condition = task.retry.condition.as_ref().unwrap();
        let found = scope.run.task(&"t".into()).unwrap();
        condition.truth(&scope.context_of_last_attempt(condition, found))
    });
    assert!(again.unwrap());
}

#[test]
fn a_large_value_becomes_a_file_and_the_file_is_handed_back_for_writing() {
    let mut run =
        Middle::of("tasks:\n  a: { run: x }\n  b: { run: \"tail ${{ tasks.a.stdout | file }}\" }\n");
    let big = "x".repeat(300_000);
    let out = run.journal.text("out", &big);
    run.journal.run("a", 1, What::Shell, Outcome { stdout: Some(out), ..exit(0) });
    let work = run.work("b").unwrap();
    let [(path, text)] = &work.files[..] else { panic!("one file: {:?}", work.files) };
    assert_eq!((path.to_str(), text), (Some("/runs/r/values/b.1/value-1"), &Sealed::Plain(big)));
    assert_eq!(run.script("b").1["FLOW_1"], "/runs/r/values/b.1/value-1");
}

#[test]
fn no_two_values_of_a_run_share_a_file() {
    let run = Middle::of(
        "tasks:\n  a: { env: { V: \"${{ 'one' | file }}\" }, run: \"cat ${{ 'two' | file }}\" }\n  b: { run: \"cat ${{ 'three' | file }}\" }\n",
    );
    let files = |task: &str| run.work(task).unwrap().files;
    let file = |path: &str, text: &str| (std::path::PathBuf::from(path), Sealed::Plain(text.to_owned()));
    let of_a = [file("/runs/r/values/a.1/value-1", "one"), file("/runs/r/values/a.1/value-2", "two")];
    assert_eq!(files("a"), of_a);
    assert_eq!(files("b"), [file("/runs/r/values/b.1/value-1", "three")]);
}

#[test]
fn the_status_of_the_run_counts_failures_that_are_not_allowed() {
    let state = |code: i32, allowed: bool| {
        let mut run = Middle::of(&format!(
            "tasks:\n  a: {{ run: x, continue_on_error: {allowed} }}\n  b: {{ needs: {{ a: done }}, run: y, if: run.failed }}\n"
        ));
        run.journal.start("a", 1, What::Shell).attempt_ended("a", 1, exit(code));
        let state = if code == 0 { TaskState::Completed } else { TaskState::Failed };
        run.journal.add(crate::event::Event::TaskEnded {
            task: "a".into(),
            state,
            reason: None,
            message: None,
            allowed,
        });
        run.look("b", None, |scope, task| {
            let condition = task.condition.as_ref().unwrap();
            condition.expression.truth(&scope.context(&condition.expression.references)).unwrap()
        })
    };
    assert!(state(1, false));
    assert!(!state(1, true));
    assert!(!state(0, false));
}

#[test]
fn what_an_agent_started_fails_no_run() {
    let mut run = Middle::of("tasks:\n  a: { run: x }\n  b: { needs: [a], run: y, if: run.failed }\n");
    run.journal.run("a", 1, What::Shell, exit(0));
    for event in crate::schedule::child_started("a", "b0000000000000001") {
        run.journal.add(event);
    }
    run.journal.ended("a/@b0000000000000001", TaskState::Failed, None);
    run.look("b", None, |scope, task| {
        let condition = task.condition.as_ref().unwrap();
        assert!(!condition.expression.truth(&scope.context(&condition.expression.references)).unwrap());
    });
}

#[test]
fn the_plans_env_is_there_in_whatever_reads_it_outside_of_an_attempt() {
    let run = Middle::of(
        "env: { FIRST: one, BOTH: \"${{ env.FIRST }} two\", LIST: '[1, 2]' }\n\
         tasks:\n  a: { run: echo }\n  m: { for_each: \"${{ env.LIST | fromjson }}\", key: \"${{ env.FIRST }}-${{ item }}\", run: echo }\n",
    );
    run.look("a", None, |scope, _| {
        for (expression, value) in [
            ("env.BOTH == 'one two'", json!(true)),
            ("env.FIRST ~ env.BOTH", json!("oneone two")),
            ("env.NOT_SET | default('none')", json!("none")),
        ] {
            let template = Template::expression(expression).unwrap();
            assert_eq!(template.value(&scope.context(&template.references)), Ok(value), "{expression}");
        }
        let missing = Template::expression("env.NOT_SET").unwrap();
        let error = missing.value(&scope.context(&missing.references)).unwrap_err();
        assert_eq!(error.to_string(), "the environment has no variable `NOT_SET`");
    });
    assert_eq!(run.expand("m").unwrap(), ["one-1=1", "one-2=2"]);
}

#[test]
fn what_a_task_wrote_and_nobody_can_read_any_more_is_no_value() {
    for read in ["output", "text", "output | default('none')", "output | length", "notification"] {
        let mut run = Middle::of(&format!(
            "tasks:\n  a: {{ prompt: p }}\n  b: {{ needs: [a], prompt: \"${{{{ tasks.a.{read} }}}}\" }}\n"
        ));
        let text = run.journal.text("out", "changed");
        let text = OutputSlice { hash: Some(Digest::of(b"written")), ..text };
        run.journal.run("a", 1, What::Agent, said(text));
        let outcome = run.work("b").err().unwrap();
        let said = outcome.message.unwrap_or_default();
        assert!(said.contains("of `a` can't be read: `out` was changed"), "{read}: {said}");
        assert_eq!(outcome.reason, Some(Reason::Resource), "{read}");
    }
}

#[test]
fn a_verdict_that_fails_its_task_can_say_why() {
    let reads = |reason: Reason| {
        let mut run = Middle::of(
            "tasks:\n  v: { output: json, run: x, continue_on_error: true }\n  r: { prompt: \"${{ tasks.v.output.why | default('nothing') }}\" }\n",
        );
        let outcome = Outcome::bare(AttemptEnd::Failed, Some(reason), None);
        run.journal.run("v", 1, What::Shell, Outcome { output: Some(json!({"why": "tests"})), ..outcome });
        run.prompt("r")
    };
    assert_eq!(reads(Reason::Expectation), "tests");
    assert_eq!(reads(Reason::InvalidOutput), "nothing");
}

#[test]
fn the_text_of_a_command_is_what_it_said_and_its_standard_output_every_byte() {
    let all = "[${{ tasks.a.text }}] [${{ tasks.a.stdout }}]";
    assert_eq!(prompt_after(0, all), "[one\ntwo] [one\ntwo\n\n]");
    assert_eq!(prompt_after(1, all), "[one\ntwo] [one\ntwo\n\n]", "however it ended");
}
