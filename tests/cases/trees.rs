//! Worktrees: none lost, none in place, nothing left behind.

use super::{play, set_up};
use crate::support::git;

#[test]
fn c55_parallel_worktrees_do_not_fight() {
    let (flow, command) = set_up("C55");
    let before = checkout(&flow);
    for _ in 0..20 {
        flow.shell(&command).exits(0);
        let report = flow.report();
        assert_eq!(report["counts"]["completed"], 12);
    }
    assert_eq!(checkout(&flow), before, "none ran in place, and git's own files are as they were");
    let kept: usize = std::fs::read_dir(flow.path(".flow/runs"))
        .unwrap()
        .map(|run| flow.report_of(&run.unwrap().path()))
        .map(|report| {
            report["tasks"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|task| task["worktree"]["branch"].is_string())
                .count()
        })
        .sum();
    assert_eq!(kept, 240, "each of the trees has work in it, so each branch is kept and reported");
    let branches = git(&flow.dir(), &["for-each-ref", "--format=%(refname:short)", "refs/heads/flow"]);
    assert_eq!(branches.lines().count(), kept);
    let trees = git(&flow.dir(), &["worktree", "list", "--porcelain"]);
    assert_eq!(trees.lines().filter(|line| line.starts_with("worktree ")).count(), kept + 1);
}

/// Every file of the checkout with its bytes, but for flow's own, and of `.git` those that steer it.
fn checkout(flow: &crate::support::Flow) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![flow.dir()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(flow.dir()).unwrap().display().to_string();
            match name.as_str() {
                ".flow" | ".git/objects" | ".git/refs" | ".git/logs" | ".git/worktrees" => {}
                _ if path.is_dir() => folders.push(path),
                _ => files.push((name, std::fs::read(&path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

#[test]
fn c56_isolation_holds_inside_a_linked_worktree() {
    let (flow, ran) = play("C56");
    ran.exits(0);
    let linked = flow.dir().parent().unwrap().join("linked");
    let runs = linked.join(".flow/runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let report = flow.report_of(&run);
    let top = std::fs::read_to_string(run.join("out/0.out")).unwrap();
    let top = std::path::Path::new(top.trim());
    assert!(!top.starts_with(flow.dir()) && !top.starts_with(&linked), "{}", top.display());
    assert_eq!(report["tasks"][0]["worktree"]["path"], top.to_str().unwrap());
    assert!(!flow.exists("new.txt") && !linked.join("new.txt").exists());
    assert_eq!(git(&flow.dir(), &["rev-parse", "--abbrev-ref", "HEAD"]), "main\n");
    // Where none can be made the task fails, and never runs in place.
    let taken = flow.home().join("state/flow/worktrees");
    std::fs::remove_dir_all(&taken).unwrap();
    flow.write("../home/state/flow/worktrees", "in the way");
    flow.run(&["run", "plan.yaml"]).exits(1);
    assert_eq!((flow.task("t")["reason"].as_str(), flow.exists("new.txt")), (Some("isolation"), false));
}

#[test]
fn c58_work_in_a_tree_is_reachable_and_an_untouched_tree_is_gone() {
    let (flow, ran) = play("C58");
    ran.exits(0);
    let branch = flow.task("t")["worktree"]["branch"].as_str().unwrap().to_owned();
    assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:new.txt")]), "work\n");
    assert!(!flow.exists("new.txt"));
    flow.write("plan.yaml", "flow: 1\ntasks:\n  t:\n    isolation: worktree\n    run: ls\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    let trees = git(&flow.dir(), &["worktree", "list", "--porcelain"]);
    assert_eq!(
        trees.lines().filter(|line| line.starts_with("worktree ")).count(),
        2,
        "the checkout and the first run's"
    );
    assert_eq!(git(&flow.dir(), &["branch", "--list", "flow/*"]).lines().count(), 1);
}

#[test]
fn c59_commits_that_no_other_branch_has_survive_the_run_and_gc() {
    let (flow, ran) = play("C59");
    ran.exits(0);
    let tree = flow.task("t")["worktree"].clone();
    let (branch, commit) = (tree["branch"].as_str().unwrap(), tree["commit"].as_str().unwrap());
    assert_eq!(git(&flow.dir(), &["rev-parse", branch]).trim(), commit);
    assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:c.txt")]), "c\n");
    let shown = flow.run(&["report", "latest"]).exits(0).stdout;
    assert!(shown.contains(branch) && shown.contains(&commit[..12]), "{shown}");
    flow.run(&["gc"]).exits(0);
    assert_eq!(git(&flow.dir(), &["rev-parse", branch]).trim(), commit);
    flow.run(&["gc", "--force"]).exits(0);
    assert_eq!(git(&flow.dir(), &["branch", "--list", "flow/*"]), "");
}

#[test]
fn c61_a_branch_that_is_there_or_checked_out_elsewhere_is_no_obstacle() {
    let (flow, ran) = play("C61");
    ran.exits(0);
    let other = flow.dir().parent().unwrap().join("other");
    assert_eq!(git(&other, &["status", "--porcelain", "--branch"]), "## flow/t\n");
    let ours = git(&flow.dir(), &["for-each-ref", "--format=%(refname)", "refs/heads"]);
    let ours: Vec<_> = ours
        .lines()
        .filter(|name| name.starts_with("refs/heads/flow") && *name != "refs/heads/flow/t")
        .collect();
    assert_eq!(ours.len(), 2, "{ours:?}");
    assert_ne!(ours[0], ours[1]);
}

#[test]
fn c62_a_folder_removed_by_hand_blocks_nothing_and_gc_forgets_it() {
    let (flow, ran) = play("C62");
    ran.exits(0);
    assert!(!git(&flow.dir(), &["worktree", "list", "--porcelain"]).contains("prunable"));
    let runs = std::fs::read_dir(flow.path(".flow/runs")).unwrap();
    let branches =
        runs.map(|run| flow.report_of(&run.unwrap().path())["tasks"][0]["worktree"]["branch"].clone());
    for branch in branches {
        let file = format!("{}:x", branch.as_str().unwrap());
        assert_eq!(git(&flow.dir(), &["show", &file]), "x\n");
    }
}

#[test]
fn c64_writers_in_one_tree_are_told_what_to_do() {
    let (flow, _) = set_up("C64");
    let checked = flow.run(&["check", "plan.yaml"]).exits(0);
    assert!(!checked.stderr.contains("W0504"), "shell tasks: no guess\n{}", checked.stderr);
    // A held lock makes sure that a task collides.
    flow.write(".git/index.lock", "");
    let ran = flow.run(&["run", "plan.yaml"]).exits(1).says(&["index.lock"]);
    assert!(ran.stderr.contains("isolation: worktree") && ran.stderr.contains("needs"), "{}", ran.stderr);
    std::fs::remove_file(flow.path(".git/index.lock")).unwrap();
    let agents = "flow: 1\nconcurrency: 2\ntasks:\n  a: { prompt: p, tools: [Edit] }\n  b: { prompt: p, tools: [Write] }\n";
    flow.write("plan.yaml", agents);
    flow.run(&["check", "plan.yaml"]).exits(0).says(&["W0504", "`a`", "`b`"]);
}
