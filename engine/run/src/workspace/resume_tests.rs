use flow_core::ids::{Address, Attempt};
use flow_core::model::{Isolation, Merge, WorktreeOutcome};
use flow_core::values::{CommitMessage, TreeOrder};

use super::super::reclaim::Recorded;
use super::super::testing::{Checkout, git, make, read, write};
use super::super::{PrivateTree, TreeEnd, Trees};
use super::*;
use crate::sys::process::ProcessIdentity;

/// What the journal knows of a tree whose engine died.
fn cut_off(worktrees: &Worktrees, tree: &Worktree) -> EarlierTree {
    let (path, branch, base) = (tree.path.clone(), tree.branch.clone(), tree.base.clone());
    let outcome = worktrees.reclaim(&Recorded { path, branch, base }).unwrap();
    left(tree, &outcome)
}

fn left(tree: &Worktree, outcome: &WorktreeOutcome) -> EarlierTree {
    EarlierTree {
        path: tree.path.display().to_string(),
        branch: tree.branch.clone(),
        base: tree.base.clone(),
        commit: outcome.commit.clone().unwrap(),
    }
}

fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "-A"]);
    git(folder, &["-c", "user.name=Agent", "-c", "user.email=a@x", "commit", "-qm", message]);
}

/// A tree with a commit of its task and something that is in none, left behind.
fn begun(worktrees: &Worktrees) -> (Worktree, EarlierTree) {
    let tree = make(worktrees, "t").unwrap();
    write(&tree.path, "first.txt", "1\n");
    commit(&tree.path, "first");
    write(&tree.path, "a.txt", "a\nhalf\n");
    let left = cut_off(worktrees, &tree);
    (tree, left)
}

/// The checkout after the work of a task that was cut off twice came home, and what became of the tree.
fn finished(merge: Merge, by_library: bool) -> (Checkout, WorktreeOutcome, String) {
    let checkout = Checkout::new();
    let worktrees = if by_library { checkout.worktrees_by_library() } else { checkout.worktrees() };
    let (first, earlier) = begun(&worktrees);
    let again = worktrees.resume(&earlier, None).unwrap().unwrap();
    assert_eq!((&again.path, &again.branch, &again.base), (&first.path, &first.branch, &first.base));
    assert_eq!(read(again.path.join("a.txt")), "a\nhalf\n");
    write(&again.path, "a.txt", "a\nwhole\n");
    let earlier = cut_off(&worktrees, &again);
    // This time somebody takes the folder away.
    std::fs::remove_dir_all(&again.path).unwrap();
    let last = worktrees.resume(&earlier, None).unwrap().unwrap();
    assert_eq!((again.is_set_up, last.is_set_up), (true, false));
    assert_eq!(read(last.path.join("first.txt")) + &read(last.path.join("a.txt")), "1\na\nwhole\n");
    write(&last.path, "last.txt", "2\n");
    let patch = checkout.state().join("t.patch");
    let outcome = worktrees.finish(&last, true, merge, Some(&patch)).unwrap();
    let patch = if merge == Merge::Patch { read(patch) } else { String::new() };
    (checkout, outcome, patch)
}

const WHOLE: &str = "M\ta.txt\nA\tfirst.txt\nA\tlast.txt";

#[test]
fn what_comes_home_as_a_branch_is_the_whole_work() {
    for (merge, by_library) in [(Merge::Branch, false), (Merge::None, false), (Merge::Branch, true)] {
        let (checkout, outcome, _) = finished(merge, by_library);
        assert_eq!((outcome.branch.as_deref(), outcome.files_changed), (Some("flow/r1/t.1"), 3));
        assert_eq!(checkout.git(&["diff", "--name-status", "main...flow/r1/t.1"]), WHOLE);
        assert_eq!(outcome.path.is_some(), merge == Merge::None);
    }
}

#[test]
fn what_comes_home_as_commits_is_the_whole_work_and_each_change_once() {
    let (checkout, outcome, _) = finished(Merge::Squash, false);
    assert_eq!(outcome.merged.unwrap().files, ["a.txt", "first.txt", "last.txt"]);
    assert_eq!(checkout.git(&["rev-list", "--count", "main"]), "2");
    assert_eq!(checkout.git(&["diff", "--name-status", "main^", "main"]), WHOLE);
    let (checkout, outcome, _) = finished(Merge::CherryPick, false);
    assert_eq!(outcome.merged.unwrap().commits.len(), 4);
    assert_eq!(checkout.git(&["diff", "--name-status", "main~4", "main"]), WHOLE);
    assert_eq!(checkout.git(&["log", "--format=%h", "main", "--", "first.txt"]).lines().count(), 1);
    for checkout in [checkout, finished(Merge::Squash, true).0] {
        assert_eq!(checkout.git(&["status", "--porcelain"]), "");
        assert_eq!(read(checkout.root.join("a.txt")), "a\nwhole\n");
        // Nothing of it is left.
        assert_eq!(checkout.branches(), "main");
        assert_eq!(checkout.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    }
}

#[test]
fn what_comes_home_as_files_or_as_a_patch_is_the_whole_work() {
    let (checkout, outcome, _) = finished(Merge::Apply, false);
    assert!(!outcome.merged.unwrap().is_refused());
    assert_eq!(checkout.git(&["status", "--porcelain"]), " M a.txt\n?? first.txt\n?? last.txt");
    assert_eq!(checkout.branches(), "main");
    let (checkout, outcome, patch) = finished(Merge::Patch, false);
    assert_eq!((outcome.branch, outcome.files_changed), (None, 3));
    assert_eq!(patch.matches("diff --git").count(), 3, "{patch}");
    write(&checkout.root, "the.patch", &patch);
    checkout.git(&["apply", "--check", "the.patch"]);
}

#[test]
fn what_git_ignores_is_there_again_with_the_folder() {
    let checkout = Checkout::new();
    checkout.write("key.tmp", "key\n");
    let trees = Trees::new(&checkout.root, Some(checkout.state()), &checkout.worktrees().run);
    let order = TreeOrder {
        isolation: Isolation::Worktree,
        base: None,
        include: vec!["key.tmp".to_owned()],
        merge: Merge::Branch,
    };
    let address = Address::from("t");
    let end = |completed| TreeEnd {
        address: address.clone(),
        completed,
        merge: Merge::Branch,
        message: CommitMessage::Nameless,
        patch_to: None,
        hold: false,
    };
    let PrivateTree::Worktree(tree) = trees.make(&address, Attempt::FIRST, &order).unwrap() else { panic!() };
    write(&tree.path, "work.txt", "w\n");
    write(&tree.path, "built.tmp", "b\n");
    let private = PrivateTree::Worktree(tree);
    let (outcome, _) = trees.finish(&private, &end(false)).unwrap();
    assert_eq!(outcome.ignored, 1);
    let PrivateTree::Worktree(tree) = &private else { panic!() };
    let again = trees.resume(&left(tree, &outcome), &order).unwrap().unwrap();
    assert_eq!(read(again.path().join("built.tmp")), "b\n");
    // What it was given is not what its task left.
    let (outcome, _) = trees.finish(&again, &end(true)).unwrap();
    assert_eq!((outcome.ignored, outcome.path), (1, None));
}

/// Something has become of a tree that was left behind: it is not taken up, and stays as it is.
fn check_untouchable(change: impl FnOnce(&Checkout, &Worktree)) {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let (tree, earlier) = begun(&worktrees);
    change(&checkout, &tree);
    let state = || {
        let lock = std::fs::read_to_string(tree.chain.admin().join("locked")).ok();
        let list = checkout.git(&["worktree", "list", "--porcelain"]);
        let there = tree.path.exists().then(|| git(&tree.path, &["status", "--porcelain=v2", "--branch"]));
        (lock, list, there, checkout.git(&["for-each-ref"]))
    };
    let before = state();
    assert!(worktrees.resume(&earlier, None).unwrap().is_none());
    assert_eq!(state(), before);
}

#[test]
fn a_branch_of_which_something_else_has_become_is_left_alone() {
    check_untouchable(|_, tree| {
        write(&tree.path, "more.txt", "by hand\n");
        commit(&tree.path, "by hand");
    });
    check_untouchable(|checkout, tree| {
        checkout.git(&["merge", "-q", "--no-edit", &tree.branch]);
    });
    check_untouchable(|checkout, tree| {
        checkout.git(&["branch", "mine", &tree.branch]);
    });
    check_untouchable(|checkout, tree| {
        checkout.git(&["worktree", "remove", "--force", tree.path.to_str().unwrap()]);
        checkout.git(&["branch", "-qD", &tree.branch]);
    });
    check_untouchable(|checkout, tree| {
        checkout.git(&["worktree", "remove", "--force", tree.path.to_str().unwrap()]);
        let other = checkout.folder.path().join("other");
        checkout.git(&["worktree", "add", "-q", other.to_str().unwrap(), &tree.branch]);
    });
}

#[test]
fn a_folder_in_which_somebody_works_is_left_alone() {
    check_untouchable(|_, tree| write(&tree.path, "more.txt", "by hand\n"));
    check_untouchable(|_, tree| {
        git(&tree.path, &["checkout", "-q", "--detach", "HEAD^"]);
    });
    check_untouchable(|_, tree| {
        std::fs::write(tree.chain.admin().join("locked"), "on a stick").unwrap();
    });
    check_untouchable(|_, tree| {
        let process = ProcessIdentity::of(rustix::process::Pid::INIT).unwrap();
        let reason = TreeOwner { run: "r1".to_owned(), process }.reason();
        std::fs::write(tree.chain.admin().join("locked"), reason).unwrap();
    });
}

#[test]
fn the_lock_of_an_engine_that_died_right_after_it_took_the_tree_up_is_none() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let (tree, earlier) = begun(&worktrees);
    std::fs::write(tree.chain.admin().join("locked"), "flow run r1 pid=4194305 start=1").unwrap();
    let again = worktrees.resume(&earlier, None).unwrap().unwrap();
    assert!(TreeOwner::of_entry(again.chain.admin()).unwrap().process.is_alive());
}

#[test]
fn only_a_tree_of_this_run_is_taken_up_whatever_a_journal_says() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let (_, earlier) = begun(&worktrees);
    let elsewhere = checkout.folder.path().join("t.1").display().to_string();
    for wrong in [
        EarlierTree { path: elsewhere, ..earlier.clone() },
        EarlierTree { branch: "main".to_owned(), ..earlier.clone() },
        EarlierTree { commit: "HEAD".to_owned(), ..earlier.clone() },
        EarlierTree { base: earlier.commit.clone(), commit: earlier.base.clone(), ..earlier.clone() },
    ] {
        assert!(worktrees.resume(&wrong, None).unwrap().is_none(), "{wrong:?}");
    }
    assert!(checkout.worktrees_of(&checkout.root, "r2").resume(&earlier, None).unwrap().is_none());
    assert!(worktrees.resume(&earlier, None).unwrap().is_some());
}

#[test]
fn a_tree_may_begin_at_the_head_of_another_and_brings_home_its_own_work_alone() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let lead = make(&worktrees, "lead").unwrap();
    write(&lead.path, "lead.txt", "lead\n");
    commit(&lead.path, "of the lead");
    let head = git(&lead.path, &["rev-parse", "HEAD"]);
    let child = worktrees.make(&Address::from("child"), Attempt::FIRST, Some(&head)).unwrap();
    assert_eq!(
        (child.base.as_str(), read(child.path.join("lead.txt"))),
        (head.as_str(), "lead\n".to_owned())
    );
    write(&child.path, "child.txt", "child\n");
    let outcome = worktrees.finish(&child, true, Merge::Branch, None).unwrap();
    assert_eq!((outcome.base.as_deref(), outcome.files_changed), (Some(head.as_str()), 1));
    git(&lead.path, &["merge", "-q", &child.branch]);
    assert_eq!(read(lead.path.join("child.txt")), "child\n");
}
