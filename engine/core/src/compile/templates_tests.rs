use insta::assert_snapshot;

use crate::compile::testing::check;

#[test]
fn an_expression_is_written_bare() {
    assert_snapshot!(check("tasks:\n  a: { run: echo }\n  b: { needs: [a], if: \"${{ tasks.a.output == 'x' }}\", run: echo }\n"), @r#"
    error[F0402]: `if` is an expression as it stands, without `${{ }}`
     --> plan.yaml:4:25
      |
    4 |   b: { needs: [a], if: "${{ tasks.a.output == 'x' }}", run: echo }
      |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write `if: tasks.a.output == 'x'`
    "#);
    assert_snapshot!(check("tasks:\n  a: { run: echo, if: run.ci && git.dirty }\n"), @r"
    error[F0401]: `&&` is no operator here
     --> plan.yaml:3:30
      |
    3 |   a: { run: echo, if: run.ci && git.dirty }
      |                              ^^
      |
      = help: write `and`
    ");
    assert_snapshot!(check("tasks:\n  a: { run: echo, if: \"contains(git.branch, 'x')\" }\n"), @r#"
    error[F0404]: there is no function `contains`
     --> plan.yaml:3:24
      |
    3 |   a: { run: echo, if: "contains(git.branch, 'x')" }
      |                        ^^^^^^^^
      |
      = help: write `needle in haystack`
    "#);
}

#[test]
fn faults_of_a_template_are_placed() {
    assert_snapshot!(check("tasks:\n  a: { prompt: \"x ${{ inputs. }}\", tools: Read }\n"), @r#"
    error[F0401]: unexpected `}}`, expected identifier or integer
     --> plan.yaml:3:31
      |
    3 |   a: { prompt: "x ${{ inputs. }}", tools: Read }
      |                               ^^
    "#);
    assert_snapshot!(check("inputs: { t: { default: x } }\ntasks:\n  a: { prompt: \"x ${{ inputs.t | uper }}\", tools: Read }\n"), @r#"
    error[F0404]: there is no filter `uper`
     --> plan.yaml:4:34
      |
    4 |   a: { prompt: "x ${{ inputs.t | uper }}", tools: Read }
      |                                  ^^^^
      |
      = help: did you mean `upper`?
    "#);
}

#[test]
fn status_functions_belong_in_conditions() {
    assert_eq!(check("tasks:\n  a: { run: echo }\n  b: { needs: [a], if: failure(), run: echo }\n"), "");
    assert_snapshot!(check("tasks:\n  a: { prompt: \"${{ failure() }}\", tools: Read }\n"), @r#"
    error[F0402]: `failure()` has a meaning in `if` only
     --> plan.yaml:3:21
      |
    3 |   a: { prompt: "${{ failure() }}", tools: Read }
      |                     ^^^^^^^^^
      |
      = help: read `tasks.NAME.status` instead
    "#);
}

#[test]
fn a_script_for_another_program_takes_no_values() {
    assert_snapshot!(check("inputs: { t: { default: x } }\ntasks:\n  a:\n    shell: python3\n    run: print(\"${{ inputs.t }}\")\n"), @r#"
    error[F0403]: no value can be put into a script for `python3`
     --> plan.yaml:6:17
      |
    6 |     run: print("${{ inputs.t }}")
      |                 ^^^^^^^^^^^^^^^
      |
      = help: hand it over in `env` and let the script read the variable
    "#);
    assert_eq!(check("tasks:\n  a: { shell: python3, run: \"print('$x')\" }\n"), "");
}

#[test]
fn braces_of_other_systems_around_our_names_are_pointed_at_and_others_are_left_alone() {
    assert_snapshot!(check("inputs: { x: { default: a } }
tasks:
  a: { run: 'echo {{ inputs.x }} {{ inputs.x }}' }
  b: { for_each: [1], as: area, prompt: 'Look at {{area}}.', tools: [Read] }
  c: { run: [echo, '{{ tasks.a.output | trim }}'] }
"), @r"
    warning[W0202]: `{{ inputs.x }}` is text here, not a value
     --> plan.yaml:4:19
      |
    4 |   a: { run: 'echo {{ inputs.x }} {{ inputs.x }}' }
      |                   ^^^^^^^^^^^^^^
      |
      = help: write `${{ inputs.x }}`

    warning[W0202]: `{{area}}` is text here, not a value
     --> plan.yaml:5:50
      |
    5 |   b: { for_each: [1], as: area, prompt: 'Look at {{area}}.', tools: [Read] }
      |                                                  ^^^^^^^^
      |
      = help: write `${{ area }}`

    warning[W0202]: `{{ tasks.a.output | trim }}` is text here, not a value
     --> plan.yaml:6:21
      |
    6 |   c: { run: [echo, '{{ tasks.a.output | trim }}'] }
      |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write `${{ tasks.a.output | trim }}`
    ");
    let fine = "tasks:
  a: { run: \"docker ps --format '{{.Names}} {{ json . }}'; awk '{{ print $1 }}'; echo {{ item }} '{{ inputsx }}' '{{ run this }}'\" }
  b: { run: 'echo ${{ \"{{ inputs.x }}\" }} {{{ x }}}' }
";
    assert_snapshot!(check(fine), @"");
}

#[test]
fn an_open_hole_is_shown_with_how_to_write_the_sign_itself() {
    let text = "tasks:\n  a: { prompt: \"say what ${{ in a text means\", tools: [Read] }\n";
    assert_snapshot!(check(text), @r#"
    error[F0401]: a hole is never closed
     --> plan.yaml:3:26
      |
    3 |   a: { prompt: "say what ${{ in a text means", tools: [Read] }
      |                          ^^^
      |
      = help: close it with `}}`, and every quote and bracket in it; the sign itself is `${{ "${{" }}`
    "#);
    let sign = "tasks:\n  a: { prompt: 'say what ${{ \"${{\" }} in a text means', tools: [Read] }\n";
    assert_eq!(check(sign), "");
}
