use super::*;
use crate::compile::testing::Trial;

/// Each row of the previews of task `a`: key, text, and what only the run knows.
#[track_caller]
fn check(trial: Trial, expected: &[(&str, &str, &str)]) {
    let plan = trial.plan();
    let task = plan.tasks.iter().find(|task| task.address.as_str() == "a").unwrap();
    let rows = preview(&plan, task).unwrap();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row.key.as_deref().unwrap_or_default(), row.text.trim_end(), row.later.join(" ")))
        .collect();
    let rows: Vec<_> = rows.iter().map(|(key, text, later)| (*key, *text, later.as_str())).collect();
    assert_eq!(rows, expected);
}

const INPUT: &str = "inputs: { t: { type: string } }\n";

#[test]
fn inputs_are_shown_as_words_that_no_shell_would_run() {
    let trial = |value: &str| {
        Trial::of(&format!("{INPUT}tasks:\n  a: {{ run: 'echo ${{{{ inputs.t }}}} end' }}\n"))
            .given("t", value)
    };
    check(trial("src/lib"), &[("", "echo src/lib end", "")]);
    check(trial("$(id -un)"), &[("", "echo '$(id -un)' end", "")]);
    check(trial("it's"), &[("", r"echo 'it'\''s' end", "")]);
}

#[test]
fn what_only_the_run_knows_stays_as_it_is_written_and_is_named_once() {
    let plan = "tasks:\n  b: { run: 'true' }\n  a:\n    run: echo ${{ tasks.b.output }} ${{ tasks.b.output }} ${{ run.id }}\n";
    check(
        Trial::of(plan),
        &[("", "echo ${{ tasks.b.output }} ${{ tasks.b.output }} ${{ run.id }}", "run.id tasks.b.output")],
    );
}

#[test]
fn written_out_lists_and_matrices_are_shown_instance_by_instance() {
    let list = "tasks:\n  a:\n    for_each: [x, 'y z']\n    run: echo ${{ item }} ${{ key }}\n";
    check(Trial::of(list), &[("x", "echo x x", ""), ("y z", "echo 'y z' 'y z'", "")]);
    let matrix = "tasks:\n  a:\n    matrix: { os: [l, m], n: [1] }\n    prompt: On ${{ matrix.os }} ${{ matrix.n }}\n    tools: [Read]\n";
    check(Trial::of(matrix), &[("l,1", "On l 1", ""), ("m,1", "On m 1", "")]);
    let input = "inputs: { n: { type: list, default: [1, 2] } }\ntasks:\n  a:\n    for_each: ${{ inputs.n }}\n    run: echo ${{ item }}\n";
    check(Trial::of(input), &[("1", "echo 1", ""), ("2", "echo 2", "")]);
}

#[test]
fn instances_that_only_the_run_knows_are_shown_as_the_task() {
    let plan = "tasks:\n  b: { run: 'true', output: lines }\n  a:\n    for_each: ${{ tasks.b.output }}\n    run: echo ${{ item }}\n";
    check(Trial::of(plan), &[("", "echo ${{ item }}", "item")]);
}

#[test]
fn variables_of_the_environment_are_left_to_the_run() {
    let plan = "tasks:\n  a: { run: 'use ${{ env.PLACE }}' }\n";
    check(Trial::of(plan).env("PLACE", "here"), &[("", "use ${{ env.PLACE }}", "env.PLACE")]);
}

#[test]
fn an_expression_that_fails_on_known_values_is_an_error() {
    let plan = Trial::of(
        "inputs: { n: { type: integer, default: 0 } }\ntasks:\n  a: { run: 'echo ${{ 1 // inputs.n }}' }\n",
    )
    .plan();
    assert!(preview(&plan, &plan.tasks[0]).unwrap_err().starts_with("`run`: "));
}
