use super::*;

#[test]
fn near_names_are_suggested_and_far_ones_are_not() {
    let names = ["needs", "retry", "isolation", "max", "rev", "Read", "continue_on_error"];
    for (given, meant) in [
        ("need", Some("needs")),
        ("rtery", Some("retry")),
        ("isolaton", Some("isolation")),
        ("maxx", Some("max")),
        ("reviewer", Some("rev")),
        ("read", Some("Read")),
        ("continue-on", Some("continue_on_error")),
        ("zebra", None),
    ] {
        let found = did_you_mean(given, names).or_else(|| did_you_mean(&given.replace('-', "_"), names));
        assert_eq!(found, meant, "{given}");
    }
}

#[test]
fn a_long_list_is_cut_with_a_count() {
    assert_eq!(list_some(["a", "b", "c"], 2), "`a`, `b` and 1 more");
    assert_eq!(list_some(["a"], 2), "`a`");
}

#[test]
fn names_that_hold_the_given_one_come_before_those_that_share_a_word() {
    let names = [
        "accessibility-expert",
        "claude-code-guide",
        "code-refactoring-code-reviewer",
        "reviewer",
        "security-reviewer",
    ];
    let near = ["reviewer", "code-refactoring-code-reviewer", "security-reviewer"];
    assert_eq!(alike("code-reviewer", names), near);
    assert_eq!(alike("Security", names), ["security-reviewer"]);
    assert_eq!(alike("zebra", names), Vec::<&str>::new());
}
