use super::*;

#[test]
fn bytes_outside_the_plain_set_are_escaped() {
    assert_eq!(file_name("review[auth]/change"), "review.5Bauth.5D.2Fchange");
    assert_eq!(file_name("a.b"), "a.2Eb");
    assert_eq!(file_name("é"), ".C3.A9");
}

#[test]
fn long_addresses_are_cut_before_an_escape_and_stay_apart() {
    let (one, two) = (format!("{}é1", "x".repeat(98)), format!("{}é2", "x".repeat(98)));
    let (a, b) = (file_name(&one), file_name(&two));
    assert!(a.starts_with(&"x".repeat(98)) && a.len() == 98 + 17, "{a}");
    assert_ne!(a, b);
    assert_eq!(file_name(&"y".repeat(100)), "y".repeat(100));
}

#[test]
fn branches_are_called_so_that_people_can_read_them() {
    for (address, expected) in [
        ("t", "t"),
        ("fix[crates/searcher/src/core.rs]", "fix-crates-searcher-src-core.rs"),
        ("proof[cache]", "proof-cache"),
        ("m[3.10,x]/step", "m-3.10-x-step"),
        ("a[../../etc]", "a-.-.-etc"),
        ("[é]", "task"),
        ("-x-", "x"),
    ] {
        assert_eq!(branch_name(address), expected, "{address}");
    }
    assert_eq!(branch_name(&"x/".repeat(99)).len(), 79);
}

#[test]
fn the_parts_of_a_path() {
    assert_eq!([base_name("/usr/bin/env"), base_name("env"), base_name(r"a\b")], ["env", "env", r"a\b"]);
    assert_eq!([last_name("a/b.md"), last_name(r"C:\a\b.md")], ["b.md"; 2]);
    assert_eq!([file_stem("a.x/b.c.md"), file_stem("a.x/b")], ["b.c", "b"]);
}
