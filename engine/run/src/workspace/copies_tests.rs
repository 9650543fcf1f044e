use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::testing::{Checkout, git, read, write};
use super::*;

impl Copies {
    /// The end of a copy that nobody else looks at.
    fn finish(
        &self,
        tree: &CopiedTree,
        merge: Merge,
        patch_to: Option<&Path>,
    ) -> Result<WorktreeOutcome, WorkspaceError> {
        self.settle(tree, merge, patch_to, false).map(|(outcome, _)| outcome)
    }
}

fn copies(root: &Path, home: &Path) -> Copies {
    Copies::open(root, Some(home.to_owned()), &RunId::parse("r1").unwrap()).unwrap()
}

fn made(copies: &Copies, pristine: bool) -> CopiedTree {
    copies.make(&Address::from("t"), Attempt::FIRST, pristine).unwrap()
}

/// A project without git.
fn plain() -> (tempfile::TempDir, PathBuf, Copies) {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    for (path, text) in [
        ("a.txt", "a\n"),
        ("sub/b.txt", "b\n"),
        (".flow/runs/x", "flow"),
        (".gitignore", "*.log\n"),
        ("x.log", "log"),
    ] {
        write(&root, path, text);
    }
    let copies = copies(&root, &folder.path().join("trees"));
    (folder, root, copies)
}

#[test]
fn a_copy_has_what_is_there_now_without_git_and_flow() {
    let checkout = Checkout::new();
    checkout.write("a.txt", "uncommitted\n");
    checkout.write("new.txt", "untracked\n");
    checkout.write("x.tmp", "ignored");
    checkout.write(".flow/runs/x", "flow");
    checkout.write("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(checkout.root.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::remove_file(checkout.root.join("sub/b.txt")).unwrap();
    symlink("a.txt", checkout.root.join("link")).unwrap();
    let before = checkout.snapshot();
    for by_library in [false, true] {
        let mut copies = copies(&checkout.root, &checkout.state());
        if by_library {
            copies.git = Git::none();
        }
        let tree = made(&copies, false);
        let mut names: Vec<_> =
            std::fs::read_dir(&tree.path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".gitignore", "a.txt", "link", "new.txt", "run.sh"]);
        assert_eq!(read(tree.path.join("link")), "uncommitted\n");
        assert_eq!(tree.path.join("run.sh").metadata().unwrap().permissions().mode() & 0o111, 0o111);
        assert!(!copies.changed(&tree).unwrap());
        copies.finish(&tree, Merge::Apply, None).unwrap();
        assert!(!tree.path.exists() && !tree.path.parent().unwrap().exists());
    }
    assert_eq!(checkout.snapshot(), before);
}

#[test]
fn without_a_repository_everything_is_copied_and_told_apart() {
    let (_folder, root, copies) = plain();
    let tree = made(&copies, false);
    assert_eq!((read(tree.path.join("x.log")), tree.path.join(".flow").exists()), ("log".into(), false));
    assert!(!copies.changed(&tree).unwrap());
    // The same content written again is no change; a log is one, since nobody says that it is none.
    write(&tree.path, "a.txt", "a\n");
    assert!(!copies.changed(&tree).unwrap());
    write(&tree.path, "y.log", "new");
    assert!(copies.changed(&tree).unwrap());
    let outcome = copies.finish(&tree, Merge::None, None).unwrap();
    assert_eq!((outcome.path.as_deref(), outcome.files_changed), (tree.path.to_str(), 1));
    assert!(!root.join("y.log").exists());
}

#[test]
fn apply_brings_every_kind_of_change_home_and_refuses_what_changed_meanwhile() {
    let (_folder, root, copies) = plain();
    let tree = made(&copies, false);
    write(&tree.path, "a.txt", "changed\n");
    write(&tree.path, "new/file", "new\n");
    std::fs::remove_file(tree.path.join("sub/b.txt")).unwrap();
    write(&root, "sub/b.txt", "person\n");
    let outcome = copies.finish(&tree, Merge::Apply, None).unwrap();
    assert_eq!(outcome.merged.unwrap().conflicts[0].path, "sub/b.txt");
    assert_eq!((read(root.join("a.txt")), root.join("new").exists()), ("a\n".into(), false));
    assert!(outcome.path.is_some());
    write(&root, "sub/b.txt", "b\n");
    let outcome = copies.finish(&tree, Merge::Apply, None).unwrap();
    assert_eq!(outcome.merged.unwrap().files, ["a.txt", "sub/b.txt", "new/file"]);
    assert_eq!((read(root.join("a.txt")), read(root.join("new/file"))), ("changed\n".into(), "new\n".into()));
    assert!(!root.join("sub").exists() && !tree.path.exists());
}

#[test]
fn a_patch_of_a_copy_applies_though_the_original_moved_on() {
    let checkout = Checkout::new();
    checkout.write("bin", "\0\u{1}binary");
    let copies = copies(&checkout.root, &checkout.state());
    let tree = made(&copies, true);
    write(&tree.path, "a.txt", "changed\n");
    write(&tree.path, "bin", "\0\u{2}other");
    write(&tree.path, "run.sh", "x\n");
    write(&tree.path, "build.tmp", "ignored");
    std::fs::set_permissions(tree.path.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::remove_file(tree.path.join("sub/b.txt")).unwrap();
    let (original, patch) = (read(checkout.root.join("a.txt")), checkout.folder.path().join("t.patch"));
    checkout.write("a.txt", "person\n");
    let outcome = copies.finish(&tree, Merge::Patch, Some(&patch)).unwrap();
    assert_eq!((outcome.files_changed, outcome.path), (4, None));
    checkout.write("a.txt", &original);
    git(&checkout.root, &["apply", patch.to_str().unwrap()]);
    assert_eq!(
        (read(checkout.root.join("a.txt")), read(checkout.root.join("bin"))),
        ("changed\n".into(), "\0\u{2}other".into())
    );
    assert!(!checkout.root.join("sub/b.txt").exists() && !tree.path.parent().unwrap().exists());
}

#[test]
fn a_project_in_a_subfolder_gets_the_whole_checkout_and_its_own_folder() {
    let checkout = Checkout::new();
    let copies = copies(&checkout.root.join("sub"), &checkout.state());
    let tree = made(&copies, false);
    assert_eq!(tree.dir, tree.path.join("sub"));
    assert!(tree.path.join("a.txt").exists() && tree.dir.join("b.txt").exists());
}

#[test]
fn a_repository_made_in_a_copy_keeps_it() {
    let (_folder, _root, copies) = plain();
    let tree = made(&copies, false);
    git(&tree.path, &["init", "-q"]);
    let outcome = copies.finish(&tree, Merge::Apply, None).unwrap();
    assert!(outcome.path.is_some() && tree.path.join(".git").exists());
}

#[test]
fn a_vanished_copy_is_lost_and_one_that_exists_is_never_taken_over() {
    let (_folder, _root, copies) = plain();
    let tree = made(&copies, false);
    assert!(matches!(
        copies.make(&Address::from("t"), Attempt::FIRST, false),
        Err(WorkspaceError::Exists { .. })
    ));
    std::fs::remove_dir_all(&tree.path).unwrap();
    let error = copies.finish(&tree, Merge::Apply, None).unwrap_err();
    assert_eq!(error.reason(), flow_core::model::Reason::WorkspaceLost);
}

#[test]
fn leftovers_of_a_dead_engine_are_kept_with_work_and_gone_without() {
    let (_folder, _root, copies) = plain();
    let tree = made(&copies, false);
    write(&tree.path, "a.txt", "work\n");
    assert!(copies.reclaim(&tree.path).unwrap().path.is_some());
    write(&tree.path, "a.txt", "a\n");
    assert!(copies.reclaim(&tree.path).unwrap().path.is_none());
    assert!(!tree.path.exists());
    assert!(copies.reclaim(Path::new("/tmp")).is_err());
}

#[test]
fn copying_shares_nothing_with_the_original() {
    let (folder, ..) = plain();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, vec![7; 300_000]).unwrap();
    copy_file(&from, &to).unwrap();
    std::fs::write(&to, "x").unwrap();
    assert_eq!(std::fs::read(&from).unwrap().len(), 300_000);
    assert!(copy_file(&from, &to).is_err(), "an existing file is not replaced");
}
