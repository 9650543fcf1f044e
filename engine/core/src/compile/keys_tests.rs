//! What is said of keys that few tasks have.

use std::time::Duration;

use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::plan::{Command, OnLost, Output, TaskKind};

#[test]
fn a_run_that_is_a_list_takes_texts_and_no_shell() {
    let plan = Trial::of("tasks:\n  a: { run: [printf, 'x${{ run.id }}', 7] }\n").without_bash().plan();
    let TaskKind::Shell(shell) = &plan.tasks[0].kind else { panic!("a shell task") };
    let Command::Words(words) = &shell.command else { panic!("words") };
    assert_eq!(words.iter().map(|word| &*word.source).collect::<Vec<_>>(), ["printf", "x${{ run.id }}", "7"]);
    assert_snapshot!(check("tasks:\n  a: { run: [], shell: sh }\n  b: { run: [echo, [x]] }\n  c: { run: ['', x] }\n"), @r"
    error[F0203]: `run` names no program
     --> plan.yaml:3:13
      |
    3 |   a: { run: [], shell: sh }
      |             ^^
      |
      = help: write for example `run: [git, status]`

    error[F0205]: `shell` reads scripts, and `run` of `a` is a list, which no shell reads
     --> plan.yaml:3:17
      |
    3 |   a: { run: [], shell: sh }
      |        ---      ^^^^^
      |        |
      |        this makes it a shell task
      |
      = help: take `shell` away, or write `run` as one text

    error[F0202]: an element of `run` must be text, not a list
     --> plan.yaml:4:20
      |
    4 |   b: { run: [echo, [x]] }
      |                    ^^^

    error[F0203]: `run` names no program
     --> plan.yaml:5:14
      |
    5 |   c: { run: ['', x] }
      |              ^^
      |
      = help: write for example `run: [git, status]`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: [echo, '${% if true %}x${% endif %}', '${{ nope }}'] }\n"), @r"
    error[F0402]: a block can't stand here
     --> plan.yaml:3:21
      |
    3 |   a: { run: [echo, '${% if true %}x${% endif %}', '${{ nope }}'] }
      |                     ^^^^^^^^^^^^^^
      |
      = help: only `${{ … }}` can; compute the rest in a task

    error[F0402]: a block can't stand here
     --> plan.yaml:3:36
      |
    3 |   a: { run: [echo, '${% if true %}x${% endif %}', '${{ nope }}'] }
      |                                    ^^^^^^^^^^^^
      |
      = help: only `${{ … }}` can; compute the rest in a task

    error[F0303]: `nope` is not known here
     --> plan.yaml:3:56
      |
    3 |   a: { run: [echo, '${% if true %}x${% endif %}', '${{ nope }}'] }
      |                                                        ^^^^
      |
      = help: available: `inputs`, `env`, `tasks`, `run`, `git`, `attempt`, `task`
    ");
}

#[test]
fn pairs_are_for_shell_tasks_and_hold_texts() {
    let readers = "tasks:\n  a: { run: x, output: pairs }\n  b: { run: 'echo ${{ tasks.a.output.v }}' }\n";
    assert_eq!(Trial::of(readers).plan().tasks[0].output, Output::Pairs);
    assert_snapshot!(check("tasks:\n  a: { run: x, output: pairs }\n  b: { run: 'echo ${{ tasks.a.output.v.w }} ${{ tasks.a.output[0] }}' }\n"), @r"
    error[F0304]: `tasks.a.output.v` is text and has no fields
     --> plan.yaml:4:23
      |
    4 |   b: { run: 'echo ${{ tasks.a.output.v.w }} ${{ tasks.a.output[0] }}' }
      |                       ^^^^^^^^^^^^^^^^^^

    error[F0304]: `tasks.a.output` is an object of texts, not a list
     --> plan.yaml:4:49
      |
    4 |   b: { run: 'echo ${{ tasks.a.output.v.w }} ${{ tasks.a.output[0] }}' }
      |                                                 ^^^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(check("tasks:\n  a: { prompt: x, tools: [Read], output: pairs }\n"), @r"
    error[F0205]: `output: pairs` is what a command wrote to a file, and `a` is an agent task
     --> plan.yaml:3:34
      |
    3 |   a: { prompt: x, tools: [Read], output: pairs }
      |        ------                    ^^^^^^
      |        |
      |        this makes it an agent task
      |
      = help: write `output: json`, `lines` or a JSON Schema
    ");
    let plan = Trial::of("defaults: { output: pairs }\ntasks:\n  a: { prompt: x, tools: [Read] }\n").plan();
    assert_eq!(plan.tasks[0].output, Output::Text);
}

#[test]
fn artifacts_stay_in_the_folder_and_are_a_list_of_paths() {
    assert_snapshot!(check("tasks:\n  a: { run: x, artifacts: [../x, /abs, '', 'ok/${{ nope }}'] }\n"), @r"
    error[F0203]: the artifact `../x` leads out of the task's folder
     --> plan.yaml:3:28
      |
    3 |   a: { run: x, artifacts: [../x, /abs, '', 'ok/${{ nope }}'] }
      |                            ^^^^
      |
      = help: write a path or a pattern below the folder that the task works in

    error[F0203]: the artifact `/abs` leads out of the task's folder
     --> plan.yaml:3:34
      |
    3 |   a: { run: x, artifacts: [../x, /abs, '', 'ok/${{ nope }}'] }
      |                                  ^^^^
      |
      = help: write a path or a pattern below the folder that the task works in

    error[F0203]: an artifact's path is empty
     --> plan.yaml:3:40
      |
    3 |   a: { run: x, artifacts: [../x, /abs, '', 'ok/${{ nope }}'] }
      |                                        ^^
      |
      = help: write a path or a pattern below the folder that the task works in

    error[F0303]: `nope` is not known here
     --> plan.yaml:3:52
      |
    3 |   a: { run: x, artifacts: [../x, /abs, '', 'ok/${{ nope }}'] }
      |                                                    ^^^^
      |
      = help: available: `inputs`, `env`, `tasks`, `run`, `git`, `attempt`, `task`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: x, artifacts: x }\n  b: { run: 'echo ${{ tasks.a.artifacts.x }} ${{ tasks.a.artifacts[0].y }}' }\n"), @r"
    error[F0304]: `tasks.a.artifacts` is a list of paths and has no fields
     --> plan.yaml:4:23
      |
    4 |   b: { run: 'echo ${{ tasks.a.artifacts.x }} ${{ tasks.a.artifacts[0].y }}' }
      |                       ^^^^^^^^^^^^^^^^^^^

    error[F0304]: `tasks.a.artifacts[0]` is a plain value and has no fields
     --> plan.yaml:4:50
      |
    4 |   b: { run: 'echo ${{ tasks.a.artifacts.x }} ${{ tasks.a.artifacts[0].y }}' }
      |                                                  ^^^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn checks_are_for_agents_and_are_scripts() {
    assert_snapshot!(check("tasks:\n  a: { run: x, checks: make }\n  b: { prompt: x, tools: [Read], checks: ['', 'eval ${{ inputs.x }}'] }\ninputs: { x: { default: y } }\n"), @r"
    error[F0205]: `checks` is for agents, and `a` is a shell task
     --> plan.yaml:3:16
      |
    3 |   a: { run: x, checks: make }
      |        ---     ^^^^^^
      |        |
      |        this makes it a shell task
      |
      = help: take the key away

    error[F0203]: a check is empty
     --> plan.yaml:4:43
      |
    4 |   b: { prompt: x, tools: [Read], checks: ['', 'eval ${{ inputs.x }}'] }
      |                                           ^^

    error[F0403]: `eval` evaluates what it is given
     --> plan.yaml:4:53
      |
    4 |   b: { prompt: x, tools: [Read], checks: ['', 'eval ${{ inputs.x }}'] }
      |                                                     ^^^^^^^^^^^^^^^
      |
      = help: write the command itself, without `eval`
    ");
    let trial = Trial::of("tasks:\n  a: { prompt: x, tools: [Read], checks: make }\n").without_bash();
    assert_snapshot!(trial.report(), @r"
    error[F0603]: task `a` runs in bash, and there is no bash here
     --> plan.yaml:3:34
      |
    3 |   a: { prompt: x, tools: [Read], checks: make }
      |                                  ^^^^^^
      |
      = help: write `shell: sh`, for all tasks under `defaults:`
    ");
}

#[test]
fn a_pool_is_declared_has_slots_and_is_used() {
    let plan = Trial::of("pools: { db: 2 }\ndefaults: { pool: db }\ntasks:\n  a: { run: x }\n").plan();
    assert_eq!((plan.tasks[0].pool, plan.pools["db"].get()), (Some(0), 2));
    assert_snapshot!(check("pools: { db: 1, model: 0, my-pool: 1, x: many }\ntasks:\n  a: { run: x, pool: modl }\n  b: { run: x, pool: model }\n"), @r"
    warning[W0202]: no task takes a slot of the pool `db`
     --> plan.yaml:2:10
      |
    2 | pools: { db: 1, model: 0, my-pool: 1, x: many }
      |          ^^
      |
      = help: write `pool: db` on the tasks that it is meant for

    error[F0203]: `pools.model` can't be 0: it takes 1 or more
     --> plan.yaml:2:24
      |
    2 | pools: { db: 1, model: 0, my-pool: 1, x: many }
      |                        ^

    error[F0206]: `my-pool` can't name a pool: letters, digits and `_`, no digit first
     --> plan.yaml:2:27
      |
    2 | pools: { db: 1, model: 0, my-pool: 1, x: many }
      |                           ^^^^^^^
      |
      = help: write `my_pool`

    warning[W0202]: no task takes a slot of the pool `my-pool`
     --> plan.yaml:2:27
      |
    2 | pools: { db: 1, model: 0, my-pool: 1, x: many }
      |                           ^^^^^^^
      |
      = help: write `pool: my-pool` on the tasks that it is meant for

    error[F0202]: `x` takes a whole number, not text
     --> plan.yaml:2:42
      |
    2 | pools: { db: 1, model: 0, my-pool: 1, x: many }
      |                                          ^^^^

    error[F0303]: this plan has no pool `modl`
     --> plan.yaml:4:22
      |
    4 |   a: { run: x, pool: modl }
      |                      ^^^^
      |
      = help: did you mean `model`? available: `db`, `model`, `my-pool`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: x, pool: '${{ inputs.x }}' }\n  b: { run: x, pool: db }\n"), @r"
    error[F0402]: `pool` is taken as written: it holds no templates
     --> plan.yaml:3:23
      |
    3 |   a: { run: x, pool: '${{ inputs.x }}' }
      |                       ^^^^^^^^^^^^^^^
      |
      = help: templates stand in `run`, `prompt`, `checks`, `setup`, `env`, `dir`, `base`, `artifacts`, `for_each`, `matrix`, `key`, `lock`, `outputs` and a task's `description`

    error[F0303]: this plan has no pool `db`
     --> plan.yaml:4:22
      |
    4 |   b: { run: x, pool: db }
      |                      ^^
      |
      = help: declare it at the top: `pools: { db: 1 }`
    ");
}

#[test]
fn a_lock_is_named_by_what_is_known_before_the_run() {
    Trial::of("lock: 'a-${{ git.branch }}-${{ env.HOME }}'\ntasks:\n  a: { run: x }\n")
        .env("HOME", "/h")
        .plan();
    assert_snapshot!(check("lock: '${{ tasks.a.text }}-${{ run.id }}-${{ run.ci }}-${{ secrets.X }}'\ntasks:\n  a: { run: x }\n"), @r"
    error[F0303]: `lock` is read before any task runs
     --> plan.yaml:2:12
      |
    2 | lock: '${{ tasks.a.text }}-${{ run.id }}-${{ run.ci }}-${{ secrets.X }}'
      |            ^^^^^^^^^^^^
      |
      = help: name the lock by `inputs`, `env` or `git`, as in `deploy-${{ inputs.target }}`

    error[F0303]: `run` has no `id`
     --> plan.yaml:2:32
      |
    2 | lock: '${{ tasks.a.text }}-${{ run.id }}-${{ run.ci }}-${{ secrets.X }}'
      |                                ^^^^^^
      |
      = help: available: `ci`

    error[F0303]: a secret can be used in `env` only
     --> plan.yaml:2:60
      |
    2 | lock: '${{ tasks.a.text }}-${{ run.id }}-${{ run.ci }}-${{ secrets.X }}'
      |                                                            ^^^^^^^^^
      |
      = help: put it into `env` and let the program read the variable
    ");
    assert_snapshot!(check("lock: ''\ntasks:\n  a: { run: x }\n"), @r"
    error[F0203]: `lock` is empty
     --> plan.yaml:2:7
      |
    2 | lock: ''
      |       ^^
      |
      = help: write a name, such as `deploy`
    ");
}

#[test]
fn what_is_lost_runs_again_by_kind_unless_the_task_says() {
    let text = "tasks:\n  a: { run: x }\n  b: { run: x, idempotent: false }\n  c: { prompt: x, tools: [Read] }\n  d: { prompt: x, tools: [Read], idempotent: true }\n  e: { prompt: x, tools: [Read], on_lost: retry }\n  f: { run: x, idempotent: true, on_lost: fail }\n";
    let all: Vec<OnLost> = Trial::of(text).plan().tasks.iter().map(|task| task.on_lost).collect();
    use OnLost::{Fail, Retry};
    assert_eq!(all, [Retry, Fail, Fail, Retry, Retry, Fail]);
    assert_snapshot!(check("tasks:\n  a: { run: x, on_lost: retrry, idempotent: yes, background: on, backgroud: true }\n"), @r"
    error[F0203]: `on_lost` can't be `retrry`
     --> plan.yaml:3:25
      |
    3 |   a: { run: x, on_lost: retrry, idempotent: yes, background: on, backgroud: true }
      |                         ^^^^^^
      |
      = help: did you mean `retry`? available: `retry`, `fail`

    error[F0202]: `idempotent` takes `true` or `false`, not text
     --> plan.yaml:3:45
      |
    3 |   a: { run: x, on_lost: retrry, idempotent: yes, background: on, backgroud: true }
      |                                             ^^^
      |
      = help: write `true`

    error[F0202]: `background` takes `true` or `false`, not text
     --> plan.yaml:3:62
      |
    3 |   a: { run: x, on_lost: retrry, idempotent: yes, background: on, backgroud: true }
      |                                                              ^^
      |
      = help: write `true`

    error[F0201]: unknown key `backgroud` in a task
     --> plan.yaml:3:66
      |
    3 |   a: { run: x, on_lost: retrry, idempotent: yes, background: on, backgroud: true }
      |                                                                  ^^^^^^^^^
      |
      = help: did you mean `background`?
    ");
}

#[test]
fn an_agent_says_whether_it_can_work_in_the_background() {
    let trial = |keys: &str| Trial::of(&format!("tasks:\n  a: {{ agent: w, prompt: x{keys} }}\n"));
    let shy = trial(", background: true")
        .agent("w.md", "name: w\ntools: Read\nflow: { supports_background: false }");
    assert_snapshot!(shy.report(), @r"
    error[F0505]: agent `w` says that it can't work in the background
     --> plan.yaml:3:41
      |
    3 |   a: { agent: w, prompt: x, background: true }
      |                                         ^^^^
      |
      = help: take `background` away, or choose another agent (agents/w.md)
    ");
    for (keys, background) in [("", true), (", background: false", false)] {
        let plan = trial(keys).agent("w.md", "name: w\ntools: Read\nbackground: true").plan();
        assert_eq!(plan.tasks[0].background, background);
    }
}

#[test]
fn a_check_may_have_a_timeout_of_its_own() {
    let text =
        |check: &str| format!("tasks:\n  a: {{ prompt: x, tools: [Read], checks: [{check}, \"true\"] }}\n");
    let plan = Trial::of(&text("{ run: cargo test, timeout: 1m30s }")).plan();
    let TaskKind::Agent(agent) = &plan.tasks[0].kind else { panic!("an agent") };
    let checks = &agent.checks.as_ref().expect("checks").checks;
    let timeouts: Vec<_> = checks.iter().map(|check| check.timeout).collect();
    assert_eq!(timeouts, [Some(Duration::from_secs(90)), None]);
    assert_snapshot!(check(&text("{ run: x, timeout: 0s, limit: 1 }, { timeout: 1s }")), @r#"
    error[F0203]: `checks.timeout` can't be `0s`: it takes 1ms or more
     --> plan.yaml:3:62
      |
    3 |   a: { prompt: x, tools: [Read], checks: [{ run: x, timeout: 0s, limit: 1 }, { timeout: 1s }, "true"] }
      |                                                              ^^

    error[F0201]: unknown key `limit` in a check
     --> plan.yaml:3:66
      |
    3 |   a: { prompt: x, tools: [Read], checks: [{ run: x, timeout: 0s, limit: 1 }, { timeout: 1s }, "true"] }
      |                                                                  ^^^^^
      |
      = help: known keys: `run`, `timeout`

    error[F0204]: this check runs nothing
     --> plan.yaml:3:78
      |
    3 |   a: { prompt: x, tools: [Read], checks: [{ run: x, timeout: 0s, limit: 1 }, { timeout: 1s }, "true"] }
      |                                                                              ^^^^^^^^^^^^^^^
      |
      = help: write `{ run: cargo test, timeout: 5m }`
    "#);
}

#[test]
fn keys_that_are_taken_as_written_say_so_of_a_hole() {
    let text = "inputs: { n: { type: integer, default: 3 } }\ntasks:\n  a: { run: x, for_each: [1], retry: \"${{ inputs.n }}\", max_parallel: \"${{ inputs.n }}\", continue_on_error: \"${{ inputs.n }}\" }\n";
    let found = Trial::of(text).compile().diagnostics;
    let helps: Vec<_> = found.iter().filter_map(|finding| finding.help.as_deref()).collect();
    assert_eq!(
        helps,
        [
            "`retry` is taken as written: it holds no templates",
            "`max_parallel` is taken as written: it holds no templates",
            "`continue_on_error` is taken as written: it holds no templates"
        ]
    );
}

#[test]
fn a_fixed_end_of_a_block_of_pairs_is_a_warning() {
    let text = |run: &str| {
        check(&format!("tasks:\n  a:\n    output: pairs\n    env: {{ TEXT: x }}\n    run: |\n      {run}\n"))
    };
    assert_snapshot!(text("{ echo \"answer<<EOF\"; echo \"$TEXT\"; echo EOF; } >> \"$FLOW_OUTPUT\""), @r#"
    warning[W0202]: a value that holds the line `EOF` ends `answer` early, and its rest is read as more pairs
     --> plan.yaml:7:15
      |
    7 |       { echo "answer<<EOF"; echo "$TEXT"; echo EOF; } >> "$FLOW_OUTPUT"
      |               ^^^^^^^^^^^
      |
      = help: take an end that nobody can guess, as in `end=$(uuidgen)`, or write JSON: `output: json`, `jq -n --arg answer "$TEXT" '{$answer}'`
    "#);
    assert!(
        text("printf 'n=1\\nanswer<<END\\n%s\\nEND\\n' \"$TEXT\" >> $FLOW_OUTPUT")
            .contains("ends `answer` early")
    );
    for fine in [
        "end=$(uuidgen); { echo \"answer<<$end\"; echo \"$TEXT\"; echo \"$end\"; } >> $FLOW_OUTPUT",
        "cat <<EOF >> $FLOW_OUTPUT\n      a=1\n      EOF",
        "cat<<EOF >> $FLOW_OUTPUT\n      a=1\n      EOF",
        "echo a=$((1<<2)) >> $FLOW_OUTPUT",
        "echo é<<EOF\n      ü\n      EOF",
    ] {
        assert_eq!(text(fine), "", "{fine}");
    }
}

#[test]
fn a_number_below_the_least_is_refused_with_the_least() {
    let text = "concurrency: 0\npools: { p: -1 }\ntasks:\n  a: { pool: p, run: x, max_output: 0, timeout: { run: -5s, idle: 0ms, grace: -1s }, retry: { max: -1, delay: -1s, backoff: 0 } }\n  b: { for_each: [1], max_parallel: 0, run: x, max_output: -1 }\n  c: { prompt: x, tools: [Read], max_turns: 0 }\n";
    let mut found: Vec<String> =
        Trial::of(text).compile().diagnostics.into_iter().map(|finding| finding.message).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "`concurrency` can't be 0: it takes 1 or more",
            "`max_output` can't be -1: it takes 1 byte or more",
            "`max_output` can't be 0: it takes 1 byte or more",
            "`max_parallel` can't be 0: it takes 1 or more",
            "`max_turns` can't be 0: it takes 1 to 10000",
            "`pools.p` can't be -1: it takes 1 or more",
            "`retry.backoff` can't be 0: it takes 1 to 1000",
            "`retry.delay` can't be `-1s`: it takes 0s or more",
            "`retry.max` can't be -1: it takes 0 to 1000",
            "`timeout.grace` can't be `-1s`: it takes 0s or more",
            "`timeout.idle` can't be `0ms`: it takes 1ms or more",
            "`timeout` can't be `-5s`: it takes 1ms or more",
        ]
    );
}

#[test]
fn a_list_of_commands_is_warned_of_as_one_command() {
    assert_snapshot!(check("tasks:\n  a: { run: [make build, make test] }\n"), @r"
    warning[W0202]: a list is one command: the program `make build` with the argument `make test`
     --> plan.yaml:3:13
      |
    3 |   a: { run: [make build, make test] }
      |             ^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: for commands write one a line under `run: |`
    ");
    assert_eq!(check("tasks:\n  a: { run: [make, build, \"a b\"] }\n"), "");
}
