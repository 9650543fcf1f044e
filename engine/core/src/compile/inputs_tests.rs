use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::compile::testing::Trial;

const TASKS: &str = "tasks:\n  a: { run: echo }\n";

/// A plan with these inputs.
fn with(inputs: &str) -> Trial {
    Trial::of(&format!("inputs:\n{inputs}{TASKS}"))
}

/// The value of input `x` of a type when it is given as text.
fn value(kind: &str, text: &str) -> Value {
    with(&format!("  x: {{ type: {kind} }}\n")).given("x", text).plan().inputs["x"].clone()
}

#[test]
fn text_is_read_as_the_type_says() {
    assert_eq!(value("string", "3"), json!("3"));
    assert_eq!(value("integer", "-3"), json!(-3));
    assert_eq!(value("number", "3"), json!(3));
    assert_eq!(value("number", "2.5"), json!(2.5));
    assert_eq!(value("boolean", "true"), json!(true));
    assert_eq!(value("path", "a b/$(id)"), json!("a b/$(id)"));
    assert_eq!(value("list", "[1, \"x\"]"), json!([1, "x"]));
    assert_eq!(value("object", "{\"a\": null}"), json!({"a": null}));
    assert_eq!(value("enum, enum: [1, two]", "1"), json!(1));
}

#[test]
fn defaults_and_optional_inputs_fill_in() {
    let plan = with("  a: { default: x }\n  b: { type: integer, required: false }\n  c:\n")
        .given("c", "given")
        .plan();
    assert_eq!(json!(plan.inputs), json!({"a": "x", "b": null, "c": "given"}));
}

#[test]
fn null_is_given_back_to_an_input_that_may_be_without_a_value_and_to_no_other() {
    let plan = with("  b: { type: integer, required: false }\n").given_json("b", json!(null)).plan();
    assert_eq!(json!(plan.inputs), json!({"b": null}));
    let report = with("  b: { type: integer }\n").given_json("b", json!(null)).report();
    assert!(report.contains("input `b` must be an integer, not null"), "{report}");
}

#[test]
fn the_last_of_one_name_counts() {
    assert_eq!(with("  x:\n").given("x", "1").given("x", "2").plan().inputs["x"], json!("2"));
}

#[test]
fn missing_and_unknown_inputs_are_found_before_any_work() {
    assert_snapshot!(with("  target: { type: path }\n").given("taget", "x").report(), @r"
    error[F0601]: this plan has no input `taget`
     |
     = help: did you mean `target`?

    error[F0601]: input `target` is missing
     --> plan.yaml:3:3
      |
    3 |   target: { type: path }
      |   ^^^^^^
      |
      = help: give it with `-i target=VALUE`, or write a `default`
    ");
    assert_snapshot!(Trial::of(TASKS).given("x", "1").report(), @r"
    error[F0601]: this plan has no input `x`
     |
     = help: this plan takes no inputs
    ");
}

#[test]
fn values_of_the_wrong_type_are_refused() {
    assert_snapshot!(with("  n: { type: integer, minimum: 1 }\n").given("n", "three").report(), @r"
    error[F0601]: input `n` must be an integer, not `three`
     --> plan.yaml:3:3
      |
    3 |   n: { type: integer, minimum: 1 }
      |   ^
      |
      = help: it was given as `n=three`
    ");
    assert_snapshot!(with("  n: { type: integer, minimum: 1, maximum: 9 }\n").given("n", "0").report(), @r"
    error[F0601]: input `n` must be 1 or more, not 0
     --> plan.yaml:3:3
      |
    3 |   n: { type: integer, minimum: 1, maximum: 9 }
      |   ^
      |
      = help: it was given as `n=0`
    ");
    assert_snapshot!(with("  s: { type: string, enum: [low, high] }\n").given("s", "medium").report(), @r"
    error[F0601]: input `s` must be one of `low`, `high`, not `medium`
     --> plan.yaml:3:3
      |
    3 |   s: { type: string, enum: [low, high] }
      |   ^
      |
      = help: it was given as `s=medium`
    ");
    assert_snapshot!(with("  s: { type: list }\n").given("s", "a,b").report(), @r#"
    error[F0601]: input `s` must be a list in JSON, not `a,b`
     --> plan.yaml:3:3
      |
    3 |   s: { type: list }
      |   ^
      |
      = help: write `-i 's:=["a","b"]'`
    "#);
    assert_snapshot!(with("  s: { type: string }\n").given_json("s", json!([1])).report(), @r"
    error[F0601]: input `s` must be text, not a list
     --> plan.yaml:3:3
      |
    3 |   s: { type: string }
      |   ^
      |
      = help: it was given as `s:=[1]`
    ");
    assert_snapshot!(with("  b: { type: boolean }\n").given("b", "yes").report(), @r"
    error[F0601]: input `b` must be `true` or `false`, not `yes`
     --> plan.yaml:3:3
      |
    3 |   b: { type: boolean }
      |   ^
      |
      = help: it was given as `b=yes`
    ");
}

#[test]
fn declarations_are_checked_against_themselves() {
    assert_snapshot!(with("  v: { type: string, default: 1.10 }\n").report(), @r"
    error[F0202]: the default of input `v` must be text, not a number
     --> plan.yaml:3:31
      |
    3 |   v: { type: string, default: 1.10 }
      |                               ^^^^
      |
      = help: put it in quotes to make it text
    ");
    assert_snapshot!(with("  v: { type: strng, default: x }\n").report(), @r"
    error[F0203]: `type` can't be `strng`
     --> plan.yaml:3:14
      |
    3 |   v: { type: strng, default: x }
      |              ^^^^^
      |
      = help: did you mean `string`? available: `string`, `integer`, `number`, `boolean`, `path`, `list`, `object`, `enum`
    ");
    assert_snapshot!(with("  v: { type: integer, default: 5, maximum: 3 }\n").report(), @r"
    error[F0202]: the default of input `v` must be 3 or less, not 5
     --> plan.yaml:3:32
      |
    3 |   v: { type: integer, default: 5, maximum: 3 }
      |                                ^
    ");
    assert_snapshot!(with("  v: { type: enum, default: 5 }\n").report(), @r"
    error[F0204]: input `v` has type `enum` and no choices
     --> plan.yaml:3:3
      |
    3 |   v: { type: enum, default: 5 }
      |   ^
      |
      = help: list them: `enum: [low, high]`
    ");
    assert_snapshot!(with("  v: { type: string, minimum: 3, default: x }\n").report(), @r"
    error[F0205]: `minimum` is for integers and numbers; this input is text
     --> plan.yaml:3:31
      |
    3 |   v: { type: string, minimum: 3, default: x }
      |                               ^
    ");
    assert_snapshot!(with("  v: { enum: [a, b], type: string, default: c }\n").report(), @r"
    error[F0202]: the default of input `v` must be one of `a`, `b`, not `c`
     --> plan.yaml:3:45
      |
    3 |   v: { enum: [a, b], type: string, default: c }
      |                                             ^
    ");
}

#[test]
fn what_only_a_run_has_to_be_given_may_be_absent_from_a_plan_that_is_looked_at() {
    let text = "secrets: [TOKEN]
inputs:
  who: { type: string }
  rows: { type: list }
  n: { type: integer, minimum: 1 }
concurrency: 2
tasks:
  a: { matrix: { row: '${{ inputs.rows }}' }, run: 'echo $(( ${{ inputs.n }} + 1 )) ${{ inputs.who }}' }
  b: { for_each: '${{ inputs.rows }}', if: inputs.n > 1, run: echo, env: { T: '${{ secrets.TOKEN }}' } }
";
    let plan = Trial::of(text).look().plan();
    assert_eq!(json!(plan.inputs), json!({"who": null, "rows": null, "n": null}));
    // What is given, or wrong in the text, counts all the same.
    let given = Trial::of(text).look().given("n", "0").report();
    assert!(given.contains("input `n` must be") && !given.contains("missing"), "{given}");
    let wrong = Trial::of(&text.replace("inputs.who", "inputs.whom")).look().report();
    assert!(wrong.contains("whom"), "{wrong}");
    let run = Trial::of(text).report();
    assert!(run.contains("input `who` is missing") && run.contains("secret `TOKEN` is not set"), "{run}");
}

#[test]
fn a_number_that_comes_out_otherwise_is_a_warning_but_for_inputs_that_are_numbers() {
    let text = "inputs:\n  v: { enum: [3.9, 3.10], default: 3.9 }\n  l: { type: list, default: [1.0, 010] }\n  i: { type: integer, default: 007 }\n  n: { type: number, default: 0.50 }\ntasks:\n  a: { run: \"true\" }\n";
    let found: Vec<String> =
        Trial::of(text).compile().diagnostics.into_iter().map(|found| found.message).collect();
    assert_eq!(
        found,
        ["`3.10` is the number 3.1 here", "`010` is the number 10 here", "`007` is the number 7 here"]
    );
}

#[test]
fn what_is_wrong_in_a_file_of_inputs_is_shown_there() {
    let text = "inputs:\n  level: { type: integer, default: 1 }\ntasks:\n  a: { run: \"true\" }\n";
    assert_snapshot!(Trial::of(text).inputs_file("levle: 2\n").report(), @r"
    error[F0601]: this plan has no input `levle`
     --> in.yaml:1:1
      |
    1 | levle: 2
      | ^^^^^
      |
      = help: did you mean `level`?
    ");
    assert_snapshot!(Trial::of(text).inputs_file("# the level\nlevel: high\n").report(), @r"
    error[F0601]: input `level` must be an integer, not `high`
     --> in.yaml:2:1
      |
    2 | level: high
      | ^^^^^
      |
     ::: plan.yaml:3:3
      |
    3 |   level: { type: integer, default: 1 }
      |   ----- declared here
    ");
}

#[test]
fn a_type_of_another_system_is_one_finding_and_quotes_are_named() {
    let found = |inputs: &str| -> Vec<(String, Option<String>)> {
        let text = format!("inputs: {{ a: {inputs} }}\ntasks: {{ t: {{ run: 'true' }} }}\n");
        let found = Trial::of(&text).compile().diagnostics.into_iter();
        found.map(|finding| (finding.message, finding.help)).collect()
    };
    let said = |message: &str, help: &str| vec![(message.to_owned(), Some(help.to_owned()))];
    assert_eq!(found("{ type: int, default: 3 }"), said("`type` can't be `int`", "write `type: integer`"));
    assert_eq!(
        found("{ type: boolean, default: \"true\" }"),
        said(
            "the default of input `a` must be `true` or `false`, not `true`",
            "take the quotes away: `true`"
        )
    );
}
