use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::graph::EdgeKind;

/// The edges of a plan as `reader<source:kind`.
fn edges(text: &str) -> Vec<String> {
    let plan = Trial::of(text).plan();
    let id = |index: usize| plan.tasks[index].address.as_str().to_owned();
    let kind = |kind: EdgeKind| match kind {
        EdgeKind::Success => "success",
        EdgeKind::Completed => "completed",
        EdgeKind::Failure => "failure",
        EdgeKind::Done => "done",
    };
    let needs = plan.graph.needs.iter().enumerate();
    needs
        .flat_map(|(task, edges)| {
            edges
                .iter()
                .map(move |edge| format!("{}<{}:{}", id(task), id(edge.from.index()), kind(edge.kind)))
        })
        .collect()
}

#[test]
fn references_anywhere_in_a_task_are_edges() {
    let text = "tasks:\n  a: { run: echo, output: json }\n  b:\n    run: echo ${{ tasks.a.output }}\n  c:\n    for_each: ${{ tasks.a.output }}\n    if: tasks.b.exit_code == 0\n    run: echo\n    env: { X: \"${{ tasks.b.stdout }}\" }\n";
    assert_eq!(edges(text), ["b<a:success", "c<a:success", "c<b:success"]);
}

#[test]
fn a_written_edge_wins_over_an_inferred_one() {
    let text = "tasks:\n  a: { run: echo }\n  b:\n    run: echo ${{ tasks.a.stdout }}\n    needs: { a: done }\n  c: { run: echo, needs: [b, a] }\n";
    assert_eq!(edges(text), ["b<a:done", "c<a:success", "c<b:success"]);
}

#[test]
fn outputs_of_the_plan_are_no_edges() {
    let text = "tasks:\n  a: { run: echo }\n  b:\n    run: echo\n    if: \"true\"\noutputs: { x: \"${{ tasks.b.output }}\" }\n";
    assert_eq!(edges(text), Vec::<String>::new());
}

#[test]
fn a_cycle_is_shown_with_its_path_and_places() {
    assert_snapshot!(check("tasks:\n  a: { needs: [a], run: echo }\n"), @r"
    error[F0302]: task waits for itself: `a -> a`
     --> plan.yaml:3:16
      |
    3 |   a: { needs: [a], run: echo }
      |                ^ `a` needs `a`
      |
      = help: take one of these edges away
    ");
    assert_snapshot!(check("tasks:\n  a: { needs: [c], run: echo }\n  b:\n    run: echo ${{ tasks.a.output }}\n  c: { needs: { b: done }, run: echo }\n"), @r"
    error[F0302]: tasks wait for each other: `a -> c -> b -> a`
     --> plan.yaml:3:16
      |
    3 |   a: { needs: [c], run: echo }
      |                ^ `a` needs `c`
    4 |   b:
    5 |     run: echo ${{ tasks.a.output }}
      |                   -------------- `b` needs `a`
    6 |   c: { needs: { b: done }, run: echo }
      |                 - `c` needs `b`
      |
      = help: take one of these edges away
    ");
}

#[test]
fn a_chain_of_a_hundred_thousand_that_bites_its_tail_is_cut_short() {
    let mut text = "tasks:\n  t0: { needs: [t99999], run: echo }\n".to_owned();
    for task in 1..100_000 {
        text.push_str(&format!("  t{task}: {{ needs: [t{}], run: echo }}\n", task - 1));
    }
    let found = Trial::of(&text).compile().diagnostics;
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].message,
        "tasks wait for each other: `t0 -> t99999 -> t99998 -> t99997 -> t99996 -> t99995 -> t99994 -> t99993 -> \
         t99992 -> t99991 -> (99988 more) -> t2 -> t1 -> t0`"
    );
}

/// What is found where `b` reads the output of `a`.
fn read(source: &str, reader: &str, hole: &str) -> String {
    check(&format!("tasks:\n  a: {{ run: echo{source} }}\n  b:\n    run: echo ${{{{ {hole} }}}}\n{reader}"))
}

#[test]
fn an_output_that_may_be_null_wants_a_default() {
    assert_snapshot!(read("", "    needs: { a: done }\n", "tasks.a.output"), @r"
    warning[W0301]: `tasks.a.output` may be null: `b` runs however `a` ended
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output }}
      |                   ^^^^^^^^^^^^^^
      |
      = help: write `tasks.a.output | default(...)`
    ");
    assert_snapshot!(read(", if: run.ci", "", "tasks.a.output"), @r"
    warning[W0301]: `tasks.a.output` may be null: `a` is skipped when its `if` is false
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output }}
      |                   ^^^^^^^^^^^^^^
      |
      = help: write `tasks.a.output | default(...)`
    ");
    assert_snapshot!(read(", continue_on_error: true", "", "tasks.a.output"), @r"
    warning[W0301]: `tasks.a.output` may be null: `a` may fail and go on (`continue_on_error`)
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output }}
      |                   ^^^^^^^^^^^^^^
      |
      = help: write `tasks.a.output | default(...)`
    ");
    assert_snapshot!(read("", "    if: always()\n", "tasks.a.output"), @r"
    warning[W0301]: `tasks.a.output` may be null: `b` runs however `a` ended
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ tasks.a.output }}
      |                   ^^^^^^^^^^^^^^
      |
      = help: write `tasks.a.output | default(...)`
    ");
}

#[test]
fn an_output_that_is_there_or_provided_for_wants_nothing() {
    for (source, reader, hole) in [
        ("", "", "tasks.a.output"),
        (", if: run.ci", "    needs: { a: completed }\n", "tasks.a.output"),
        ("", "    needs: { a: done }\n", "tasks.a.output | default('x')"),
        ("", "    needs: { a: done }\n", "tasks.a.stdout"),
        ("", "    needs: { a: done }\n    if: tasks.a.status == 'completed'\n", "tasks.a.output"),
        // However many instances are skipped or fail, their task has a list.
        (", for_each: [1, 2], if: item > 1", "", "tasks.a.output"),
        (", for_each: [1, 2], continue_on_error: true", "", "tasks.a.output | length"),
        (", for_each: [1, 2]", "    needs: { a: done }\n", "tasks.a.output | length"),
        // Whoever asks how it ended, or what to take instead, knows that it may have failed.
        (", continue_on_error: true", "", "tasks.a.output if tasks.a.status == 'completed' else 'y'"),
        (", continue_on_error: true", "", "tasks.a.status == 'completed' and tasks.a.output"),
        (", continue_on_error: true", "", "tasks.a.output or 'none'"),
        (", continue_on_error: true", "", "tasks.a.output if tasks.a.output else 'none'"),
    ] {
        assert_eq!(read(source, reader, hole), "", "{source} {reader} {hole}");
    }
}

#[test]
fn a_condition_of_instances_does_not_guard_what_makes_them() {
    let found = |condition: &str| {
        let text = format!(
            "tasks:\n  a: {{ run: echo, output: json }}\n  b:\n    needs: {{ a: done }}\n    \
             for_each: ${{{{ tasks.a.output }}}}\n    if: tasks.a.status == 'completed'{condition}\n    \
             run: echo ${{{{ tasks.a.output | length }}}}\n"
        );
        let found = Trial::of(&text).compile().diagnostics;
        found
            .iter()
            .map(|finding| format!("{} {}", finding.code.as_str(), finding.message))
            .collect::<Vec<_>>()
    };
    assert!(found("").is_empty());
    assert_eq!(found(" and item"), ["W0301 `tasks.a.output` may be null: `b` runs however `a` ended"]);
}

#[test]
fn edges_to_skipped_tasks_are_no_findings() {
    let text = "tasks:\n  a: { run: 'true' }\n  b: { needs: [a], if: 'false', run: touch b }\n  c: { needs: { b: completed }, run: touch c }\n  d: { needs: [c], if: always(), run: touch d }\n";
    assert_eq!(edges(text), ["b<a:success", "c<b:completed", "d<c:success"]);
}

#[test]
fn a_skipped_output_is_read_with_a_warning_only() {
    let found = Trial::of("tasks:\n  a: { if: 'false', run: 'true' }\n  b: { needs: [a], if: always(), run: \"echo [${{ tasks.a.status }}][${{ tasks.a.output }}]\" }\n").compile();
    assert_eq!(found.diagnostics.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(), ["W0301"]);
    assert!(found.plan.is_some());
}

#[test]
fn a_list_of_instances_that_may_never_have_begun_wants_a_default() {
    let found = |source: &str, reader: &str| read(source, reader, "tasks.a.output | length");
    assert!(found(", for_each: [1], if: run.ci", "").contains("`a` is skipped when its `if` is false"));
    let text = "tasks:\n  z: { run: echo }\n  a: { needs: [z], for_each: [1], run: echo }\n  b: { needs: { a: done }, run: \"echo ${{ tasks.a.output }}\" }\n";
    assert!(
        check(text).contains("`tasks.a.output` may be null: `b` runs however `a` ended"),
        "{}",
        check(text)
    );
}

#[test]
fn a_condition_about_another_task_is_no_guard() {
    let text = "tasks:\n  a: { run: echo, continue_on_error: true }\n  c: { run: echo }\n  b: { run: \"echo ${{ tasks.a.output if tasks.c.status == 'completed' else '' }}\" }\n";
    assert!(check(text).contains("`tasks.a.output` may be null"), "{}", check(text));
}
