use std::process::{Command, Stdio};

use super::super::testing::{Checkout, git, make, write};
use super::*;

fn recorded(tree: &Worktree) -> Recorded {
    Recorded { path: tree.path.clone(), branch: tree.branch.clone(), base: tree.base.clone() }
}

#[test]
fn leftovers_of_a_dead_engine_are_committed_and_clean_trees_go() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let (dirty, clean) = (make(&worktrees, "dirty").unwrap(), make(&worktrees, "clean").unwrap());
    write(&dirty.path, "new.txt", "work\n");
    let outcome = worktrees.reclaim(&recorded(&dirty)).unwrap();
    assert_eq!(outcome.path.as_deref(), dirty.path.to_str());
    assert_eq!(checkout.git(&["show", "flow/r1/dirty.1:new.txt"]), "work");
    let outcome = worktrees.reclaim(&recorded(&clean)).unwrap();
    assert_eq!((outcome.path, outcome.branch), (None, None));
    assert_eq!(checkout.branches(), "flow/r1/dirty.1\nmain");
}

#[test]
fn a_folder_removed_by_hand_leaves_the_branch_with_commits_and_no_entry() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let (one, two) = (make(&worktrees, "one").unwrap(), make(&worktrees, "two").unwrap());
    write(&one.path, "c.txt", "c\n");
    git(&one.path, &["add", "-A"]);
    git(&one.path, &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "c"]);
    std::fs::remove_dir_all(checkout.state()).unwrap();
    // Neither blocks later runs.
    let later = checkout.worktrees_of(&checkout.root, "r2");
    let three = make(&later, "one").unwrap();
    let outcome = later.reclaim(&recorded(&one)).unwrap();
    assert_eq!((outcome.branch.as_deref(), outcome.files_changed), (Some("flow/r1/one.1"), 1));
    assert_eq!(later.reclaim(&recorded(&two)).unwrap().branch, None);
    let list = checkout.git(&["worktree", "list", "--porcelain"]);
    assert!(
        !list.contains("r1") && !list.contains("prunable") && list.contains(three.path.to_str().unwrap())
    );
    assert_eq!(checkout.branches(), "flow/r1/one.1\nflow/r2/one.1\nmain");
}

#[test]
fn the_tree_of_a_live_process_is_left_alone() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", other.id())).unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap();
    let lock = tree.chain.admin().join("locked");
    std::fs::write(&lock, format!("flow run r1 pid={} start={start}", other.id())).unwrap();
    let error = worktrees.reclaim(&recorded(&tree)).unwrap_err();
    assert!(
        matches!(error, WorkspaceError::InUse { pid, .. } if pid.cast_unsigned() == other.id()),
        "{error}"
    );
    assert!(tree.path.exists() && lock.exists());
    drop(other.stdin.take());
    other.wait().unwrap();
    assert!(worktrees.reclaim(&recorded(&tree)).is_ok());
}

#[test]
fn a_tree_of_before_the_machine_restarted_is_nobodys_though_its_process_number_lives_again() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&other);
    let process = crate::sys::process::ProcessIdentity {
        boot_id: Some("another".to_owned()),
        ..crate::sys::process::ProcessIdentity::of(pid).unwrap()
    };
    let owner = TreeOwner { run: "r1".to_owned(), process };
    std::fs::write(tree.chain.admin().join("locked"), owner.reason()).unwrap();
    assert!(worktrees.reclaim(&recorded(&tree)).is_ok());
    assert!(!tree.path.exists());
    drop(other.stdin.take());
    other.wait().unwrap();
}

#[test]
fn a_journal_cant_name_a_tree_that_flow_did_not_make() {
    let checkout = Checkout::new();
    let linked = checkout.folder.path().canonicalize().unwrap().join("linked");
    checkout.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "l"]);
    let base = checkout.git(&["rev-parse", "HEAD"]);
    for branch in ["l", "flow/r1/t.1"] {
        let record = Recorded { path: linked.clone(), branch: branch.to_owned(), base: base.clone() };
        assert!(checkout.worktrees().reclaim(&record).is_err(), "{branch}");
    }
    assert!(linked.join("a.txt").exists());
}
