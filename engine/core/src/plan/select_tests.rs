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
    let names = plan.tasks.iter().zip(selected).filter(|(_, is_in)| *is_in);
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
    assert!(help("test[a]").contains("select all of them with `test`"));
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
