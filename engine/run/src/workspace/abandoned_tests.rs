use super::super::testing::{Checkout, make};
use super::*;

#[test]
fn a_tree_is_abandoned_when_the_process_that_locked_it_is_gone() {
    let checkout = Checkout::new();
    let tree = make(&checkout.worktrees(), "a").unwrap();
    assert_eq!(abandoned(&checkout.root), []);
    let locked = checkout.root.join(".git/worktrees").join(tree.path.file_name().unwrap()).join("locked");
    // No process has that number.
    std::fs::write(&locked, "flow run r1 pid=4194305 start=1").unwrap();
    assert_eq!(abandoned(&checkout.root), [Abandoned { path: tree.path.clone(), run: "r1".to_owned() }]);
    std::fs::write(&locked, "kept by hand").unwrap();
    assert_eq!(abandoned(&checkout.root), []);
}

#[test]
fn a_folder_without_a_repository_has_no_trees() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(abandoned(dir.path()), []);
}
