//! What another program does to references and to `.git/worktrees` while trees are made and taken down.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use flow_core::model::Merge;

use super::super::lock::hold;
use super::super::testing::{Checkout, git, make, read, write};
use super::super::worktree::Worktrees;
use super::*;

/// Worktrees whose git program does something else before or after the real one does what it was called for.
fn with_program(checkout: &Checkout, script: &str) -> Worktrees {
    let program = checkout.folder.path().join("git");
    let real = Git::find().path().unwrap().display().to_string();
    let script = script.replace("ROOT", &checkout.root.display().to_string()).replace("REAL", &real);
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    Worktrees { git: Git::at(program), ..checkout.worktrees() }
}

#[test]
fn a_tree_whose_entry_is_pruned_while_it_is_made_is_made_again() {
    for before in [
        "REAL \"$@\" && rm -r ROOT/.git/worktrees/*",
        "echo \"fatal: could not open 'x': No such file or directory\" >&2; exit 128",
    ] {
        let checkout = Checkout::new();
        let script = format!(
            "case \"$*\" in *'worktree add'*) [ -e ROOT/../once ] || {{ : > ROOT/../once; {before}; exit $?; }};; esac\nexec REAL \"$@\""
        );
        let worktrees = with_program(&checkout, &script);
        let tree = make(&worktrees, "t").unwrap();
        assert_eq!(read(tree.path.join("a.txt")), "a\n");
        write(&tree.path, "a.txt", "b\n");
        let end = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
        assert_eq!(checkout.git(&["show", &format!("{}:a.txt", end.branch.unwrap())]), "b");
        assert_eq!(checkout.git(&["worktree", "list"]).lines().count(), 1);
    }
}

#[test]
fn one_that_is_pruned_every_time_is_an_error_and_leaves_nothing() {
    let checkout = Checkout::new();
    let script = "case \"$*\" in *'worktree add'*) REAL \"$@\"; exec rm -r ROOT/.git/worktrees;; esac\nexec REAL \"$@\"";
    let worktrees = with_program(&checkout, script);
    let error = make(&worktrees, "t").unwrap_err();
    assert!(error.one_line().contains("`git worktree prune`"), "{}", error.one_line());
    assert_eq!(checkout.branches(), "main");
    assert!(!worktrees.home.join("r1").exists());
}

#[test]
fn an_entry_is_locked_until_it_is_gone_so_that_no_prune_meets_the_next_of_its_name() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let admin = checkout.root.join(".git/worktrees/t.1");
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let held = hold(&worktrees.home.join(".lock"), worktrees.patience.flow).unwrap();
        scope.spawn(|| {
            worktrees.finish(&tree, true, Merge::None, None).unwrap();
            ended.store(true, Ordering::SeqCst);
        });
        let begun = Instant::now();
        while tree.path.exists() && begun.elapsed() < worktrees.patience.flow {
            std::thread::yield_now();
        }
        checkout.git(&["worktree", "prune", "--expire=now"]);
        assert!(!tree.path.exists() && admin.exists() && !ended.load(Ordering::SeqCst));
        drop(held);
    });
    assert!(!admin.parent().unwrap().exists());
}

#[test]
fn a_branch_goes_alone_though_all_are_packed_meanwhile() {
    let checkout = Checkout::new();
    let script = "case \"$*\" in *'update-ref --no-deref -d'*) REAL -C ROOT branch new && REAL -C ROOT pack-refs --all;; esac\nexec REAL \"$@\"";
    let worktrees = with_program(&checkout, script);
    let (kept, gone) = (make(&worktrees, "kept").unwrap(), make(&worktrees, "gone").unwrap());
    git(&checkout.root, &["pack-refs", "--all"]);
    worktrees.finish(&gone, true, Merge::None, None).unwrap();
    assert_eq!(checkout.branches(), format!("{}\nmain\nnew", kept.branch));
}

#[test]
fn a_branch_that_has_moved_stays_with_and_without_a_program() {
    for by_library in [false, true] {
        let checkout = Checkout::new();
        let worktrees = if by_library { checkout.worktrees_by_library() } else { checkout.worktrees() };
        let repository = &worktrees.repository.open_shared().unwrap();
        let first = worktrees.repository.commit(None).unwrap();
        write(&checkout.root, "a.txt", "b\n");
        let second = Oid::from_str(&checkout.commit("second")).unwrap();
        let reference = Reference { repository, dirs: worktrees.repository.shared(), name: "refs/heads/x" };
        reference.set(&worktrees.git, None, first, "made").unwrap();
        assert!(reference.set(&worktrees.git, None, second, "made again").is_err());
        reference.set(&worktrees.git, Some(first), second, "moved").unwrap();
        assert!(reference.set(&worktrees.git, Some(first), first, "moved back").is_err());
        reference.delete(&worktrees.git, first).unwrap();
        assert_eq!(checkout.git(&["rev-parse", "x"]), second.to_string());
        reference.delete(&worktrees.git, second).unwrap();
        reference.delete(&worktrees.git, second).unwrap();
        assert_eq!(checkout.branches(), "main");
    }
}

#[test]
fn a_commit_of_the_person_in_the_moment_of_a_merge_stays_below_it() {
    for how in [Merge::Squash, Merge::CherryPick] {
        let checkout = Checkout::new();
        let mine = "unset GIT_COMMON_DIR GIT_INDEX_FILE; cd ROOT; echo mine > mine.txt; REAL add mine.txt; REAL commit -qm mine";
        let script = format!(
            "case \"$*\" in *'update-index'*) [ -e ROOT/../once ] || {{ : > ROOT/../once; ({mine}); }};; esac\nexec REAL \"$@\""
        );
        let worktrees = with_program(&checkout, &script);
        let tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "new.txt", "work\n");
        let end = worktrees.finish(&tree, true, how, None).unwrap();
        assert_eq!(end.merged.unwrap().files, ["new.txt"], "{how:?}");
        let log = checkout.git(&["log", "--format=%s"]);
        assert_eq!(log.lines().collect::<Vec<_>>()[1..], ["mine", "first"], "{log}");
        assert_eq!(checkout.git(&["status", "--porcelain"]), "");
        assert_eq!(read(checkout.root.join("new.txt")), "work\n");
    }
}
