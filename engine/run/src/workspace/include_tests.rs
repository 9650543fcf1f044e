use super::super::testing::{Checkout, make, read};
use super::*;

fn included(checkout: &Checkout, root: &Path, patterns: &[&str], git: &Git) -> Vec<String> {
    let worktrees = checkout.worktrees_of(root, "r1");
    let tree = make(&worktrees, "t").unwrap();
    let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
    include(git, &worktrees.repository, &patterns, &tree.path).unwrap();
    let ignored = ["x.tmp", "y.tmp", "sub/z.tmp", "sub/deep/w.tmp"];
    let found = ignored.into_iter().filter(|path| tree.path.join(path).exists()).map(str::to_owned).collect();
    worktrees.finish(&tree, true, flow_core::model::Merge::None, None).unwrap();
    assert!(!tree.path.exists(), "what was included is no change");
    found
}

#[test]
fn patterns_name_ignored_files_as_gitignore_does() {
    let checkout = Checkout::new();
    for path in ["x.tmp", "y.tmp", "sub/z.tmp", "sub/deep/w.tmp"] {
        checkout.write(path, path);
    }
    let (root, sub) = (checkout.root.clone(), checkout.root.join("sub"));
    for git in [Git::find(), Git::none()] {
        assert_eq!(included(&checkout, &root, &[], &git), [""; 0]);
        assert_eq!(included(&checkout, &root, &["/x.tmp"], &git), ["x.tmp"]);
        assert_eq!(
            included(&checkout, &root, &["*.tmp", "!y.tmp"], &git),
            ["x.tmp", "sub/z.tmp", "sub/deep/w.tmp"]
        );
        assert_eq!(included(&checkout, &root, &["sub/deep/"], &git), ["sub/deep/w.tmp"]);
        // Relative to the project, as every path of a manifest.
        assert_eq!(included(&checkout, &sub, &["/z.tmp"], &git), ["sub/z.tmp"]);
    }
    checkout.write(".worktreeinclude", "# mine\ny.*\n");
    assert_eq!(included(&checkout, &root, &["/x.tmp"], &Git::find()), ["x.tmp", "y.tmp"]);
}

#[test]
fn tracked_files_and_what_is_flows_stay_as_they_are() {
    let checkout = Checkout::new();
    checkout.write("a.txt", "uncommitted\n");
    checkout.write(".flow/.gitignore", "*\n");
    checkout.write(".flow/runs/secret", "x");
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    include(&Git::find(), &worktrees.repository, &["*".to_owned()], &tree.path).unwrap();
    assert_eq!(read(tree.path.join("a.txt")), "a\n");
    assert!(!tree.path.join(".flow").exists());
}

#[test]
fn a_pattern_that_is_none_is_named() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let error = include(&Git::find(), &worktrees.repository, &["a[z-a]".to_owned()], &tree.path).unwrap_err();
    assert!(error.one_line().starts_with("`include` can't use `a[z-a]`"), "{}", error.one_line());
}
