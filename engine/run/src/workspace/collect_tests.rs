use std::process::{Command, Stdio};

use flow_core::ids::{Address, Attempt};
use flow_core::model::Merge;

use super::super::copies::Copies;
use super::super::testing::{Checkout, git, make, write};
use super::super::worktree::Worktree;
use super::*;

const RUN: &str = "20261130-075412-k3f9q2";

fn worktrees(checkout: &Checkout) -> Worktrees {
    checkout.worktrees_of(&checkout.root, RUN)
}

fn collector(checkout: &Checkout) -> Collector {
    Collector::open(&checkout.root, Some(checkout.state())).unwrap()
}

fn found(checkout: &Checkout) -> Vec<(String, &'static str)> {
    let found = collector(checkout).survey(&|_| false).unwrap();
    let name = |leftover: &Leftover| leftover.path.file_name().unwrap().to_string_lossy().into_owned();
    found.iter().map(|leftover| (name(leftover), leftover.standing.as_str())).collect()
}

fn collect(checkout: &Checkout, force: bool) {
    let collector = collector(checkout);
    for leftover in collector.survey(&|_| false).unwrap() {
        collector.remove(&leftover, force).unwrap();
    }
    collector.sweep().unwrap();
}

fn commit_in(tree: &Worktree) {
    git(&tree.path, &["add", "-A"]);
    git(&tree.path, &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "work"]);
}

/// As if the engine that made it were dead.
fn abandon(tree: &Worktree) {
    std::fs::write(tree.chain.admin().join("locked"), format!("flow run {RUN} pid=4194300 start=1")).unwrap();
}

#[test]
fn only_what_nobody_needs_goes_without_force() {
    let checkout = Checkout::new();
    let all = worktrees(&checkout);
    let [clean, dirty, commits, merged, unlocked] =
        ["clean", "dirty", "commits", "merged", "unlocked"].map(|name| make(&all, name).unwrap());
    for tree in [&clean, &dirty, &commits, &merged] {
        abandon(tree);
    }
    write(&dirty.path, "new.txt", "work\n");
    for tree in [&commits, &merged] {
        write(&tree.path, &format!("{}.txt", tree.path.display().to_string().len()), "work\n");
        commit_in(tree);
    }
    checkout.git(&["merge", "-q", "--no-edit", &merged.branch]);
    write(&unlocked.path, "kept.txt", "work\n");
    all.finish(&unlocked, true, Merge::None, None).unwrap();
    let expected = [
        ("clean.1", "clean"),
        ("commits.1", "unmerged"),
        ("dirty.1", "dirty"),
        ("merged.1", "clean"),
        ("unlocked.1", "unmerged"),
    ];
    assert_eq!(found(&checkout), expected.map(|(name, standing)| (name.to_owned(), standing)));
    collect(&checkout, false);
    assert!(!clean.path.exists() && !merged.path.exists() && dirty.path.exists() && commits.path.exists());
    assert_eq!(found(&checkout).len(), 3);
    collect(&checkout, true);
    assert!(found(&checkout).is_empty());
    assert_eq!(checkout.branches(), "main");
    assert_eq!(checkout.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!all.home.join(RUN).exists());
}

#[test]
fn two_branches_of_flow_that_reach_each_other_both_stay() {
    let checkout = Checkout::new();
    let all = worktrees(&checkout);
    let one = make(&all, "one").unwrap();
    write(&one.path, "x.txt", "work\n");
    all.finish(&one, true, Merge::Branch, None).unwrap();
    checkout.git(&["branch", &format!("flow/{RUN}/two.1"), &one.branch]);
    collect(&checkout, false);
    assert_eq!(checkout.branches().lines().count(), 3);
}

#[test]
fn a_registration_without_its_folder_goes_and_the_branch_with_work_stays() {
    let checkout = Checkout::new();
    let all = worktrees(&checkout);
    let [clean, work] = ["clean", "work"].map(|name| make(&all, name).unwrap());
    write(&work.path, "x.txt", "work\n");
    commit_in(&work);
    abandon(&clean);
    abandon(&work);
    std::fs::remove_dir_all(checkout.state()).unwrap();
    // Without work both go; with it the entry does, and the branch waits for a word.
    let collector = collector(&checkout);
    for leftover in collector.survey(&|_| false).unwrap() {
        collector.remove(&leftover, false).unwrap();
        collector.prune(&leftover).unwrap();
    }
    assert!(!checkout.git(&["worktree", "list", "--porcelain"]).contains("prunable"));
    assert_eq!(checkout.branches(), format!("flow/{RUN}/work.1\nmain"));
}

#[test]
fn what_is_alive_is_left_alone_even_by_force() {
    let checkout = Checkout::new();
    let all = worktrees(&checkout);
    let tree = make(&all, "t").unwrap();
    let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", other.id())).unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap();
    let reason = format!("flow run {RUN} pid={} start={start}", other.id());
    std::fs::write(tree.chain.admin().join("locked"), reason).unwrap();
    assert_eq!(found(&checkout), [("t.1".to_owned(), "live")]);
    collect(&checkout, true);
    assert!(tree.path.exists());
    drop(other.stdin.take());
    other.wait().unwrap();
    // The run itself may be alive though this tree is done.
    let survey = collector(&checkout).survey(&|run| run.as_str() == RUN).unwrap();
    assert_eq!(survey[0].standing, Standing::Live);
    assert_eq!(found(&checkout), [("t.1".to_owned(), "clean")]);
}

#[test]
fn a_tree_that_was_never_made_to_its_end_goes_whatever_it_looks_like() {
    let checkout = Checkout::new();
    let all = worktrees(&checkout);
    let path = all.home.join(RUN).join("half.1");
    let start = all.repository.commit(None).unwrap();
    // Added, locked, and then the engine died: no file is written, so all of them look deleted.
    all.add_by_program(&path, &format!("flow/{RUN}/half.1"), Some(start)).unwrap();
    std::fs::write(
        checkout.root.join(".git/worktrees/half.1/locked"),
        format!("flow run {RUN} pid=4194300 start=1"),
    )
    .unwrap();
    std::fs::create_dir_all(all.home.join(RUN).join("empty.1")).unwrap();
    let expected = [("empty.1", "unmade"), ("half.1", "unmade")];
    assert_eq!(found(&checkout), expected.map(|(name, standing)| (name.to_owned(), standing)));
    collect(&checkout, false);
    assert_eq!((checkout.branches().as_str(), found(&checkout).len()), ("main", 0));
    assert!(!checkout.root.join(".git/worktrees").exists());
}

#[test]
fn branches_of_the_person_are_none_of_flows_business() {
    let checkout = Checkout::new();
    for branch in ["flow/t", "flow/feature/x.1", "flow/20261130-075412-k3f9q2/noattempt", "flow-run/a/b.1"] {
        checkout.git(&["branch", branch]);
    }
    let before = checkout.branches();
    collect(&checkout, true);
    assert_eq!(checkout.branches(), before);
}

#[test]
fn a_tree_whose_git_files_were_changed_is_left_with_the_reason() {
    let checkout = Checkout::new();
    let tree = make(&worktrees(&checkout), "t").unwrap();
    abandon(&tree);
    std::fs::write(tree.path.join(".git"), "gitdir: /elsewhere\n").unwrap();
    let survey = collector(&checkout).survey(&|_| false).unwrap();
    assert!(
        matches!(&survey[0].standing, Standing::Unclear(why) if why.contains("leads elsewhere")),
        "{survey:?}"
    );
    collect(&checkout, true);
    assert!(tree.path.exists());
}

#[test]
fn copies_are_told_apart_with_and_without_git() {
    let checkout = Checkout::new();
    let plain = checkout.folder.path().canonicalize().unwrap().join("plain");
    write(&plain, "a.txt", "a\n");
    for root in [&checkout.root, &plain] {
        let copies = Copies::open(root, Some(checkout.state()), &run_id(RUN).unwrap()).unwrap();
        let made = |name: &str| copies.make(&Address::from(name), Attempt::FIRST, false).unwrap();
        let (clean, dirty, half) = (made("clean"), made("dirty"), made("half"));
        write(&dirty.path, "a.txt", "work\n");
        let list = Baseline::beside(&half.path);
        let text = std::fs::read_to_string(&list).unwrap().replace("\"complete\":true", "\"complete\":false");
        std::fs::write(&list, text).unwrap();
        write(&half.path, "a.txt", "half");
        let collector = Collector::open(root, Some(checkout.state())).unwrap();
        let survey = collector.survey(&|_| false).unwrap();
        let standings: Vec<_> = survey.iter().map(|leftover| leftover.standing.as_str()).collect();
        assert_eq!(standings, ["clean", "dirty", "unmade"]);
        let gone: Vec<_> = survey.iter().map(|leftover| collector.remove(leftover, false).unwrap()).collect();
        assert_eq!(gone, [true, false, true]);
        assert!(!clean.path.exists() && !half.path.exists() && dirty.path.exists());
        assert!(collector.remove(&survey[1], true).unwrap() && !dirty.path.exists());
    }
}

#[test]
fn trees_are_found_where_earlier_settings_had_them() {
    let checkout = Checkout::new();
    let earlier = checkout.state().with_file_name("earlier");
    let all = Worktrees::open(&checkout.root, Some(earlier), &RunId::parse(RUN).unwrap()).unwrap();
    let [clean, dirty] = ["clean", "dirty"].map(|name| make(&all, name).unwrap());
    write(&dirty.path, "new.txt", "work\n");
    assert_eq!(
        found(&checkout),
        [("clean.1".to_owned(), "clean"), ("dirty.1".to_owned(), "dirty")],
        "though the branches of both are merged"
    );
    collect(&checkout, false);
    assert_eq!((clean.path.exists(), dirty.path.join("new.txt").exists()), (false, true));
    collect(&checkout, true);
    assert!(!dirty.path.parent().unwrap().exists());
    assert_eq!(
        (checkout.branches(), checkout.git(&["worktree", "list"]).lines().count()),
        ("main".into(), 1)
    );
}

#[test]
fn a_branch_that_somebody_has_checked_out_stays() {
    let checkout = Checkout::new();
    let all = worktrees(&checkout);
    let [here, moved, named] = ["here", "moved", "named"].map(|name| make(&all, name).unwrap());
    let aside = checkout.state().with_file_name("aside");
    for tree in [&here, &moved] {
        checkout.git(&["worktree", "unlock", tree.path.to_str().unwrap()]);
    }
    checkout.git(&["worktree", "remove", here.path.to_str().unwrap()]);
    checkout.git(&["checkout", "-q", &here.branch]);
    checkout.git(&["worktree", "move", moved.path.to_str().unwrap(), aside.to_str().unwrap()]);
    // A person's worktree whose folders are called like ours.
    let lookalike = checkout.state().with_file_name("mine").join(RUN).join("x.1");
    checkout.git(&["worktree", "add", "-qb", "mine", lookalike.to_str().unwrap()]);
    abandon(&named);
    collect(&checkout, true);
    assert_eq!(checkout.branches(), format!("{}\n{}\nmain\nmine", here.branch, moved.branch));
    assert!(aside.join("a.txt").exists() && lookalike.join("a.txt").exists());
}
