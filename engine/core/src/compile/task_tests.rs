use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::compile::{Compiled, GitPlace};

#[test]
fn a_task_either_runs_a_command_or_asks_an_agent() {
    assert_snapshot!(check("tasks:\n  a:\n    run: echo\n    prompt: hi\n"), @r"
    error[F0205]: task `a` has both `run` and `prompt`
     --> plan.yaml:5:5
      |
    4 |     run: echo
      |     --- the shell command
    5 |     prompt: hi
      |     ^^^^^^
      |
      = help: make it two tasks; a task either runs a command or asks an agent
    ");
    assert_snapshot!(check("tasks:\n  a: { description: nothing }\n  b: { run: echo }\n"), @r"
    error[F0204]: task `a` does nothing: it has neither `run` nor `prompt`
     --> plan.yaml:3:3
      |
    3 |   a: { description: nothing }
      |   ^
      |
      = help: write `run:` with a shell command, or `prompt:` with work for an agent
    ");
    assert_snapshot!(check("tasks:\n  a: { agent: general-purpose }\n"), @r"
    error[F0204]: task `a` has an agent and no `prompt`
     --> plan.yaml:3:15
      |
    3 |   a: { agent: general-purpose }
      |               ^^^^^^^^^^^^^^^
      |
      = help: say what it shall do: `prompt: ...`
    ");
}

#[test]
fn a_misspelt_key_is_not_also_missing() {
    assert_snapshot!(check("tasks:\n  a: { promt: hi }\n"), @r"
    error[F0201]: unknown key `promt` in a task
     --> plan.yaml:3:8
      |
    3 |   a: { promt: hi }
      |        ^^^^^
      |
      = help: did you mean `prompt`?
    ");
}

#[test]
fn keys_of_the_other_kind_are_named_with_the_kind() {
    assert_snapshot!(check("tasks:\n  a:\n    run: echo\n    model: haiku\n"), @r"
    error[F0205]: `model` is for agents, and `a` is a shell task
     --> plan.yaml:5:5
      |
    4 |     run: echo
      |     --- this makes it a shell task
    5 |     model: haiku
      |     ^^^^^
      |
      = help: take the key away
    ");
    assert_snapshot!(check("tasks:\n  a:\n    prompt: hi\n    tools: Edit, Write\n    shell: sh\n"), @r"
    error[F0205]: `shell` is for shell tasks, and `a` is an agent task
     --> plan.yaml:6:5
      |
    4 |     prompt: hi
      |     ------ this makes it an agent task
    5 |     tools: Edit, Write
    6 |     shell: sh
      |     ^^^^^
      |
      = help: take the key away
    ");
}

#[test]
fn keys_without_their_partner_are_refused() {
    assert_snapshot!(check("tasks:\n  a:\n    run: echo\n    as: x\n    max_parallel: 2\n"), @r"
    error[F0205]: `as` names the items of a `for_each`, and there is none
     --> plan.yaml:5:5
      |
    5 |     as: x
      |     ^^
      |
      = help: add `for_each`, or take `as` away

    error[F0205]: `max_parallel` is for tasks that become many, and `a` has no `for_each` and no `matrix`
     --> plan.yaml:6:5
      |
    6 |     max_parallel: 2
      |     ^^^^^^^^^^^^
      |
      = help: take the key away
    ");
    assert_snapshot!(check("tasks:\n  a:\n    run: echo\n    merge: branch\n    base: main\n    expect: { changes: true }\n"), @r"
    error[F0205]: `merge` brings a private tree home, and `a` has none
     --> plan.yaml:5:5
      |
    5 |     merge: branch
      |     ^^^^^
      |
      = help: add `isolation: worktree`

    error[F0205]: `base` is where a private tree starts, and `a` has none
     --> plan.yaml:6:5
      |
    6 |     base: main
      |     ^^^^
      |
      = help: add `isolation: worktree`

    error[F0205]: `expect.changes` compares a private tree with its start, and `a` has none
     --> plan.yaml:7:5
      |
    7 |     expect: { changes: true }
      |     ^^^^^^
      |
      = help: add `isolation: worktree`, or name the files: `expect: { files: [...] }`
    ");
    assert_snapshot!(check("tasks:\n  a: { prompt: hi, tools: Edit Write, repair: 2 }\n"), @r"
    error[F0205]: `repair` mends an output that has a form, and that of `a` is plain text
     --> plan.yaml:3:39
      |
    3 |   a: { prompt: hi, tools: Edit Write, repair: 2 }
      |                                       ^^^^^^
      |
      = help: add `output: json`, `lines` or a JSON Schema, or take `repair` away
    ");
    assert_snapshot!(check("tasks:\n  a: { run: echo, matrix: { x: [1] }, for_each: [1] }\n"), @r"
    error[F0205]: task `a` has both `matrix` and `for_each`
     --> plan.yaml:3:19
      |
    3 |   a: { run: echo, matrix: { x: [1] }, for_each: [1] }
      |                   ^^^^^^              -------- the other
      |
      = help: one of them can range over everything: keep that one
    ");
}

#[test]
fn words_are_compared_with_what_the_key_takes() {
    assert_snapshot!(check("tasks:\n  a: { run: echo, isolation: wroktree, output: jsn }\n"), @r"
    error[F0203]: `isolation` can't be `wroktree`
     --> plan.yaml:3:30
      |
    3 |   a: { run: echo, isolation: wroktree, output: jsn }
      |                              ^^^^^^^^
      |
      = help: did you mean `worktree`? available: `none`, `worktree`, `copy`, `fork`

    error[F0203]: `output` can't be `jsn`
     --> plan.yaml:3:48
      |
    3 |   a: { run: echo, isolation: wroktree, output: jsn }
      |                                                ^^^
      |
      = help: did you mean `json`? available: `text`, `json`, `lines`, `pairs`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: echo }\n  b: { run: echo, needs: { a: sucess } }\n"), @r"
    error[F0203]: `needs` can't be `sucess`
     --> plan.yaml:4:31
      |
    4 |   b: { run: echo, needs: { a: sucess } }
      |                               ^^^^^^
      |
      = help: did you mean `success`? available: `success`, `completed`, `failure`, `done`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: echo, retry: { max: 1, on: [rate_limits, nonsense] } }\n"), @r"
    error[F0203]: `retry.on` knows no reason `rate_limits`
     --> plan.yaml:3:41
      |
    3 |   a: { run: echo, retry: { max: 1, on: [rate_limits, nonsense] } }
      |                                         ^^^^^^^^^^^
      |
      = help: did you mean `rate_limit`?

    error[F0203]: `retry.on` knows no reason `nonsense`
     --> plan.yaml:3:54
      |
    3 |   a: { run: echo, retry: { max: 1, on: [rate_limits, nonsense] } }
      |                                                      ^^^^^^^^
      |
      = help: for example `exit_code`, `timeout`, `rate_limit`, `overloaded`, `invalid_output`
    ");
}

#[test]
fn numbers_and_lengths_have_ranges() {
    let hostile = "concurrency: 0\ntasks:\n  a:\n    run: echo\n    timeout: -1\n    retry: { max: 1000000000, backoff: 0.5, delay: 99999999999h, max_delay: 1e999 }\n";
    assert_snapshot!(check(hostile), @r"
    error[F0203]: `concurrency` can't be 0: it takes 1 or more
     --> plan.yaml:2:14
      |
    2 | concurrency: 0
      |              ^

    error[F0203]: `timeout` can't be `-1`: it takes 1ms or more
     --> plan.yaml:6:14
      |
    6 |     timeout: -1
      |              ^^

    error[F0203]: `retry.max` can't be 1000000000: it takes 0 to 1000
     --> plan.yaml:7:19
      |
    7 |     retry: { max: 1000000000, backoff: 0.5, delay: 99999999999h, max_delay: 1e999 }
      |                   ^^^^^^^^^^

    error[F0203]: `retry.backoff` can't be 0.5: it takes 1 to 1000
     --> plan.yaml:7:40
      |
    7 |     retry: { max: 1000000000, backoff: 0.5, delay: 99999999999h, max_delay: 1e999 }
      |                                        ^^^

    error[F0203]: `retry.delay` can't be `99999999999h`: it is longer than 366 days
     --> plan.yaml:7:52
      |
    7 |     retry: { max: 1000000000, backoff: 0.5, delay: 99999999999h, max_delay: 1e999 }
      |                                                    ^^^^^^^^^^^^
      |
      = help: write a number with a unit, such as `500ms`, `30s`, `5m`, `1h` or `1d`

    error[F0203]: `retry.max_delay` can't be `1e999`: its unit is not one of ms, s, m, h, d
     --> plan.yaml:7:77
      |
    7 |     retry: { max: 1000000000, backoff: 0.5, delay: 99999999999h, max_delay: 1e999 }
      |                                                                             ^^^^^
      |
      = help: write a number with a unit, such as `500ms`, `30s`, `5m`, `1h` or `1d`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: echo, timeout: 0s, max_output: 64 chunks }\n"), @r"
    error[F0203]: `timeout` can't be `0s`: it takes 1ms or more
     --> plan.yaml:3:28
      |
    3 |   a: { run: echo, timeout: 0s, max_output: 64 chunks }
      |                            ^^

    error[F0203]: `max_output` is no size
     --> plan.yaml:3:44
      |
    3 |   a: { run: echo, timeout: 0s, max_output: 64 chunks }
      |                                            ^^^^^^^^^
      |
      = help: write bytes, or a number with a unit: `512KiB`, `10MB`, `64MiB`, `1GiB`
    ");
    assert_snapshot!(check("tasks:\n  a: { prompt: hi, tools: Edit Write, max_turns: 0 }\n"), @r"
    error[F0203]: `max_turns` can't be 0: it takes 1 to 10000
     --> plan.yaml:3:50
      |
    3 |   a: { prompt: hi, tools: Edit Write, max_turns: 0 }
      |                                                  ^
    ");
}

#[test]
fn a_fault_in_defaults_is_reported_once() {
    assert_snapshot!(check("defaults: { timeout: 5 }\ntasks:\n  a: { run: echo }\n  b: { run: echo }\n"), @r"
    error[F0203]: `timeout` can't be `5`: it has no unit; write for example `30s` or `5m`
     --> plan.yaml:2:22
      |
    2 | defaults: { timeout: 5 }
      |                      ^
      |
      = help: write a number with a unit, such as `500ms`, `30s`, `5m`, `1h` or `1d`
    ");
}

#[test]
fn literal_keys_hold_no_templates() {
    assert_snapshot!(check("inputs: { t: {} }\ntasks:\n  a: { run: echo, timeout: \"${{ inputs.t }}\" }\n"), @r#"
    error[F0601]: input `t` is missing
     --> plan.yaml:2:11
      |
    2 | inputs: { t: {} }
      |           ^
      |
      = help: give it with `-i t=VALUE`, or write a `default`

    error[F0402]: `timeout` is taken as written: it holds no templates
     --> plan.yaml:4:29
      |
    4 |   a: { run: echo, timeout: "${{ inputs.t }}" }
      |                             ^^^^^^^^^^^^^^^
      |
      = help: templates stand in `run`, `prompt`, `checks`, `setup`, `env`, `dir`, `base`, `artifacts`, `for_each`, `matrix`, `key`, `lock`, `outputs` and a task's `description`
    "#);
}

#[test]
fn retry_without_a_number_says_that_it_does_nothing() {
    assert_snapshot!(check("tasks:\n  a: { run: echo, retry: { delay: 1s } }\n"), @r"
    warning[W0202]: `retry` says how, but not how often: nothing is retried
     --> plan.yaml:3:26
      |
    3 |   a: { run: echo, retry: { delay: 1s } }
      |                          ^^^^^^^^^^^^^
      |
      = help: add `max`, the number of further attempts
    ");
}

#[test]
fn a_private_tree_needs_a_repository_with_a_commit() {
    let plan = "tasks:\n  a: { run: echo, isolation: worktree }\n";
    assert_snapshot!(Trial::of(plan).git(GitPlace::None).report(), @r"
    error[F0603]: task `a` works in a git worktree, and this is no git repository
     --> plan.yaml:3:30
      |
    3 |   a: { run: echo, isolation: worktree }
      |                              ^^^^^^^^
      |
      = help: run `git init` and commit, or take `isolation` away
    ");
    assert_snapshot!(Trial::of(plan).git(GitPlace::NoCommits).report(), @r"
    error[F0603]: task `a` works in a git worktree, and the git repository has no commit yet
     --> plan.yaml:3:30
      |
    3 |   a: { run: echo, isolation: worktree }
      |                              ^^^^^^^^
      |
      = help: make a first commit
    ");
    assert_eq!(Trial::of(plan).report(), "");
}

#[test]
fn a_bare_repository_has_no_checkout_for_work_to_come_home_to() {
    let plan = "defaults: { isolation: worktree }\ntasks:\n  a: { run: x, merge: branch }\n  b: { run: x, merge: patch }\n  c: { run: x, merge: apply }\n  d: { run: x, merge: squash }\n";
    assert_snapshot!(Trial::of(plan).git(GitPlace::Bare).report(), @r"
    error[F0603]: `merge: apply` of `c` writes to the checkout, and this repository is bare
     --> plan.yaml:6:23
      |
    6 |   c: { run: x, merge: apply }
      |                       ^^^^^
      |
      = help: write `branch`, `patch`, `squash` or `cherry_pick`
    ");
}

#[test]
fn a_missing_bash_is_said_before_the_run() {
    let plan = "tasks:\n  a: { run: echo }\n  b: { run: echo }\n";
    assert_snapshot!(Trial::of(plan).without_bash().report(), @r"
    error[F0603]: task `a` runs in bash, and there is no bash here
     --> plan.yaml:3:8
      |
    3 |   a: { run: echo }
      |        ^^^
      |
      = help: write `shell: sh`, for all tasks under `defaults:`
    ");
    assert_eq!(Trial::of(&format!("defaults: {{ shell: sh }}\n{plan}")).without_bash().report(), "");
}

#[test]
fn no_plan_comes_of_a_text_with_errors() {
    let Compiled { plan, diagnostics } = Trial::of("tasks:\n  a: { run: echo, needs: [b] }\n").compile();
    assert!(plan.is_none() && diagnostics.len() == 1);
}

#[test]
fn a_plain_task_of_a_large_plan_is_small() {
    use std::mem::size_of;
    assert!(size_of::<crate::syntax::TaskKeys>() <= 112, "{}", size_of::<crate::syntax::TaskKeys>());
    assert!(size_of::<crate::plan::Task>() <= 128, "{}", size_of::<crate::plan::Task>());
    let plan =
        Trial::of("tasks: { a: { run: echo }, b: { run: echo, needs: a }, c: { run: echo, dir: d } }").plan();
    let boxed: Vec<bool> = plan.tasks.iter().map(|task| task.options.is_some()).collect();
    assert_eq!(boxed, [false, false, true]);
}
