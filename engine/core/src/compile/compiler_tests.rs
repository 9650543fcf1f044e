use std::fmt::Write;

use insta::assert_snapshot;
use proptest::prelude::*;

use crate::compile::testing::{Trial, check};
use crate::plan::{Command, Over, Plan, TaskKind};

const GOOD: &str = r#"
name: audit
inputs:
  target: { type: path, default: "." }
  max_fix: { type: integer, default: 3, minimum: 1 }
secrets: [TOKEN]
env: { LANG: C.UTF-8 }
concurrency: 4
defaults:
  timeout: 10m
  retry: { max: 2, delay: 5s, backoff: 2, max_delay: 1m, on: [rate_limit, overloaded, timeout] }
  env: { A: default, B: default }
tasks:
  inventory:
    run: |
      git ls-files -- ${{ inputs.target }} | jq -R . | jq -sc '{files: .}'
    output: json
  plan:
    agent: looker
    prompt: |
      Split these ${{ tasks.inventory.output.files | length }} files:
      ${% for f in tasks.inventory.output.files %}- ${{ f }}
      ${% endfor %}
    output:
      type: object
      required: [areas]
      properties:
        areas: { type: array, items: { type: object, properties: { id: { type: string }, risk: { enum: [low, high] } } } }
    repair: 2
  lint:
    matrix: { tool: [clippy, fmt], profile: [debug, release], exclude: [{ tool: fmt, profile: release }] }
    run: ./ci/${{ matrix.tool }}.sh --profile ${{ matrix.profile }}
    continue_on_error: true
    env: { B: own }
  review:
    for_each: ${{ tasks.plan.output.areas }}
    as: area
    key: ${{ area.id }}
    max_parallel: 3
    prompt: Review ${{ area.id }}.
    timeout: { run: 15m, idle: 3m, grace: 10s }
    isolation: worktree
    merge: patch
  verify:
    needs: { review: done, lint: done }
    agent: looker
    prompt: |
      ${{ tasks.review.results | selectattr("status", "eq", "failed") | list | length }} areas failed.
      Try to refute: ${{ tasks.review.output | default([]) | tojson }}
    output: { type: object, required: [verdict], properties: { verdict: { enum: [pass, fail] } } }
  publish:
    if: run.ci and git.branch == "main" and tasks.verify.output.verdict == "pass"
    run: ./publish.sh
    env: { TOKEN: "${{ secrets.TOKEN }}" }
    retry: 3
outputs: { verdict: "${{ tasks.verify.output.verdict }}" }
"#;

/// The parts of a plan that come from more than one key.
fn outline(plan: &Plan) -> String {
    let mut out = format!("{} {} {:?}\n", plan.name, serde_json::json!(plan.inputs), plan.concurrency);
    for task in &plan.tasks {
        let needs = &plan.graph.needs[task.id.index()];
        let needs: Vec<String> = needs
            .iter()
            .map(|edge| format!("{}:{:?}", plan.tasks[edge.from.index()].address, edge.kind))
            .collect();
        let kind = match &task.kind {
            TaskKind::Shell(shell) => match &shell.command {
                Command::Script { shell, .. } => shell.join(" "),
                Command::Words(words) => format!("{} words", words.len()),
            },
            TaskKind::Agent(agent) => format!("{} repair {}", plan.agents[agent.agent].name, agent.repair),
        };
        let over = match task.expansion.as_ref().map(|expansion| &expansion.over) {
            None => String::new(),
            Some(Over::ForEach { name, .. }) => format!(" for each {name}"),
            Some(Over::Matrix { axes, exclude, .. }) => {
                format!(" {} axes less {}", axes.len(), exclude.len())
            }
        };
        let env: Vec<String> =
            task.env.iter().map(|(name, value)| format!("{name}={}", value.source)).collect();
        let _ = writeln!(
            out,
            "{} <- [{}]\n  {kind}{over}, {:?}, {:?}, tries {}, {:?}\n  {}",
            task.address,
            needs.join(" "),
            task.isolation,
            task.merge,
            task.retry.policy.max,
            task.timeout.run,
            env.join(" ")
        );
    }
    out
}

#[test]
fn a_whole_plan_compiles() {
    let looker = "name: looker\ntools: Read, Grep";
    let plan = Trial::of(GOOD).env("TOKEN", "a long one").agent("looker.md", looker).plan();
    assert_snapshot!(outline(&plan), @r#"
    audit {"target":".","max_fix":3} Some(4)
    inventory <- []
      bash --noprofile --norc -eo pipefail -c, None, None, tries 2, Some(600s)
      A=default B=default
    plan <- [inventory:Success]
      looker repair 2, None, None, tries 2, Some(600s)
      A=default B=default
    lint <- []
      bash --noprofile --norc -eo pipefail -c 2 axes less 1, None, None, tries 2, Some(600s)
      A=default B=own
    review <- [plan:Success]
      general-purpose repair 0 for each area, Worktree, Patch, tries 2, Some(900s)
      A=default B=default
    verify <- [lint:Done review:Done]
      looker repair 1, None, None, tries 2, Some(600s)
      A=default B=default
    publish <- [verify:Success]
      bash --noprofile --norc -eo pipefail -c, None, None, tries 3, Some(600s)
      A=default B=default TOKEN=${{ secrets.TOKEN }}
    "#);
}

#[test]
fn all_errors_of_a_file_come_at_once_in_order() {
    let found = Trial::of("name: x\nsecrets: [NO]\ntasks:\n  a: { run: \"${{ tasks.c.output }}\", retyr: 2 }\n  b: { needs: [b], run: \"echo ${{ nope }}\", timeout: 5 }\n").compile();
    let codes: Vec<&str> = found.diagnostics.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["F0602", "F0301", "F0201", "F0302", "F0303", "F0203"]);
}

#[test]
fn a_plan_without_a_name_is_called_like_its_file() {
    assert_eq!(Trial::of("tasks:\n  a: { run: echo }\n").plan().name, "plan");
}

#[test]
fn a_plan_with_thousands_of_faults_is_answered_with_some() {
    let mut text = "tasks:\n".to_owned();
    for task in 0..3000 {
        let _ = writeln!(text, "  t{task}: {{ run: \"echo ${{{{ tasks.nope{task}.output }}}}\" }}");
    }
    let found = Trial::of(&text).compile();
    assert!(found.plan.is_none());
    assert_eq!(found.diagnostics.len(), 2000);
}

#[test]
fn names_that_people_read_are_literal() {
    assert_snapshot!(check("briefing: Work on ${{ git.branch }}.\ntasks:\n  a: { run: echo }\n"), @r"
    error[F0402]: `briefing` is taken as written: it holds no templates
     --> plan.yaml:2:19
      |
    2 | briefing: Work on ${{ git.branch }}.
      |                   ^^^^^^^^^^^^^^^^^
      |
      = help: templates stand in `run`, `prompt`, `checks`, `setup`, `env`, `dir`, `base`, `artifacts`, `for_each`, `matrix`, `key`, `lock`, `outputs` and a task's `description`
    ");
}

/// A key of a task, good or not; `N` is replaced by the name of some task.
fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "needs: [N]",
        "needs: { N: done }",
        "needs: { N: nonsense }",
        "if: tasks.N.status == 'failed'",
        "if: always()",
        "if: \"${{ x }}\"",
        "env: { X: \"${{ tasks.N.output }}\" }",
        "env: { X: \"${{ secrets.NO }}\" }",
        "for_each: [1, 2]",
        "for_each: \"${{ tasks.N.output }}\"",
        "matrix: { a: [1, 2], b: \"${{ tasks.N.output }}\" }",
        "key: \"${{ item }}${{ matrix.a }}\"",
        "continue_on_error: true",
        "isolation: worktree",
        "output: json",
        "output: { type: object, properties: { a: {} } }",
        "expect: { that: task.output.a == tasks.N.output }",
        "retry: { max: 2, if: task.exit_code == 1 }",
        "tools: [Edit]",
        "dir: \"${{ tasks.N.dir }}\"",
        "timeout: 0s",
    ])
}

fn plan_text() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "run: echo",
        "prompt: hi",
        "run: \"echo ${{ tasks.N.output }}\"",
        "agent: x",
    ]);
    let names = prop::collection::vec(0usize..7, 4);
    let task = (kind, prop::collection::vec(key(), 0..4), names);
    prop::collection::vec(task, 1..7).prop_map(|tasks| {
        let mut text = "tasks:\n".to_owned();
        for (index, (kind, mut keys, names)) in tasks.into_iter().enumerate() {
            keys.sort();
            keys.dedup_by_key(|key| key.split(':').next().unwrap_or_default());
            let keys = std::iter::once(kind).chain(keys).zip(names.iter().cycle());
            let keys: Vec<String> = keys.map(|(key, name)| key.replace('N', &format!("t{name}"))).collect();
            let _ = writeln!(text, "  t{index}: {{ {} }}", keys.join(", "));
        }
        text
    })
}

proptest! {
    #[test]
    fn what_is_accepted_has_a_plan_without_cycles(text in plan_text()) {
        let compiled = Trial::of(&text).compile();
        let has_error = compiled.diagnostics.iter().any(|finding| finding.is_error());
        prop_assert_eq!(compiled.plan.is_none(), has_error);
        if let Some(plan) = compiled.plan {
            prop_assert_eq!(plan.graph.order().len(), plan.tasks.len());
            let whole = plan.tasks.iter().enumerate().all(|(index, task)| task.id.index() == index);
            prop_assert!(whole && plan.graph.needs.len() == plan.tasks.len());
        }
    }
}
