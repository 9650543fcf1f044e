use insta::assert_snapshot;
use serde_json::json;

use crate::compile::testing::{Trial, check};
use crate::plan::{Item, Items, Over};

/// The expansion of a plan's first task.
fn over(task: &str) -> Over {
    let mut plan =
        Trial::of(&format!("tasks:\n  a: {{ run: echo, {task} }}\n  b: {{ run: echo, output: json }}\n"))
            .plan();
    let options = plan.tasks.remove(0).options.expect("an expansion");
    options.expansion.expect("an expansion").over
}

#[test]
fn elements_keep_their_type_and_may_hold_templates() {
    let Over::ForEach { items: Items::List(items), name } =
        over("for_each: [1, x, true, { a: \"${{ git.branch }}\", b: 2 }], as: it")
    else {
        panic!("a list")
    };
    assert_eq!(name, "it");
    assert_eq!(items[..3], [Item::Value(json!(1)), Item::Value(json!("x")), Item::Value(json!(true))]);
    let Item::Object(pairs) = &items[3] else { panic!("an object: {:?}", items[3]) };
    assert!(matches!(&pairs[0], (key, Item::Text(_)) if key == "a"));
    assert_eq!(pairs[1], ("b".to_owned(), Item::Value(json!(2))));
}

#[test]
fn one_expression_gives_a_list_at_run_time() {
    assert!(matches!(
        over("for_each: \"${{ tasks.b.output }}\""),
        Over::ForEach { items: Items::Expression(_), .. }
    ));
    let Over::Matrix { axes, .. } = over("matrix: { x: \"${{ tasks.b.output }}\", y: [1] }") else {
        panic!("a matrix")
    };
    assert!(matches!(axes.as_slice(), [(_, Items::Expression(_)), (_, Items::List(_))]));
}

#[test]
fn what_is_no_list_is_shown_as_one() {
    assert_snapshot!(check("tasks:\n  b: { run: echo, output: json }\n  a: { run: echo, for_each: tasks.b.output }\n"), @r"
    error[F0202]: `for_each` takes a list, or one `${{ expression }}` that gives one
     --> plan.yaml:4:29
      |
    4 |   a: { run: echo, for_each: tasks.b.output }
      |                             ^^^^^^^^^^^^^^
      |
      = help: write `for_each: ${{ tasks.b.output }}`
    ");
    assert_snapshot!(check("tasks:\n  b: { run: echo, output: json }\n  a: { run: echo, for_each: \"x ${{ tasks.b.output }}\" }\n"), @r#"
    error[F0202]: `for_each` takes a list, or one `${{ expression }}` that gives one
     --> plan.yaml:4:29
      |
    4 |   a: { run: echo, for_each: "x ${{ tasks.b.output }}" }
      |                             ^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn instances_are_counted_and_compared_when_they_are_written_out() {
    assert_snapshot!(check("tasks:\n  a: { run: echo, for_each: [x, y, x] }\n"), @r"
    error[F0207]: instances 1 and 3 have the same key `x`
     --> plan.yaml:3:29
      |
    3 |   a: { run: echo, for_each: [x, y, x] }
      |                             ^^^^^^^^^
      |
      = help: each instance needs a name of its own: leave one out, or say `key`
    ");
    assert_eq!(check("tasks:\n  a: { run: echo, for_each: [x, y, x], key: \"${{ git.branch }}\" }\n"), "");
    assert_eq!(check("tasks:\n  a: { run: echo, for_each: [] }\n"), "");
    let axis = |from: usize, to: usize| (from..to).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let square = |to| {
        check(&format!(
            "tasks:\n  a:\n    run: echo\n    matrix:\n      x: [{0}]\n      y: [{0}]\n",
            axis(0, to)
        ))
    };
    assert!(square(32).contains("this expansion makes 1024 instances"), "{}", square(32));
    assert!(square(400).contains("the expansion has 160000 instances, more than 100000"), "{}", square(400));
}

#[test]
fn excluded_axes_exist() {
    assert_snapshot!(check("tasks:\n  a:\n    run: echo\n    matrix: { tool: [x, y], exclude: [{ tol: x }], include: [{ tool: z, extra: 1 }] }\n"), @r"
    error[F0303]: the matrix has no axis `tol`
     --> plan.yaml:5:41
      |
    5 |     matrix: { tool: [x, y], exclude: [{ tol: x }], include: [{ tool: z, extra: 1 }] }
      |                                         ^^^
      |
      = help: did you mean `tool`?
    ");
}

#[test]
fn an_item_has_a_name_of_its_own() {
    assert_snapshot!(check("tasks:\n  a: { run: echo, for_each: [1], as: tasks }\n"), @r"
    error[F0206]: `as` can't be `tasks`: the name means something else in templates
     --> plan.yaml:3:38
      |
    3 |   a: { run: echo, for_each: [1], as: tasks }
      |                                      ^^^^^
      |
      = help: choose a name that says what one item is
    ");
}

#[test]
fn a_matrix_has_an_axis() {
    for matrix in ["{}", "{ exclude: [] }"] {
        let found = check(&format!("tasks:\n  a: {{ run: echo, matrix: {matrix} }}\n"));
        assert!(found.starts_with("error[F0203]: `matrix` has no axis"), "{found}");
    }
}

#[test]
fn a_version_that_yaml_reads_as_another_number_is_a_warning_that_says_to_quote_it() {
    assert_snapshot!(check("tasks:\n  a:\n    matrix: { python: [3.9, 3.10, 3.11], mode: [010, 0o17] }\n    run: echo\n"), @r#"
    warning[W0202]: `3.10` is the number 3.1 here
     --> plan.yaml:4:29
      |
    4 |     matrix: { python: [3.9, 3.10, 3.11], mode: [010, 0o17] }
      |                             ^^^^
      |
      = help: quote it to keep it as it is written: `"3.10"`

    warning[W0202]: `010` is the number 10 here
     --> plan.yaml:4:49
      |
    4 |     matrix: { python: [3.9, 3.10, 3.11], mode: [010, 0o17] }
      |                                                 ^^^
      |
      = help: quote it to keep it as it is written: `"010"`, and likewise 1 more in this list
    "#);
    let include =
        "tasks:\n  a:\n    matrix: { python: ['3.10'], include: [{ python: 3.20 }] }\n    run: echo\n";
    assert!(check(include).contains("`3.20` is the number 3.2 here"), "{}", check(include));
    let items = "tasks:\n  a:\n    for_each: [{ v: 1.50 }, 1e3, 1.5, 7, '3.10', 3.10.1]\n    run: echo\n";
    assert!(check(items).contains("`1.50` is the number 1.5 here"), "{}", check(items));
}

#[test]
fn a_key_that_is_the_same_for_all_is_an_error_before_the_run() {
    let keyed = |items: &str, key: &str| {
        check(&format!("tasks:\n  a:\n    for_each: {items}\n    key: {key}\n    run: echo\n"))
    };
    assert_snapshot!(keyed("[1, 2]", "x"), @r"
    error[F0207]: instances 1 and 2 have the same key `x`
     --> plan.yaml:5:10
      |
    5 |     key: x
      |          ^
      |
      = help: make it differ: name what differs in it, as in `key: ${{ item.id }}`
    ");
    assert_snapshot!(keyed("[{ a: 1 }, { a: 1 }]", "k-${{ item.a }}"), @r"
    error[F0207]: instances 1 and 2 have the same key `k-1`
     --> plan.yaml:5:10
      |
    5 |     key: k-${{ item.a }}
      |          ^^^^^^^^^^^^^^^
      |
      = help: make it differ: name what differs in it, as in `key: ${{ item.id }}`
    ");
    assert_snapshot!(keyed("[{ a: 1 }, { b: 1 }]", "${{ item.a }}"), @r"
    error[F0207]: `key` of instance 2: `item` has no field `a`; did you mean `b`?
     --> plan.yaml:5:10
      |
    5 |     key: ${{ item.a }}
      |          ^^^^^^^^^^^^^
    ");
    assert_eq!(keyed("[{ a: 1 }, { a: 2 }]", "${{ item.a }}"), "");
    // What only the run knows is the run's to judge.
    assert_eq!(keyed("[1, 2]", "${{ git.branch }}"), "");
    let matrix =
        "tasks:\n  a:\n    matrix: { x: [1, 2], y: [1, 2] }\n    key: ${{ matrix.x }}\n    run: echo\n";
    assert!(check(matrix).contains("instances 1 and 2 have the same key `1`"), "{}", check(matrix));
}

#[test]
fn a_text_in_place_of_a_list_is_answered_with_what_was_meant() {
    let help = |items: &str| {
        let text = format!("tasks:\n  b: {{ run: echo }}\n  a: {{ for_each: {items}, run: echo }}\n");
        Trial::of(&text).compile().diagnostics.remove(0).help
    };
    assert_eq!(help("'a, b'").as_deref(), Some("write `for_each: [a, b]`"));
    assert_eq!(help("tasks.b.output").as_deref(), Some("write `for_each: ${{ tasks.b.output }}`"));
    assert_eq!(help("x.json"), None);
}
