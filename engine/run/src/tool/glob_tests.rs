use super::super::testing::Bench;
use super::*;
use std::fs::{File, FileTimes};
use std::time::Duration;

fn age(bench: &Bench, name: &str, minutes: u64) {
    let then = SystemTime::now() - Duration::from_secs(minutes * 60);
    let file = File::options().write(true).open(bench.path(name)).unwrap();
    file.set_times(FileTimes::new().set_modified(then)).unwrap();
}

fn check(bench: &Bench, pattern: &str, answer: &str) {
    assert_eq!(bench.ok("Glob", json!({ "pattern": pattern })), answer);
}

#[test]
fn the_newest_comes_first() {
    let bench = Bench::new(&[("a.rs", ""), ("src/b.rs", ""), ("src/c.md", "")]);
    age(&bench, "a.rs", 1);
    age(&bench, "src/b.rs", 2);
    check(&bench, "**/*.rs", "a.rs\nsrc/b.rs");
    age(&bench, "a.rs", 3);
    check(&bench, "**/*.rs", "src/b.rs\na.rs");
    check(&bench, "*.rs", "a.rs");
    check(&bench, "src/*.{rs,md}", "src/c.md\nsrc/b.rs");
    check(&bench, "*.py", "(no file matches)");
}

#[test]
fn ignored_files_are_not_found_even_without_a_repository() {
    let bench =
        Bench::new(&[(".gitignore", "out/\n"), ("out/x.rs", ""), (".hidden/y.rs", ""), (".git/z.rs", "")]);
    check(&bench, "**/*.rs", ".hidden/y.rs");
}

#[test]
fn a_hundred_are_the_most() {
    let names: Vec<String> = (0..150).map(|i| format!("{i}.txt")).collect();
    let bench = Bench::new(&names.iter().map(|name| (name.as_str(), "")).collect::<Vec<_>>());
    let answer = bench.ok("Glob", json!({ "pattern": "*.txt" }));
    assert_eq!(answer.lines().count(), 101);
    assert!(answer.ends_with("(50 more; use a narrower pattern)"));
}

#[test]
fn a_pattern_stays_below_its_folder() {
    let bench = Bench::new(&[("src/a", ""), ("b", "")]);
    assert_eq!(bench.ok("Glob", json!({ "pattern": "*", "path": "src" })), "src/a");
    for pattern in ["/etc/*", "../*", "src/../../*"] {
        assert!(bench.err("Glob", json!({ "pattern": pattern })).contains("stays below"));
    }
    assert!(bench.err("Glob", json!({ "pattern": "[" })).contains("pattern is wrong"));
    assert!(bench.err("Glob", json!({ "pattern": "*", "path": "b" })).contains("no folder"));
}
