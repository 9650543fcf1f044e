use super::super::testing::Bench;
use flow_core::model::{DenialReason, ToolRule};
use serde_json::json;
use std::os::unix::fs::symlink;

fn check(bench: &Bench, path: &str, answer: &str) {
    let said = bench.err("Read", json!({ "file_path": path }));
    assert!(said.contains(answer), "{path}: {said}");
}

#[test]
fn a_link_that_leads_outside_is_refused() {
    let bench = Bench::new(&[("a", "a\n")]);
    std::fs::write(bench.path("../secret"), "s").unwrap();
    symlink("../secret", bench.path("link")).unwrap();
    symlink("..", bench.path("up")).unwrap();
    for path in ["link", "up/secret"] {
        check(&bench, path, "leads to");
        let said = bench.err("Write", json!({ "file_path": path, "content": "x" }));
        assert!(said.contains("leads to"), "{said}");
    }
    assert_eq!(bench.text("../secret"), "s");
    let said = bench.err("Grep", json!({ "pattern": "s", "path": "up" }));
    assert!(said.contains("leads to"), "{said}");
}

#[test]
fn a_link_counts_as_the_file_that_it_leads_to() {
    let deny = |permissions: &mut flow_core::policy::Permissions| {
        permissions.task.deny.push(ToolRule::parse("Read(secret/**)"));
        permissions.task.allow.push(ToolRule::parse("Read(//etc/hostname)"));
    };
    let bench = Bench::new(&[("secret/key", "s3\n"), ("open", "s3\n")]).ruled(deny);
    symlink("secret/key", bench.path("link")).unwrap();
    symlink("/etc/hostname", bench.path("name")).unwrap();
    check(&bench, "link", "the rule `Read(secret/**)` denies this call");
    bench.ok("Read", json!({ "file_path": "name" }));
    assert_eq!(bench.ok("Grep", json!({ "pattern": "s3" })), "open");
    assert_eq!(bench.ok("Glob", json!({ "pattern": "**/{key,open}" })), "open");
}

#[test]
fn a_link_inside_the_tree_is_followed() {
    let bench = Bench::new(&[("real/a", "text\n")]);
    symlink("real", bench.path("link")).unwrap();
    assert_eq!(bench.ok("Read", json!({ "file_path": "link/a" })), "     1\ttext\n");
    bench.ok("Write", json!({ "file_path": "link/b", "content": "b" }));
    assert_eq!(bench.text("real/b"), "b");
}

#[test]
fn a_link_to_nowhere_is_not_written_through() {
    let bench = Bench::new(&[]);
    symlink("../new", bench.path("link")).unwrap();
    let said = bench.err("Write", json!({ "file_path": "link", "content": "x" }));
    assert!(said.contains("leads nowhere"), "{said}");
    assert!(!bench.path("../new").exists());
}

#[test]
fn dots_are_taken_from_the_text_as_the_rules_take_them() {
    let bench = Bench::new(&[("a", "here\n"), ("deep/er/x", "")]);
    symlink("deep/er", bench.path("link")).unwrap();
    assert_eq!(bench.ok("Read", json!({ "file_path": "link/../a" })), "     1\there\n");
}

#[test]
fn what_processes_keep_to_themselves_is_closed() {
    let bench = Bench::new(&[]);
    for path in ["/proc/self/environ", "/proc/1/environ", "/proc/thread-self/mem", "/x/../proc/1/maps"] {
        check(&bench, path, "closed to tools");
    }
    symlink("/proc", bench.path("p")).unwrap();
    check(&bench, "p/self/environ", "closed to tools");
}

#[test]
fn the_state_of_runs_is_closed_by_name_and_through_a_link() {
    let bench = Bench::new(&[(".flow/runs/r/events.jsonl", "secret\n")]);
    symlink(".flow", bench.path("link")).unwrap();
    for path in [".flow/runs/r/events.jsonl", "link/runs/r/events.jsonl"] {
        check(&bench, path, "closed to tools");
    }
    assert_eq!(bench.ok("Grep", json!({ "pattern": "secret" })), "(no match)");
    assert_eq!(bench.ok("Glob", json!({ "pattern": "**/events.jsonl" })), "(no file matches)");
}

#[test]
fn what_only_the_followed_path_forbids_is_a_refusal() {
    let bench = Bench::new(&[("a", "a")]);
    symlink("/", bench.path("out")).unwrap();
    let refused = |path: &str| {
        let input = json!({ "file_path": path, "content": "x" });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(super::super::call("Write", input, &bench.context)).refused
    };
    assert_eq!(refused("out/flow-leak/x"), Some(DenialReason::NobodyToAsk));
    assert_eq!(refused(".flow/x"), Some(DenialReason::Rule));
    // Not read yet: a fault of the call, which nobody has forbidden.
    assert_eq!(refused("a"), None);
}

#[test]
fn only_regular_files_are_read() {
    let bench = Bench::new(&[("dir/a", "")]);
    check(&bench, "dir", "is a folder");
    let fifo = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
    assert!(fifo.success());
    check(&bench, "pipe", "no regular file");
    check(&bench, "dir/b", "does not exist");
    check(&bench, "", "empty");
    check(&bench, "a\0b", "NUL");
}

#[test]
fn a_missing_file_names_the_nearest() {
    check(&Bench::new(&[("config.toml", "")]), "confg.toml", "did you mean `config.toml`?");
}

#[test]
fn relative_paths_start_in_the_working_folder() {
    let mut bench = Bench::new(&[("sub/a", "sub\n"), ("a", "top\n")]);
    bench.context.dir = bench.path("sub");
    let bench = bench.ruled(|permissions| permissions.dir.push("sub"));
    assert_eq!(bench.ok("Read", json!({ "file_path": "a" })), "     1\tsub\n");
    assert_eq!(bench.ok("Read", json!({ "file_path": "../a" })), "     1\ttop\n");
}

#[test]
fn a_search_outside_the_tree_that_a_rule_allows_shows_what_it_finds() {
    let allow = |permissions: &mut flow_core::policy::Permissions| {
        let outside = permissions.tree.parent().unwrap().join("lib");
        permissions.task.allow.push(ToolRule::parse(&format!("Read(/{}/**)", outside.display())));
        permissions.task.deny.push(ToolRule::parse(&format!("Read(/{}/key)", outside.display())));
    };
    let bench = Bench::new(&[("../lib/open", "s3\n"), ("../lib/key", "s3\n")]).ruled(allow);
    let found = bench.ok("Grep", json!({ "pattern": "s3", "path": "../lib" }));
    assert!(found.ends_with("/lib/open") && found.lines().count() == 1, "{found}");
}

#[test]
fn read_opens_what_the_prompt_names_of_the_state_of_runs_and_no_other_tool_or_file_does() {
    let named = ".flow/runs/r/tasks/t/output.1";
    let mut bench = Bench::new(&[(named, "said\n"), (".flow/runs/r/events.jsonl", "secret\n")]);
    bench.context.opened = [bench.path(named)].into();
    for path in [named.to_owned(), bench.path(named).display().to_string(), format!("x/../{named}")] {
        assert_eq!(bench.ok("Read", json!({ "file_path": path })), "     1\tsaid\n");
    }
    check(&bench, ".flow/runs/r/events.jsonl", "closed to tools");
    check(&bench, ".flow/runs/r/tasks/t", "closed to tools");
    for (tool, input) in [
        ("Write", json!({ "file_path": named, "content": "x" })),
        ("Edit", json!({ "file_path": named, "old_string": "said", "new_string": "x" })),
        ("Grep", json!({ "pattern": "said", "path": named })),
    ] {
        assert!(bench.err(tool, input).contains("closed to tools"), "{tool}");
    }
    // Nor does a link that somebody put in its place.
    std::fs::remove_file(bench.path(named)).unwrap();
    symlink("../../events.jsonl", bench.path(named)).unwrap();
    check(&bench, named, "closed to tools");
}
