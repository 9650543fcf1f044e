use super::super::testing::Bench;
use super::*;

const FILES: &[(&str, &str)] = &[
    ("a.rs", "fn one() {}\nfn two() {}\nlet x = 1;\n"),
    ("b/c.rs", "mod one;\n"),
    ("b/d.md", "One\n"),
    ("bin", "one\0one"),
    (".gitignore", "target\n"),
    ("target/one.rs", "one\n"),
];

fn check(arguments: Value, answer: &str) {
    assert_eq!(Bench::new(FILES).ok("Grep", arguments), answer);
}

#[test]
fn files_are_named_unless_asked_otherwise() {
    check(json!({ "pattern": "one" }), "a.rs\nb/c.rs");
    check(json!({ "pattern": "one", "path": "b" }), "b/c.rs");
    check(json!({ "pattern": "one", "path": "a.rs" }), "a.rs");
    check(json!({ "pattern": "nowhere" }), "(no match)");
}

#[test]
fn content_has_line_numbers_unless_refused() {
    check(
        json!({ "pattern": r"fn \w+", "output_mode": "content" }),
        "a.rs:1:fn one() {}\na.rs:2:fn two() {}",
    );
    check(json!({ "pattern": "mod", "output_mode": "content", "-n": false }), "b/c.rs:mod one;");
}

#[test]
fn lines_around_a_match_are_marked() {
    let two = json!({ "pattern": "two", "output_mode": "content", "-C": 1 });
    check(two, "a.rs-1-fn one() {}\na.rs:2:fn two() {}\na.rs-3-let x = 1;");
    let before = json!({ "pattern": "let", "output_mode": "content", "-B": 1 });
    check(before, "a.rs-2-fn two() {}\na.rs:3:let x = 1;");
}

#[test]
fn counts_are_per_file() {
    check(json!({ "pattern": "fn|mod", "output_mode": "count" }), "a.rs:2\nb/c.rs:1");
}

#[test]
fn case_kind_and_name_narrow_the_search() {
    check(json!({ "pattern": "one", "-i": true }), "a.rs\nb/c.rs\nb/d.md");
    check(json!({ "pattern": "one", "-i": true, "type": "md" }), "b/d.md");
    check(json!({ "pattern": "one", "glob": "!a.*" }), "b/c.rs");
    check(json!({ "pattern": "one", "glob": "*.rs", "path": "b" }), "b/c.rs");
}

#[test]
fn a_match_spans_lines_only_when_asked() {
    check(json!({ "pattern": r"one.*two" }), "(no match)");
    check(json!({ "pattern": r"one.*two", "multiline": true }), "a.rs");
}

#[test]
fn the_limit_holds_and_says_so() {
    let more = "a.rs:1:fn one() {}\n(there is more; use a narrower pattern, `path` or `glob`)";
    check(json!({ "pattern": "fn", "output_mode": "content", "head_limit": 1 }), more);
    let bench = Bench::new(&[("f", &"xxxxxxxxxx\n".repeat(50_000))]);
    let all = bench.ok("Grep", json!({ "pattern": "x", "output_mode": "content", "head_limit": 0 }));
    assert!(all.len() <= MAX_ANSWER && all.ends_with("`glob`)"), "{}", all.len());
}

#[test]
fn what_is_wrong_is_said() {
    let bench = Bench::new(FILES);
    assert!(bench.err("Grep", json!({ "pattern": "(" })).contains("pattern is wrong"));
    assert!(bench.err("Grep", json!({ "pattern": "a", "type": "cobra" })).contains("`type` is wrong"));
    assert!(bench.err("Grep", json!({ "pattern": "a", "path": "nope" })).contains("does not exist"));
}
