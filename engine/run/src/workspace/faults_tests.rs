//! The rows of the fault matrix that speak of trees, and the tests that hold them.
//!
//! | row | fault | tests |
//! |---|---|---|
//! | R20 | several engines in one repository | `twelve_at_once_from_two_engines_all_succeed_and_leave_nothing`, `r20_twenty_engines_with_four_trees_each_succeed_and_leave_nothing_behind`, `a_tree_whose_entry_is_pruned_while_it_is_made_is_made_again`, `a_branch_goes_alone_though_all_are_packed_meanwhile` |
//! | R21 | a lock of git is held | `a_held_lock_of_git_is_waited_for`, `r21_patience_ends_and_the_lock_stays`, `r21_the_same_while_another_program_holds_the_index`, `r21_the_same_while_another_program_holds_references_and_configuration` |
//! | R22 | the folder exists | `an_existing_folder_or_branch_is_never_taken_over` |
//! | R23 | the branch exists, or one in its way | `a_branch_named_flow_moves_ours_aside`, `c61_a_branch_that_is_there_or_checked_out_elsewhere_is_no_obstacle` |
//! | R24 | uncommitted files | `base_takes_a_revision_or_the_uncommitted_files`, `a_tree_says_what_it_lacks`, `base_dirty_starts_from_what_is_not_committed` |
//! | R25 | detached, shallow, sparse, filters, submodules | `a_detached_head_and_a_bare_repository_are_fine`, `a_shallow_repository_is_fine`, `a_sparse_checkout_gives_a_sparse_tree_whose_work_is_kept`, `filters_of_the_person_run_and_hooks_do_not` |
//! | R26 | bare, no commits, no repository, nested | `no_commits_and_no_repository_are_errors`, `a_task_in_a_linked_worktree_gets_a_tree_beside_and_starts_from_its_head`, `c56_isolation_holds_inside_a_linked_worktree` |
//! | R27 | another user's repository | `r27_a_refusal_for_the_owner_is_told_apart`, `r27_a_repository_of_another_user_is_not_trusted` |
//! | R28 | the tree vanishes | `a_vanished_folder_is_lost_and_its_branch_stays`, `r28_a_tree_that_vanishes_fails_its_task_and_no_other` |
//! | R29 | a process outlives its task | `r29_nothing_of_a_task_lives_when_its_tree_goes` |
//! | R30 | work in a tree that goes | `dirty_work_is_committed_to_its_branch_and_the_folder_is_kept_unlocked`, `c59_commits_that_no_other_branch_has_survive_the_run_and_gc`, `only_what_nobody_needs_goes_without_force` |

use std::time::Duration;

use flow_core::model::{Merge, Reason};

use super::WorkspaceError;
use super::lock::Patience;
use super::repository::refusal;
use super::testing::{Checkout, make, read, write};
use super::worktree::Worktrees;

fn impatient(checkout: &Checkout) -> Worktrees {
    let patience = Patience { git: Duration::from_millis(60), flow: Duration::from_millis(60) };
    Worktrees { patience, ..checkout.worktrees() }
}

#[test]
fn every_row_names_tests_that_exist() {
    let table = include_str!("faults_tests.rs");
    let tests = [
        table,
        include_str!("collect_tests.rs"),
        include_str!("finish_tests.rs"),
        include_str!("references_tests.rs"),
        include_str!("worktree_tests.rs"),
        include_str!("../../../../tests/cases/trees.rs"),
        include_str!("../../../../tests/isolation.rs"),
        include_str!("../../../../tests/trees.rs"),
    ]
    .concat();
    for row in 20..=30 {
        let line = table.lines().find(|line| line.starts_with(&format!("//! | R{row} |"))).unwrap();
        let names = line.split('`').skip(1).step_by(2);
        assert!(names.clone().count() > 0, "R{row}");
        names.for_each(|name| assert!(tests.contains(&format!("fn {name}()")), "R{row} names {name}"));
    }
}

#[test]
fn r21_patience_ends_and_the_lock_stays() {
    // At the start: nothing is made.
    let checkout = Checkout::new();
    let worktrees = impatient(&checkout);
    let lock = checkout.root.join(".git/refs/heads/flow/r1/t.1.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    let error = make(&worktrees, "t").unwrap_err();
    assert_eq!(error.reason(), Reason::GitLocked);
    assert!(error.one_line().contains("t.1.lock") && lock.exists(), "{}", error.one_line());
    std::fs::remove_file(&lock).unwrap();
    assert!(!worktrees.home.join("r1/t.1").exists());

    // On the way home: everything is as it was, and the work is kept.
    for how in [Merge::Squash, Merge::CherryPick] {
        let checkout = Checkout::new();
        let worktrees = impatient(&checkout);
        let tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "a.txt", "agent\n");
        let lock = checkout.root.join(".git/refs/heads/main.lock");
        std::fs::write(&lock, "").unwrap();
        let error = worktrees.finish(&tree, true, how, None).unwrap_err();
        assert_eq!(error.reason(), Reason::GitLocked, "{}", error.one_line());
        std::fs::remove_file(&lock).unwrap();
        assert_eq!(checkout.git(&["status", "--porcelain"]), "", "{how:?}");
        assert_eq!((read(checkout.root.join("a.txt")), tree.path.exists()), ("a\n".into(), true));
        // Later it works.
        assert!(worktrees.finish(&tree, true, how, None).unwrap().path.is_none());
        assert_eq!(checkout.git(&["show", "main:a.txt"]), "agent");
    }

    // Another flow that holds its lock is named as well.
    let checkout = Checkout::new();
    let (one, two) = (checkout.worktrees(), impatient(&checkout));
    let held = one.lock().unwrap();
    assert!(matches!(make(&two, "t").unwrap_err(), WorkspaceError::Busy { .. }));
    drop(held);
    make(&two, "t").unwrap();
}

#[test]
fn r27_a_refusal_for_the_owner_is_told_apart() {
    let refused = |code| refusal("/r".as_ref(), git2::Error::new(code, git2::ErrorClass::Repository, "no"));
    let error = refused(git2::ErrorCode::Owner);
    assert!(matches!(error, WorkspaceError::Foreign { .. }) && error.to_string().contains("safe.directory"));
    assert!(matches!(refused(git2::ErrorCode::NotFound), WorkspaceError::NoRepository { .. }));
    assert!(matches!(refused(git2::ErrorCode::GenericError), WorkspaceError::Library { .. }));
}
