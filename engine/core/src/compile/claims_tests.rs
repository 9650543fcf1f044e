use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};

/// What is found in a plan of `a` (text), `j` (a schema), `m` (many) and `b` with a condition.
fn condition(condition: &str) -> String {
    check(&format!(
        "inputs: {{ mode: {{ type: string, enum: [fast, slow], default: fast }}, tag: {{ default: '' }}, on: {{ type: boolean, default: true }}, n: {{ type: integer, default: 1 }} }}\n\
         env: {{ PORT: 80 }}\n\
         tasks:\n  a: {{ run: echo }}\n  m: {{ for_each: [1], run: echo }}\n  j:\n    run: echo\n    \
         output: {{ type: object, properties: {{ verdict: {{ enum: [pass, fail] }}, n: {{ type: integer }}, ok: {{ type: boolean }}, s: {{ type: [string, 'null'] }} }} }}\n  \
         b:\n    needs: {{ a: done, m: done, j: done }}\n    if: {condition}\n    run: echo\n"
    ))
}

fn headline(report: &str) -> String {
    let help = report.lines().find_map(|line| line.trim_start().strip_prefix("= help: "));
    format!("{}\n{}", report.lines().next().unwrap_or_default(), help.unwrap_or_default())
}

#[test]
fn what_can_come_out_both_ways_is_accepted() {
    for good in [
        "tasks.a.status == 'failed'",
        "tasks.a.reason in ['timeout', 'exit_code']",
        "tasks.a.reason == none",
        "tasks.m.status != 'completed'",
        "tasks.j.output.verdict == 'pass'",
        "tasks.j.output.n > 9",
        "tasks.j.output.ok",
        "not tasks.j.output.ok or tasks.j.output.n",
        "inputs.mode == 'slow' and inputs.on",
        "inputs.n == 3.0",
        "inputs.tag != ''",
        "tasks.a.output | int > 9",
        "tasks.a.output | trim",
        "tasks.a.exit_code == 0",
        "env.PORT == '80'",
        "run.ci and run.status == 'running'",
        "run.failed",
        "tasks.m.output",
    ] {
        let found = condition(good);
        let other = found
            .lines()
            .filter(|line| line.contains("error") || line.contains("is text here"))
            .collect::<Vec<_>>();
        assert!(other.is_empty(), "{good}: {found}");
    }
}

#[test]
fn a_word_that_a_value_never_is_comes_with_the_words_that_it_can_be() {
    assert_snapshot!(condition("tasks.a.status == 'success'"), @r"
    error[F0405]: `tasks.a.status` is never `success`
      --> plan.yaml:12:9
       |
    12 |     if: tasks.a.status == 'success'
       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: did you mean `completed`? it is one of `completed`, `failed`, `killed`, `lost`, `skipped`, `blocked`
    ");
    assert_snapshot!(headline(&condition("tasks.a.status != 'Failed'")), @r"
    error[F0405]: `tasks.a.status` is never `Failed`
    did you mean `failed`? it is one of `completed`, `failed`, `killed`, `lost`, `skipped`, `blocked`
    ");
    assert_snapshot!(headline(&condition("tasks.a.reason == 'exitcode'")), @r"
    error[F0405]: `tasks.a.reason` is never `exitcode`
    did you mean `exit_code`? it is one of `exit_code`, `signal`, `timeout`, `stall`, `max_turns`, `rate_limit`, `overloaded`, `provider` and 26 more
    ");
    assert_snapshot!(headline(&condition("tasks.m.status in ['passed', 'failed']")), @r"
    error[F0405]: `tasks.m.status` is never `passed`
    did you mean `completed`? it is one of `completed`, `failed`, `killed`, `lost`, `skipped`, `blocked`
    ");
    assert_snapshot!(headline(&condition("\"'quick' == inputs.mode\"")), @r"
    error[F0405]: `inputs.mode` is never `quick`
    it is one of `fast`, `slow`
    ");
    assert_snapshot!(headline(&condition("tasks.j.output.verdict == 'passed'")), @r"
    error[F0405]: `tasks.j.output.verdict` is never `passed`
    did you mean `pass`? it is one of `pass`, `fail`
    ");
}

#[test]
fn text_and_numbers_side_by_side_are_refused() {
    assert_snapshot!(headline(&condition("tasks.a.output > 9")), @r"
    error[F0405]: `tasks.a.output` is text and `9` a number: neither is more than the other
    write `tasks.a.output | int`, or give `a` an `output: json`
    ");
    assert_snapshot!(headline(&condition("10 == tasks.a.output")), @r"
    error[F0405]: `tasks.a.output` is text and `10` a number: they are never equal
    write `tasks.a.output | int`, or give `a` an `output: json`
    ");
    assert_snapshot!(headline(&condition("inputs.tag < inputs.n")), @r"
    error[F0405]: `inputs.tag` is text and `inputs.n` a number: neither is more than the other
    write `inputs.tag | int`, or give the input `tag` another `type`
    ");
    assert_snapshot!(headline(&condition("tasks.a.exit_code == '0'")), @r"
    error[F0405]: `tasks.a.exit_code` is never the text `0`
    `tasks.a.exit_code` is a number: write `0` without quotes
    ");
    assert_snapshot!(headline(&condition("inputs.on == 'true'")), @r"
    error[F0405]: `inputs.on` is never the text `true`
    it is a boolean: write `inputs.on`
    ");
    assert_snapshot!(headline(&condition("1 < env.PORT < 1024")), @r"
    error[F0405]: `env.PORT` is text and `1` a number: neither is more than the other
    write `env.PORT | int`
    ");
    assert_snapshot!(headline(&condition("tasks.j.output.s == true")), @r#"
    error[F0405]: `tasks.j.output.s` is never `true`
    it is text: write `tasks.j.output.s == "true"`
    "#);
}

#[test]
fn an_axis_is_compared_with_what_stands_in_it() {
    let matrix = |condition: &str| {
        headline(&check(&format!(
            "tasks:\n  t:\n    matrix: {{ py: [3.9, 3.11], os: [linux, mac], include: [{{ py: 4, os: bsd }}] }}\n    if: {condition}\n    run: echo\n"
        )))
    };
    for good in ["matrix.py == 3.11", "matrix.os == 'bsd'", "matrix.py == 4"] {
        assert_eq!(matrix(good), "\n", "{good}");
    }
    assert_snapshot!(matrix("matrix.py == '3.11'"), @r"
    error[F0405]: `matrix.py` is never `3.11`
    it is a number: write `3.11` without quotes
    ");
    assert_snapshot!(matrix("matrix.os == 'macos'"), @r"
    error[F0405]: `matrix.os` is never `macos`
    did you mean `mac`? it is one of `linux`, `mac`, `bsd`
    ");
}

#[test]
fn a_text_as_a_condition_is_warned_of() {
    assert_snapshot!(condition("tasks.a.output"), @r#"
    warning[W0202]: `tasks.a.output` is text here, and every text but the empty one counts as true, `false` too
      --> plan.yaml:12:9
       |
    12 |     if: tasks.a.output
       |         ^^^^^^^^^^^^^^
       |
       = help: write `tasks.a.output == "true"`, or `tasks.a.output != ""` where any text will do, or give `a` an `output: json`
    "#);
    assert_snapshot!(headline(&condition("not inputs.tag and inputs.on")), @r#"
    warning[W0202]: `inputs.tag` is text here, and every text but the empty one counts as true, `false` too
    write `inputs.tag == "true"`, or `inputs.tag != ""` where any text will do, or give the input `tag` another `type`
    "#);
    assert_snapshot!(headline(&condition("\"'false'\"")), @r"
    warning[W0202]: `'false'` is text here, and every text but the empty one counts as true, `false` too
    take the quotes away
    ");
    assert_snapshot!(headline(&check("tasks: { a: { run: echo, expect: { that: task.output } } }\n")), @r#"
    warning[W0202]: `task.output` is text here, and every text but the empty one counts as true, `false` too
    write `task.output == "true"`, or `task.output != ""` where any text will do
    "#);
}

#[test]
fn an_end_after_which_nobody_asks_is_never_true() {
    let plan = |needs: &str, condition: &str, more: &str| {
        headline(&check(&format!(
            "tasks:\n  a: {{ run: echo{more} }}\n  b: {{ {needs}if: \"{condition}\", run: echo }}\n"
        )))
    };
    assert_snapshot!(plan("", "tasks.a.status == 'failed'", ""), @r"
    error[F0405]: `a` is never `failed` here: `b` runs only when `a` completed or was skipped
    add `needs: { a: done }`, or write `if: failure()`
    ");
    assert_snapshot!(plan("", "tasks.a.status == 'killed'", ", continue_on_error: true"), @r"
    error[F0405]: `a` is never `killed` here: `b` runs only when `a` completed, was skipped or failed
    add `needs: { a: done }`, or write `if: failure()`
    ");
    assert_snapshot!(plan("needs: { a: completed }, ", "tasks.a.status == 'skipped'", ""), @r"
    error[F0405]: `a` is never `skipped` here: `b` runs only when `a` completed
    add `needs: { a: done }`, or write `if: failure()`
    ");
    assert_snapshot!(plan("needs: { a: failure }, ", "tasks.a.status == 'completed'", ""), @r"
    error[F0405]: `a` is never `completed` here: `b` runs only when `a` failed
    add `needs: { a: done }`, or write `if: failure()`
    ");
    for (needs, condition, more) in [
        ("", "tasks.a.status == 'failed'", ", continue_on_error: true"),
        ("", "tasks.a.status == 'skipped'", ", if: env.X | default('')  != ''"),
        ("needs: { a: done }, ", "tasks.a.status == 'failed'", ""),
        ("", "failure() and tasks.a.status == 'failed'", ""),
    ] {
        assert_eq!(plan(needs, condition, more), "\n", "{needs}{condition}{more}");
    }
}

#[test]
fn what_has_no_length_is_not_measured() {
    assert_snapshot!(headline(&condition("run.failed | length > 0")), @r"error[F0202]: `run.failed` is `true` or `false` and has no length");
    assert_snapshot!(headline(&check("outputs: { n: \"${{ tasks.a.exit_code | length }}\" }\ntasks: { a: { run: echo } }\n")), @r"error[F0202]: `tasks.a.exit_code` is a number and has no length");
}

#[test]
fn how_the_run_stands_is_asked_in_if_alone() {
    let failing = |plan: &str| headline(&Trial::of(plan).report());
    for place in [
        "run: 'echo ${{ success() }}'",
        "run: ['echo', '${{ failure() }}']",
        "run: echo, env: { X: '${{ always() }}' }",
        "run: echo, dir: '${{ cancelled() }}'",
        "prompt: '${{ success() }}', tools: Read",
        "prompt: hi, tools: Read, checks: 'echo ${{ failure() }}'",
        "run: echo, isolation: copy, setup: 'echo ${{ failure() }}'",
        "run: echo, expect: { that: success() }",
    ] {
        let said = failing(&format!("tasks: {{ a: {{ {place} }} }}\n"));
        assert!(
            said.starts_with("error[F0402]: `") && said.contains("()` has a meaning in `if`"),
            "{place}: {said}"
        );
    }
    let said = failing("outputs: { x: '${{ success() }}' }\ntasks: { a: { run: echo } }\n");
    assert!(said.starts_with("error[F0402]: `success()` has a meaning in `if` only"), "{said}");
}
