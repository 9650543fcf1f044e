use super::*;

#[test]
fn keys_are_compared_in_the_spelling_of_flow() {
    for (given, snake) in [
        ("maxTurns", "max_turns"),
        ("max-turns", "max_turns"),
        ("Max Turns", "max_turns"),
        ("permissionMode", "permission_mode"),
        ("if", "if"),
    ] {
        assert_eq!(snake_case(given), snake);
    }
}

#[test]
fn an_unknown_key_is_answered_with_advice_then_a_near_key_then_all_keys() {
    let help =
        |place, given| key_help(place, given, ["needs", "run", "max_turns"].into_iter()).unwrap_or_default();
    assert_eq!(help(Place::Task, "depends_on"), "flow calls it `needs`");
    assert_eq!(help(Place::Other("x"), "depends_on"), "known keys: `needs`, `run`, `max_turns`");
    assert_eq!(help(Place::Task, "nees"), "did you mean `needs`?");
    assert_eq!(help(Place::Task, "maxTurns"), "did you mean `max_turns`?");
    assert_eq!(help(Place::Task, "run:echo"), "a blank is missing after `:`: write `run: echo`");
    assert_eq!(
        help(Place::Task, "\u{a0}run"),
        "there is a U+00A0 in it, which looks like a blank: take it out"
    );
    let many: Vec<String> = (0..40).map(|n| format!("key_{n}")).collect();
    assert_eq!(
        key_help(Place::Task, "zebra", many.iter().map(String::as_str)),
        None,
        "a long list helps nobody"
    );
}

#[test]
fn a_place_over_several_lines_is_cut_to_its_first() {
    let file = SourceFile::new("p.yaml", "a:\n  b: 1 \n  c: 2\n");
    assert_eq!(file.slice(first_line(&file, Span::new(5, 18))), "b: 1");
}
