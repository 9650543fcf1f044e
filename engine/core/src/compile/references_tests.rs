use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::plan::ConditionAt;

/// What is found in a shell task `b` with one template, beside a shell task `a` with plain and an agent task `c`.
fn hole(expression: &str) -> String {
    check(&format!(
        "inputs: {{ target: {{ type: path, default: . }}, opts: {{ type: object, default: {{}} }} }}\n\
         secrets: []\n\
         tasks:\n  a: {{ run: echo }}\n  c: {{ prompt: hi, tools: Read }}\n  b:\n    run: echo ${{{{ {expression} }}}}\n"
    ))
}

#[test]
fn good_references_are_accepted() {
    for good in [
        "inputs.target",
        "inputs.opts.deep.path",
        "tasks.a.output",
        "tasks['a'].stdout | tail(3)",
        "tasks.c.usage.turns",
        "run.id",
        "run.dir",
        "run.ci",
        "git.branch",
        "attempt",
        "env.NOPE | default('x')",
        "tasks.a.status",
        "tasks.c.usage.total_tokens",
        "tasks.a.dir",
        "inputs | tojson",
    ] {
        assert_eq!(hole(good), "", "{good}");
    }
}

#[test]
fn unknown_names_come_with_what_there_is() {
    assert_snapshot!(hole("inputs.tarket"), @r"
    error[F0303]: this plan has no input `tarket`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ inputs.tarket }}
      |                   ^^^^^^^^^^^^^
      |
      = help: did you mean `target`? available: `target`, `opts`
    ");
    assert_snapshot!(hole("input.target"), @r"
    error[F0303]: `input` is not known here
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ input.target }}
      |                   ^^^^^^^^^^^^
      |
      = help: did you mean `inputs`? available: `inputs`, `env`, `tasks`, `run`, `git`, `attempt`, `task`
    ");
    assert_snapshot!(hole("a.output"), @r"
    error[F0303]: `a` is not known here
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ a.output }}
      |                   ^^^^^^^^
      |
      = help: write `tasks.a`
    ");
    assert_snapshot!(hole("target"), @r"
    error[F0303]: `target` is not known here
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ target }}
      |                   ^^^^^^
      |
      = help: write `inputs.target`
    ");
    assert_snapshot!(hole("steps.a.outputs.x"), @r"
    error[F0303]: `steps` is not known here
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ steps.a.outputs.x }}
      |                   ^^^^^^^^^^^^^^^^^
      |
      = help: write `tasks.NAME.output`
    ");
    assert_snapshot!(hole("git.sha"), @r"
    error[F0303]: `git` has no `sha`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ git.sha }}
      |                   ^^^^^^^
      |
      = help: available: `root`, `branch`, `commit`, `tag`, `dirty`
    ");
    assert_snapshot!(hole("run.status"), @r"
    error[F0303]: `run.status` is known in `if` and in the plan's `outputs` only
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ run.status }}
      |                   ^^^^^^^^^^
      |
      = help: ask for the tasks that matter: `tasks.NAME.status`
    ");
    assert_snapshot!(hole("env.NOPE"), @r#"
    error[F0303]: the environment has no variable `NOPE`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ env.NOPE }}
      |                   ^^^^^^^^
      |
      = help: set it, declare it under `env:`, or write `env.NOPE | default("")`
    "#);
    assert_snapshot!(hole("inputs.target.name"), @r"
    error[F0303]: input `target` is a path and has no fields
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ inputs.target.name }}
      |                   ^^^^^^^^^^^^^^^^^^
      |
      = help: write `inputs.target`
    ");
}

#[test]
fn unknown_tasks_and_values_come_with_what_there_is() {
    assert_snapshot!(hole("tasks.aa.output"), @r"
    error[F0301]: there is no task `aa`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.aa.output }}
      |                   ^^^^^^^^^^^^^^^
      |
      = help: did you mean `a`? available: `a`, `c`, `b`
    ");
    assert_snapshot!(hole("tasks.a.stdot"), @r"
    error[F0304]: shell task `a` has no `stdot`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.a.stdot }}
      |                   ^^^^^^^^^^^^^
      |
      = help: did you mean `stdout`? available: `output`, `text`, `stdout`, `stderr`, `exit_code`, `status`, `reason`, `attempts`, `duration`, `notification`, `artifacts`, `dir`
    ");
    assert_snapshot!(hole("tasks.c.exit_code"), @r"
    error[F0304]: agent task `c` has no `exit_code`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.c.exit_code }}
      |                   ^^^^^^^^^^^^^^^^^
      |
      = help: available: `output`, `text`, `status`, `reason`, `attempts`, `duration`, `usage`, `notification`, `artifacts`, `dir`
    ");
    assert_snapshot!(hole("tasks.a"), @r"
    error[F0304]: `tasks.a` is no value by itself
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.a }}
      |                   ^^^^^^^
      |
      = help: write for example `tasks.a.output` or `tasks.a.status`
    ");
    assert_snapshot!(hole("tasks | length"), @r"
    error[F0303]: `tasks` is read by task: without a name nothing tells what to wait for
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks | length }}
      |                   ^^^^^
      |
      = help: write `tasks.NAME`
    ");
    assert_snapshot!(hole("tasks.b.output"), @r"
    error[F0303]: task `b` can't wait for its own values
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.b.output }}
      |                   ^^^^^^^^^^^^^^
      |
      = help: only `expect.that` and `retry.if` see a task's own values, as `task`
    ");
    assert_snapshot!(hole("tasks.a.branch"), @r"
    error[F0304]: shell task `a` works in the shared tree and has no `branch`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.a.branch }}
      |                   ^^^^^^^^^^^^^^
      |
      = help: give it `isolation: worktree`
    ");
    assert_snapshot!(hole("tasks.a.output.files"), @r"
    error[F0304]: `tasks.a.output` is text and has no fields
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.a.output.files }}
      |                   ^^^^^^^^^^^^^^^^^^^^
      |
      = help: give the task `output: json`, or a JSON Schema
    ");
    assert_snapshot!(hole("tasks.a.status.code"), @r"
    error[F0304]: `tasks.a.status` is a plain value and has no fields
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ tasks.a.status.code }}
      |                   ^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn needs_name_tasks_that_exist() {
    assert_snapshot!(check("tasks:\n  build: { run: echo }\n  test: { needs: [biuld], run: echo }\n"), @r"
    error[F0301]: there is no task `biuld`
     --> plan.yaml:4:19
      |
    4 |   test: { needs: [biuld], run: echo }
      |                   ^^^^^
      |
      = help: did you mean `build`? available: `build`, `test`
    ");
}

#[test]
fn secrets_are_declared_set_and_stay_in_env() {
    let plan = "secrets: [TOKEN]\nenv: { AUTH: \"t ${{ secrets.TOKEN }}\" }\ntasks:\n  a:\n    run: echo ${{ secrets.TOKEN }} ${{ env.AUTH }} ${{ env.TOKEN }}\n    env: { T: \"${{ secrets.TOKEM }}\" }\n";
    assert_snapshot!(Trial::of(plan).env("TOKEN", "a long one").report(), @r#"
    error[F0303]: a secret can be used in `env` only
     --> plan.yaml:6:19
      |
    6 |     run: echo ${{ secrets.TOKEN }} ${{ env.AUTH }} ${{ env.TOKEN }}
      |                   ^^^^^^^^^^^^^
      |
      = help: put it into `env` and let the program read the variable

    error[F0303]: `env.AUTH` holds a secret, which can be used in `env` only
     --> plan.yaml:6:40
      |
    6 |     run: echo ${{ secrets.TOKEN }} ${{ env.AUTH }} ${{ env.TOKEN }}
      |                                        ^^^^^^^^
      |
      = help: let the program read its variable `AUTH`

    error[F0303]: `env.TOKEN` holds a secret, which can be used in `env` only
     --> plan.yaml:6:56
      |
    6 |     run: echo ${{ secrets.TOKEN }} ${{ env.AUTH }} ${{ env.TOKEN }}
      |                                                        ^^^^^^^^^
      |
      = help: let the program read its variable `TOKEN`

    error[F0303]: this plan declares no secret `TOKEM`
     --> plan.yaml:7:20
      |
    7 |     env: { T: "${{ secrets.TOKEM }}" }
      |                    ^^^^^^^^^^^^^
      |
      = help: did you mean `TOKEN`?
    "#);
    let plan = "secrets: [TOKEN]\ntasks:\n  a: { run: \"x $T\", env: { T: \"${{ secrets.TOKEN }}\" } }\n";
    assert_snapshot!(check(plan), @r"
    error[F0602]: secret `TOKEN` is not set
     --> plan.yaml:2:11
      |
    2 | secrets: [TOKEN]
      |           ^^^^^
      |
      = help: set `TOKEN` in the environment of this program
    ");
    assert_eq!(Trial::of(plan).env("TOKEN", "a long one").report(), "");
}

#[test]
fn a_tasks_own_secret_is_not_shown_where_the_process_has_a_variable_of_that_name() {
    let report = |value: &str| {
        let plan = format!(
            "secrets: [TOKEN]\ntasks:\n  a: {{ run: \"echo ${{{{ env.SHOWN }}}}\", env: {{ VIA: \"${{{{ secrets.TOKEN }}}}\", SHOWN: \"{value}\" }} }}\n"
        );
        Trial::of(&plan).env("TOKEN", "a long one").env("SHOWN", "x").env("VIA", "y").report()
    };
    for value in ["${{ secrets.TOKEN }}", "Bearer ${{ env.VIA }}", "${{ env.TOKEN | upper }}"] {
        let said = report(value);
        assert!(
            said.contains("`env.SHOWN` holds a secret, which can be used in `env` only"),
            "{value}: {said}"
        );
    }
    assert_eq!(report("${{ env.SHOWN }}"), "");
}

#[test]
fn env_sees_the_process_and_what_is_declared_above() {
    let plan = "env: { A: \"${{ env.HOME }}\", B: \"${{ env.A }}\", C: \"${{ env.D }}\", D: d }\ntasks:\n  a: { run: \"echo ${{ env.D }} ${{ env.OWN }}\", env: { OWN: x } }\n";
    assert_snapshot!(Trial::of(plan).env("HOME", "/root").report(), @r#"
    error[F0303]: the environment has no variable `D`
     --> plan.yaml:2:57
      |
    2 | env: { A: "${{ env.HOME }}", B: "${{ env.A }}", C: "${{ env.D }}", D: d }
      |                                                         ^^^^^
      |
      = help: `D` is declared further down; put it first

    error[F0303]: the environment has no variable `OWN`
     --> plan.yaml:4:36
      |
    4 |   a: { run: "echo ${{ env.D }} ${{ env.OWN }}", env: { OWN: x } }
      |                                    ^^^^^^^
      |
      = help: a task's own `env` is for its programs: they read `$OWN`
    "#);
}

#[test]
fn names_of_an_expansion_are_known_inside_it() {
    let plan = "tasks:\n  a: { for_each: [1, 2], as: n, key: \"k${{ n }}\", run: \"echo ${{ n }} ${{ key }}\" }\n  b: { matrix: { os: [x, y] }, run: \"echo ${{ matrix.os }}\" }\n  c: { run: \"echo ${{ tasks.a.results[0].item }} ${{ tasks.a.output | tojson }} ${{ tasks.b.results[1].stdout }}\" }\n";
    assert_eq!(check(plan), "");
}

#[test]
fn a_condition_that_names_the_item_or_the_key_is_asked_of_each_instance() {
    let at = |expansion: &str, condition: &str| {
        let plan = Trial::of(&format!(
            "tasks:\n  a: {{ run: echo }}\n  m:\n    {expansion}\n    if: {condition}\n    run: echo\n"
        ));
        plan.plan().tasks[1].condition.as_ref().unwrap().at
    };
    let (list, named) = ("for_each: [1, 2]", "for_each: [{ risk: low }, { risk: high }]\n    as: area");
    let matrix = "matrix: { os: [x, y] }";
    for (expansion, condition) in [
        (list, "item > 1"),
        (list, "key != '1' and tasks.a.status == 'completed'"),
        (list, "always() and item > 1"),
        (named, "area.risk != 'low'"),
        (matrix, "matrix.os == 'x'"),
        (matrix, "key == 'x' or failure()"),
    ] {
        assert_eq!(at(expansion, condition), ConditionAt::Instance, "{condition}");
    }
    for (expansion, condition) in [
        (list, "tasks.a.output == 'item'"),
        (named, "always()"),
        (matrix, "run.ci and tasks.a.status == 'completed'"),
        ("env: { item: x }", "tasks.a.status == 'completed'"),
    ] {
        assert_eq!(at(expansion, condition), ConditionAt::Task, "{condition}");
    }
}

#[test]
fn names_of_an_expansion_are_refused_elsewhere() {
    assert_snapshot!(hole("item"), @r"
    error[F0303]: `item` is not known here
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ item }}
      |                   ^^^^
      |
      = help: give the task a `for_each`
    ");
    assert_snapshot!(hole("matrix.os"), @r"
    error[F0303]: `matrix` is not known here
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ matrix.os }}
      |                   ^^^^^^^^^
      |
      = help: give the task a `matrix`
    ");
    assert_snapshot!(check("tasks:\n  a: { for_each: [1, 2], as: n, run: \"echo ${{ item }}\" }\n"), @r#"
    error[F0303]: `item` is not known here
     --> plan.yaml:3:48
      |
    3 |   a: { for_each: [1, 2], as: n, run: "echo ${{ item }}" }
      |                                                ^^^^
      |
      = help: the items of this `for_each` are called `n`
    "#);
    assert_snapshot!(check("tasks:\n  a: { for_each: [1, 2], as: n, if: item > 1, run: echo }\n"), @r"
    error[F0303]: `item` is not known here
     --> plan.yaml:3:37
      |
    3 |   a: { for_each: [1, 2], as: n, if: item > 1, run: echo }
      |                                     ^^^^
      |
      = help: the items of this `for_each` are called `n`
    ");
    assert_snapshot!(check("tasks:\n  a: { if: item > 1 and key != 'x', run: echo }\n"), @r"
    error[F0303]: `item` is not known here
     --> plan.yaml:3:12
      |
    3 |   a: { if: item > 1 and key != 'x', run: echo }
      |            ^^^^
      |
      = help: give the task a `for_each`

    error[F0303]: `key` is not known here
     --> plan.yaml:3:25
      |
    3 |   a: { if: item > 1 and key != 'x', run: echo }
      |                         ^^^
      |
      = help: give the task a `for_each`
    ");
    assert_snapshot!(check("tasks:\n  a: { matrix: { os: [x, y] }, run: \"echo ${{ matrix.oss }}\" }\n"), @r#"
    error[F0303]: the matrix has no axis `oss`
     --> plan.yaml:3:47
      |
    3 |   a: { matrix: { os: [x, y] }, run: "echo ${{ matrix.oss }}" }
      |                                               ^^^^^^^^^^
      |
      = help: did you mean `os`?
    "#);
}

#[test]
fn an_expanded_task_has_lists_of_values() {
    let reads = |expression: &str| {
        check(&format!(
            "tasks:\n  a: {{ for_each: [1, 2], run: echo }}\n  b:\n    run: echo ${{{{ {expression} }}}}\n"
        ))
    };
    assert_snapshot!(reads("tasks.a.stdout"), @r"
    error[F0304]: expanded task `a` has no `stdout`
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.stdout }}
      |                   ^^^^^^^^^^^^^^
      |
      = help: available: `output`, `results`, `status`, `reason`, `attempts`, `duration`, `notification`
    ");
    assert_snapshot!(reads("tasks.a.output.files"), @r#"
    error[F0304]: `tasks.a.output` is a list, one element an instance, and has no fields
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output.files }}
      |                   ^^^^^^^^^^^^^^^^^^^^
      |
      = help: loop over it, or pick one with `[0]`, `| first`, `| map(attribute="...")`
    "#);
    assert_snapshot!(reads("tasks.a.results[0].stdot"), @r"
    error[F0304]: `tasks.a.results[0]` has no `stdot`
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.results[0].stdot }}
      |                   ^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `stdout`? available: `output`, `text`, `stdout`, `stderr`, `exit_code`, `status`, `reason`, `attempts`, `duration`, `artifacts`, `dir`, `key` and 1 more
    ");
}

#[test]
fn a_task_speaks_of_itself_as_task_where_it_has_ended() {
    assert_eq!(
        check(
            "tasks:\n  a: { run: echo, output: json, expect: { that: task.output.ok and task.exit_code == 0 } }\n"
        ),
        ""
    );
    assert_snapshot!(check("tasks:\n  a: { run: echo, expect: { that: tasks.a.output == 'x' } }\n"), @r"
    error[F0303]: task `a` can't wait for its own values
     --> plan.yaml:3:35
      |
    3 |   a: { run: echo, expect: { that: tasks.a.output == 'x' } }
      |                                   ^^^^^^^^^^^^^^
      |
      = help: write `task` for the attempt that has just ended, as in `task.output`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: echo, retry: { max: 1, if: task.exitcode == 3 } }\n"), @r"
    error[F0304]: this task has no `exitcode`
     --> plan.yaml:3:40
      |
    3 |   a: { run: echo, retry: { max: 1, if: task.exitcode == 3 } }
      |                                        ^^^^^^^^^^^^^
      |
      = help: did you mean `exit_code`? available: `output`, `text`, `stdout`, `stderr`, `exit_code`, `status`, `reason`, `duration`, `artifacts`, `id`, `address`, `key` and 1 more
    ");
    for lacked in ["task.attempts", "task.dir", "task.notification"] {
        let plan = format!("tasks:\n  a: {{ run: echo, retry: {{ max: 1, if: {lacked} == 'x' }} }}\n");
        let field = lacked.trim_start_matches("task.");
        assert!(check(&plan).contains(&format!("this task has no `{field}`")), "{lacked}");
    }
    assert_snapshot!(hole("task.output"), @r"
    error[F0303]: `task.output` is known once the attempt has ended: in `expect.that` and `retry.if`
     --> plan.yaml:8:19
      |
    8 |     run: echo ${{ task.output }}
      |                   ^^^^^^^^^^^
      |
      = help: other tasks are read as `tasks.NAME`
    ");
}

#[test]
fn carets_stand_right_in_blocks_and_behind_wide_letters() {
    let plan = "tasks:\n  a: { run: echo }\n  b:\n    run: |\n      echo ö →\n      echo \"é ${{ tasks.a.stdot }}\"\n";
    assert_snapshot!(check(plan), @r#"
    error[F0304]: shell task `a` has no `stdot`
     --> plan.yaml:7:19
      |
    7 |       echo "é ${{ tasks.a.stdot }}"
      |                   ^^^^^^^^^^^^^
      |
      = help: did you mean `stdout`? available: `output`, `text`, `stdout`, `stderr`, `exit_code`, `status`, `reason`, `attempts`, `duration`, `notification`, `artifacts`, `dir`
    "#);
}

#[test]
fn a_variable_that_only_ci_has_is_a_warning_of_check_and_an_error_of_a_run() {
    let text = "tasks:\n  a: { if: env.GITHUB_REF == \"x\", run: \"true\" }\n";
    assert_snapshot!(Trial::of(text).look().report(), @r#"
    warning[W0603]: the environment has no variable `GITHUB_REF` here; a run without it is refused
     --> plan.yaml:3:12
      |
    3 |   a: { if: env.GITHUB_REF == "x", run: "true" }
      |            ^^^^^^^^^^^^^^
      |
      = help: set it, declare it under `env:`, or write `env.GITHUB_REF | default("")`
    "#);
    assert!(Trial::of(text).look().compile().plan.is_some());
    assert!(
        check(text).starts_with("error[F0303]: the environment has no variable `GITHUB_REF`\n"),
        "{}",
        check(text)
    );
    assert_eq!(Trial::of(text).env("GITHUB_REF", "x").report(), "");
    // What is wrong wherever it runs stays an error.
    let late = "env: { A: \"${{ env.B }}\", B: x }\ntasks:\n  a: { run: \"true\" }\n";
    assert!(Trial::of(late).look().report().starts_with("error[F0303]"));
}

#[test]
fn a_task_knows_its_own_names_in_all_its_templates() {
    let text = "tasks:\n  a:\n    for_each: [1, 2]\n    if: task.key != \"2\" and task.address != task.id\n    run: echo ${{ task.attempt }} ${{ task.address }}\n    env: { WHO: \"${{ task.id }}-${{ task.key }}\" }\n  b: { prompt: \"${{ task.address }}\", tools: [Read] }\n";
    assert_eq!(check(text), "");
    let plan = Trial::of(text).plan();
    let condition = plan.tasks[0].condition.as_ref().expect("a condition");
    assert_eq!(condition.at, ConditionAt::Instance);
}

#[test]
fn a_task_does_not_know_how_it_will_end() {
    let text = "tasks:\n  a: { run: \"echo ${{ task.output }} ${{ task.nope }}\" }\n  b: { if: task.attempt > 1, run: echo }\noutputs: { x: \"${{ task.id }}\" }\n";
    assert_snapshot!(check(text), @r#"
    error[F0303]: `task.output` is known once the attempt has ended: in `expect.that` and `retry.if`
     --> plan.yaml:3:23
      |
    3 |   a: { run: "echo ${{ task.output }} ${{ task.nope }}" }
      |                       ^^^^^^^^^^^
      |
      = help: other tasks are read as `tasks.NAME`

    error[F0303]: `task` has no `nope`
     --> plan.yaml:3:42
      |
    3 |   a: { run: "echo ${{ task.output }} ${{ task.nope }}" }
      |                                          ^^^^^^^^^
      |
      = help: available: `id`, `address`, `key`, `attempt`

    error[F0303]: `task` has no `attempt`
     --> plan.yaml:4:12
      |
    4 |   b: { if: task.attempt > 1, run: echo }
      |            ^^^^^^^^^^^^
      |
      = help: available: `id`, `address`, `key`

    error[F0303]: `task` is the task that a template stands in, and this one stands in none
     --> plan.yaml:5:20
      |
    5 | outputs: { x: "${{ task.id }}" }
      |                    ^^^^^^^
      |
      = help: a task is read as `tasks.NAME`
    "#);
}
