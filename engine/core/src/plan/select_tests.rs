use super::*;
use crate::compile::testing::Trial;

/// `lint   build <- test <- deploy`, and `docs` after build.
const PLAN: &str = "tasks:
  lint: { run: 'true' }
  build: { run: 'true' }
  test: { needs: [build], run: 'true' }
  docs: { needs: [build], run: 'true' }
  deploy: { needs: [test], run: 'true' }
";

fn select(selection: &Selection) -> Result<String, SelectError> {
    let plan = Trial::of(PLAN).plan();
    let selected = selection.select(&plan)?;
    let names = plan.tasks.iter().zip(selected.tasks).filter(|(_, is_in)| *is_in);
    Ok(names.map(|(task, _)| task.address.as_str()).collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check(only: &[&str], from: &[&str], until: &[&str], expected: &str) {
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let selection = Selection { only: list(only), from: list(from), until: list(until) };
    assert_eq!(select(&selection).as_deref(), Ok(expected));
}

#[test]
fn nothing_asked_for_is_everything() {
    check(&[], &[], &[], "lint build test docs deploy");
}

#[test]
fn only_takes_what_is_named_and_nothing_around_it() {
    check(&["test"], &[], &[], "test");
    check(&["test", "l*"], &[], &[], "lint test");
    check(&["d?cs"], &[], &[], "docs");
}

#[test]
fn from_takes_what_needs_it_and_until_what_it_needs() {
    check(&[], &["test"], &[], "test deploy");
    check(&[], &[], &["test"], "build test");
}

#[test]
fn parts_of_a_selection_limit_each_other() {
    check(&[], &["build"], &["test"], "build test");
    check(&["d*"], &["build"], &[], "docs deploy");
}

#[test]
fn a_selection_of_nothing_is_refused_with_what_there_is() {
    let only = |name: &str| select(&Selection { only: vec![name.to_owned()], ..Selection::default() });
    let help = |name: &str| match only(name) {
        Err(SelectError::NoTask { help, .. }) => help,
        other => panic!("{other:?}"),
    };
    assert_eq!(help("tets"), "did you mean `test`?");
    assert!(help("x*").starts_with("the plan has `lint`, "));
    assert_eq!(help("test[a]"), "`test` has no instances; write `test`");
    let selection =
        Selection { from: vec!["docs".into()], until: vec!["lint".into()], ..Selection::default() };
    assert_eq!(select(&selection), Err(SelectError::Nothing));
}

#[test]
fn a_pattern_fits_whole_names() {
    for (pattern, text, expected) in [
        ("*", "", true),
        ("a*c", "abbc", true),
        ("a*c", "abcb", false),
        ("*b*", "abc", true),
        ("a?", "a", false),
        ("ab", "abc", false),
        ("**", "x", true),
        ("*a*b", "xaabab", true),
    ] {
        assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn instances_are_selected_by_their_addresses() {
    let plan = Trial::of("tasks:\n  a: { for_each: [x, y], run: x }\n  ab: { for_each: [x], run: x }\n  z: { needs: [a], run: x }\n").plan();
    let select = |selection: Selection| {
        let selected = selection.select(&plan).unwrap();
        let limits =
            selected.limits.iter().map(|limit| format!("{}:{}", limit.task, limit.patterns.join("|")));
        let count = selected.tasks.iter().filter(|is_in| **is_in).count();
        format!("{count} {}", limits.collect::<Vec<_>>().join(" "))
    };
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let only = |names: &[&str]| select(Selection { only: list(names), ..Selection::default() });
    assert_eq!(only(&["a[x]"]), "1 a:a[x]");
    assert_eq!(only(&["a[x]", "a[y*]", "z"]), "2 a:a[x]|a[y*]");
    assert_eq!(only(&["a*[x]"]), "2 a:a*[x] ab:a*[x]");
    assert_eq!(only(&["a[x]", "a"]), "1 ", "the whole of it holds more");
    assert_eq!(select(Selection { from: list(&["a[x]"]), ..Selection::default() }), "2 a:a[x]");
    let selected = Selection { only: list(&["a[x]"]), ..Selection::default() }.select(&plan).unwrap();
    assert!(selected.limits[0].lets(&"a[x]".into()) && !selected.limits[0].lets(&"a[y]".into()));
}

#[test]
fn a_value_of_a_task_that_is_left_out_is_missed_by_its_reader() {
    let plan = Trial::of(
        "tasks:\n  a: { run: x }\n  b: { run: 'echo ${{ tasks.a.output }}' }\n  c: { run: 'echo ${{ tasks.b.status }}' }\n  \
         d: { needs: [a, b], run: x }\n  e: { run: \"echo ${{ tasks.a.output | default('x') }} ${{ tasks.b.exit_code }}\" }\n",
    )
    .plan();
    let missing = |only: &str| {
        let only = only.split(' ').map(str::to_owned).collect();
        let selected = Selection { only, ..Selection::default() }.select(&plan).unwrap();
        let name = |task: TaskId| &plan.tasks[task.index()].address;
        let missing = selected.missing(&plan);
        let words = missing
            .iter()
            .map(|(reader, read)| format!("{}<{}.{}", reader.address, name(read.from), read.field));
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(missing("b"), "b<a.output");
    assert_eq!(missing("a b"), "");
    assert_eq!(missing("c d"), "", "an edge reads nothing, and how a task ended is known");
    assert_eq!(missing("e"), "e<b.exit_code");
}
