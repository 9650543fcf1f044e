//! What people see of one project, whole: every command, as it goes well and as it goes wrong.

use std::time::Duration;

use crate::support::{Flow, Transcript, wait_until};

/// Fails while there is a file `broken`. Nothing runs beside anything else, so there is one order.
const RELEASE: &str = r#"flow: 1
name: release
description: Build it, test it, tell of it.
inputs:
  target: { type: path, default: app, description: What is released }
  level: { enum: [low, high], default: low }
  note: { type: string, required: false }
env: { STAGE: "${{ inputs.target }}-stage" }
concurrency: 1
defaults: { timeout: 5m }
tasks:
  fetch:
    description: Fetch ${{ inputs.target }}
    run: 'echo "fetch $STAGE"; test -f fetched || { touch fetched; echo no answer >&2; exit 7; }'
    retry: { max: 1, delay: 10ms, jitter: false }
  parts: { needs: [fetch], run: 'printf "core\nrun\n"', output: lines }
  build: { for_each: "${{ tasks.parts.output }}", as: part, run: 'echo building ${{ part }}', max_parallel: 1 }
  docs: { needs: [build], if: inputs.level == "high", run: make docs }
  lint: { needs: [build], run: 'echo "one warning" >&2; exit 1', continue_on_error: true }
  test:
    needs: { lint: done, docs: success }
    description: Run the tests
    run: |
      seq 1 12
      test ! -f broken || { echo "2 tests failed" >&2; exit 3; }
    artifacts: fetched
  publish: { needs: [test], run: 'echo published ${{ tasks.build.output | length }}', expect: { that: "'2' in task.output" } }
  tidy: { needs: { publish: done }, if: always(), run: 'echo tidy' }
outputs: { published: "${{ tasks.publish.output }}", parts: "${{ tasks.parts.output }}" }
"#;

const REVIEW: &str = r#"flow: 1
name: review
concurrency: 1
tasks:
  look: { agent: reviewer, prompt: Look at a.txt., tools: [Read] }
  judge:
    prompt: "How good is it? ${{ tasks.look.output }}"
    output: { type: object, required: [verdict], properties: { verdict: { enum: [good, bad] } } }
  more: { needs: [judge], fork: look, prompt: And what is missing? }
  mend: { needs: [more], prompt: Write b.txt., tools: [Write], isolation: worktree, merge: branch, checks: test -e b.txt }
  silent: { needs: [mend], agent: reviewer, prompt: Say nothing. }
  after: { needs: [silent], run: 'echo ${{ tasks.silent.text | length }}' }
outputs:
  verdict: "${{ tasks.judge.output.verdict }}"
"#;

const MODEL: &str = r#"look:
  - { say: I look., calls: [{ call: Read, with: { file_path: a.txt } }, { call: Bash, with: { command: make } }], usage: { input: 100, output: 10 } }
  - { say: "It says **a**.", usage: { input: 120, output: 20, cache_read: 90, cache_write: 5 } }
judge:
  - { call: StructuredOutput, with: { verdict: good }, usage: { input: 100, output: 10 } }
more:
  - { say: The tests., usage: { input: 140, output: 5 } }
mend:
  - { call: Write, with: { file_path: b.txt, content: "b\n" }, usage: { input: 100, output: 10 } }
  - { say: It is written., usage: { input: 110, output: 10 } }
silent:
  - { fail: { status: 400, message: bad request } }
"#;

const REVIEWER: &str = "---
name: reviewer
description: Reads and says what is wrong.
tools: [Read, Bash]
model: sonnet
---
You read. You say what is wrong.
";

fn project() -> Flow {
    Flow::new()
        .file("workflows/release.yaml", RELEASE)
        .file("workflows/review.yaml", REVIEW)
        .file("agents/reviewer.md", REVIEWER)
        .file(".gitignore", ".flow\nfetched\nbroken\nmodel.yaml\n")
        .model(MODEL)
        .git()
}

/// The project with the test that fails.
fn broken() -> Flow {
    project().file("broken", "").file("fetched", "")
}

/// With the agents' run in it, which failed.
fn reviewed() -> Flow {
    let flow = project();
    flow.run(&["run", "review", "--model-script", "model.yaml"]).exits(1);
    flow
}

/// Runs the commands one after the other and compares all that they say.
fn seen(flow: &Flow, name: &str, commands: &[&[&str]]) {
    let mut seen = Transcript::new(flow);
    for args in commands {
        seen.run(args);
    }
    seen.is(name);
}

#[test]
fn a_plan_before_it_runs() {
    seen(
        &project(),
        "plan",
        &[
            &["check"],
            &["check", "release", "-i", "level=high"],
            &["plan", "release"],
            &["plan", "release", "-o", "json"],
            &["plan", "review", "--model-script", "model.yaml"],
            &["run", "release", "-n", "-i", "target=lib"],
            &["graph", "release"],
            &["graph", "release", "--format", "mermaid"],
            &["graph", "release", "--format", "dot"],
            &["graph", "release", "--format", "json"],
        ],
    );
}

#[test]
fn a_plan_that_is_wrong() {
    let flow = project()
        .file(
            "wrong.yaml",
            "flow: 1\ninputs: { n: { type: integer, default: many } }\ntasks:\n  one: { rnu: echo }\n  \
             two: { needs: [won], run: 'echo ${{ tasks.three.output }} ${{ inputs.m }}' }\n  \
             a: { needs: [b], run: 'true' }\n  b: { needs: [a], run: 'true' }\n  \
             who: { agent: reviewr, prompt: Look. }\n",
        )
        .file(
            "odd.yaml",
            "flow: 1\ntasks:\n  one: { run: 'exit 1', continue_on_error: true, output: json }\n  \
             two: { run: 'echo ${{ tasks.one.output.x }}' }\n  who: { agent: reviewer, prompt: Look., model: house }\n",
        )
        .file("torn.yaml", "flow: 1\ntasks: [\n");
    seen(
        &flow,
        "plan-wrong",
        &[
            &["check", "wrong.yaml"],
            &["check", "wrong.yaml", "-o", "json"],
            &["run", "wrong.yaml"],
            &["check", "torn.yaml"],
            &["check", "odd.yaml"],
            &["check", "odd.yaml", "-o", "json"],
            &["run", "odd.yaml"],
            &["check", "relase"],
            &["run", "none.yaml"],
            &["run", "release", "-i", "levle=high"],
            &["run", "release", "-i", "level=middle"],
            &["run", "release", "--only", "tset"],
        ],
    );
}

#[test]
fn a_run_that_succeeds() {
    seen(
        &project(),
        "run-well",
        &[
            &["run", "release"],
            &["run", "release", "-v"],
            &["run", "release", "-q"],
            &["run", "release", "-o", "json"],
            &["run", "release", "--only", "parts", "--report", "github=-"],
        ],
    );
    seen(&project().env("CI", "true"), "run-well-in-ci", &[&["run", "release"]]);
}

#[test]
fn a_run_that_fails() {
    seen(
        &broken(),
        "run-badly",
        &[
            &["run", "release"],
            &["run", "release", "-v"],
            &["run", "release", "-q"],
            &["run", "release", "--fail-fast", "--strict"],
        ],
    );
    seen(&broken().env("CI", "true"), "run-badly-in-ci", &[&["run", "release"]]);
    let flow = broken().env("CI", "true").env("GITHUB_ACTIONS", "true");
    let summary = flow.path("summary.md").display().to_string();
    let flow = flow.env("GITHUB_STEP_SUMMARY", &summary);
    let mut seen = Transcript::new(&flow);
    seen.run(&["run", "release"]).file("summary.md").run(&["run", "relase"]);
    seen.is("run-badly-under-github");
}

#[test]
fn a_run_afterwards() {
    let flow = broken();
    flow.run(&["run", "release"]).exits(1);
    seen(
        &flow,
        "afterwards",
        &[
            &["ps"],
            &["ps", "-o", "json"],
            &["status"],
            &["status", "-o", "json"],
            &["logs"],
            &["logs", "test"],
            &["logs", "build"],
            &["logs", "latest", "build[run]"],
            &["logs", "--stderr"],
            &["logs", "--failed"],
            &["events"],
            &["events", "-o", "json"],
            &["report"],
            &["report", "--format", "json"],
            &["report", "--format", "junit"],
            &["report", "--format", "github"],
            &["report", "--format", "notifications"],
        ],
    );
}

#[test]
fn a_run_that_is_gone_on_with() {
    let flow = broken();
    flow.run(&["run", "release"]).exits(1);
    seen(
        &flow,
        "gone-on-with",
        &[
            &["retry", "latest", "tset"],
            &["retry", "latest", "parts"],
            &["retry", "latest", "publish"],
            &["retry", "latest", "test"],
        ],
    );
    std::fs::remove_file(flow.path("broken")).unwrap();
    flow.write("workflows/release.yaml", &RELEASE.replace("Run the tests", "Run all tests"));
    seen(
        &flow,
        "gone-on-with-well",
        &[
            &["resume", "latest"],
            &["resume", "latest"],
            &["retry", "latest"],
            &["stop", "latest"],
            &["attach", "latest"],
            &["attach"],
            &["status"],
            &["report"],
        ],
    );
}

#[test]
fn agents_at_work() {
    let flow = project();
    seen(
        &flow,
        "agents-at-work",
        &[
            &["run", "review", "--model-script", "model.yaml"],
            &["status"],
            &["logs"],
            &["logs", "look"],
            &["logs", "--raw"],
            &["logs", "--failed"],
            &["report"],
            &["report", "--format", "json"],
            &["report", "--format", "notifications"],
            &["gc", "-n"],
            &["gc", "-n", "-o", "json"],
            &["gc", "--force", "--keep", "0"],
            &["ps"],
        ],
    );
    seen(
        &project(),
        "agents-in-detail",
        &[
            &["run", "review", "--model-script", "model.yaml", "-v", "--only", "look", "--only", "judge"],
            &["run", "review", "--model-script", "model.yaml", "--strict", "--only", "look"],
            &["run", "review", "--model-script", "none.yaml"],
            &["run", "review"],
        ],
    );
}

#[test]
fn agents_as_defined() {
    let flow = project()
        .file(".claude/agents/reviewer.md", &REVIEWER.replace("wrong", "odd"))
        .file(
            "agents/odd.md",
            "---\nname: odd\ndescription: d\ncolour: red\ntools: [Read, WebFetch]\n---\nWork.\n",
        )
        .file("agents/broken.md", "---\nname: broken\ndescription: d\nisolaton: worktree\n---\nWork.\n");
    seen(
        &flow,
        "agents",
        &[
            &["agents", "list"],
            &["agents", "show", "reviewer"],
            &["agents", "show", "reviewer", "-o", "json"],
            &["agents", "show", "reviewr"],
            &["agents", "why", "reviewer"],
            &["agents", "why", "reviewer", "-o", "json"],
            &["agents", "why", "reviewr"],
            &["agents", "check"],
            &["agents", "check", "-o", "json"],
        ],
    );
}

#[test]
fn a_run_at_work() {
    let flow = Flow::new().plan(
        "name: wait\nconcurrency: 1\ntasks:\n  first: { run: echo first }\n  \
         wait: { needs: [first], run: 'echo waiting; touch began; until test -f go; do sleep 0.02; done' }\n  \
         after: { needs: [wait], run: echo after }\n",
    );
    let running = flow.start(&["run", "plan.yaml"]);
    let shown = || flow.exists("began") && flow.run(&["logs"]).stdout.contains("waiting");
    assert!(wait_until(Duration::from_secs(20), shown));
    seen(
        &flow,
        "at-work",
        &[
            &["ps"],
            &["status"],
            &["events"],
            &["logs"],
            &["resume", "latest"],
            &["stop", "latest", "wiat"],
            &["stop", "latest", "first"],
            &["stop", "latest", "wait"],
        ],
    );
    running.wait().exits(1);
    seen(&flow, "at-work-no-more", &[&["attach", "latest"], &["status"]]);
}

#[test]
fn a_machine_and_a_new_project() {
    let flow = Flow::new().env("PATH", "/usr/bin:/bin");
    seen(
        &flow,
        "new",
        &[
            &["ps"],
            &["status"],
            &["report"],
            &["stop", "latest"],
            &["attach"],
            &["gc"],
            &["doctor"],
            &["check"],
            &["init"],
            &["init"],
            &["check"],
            &["run", "plan.yaml"],
            &["doctor", "-o", "json"],
        ],
    );
}

#[test]
fn words_that_are_not_known() {
    let flow = reviewed();
    seen(
        &flow,
        "not-known",
        &[
            &["rnu", "release"],
            &["run"],
            &["run", "release", "--jbos", "2"],
            &["run", "release", "-j", "0"],
            &["status", "20200101-000000-aaaaaa"],
            &["logs", "latest", "lok"],
            &["logs", "lok"],
            &["report", "--format", "pdf"],
            &["resume", "latest", "--model-script", "none.yaml"],
            &["graph", "review", "--format", "png"],
            &["agents", "lits"],
            &["-C", "nowhere", "ps"],
        ],
    );
}

#[test]
fn help() {
    let commands = [
        "init",
        "run",
        "check",
        "plan",
        "graph",
        "ps",
        "status",
        "attach",
        "logs",
        "events",
        "report",
        "resume",
        "retry",
        "stop",
        "gc",
        "agents",
        "doctor",
        "completions",
    ];
    let flow = Flow::new();
    let mut seen = Transcript::new(&flow);
    seen.run(&["--help"]);
    commands.iter().for_each(|command| {
        seen.run(&[command, "-h"]);
    });
    seen.is("help");
}
