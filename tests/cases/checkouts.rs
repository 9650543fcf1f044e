//! Trees of their own in repositories as people have them: hooks, odd files, other branches, shallow and sparse ones.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{between, codes, play};
use crate::support::git;

#[test]
fn n27_commits_on_a_detached_head_or_another_branch_are_kept_and_named() {
    let (flow, ran) = play("N27");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    let branch = flow.task("detached")["worktree"]["branch"].as_str().unwrap().to_owned();
    let shown = flow.run(&["report", "latest"]).exits(0).stdout;
    assert!(shown.contains(&branch), "{shown}");
    // After `gc`, too, which the command has run.
    assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:d.txt")]), "d\n");
    for file in ["o.txt", "c1.txt", "c2.txt"] {
        assert!(flow.exists(file), "{file}\n{}", ran.stdout);
    }
    assert_eq!(git(&flow.dir(), &["show", "HEAD:o.txt"]), "o\n");
}

#[test]
fn n29_hooks_that_fail_stop_no_tree() {
    let (flow, ran) = play("N29");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert_eq!(flow.read("x.txt"), "x\n");
    let branch = flow.task("u")["worktree"]["branch"].as_str().unwrap().to_owned();
    assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:y.txt")]), "y\n");
    let trees = git(&flow.dir(), &["worktree", "list", "--porcelain"]);
    assert_eq!(trees.matches("worktree ").count(), 1, "{trees}");
}

#[test]
fn n32_modes_links_bytes_and_odd_names_come_home_in_every_way() {
    let (flow, ran) = play("N32");
    for how in ["apply", "patch", "squash", "cherry_pick", "branch"] {
        assert!(ran.stdout.contains(&format!("{how} rc=0")), "{ran:#?}");
        assert!(how == "apply" || ran.stdout.contains(&format!("\n{how} same")), "{ran:#?}");
    }
    assert!(!ran.stdout.contains("FAILED"), "{}", ran.stdout);
    let list = std::fs::read_to_string(flow.dir().parent().unwrap().join("list.apply")).unwrap();
    let lines: BTreeSet<&str> = list.lines().collect();
    let has = |line: &str| assert!(lines.contains(line), "{line:?} is not in\n{list}");
    has("f 755  18 run.sh");
    has("l 777 a.txt 5 link");
    has("l 777 /nonexistent/x 14 dangling");
    has("l 777 dir 3 dirlink");
    has("f 644  5 bin.dat");
    has("f 644  0 empty.txt");
    has("f 644  2 sp ace/ünï/日本.txt");
    for name in ["new?line", "q\"uote", "back\\slash", "tab\t", " lead", "-n"] {
        assert!(list.lines().any(|line| line.ends_with(&format!(" {name}"))), "{name:?} is not in\n{list}");
    }
    has("f 644  9 tofile");
    has("f 644  3 todir/in");
    has("f 644  24 renamed.txt");
    for gone in [" gone.txt", " ren.txt", " tofile/x", " todir"] {
        assert!(!list.lines().any(|line| line.ends_with(gone)), "{gone} is in\n{list}");
    }
}

#[test]
fn n34_pipes_sockets_and_links_in_circles_stop_no_copy() {
    let (flow, ran) = play("N34");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert!(ran.took < std::time::Duration::from_secs(20), "{:?}", ran.took);
    assert_eq!(flow.read("new.txt"), "new\n");
}

#[test]
fn n61_a_run_goes_on_after_its_folder_was_moved() {
    let (flow, ran) = play("N61");
    assert_eq!(codes(&ran), [1, 0, 0], "{ran:#?}");
    ran.says(&["to run: `b`"]);
    let moved = flow.dir().parent().unwrap().join("moved here");
    assert_eq!(std::fs::read_to_string(moved.join("a.count")).unwrap(), "a\n");
    let read = std::fs::read_to_string(moved.join("b.txt")).unwrap();
    assert!(read.starts_with("x\ndiff --git a/p.txt b/p.txt\n"), "{read}");
    assert!(!git(&moved, &["worktree", "list", "--porcelain"]).contains("prunable"));
    let branches = git(&moved, &["for-each-ref", "--format=%(refname:short)", "refs/heads/flow"]);
    let kept = branches.lines().next().unwrap();
    assert_eq!(git(&moved, &["show", &format!("{kept}:w.txt")]), "w\n");
}

#[test]
fn n69_work_comes_home_where_the_run_began_or_stays_on_its_branch() {
    let (flow, ran) = play("N69");
    assert_eq!(git(&flow.dir(), &["rev-parse", "--abbrev-ref", "HEAD"]), "elsewhere\n");
    assert_eq!(git(&flow.dir(), &["log", "-1", "--format=%s", "elsewhere"]), "mine\n", "{ran:#?}");
    assert_eq!(flow.read("mine.txt"), "mine\n");
    let on_main = git(&flow.dir(), &["ls-tree", "--name-only", "main"]).contains("s.txt");
    if !on_main {
        let branch = flow.task("s")["worktree"]["branch"].as_str().unwrap().to_owned();
        assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:s.txt")]), "s\n");
        ran.says(&[&branch, "elsewhere"]);
    }
}

#[test]
fn n72_patterns_bring_what_they_name_and_nothing_from_outside() {
    let (flow, ran) = play("N72");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    let files: BTreeSet<String> = match &flow.report()["outputs"]["t"] {
        Value::String(text) => text.lines().map(str::to_owned).collect(),
        other => panic!("{other:#}"),
    };
    for there in [
        ".env",
        ".env.local",
        "secrets/k/a.pem",
        "build/keep.txt",
        "skills/x-local/s.md",
        "data/fix/aps_1.txt",
    ] {
        assert!(files.contains(&format!("./{there}")), "{there}: {files:?}");
    }
    for absent in [".env.prod", "build/other.txt", "data/fix/o.txt", "node_modules/x/i.js"] {
        assert!(!files.contains(&format!("./{absent}")), "{absent}: {files:?}");
    }
    assert!(flow.run(&["logs", "latest", "u"]).exits(0).stdout.contains("node_modules"));
    let check = flow.run(&["check", "plan.yaml"]);
    check.says(&["../outside.txt", "/etc/hostname"]);
    let found = flow.shell("find $XDG_STATE_HOME -name outside.txt -o -name hostname").exits(0);
    assert_eq!(found.stdout, "");
}

#[test]
fn n74_shallow_and_sparse_checkouts_work_and_one_without_commits_is_refused() {
    let (_, ran) = play("N74");
    assert_eq!(codes(&ran), [0, 0, 0, 3, 3], "{ran:#?}");
    let ran = ran.says(&["has no commit yet"]);
    let changed = " M small/y.txt\n?? small/z.txt\n";
    assert_eq!(between(&ran.stdout, "rc=0\n", "{"), changed);
    assert!(between(&ran.stdout, "shallow rc=0\n", "").starts_with(changed), "{}", ran.stdout);
    let sparse = between(&ran.stdout, "sparse rc=0\n", "");
    assert!(sparse.starts_with(&format!("{changed}a.txt\nplan.yaml\nsmall\n")), "{sparse}");
    // No branch was made where there is no commit.
    assert!(ran.stdout.trim_end().ends_with("none rc=3"), "{}", ran.stdout);
}
