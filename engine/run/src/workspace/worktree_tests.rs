use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Duration;

use flow_core::model::Merge;

use super::super::testing::{Checkout, git, make, read, write};
use super::*;

#[test]
fn a_tree_has_folder_branch_head_and_index_of_its_own() {
    let checkout = Checkout::new();
    let before = checkout.snapshot();
    let worktrees = checkout.worktrees();
    let (one, two) = (make(&worktrees, "t").unwrap(), make(&worktrees, "review[auth]/change").unwrap());
    assert_eq!(one.branch, "flow/r1/t.1");
    assert_eq!(two.branch, "flow/r1/review-auth-change.1");
    assert!(one.path.starts_with(checkout.state()) && one.path.ends_with("r1/t.1"), "{}", one.path.display());
    assert_eq!(one.base, checkout.git(&["rev-parse", "HEAD"]));
    assert_eq!(one.dir, one.path.join(""));
    assert_eq!(read(one.path.join("sub/b.txt")), "b\n");
    assert_eq!(git(&one.path, &["branch", "--show-current"]), one.branch);
    assert_eq!(git(&one.path, &["status", "--porcelain"]), "");
    write(&one.path, "a.txt", "changed\n");
    git(&one.path, &["add", "-A"]);
    git(&one.path, &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]);
    assert_eq!(read(two.path.join("a.txt")), "a\n");
    assert_eq!(git(&two.path, &["status", "--porcelain"]), "");
    // One object store: a commit is seen by the others at once.
    assert_eq!(git(&two.path, &["log", "-1", "--format=%s", &one.branch]), "x");
    assert_eq!(checkout.snapshot(), before);
}

#[test]
fn a_tree_is_locked_with_its_owner_while_it_is_used() {
    let checkout = Checkout::new();
    let tree = make(&checkout.worktrees(), "t").unwrap();
    let list = checkout.git(&["worktree", "list", "--porcelain"]);
    let expected = format!("locked flow run r1 pid={} start=", std::process::id());
    assert!(list.contains(&expected), "{list}");
    assert_eq!(tree.lacked, Vec::<String>::new());
}

#[test]
fn twelve_at_once_from_two_engines_all_succeed_and_leave_nothing() {
    let checkout = Checkout::new();
    let before = checkout.snapshot();
    let barrier = Barrier::new(12);
    let branches: BTreeSet<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..12)
            .map(|n| {
                let (checkout, barrier) = (&checkout, &barrier);
                scope.spawn(move || {
                    let worktrees =
                        checkout.worktrees_of(&checkout.root, if n % 2 == 0 { "r1" } else { "r2" });
                    barrier.wait();
                    let tree = make(&worktrees, &format!("w{n}")).unwrap();
                    let branch = tree.branch.clone();
                    assert_eq!(read(tree.path.join("a.txt")), "a\n");
                    let outcome = worktrees.finish(&tree, true, Merge::None, None).unwrap();
                    assert_eq!((outcome.path, outcome.branch), (None, None));
                    branch
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(branches.len(), 12);
    assert_eq!(checkout.branches(), "main");
    assert_eq!(checkout.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!checkout.root.join(".git/worktrees").exists());
    assert_eq!(checkout.snapshot(), before);
}

#[test]
fn a_held_lock_of_git_is_waited_for() {
    for lock in ["refs/heads/flow/r1/t.1.lock", "config.lock", "index.lock"] {
        let checkout = Checkout::new();
        let lock = checkout.root.join(".git").join(lock);
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        std::fs::write(&lock, "").unwrap();
        let tree = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                std::fs::remove_file(&lock).unwrap();
            });
            make(&checkout.worktrees(), "t").unwrap()
        });
        assert_eq!(read(tree.path.join("a.txt")), "a\n");
    }
}

#[test]
fn patience_ends_with_the_lock_named_and_the_lock_is_still_there() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let lock = checkout.root.join(".git/refs/heads/flow/r1/t.1.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    let path = worktrees.home.join("r1/t.1");
    let start = worktrees.repository.commit(None).unwrap();
    // One try, without the patience around it.
    let error = worktrees.add_by_program(&path, "flow/r1/t.1", Some(start)).unwrap_err();
    assert_eq!(error.reason(), flow_core::model::Reason::GitLocked);
    assert!(error.one_line().contains("t.1.lock"), "{error}");
    assert!(lock.exists());
}

#[test]
fn an_existing_folder_or_branch_is_never_taken_over() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    checkout.git(&["branch", "flow/r1/t.1"]);
    let error = make(&worktrees, "t").unwrap_err();
    assert_eq!(error.to_string(), "`flow/r1/t.1` exists already");
    assert_eq!(checkout.branches(), "flow/r1/t.1\nmain");
    let folder = worktrees.home.join("r1/u.1");
    std::fs::create_dir_all(&folder).unwrap();
    assert!(matches!(make(&worktrees, "u").unwrap_err(), WorkspaceError::Exists { .. }));
    assert!(folder.exists());
    let again = worktrees.make(&Address::from("t"), Attempt(2), None).unwrap();
    assert_eq!(again.branch, "flow/r1/t.2");
}

#[test]
fn a_branch_named_flow_moves_ours_aside() {
    let checkout = Checkout::new();
    checkout.git(&["branch", "flow"]);
    assert_eq!(make(&checkout.worktrees(), "t").unwrap().branch, "flow-run/r1/t.1");
}

#[test]
fn a_task_in_a_linked_worktree_gets_a_tree_beside_and_starts_from_its_head() {
    let checkout = Checkout::new();
    let linked = checkout.folder.path().canonicalize().unwrap().join("linked");
    checkout.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "l"]);
    write(&linked, "only.txt", "here\n");
    git(&linked, &["add", "-A"]);
    git(&linked, &["commit", "-qm", "second"]);
    let tree = make(&checkout.worktrees_of(&linked, "r1"), "t").unwrap();
    assert_eq!(read(tree.path.join("only.txt")), "here\n");
    assert_eq!(git(&tree.path, &["rev-parse", "--show-toplevel"]), tree.path.to_str().unwrap());
    write(&tree.path, "new.txt", "x\n");
    assert!(!linked.join("new.txt").exists() && !checkout.root.join("new.txt").exists());
    assert_eq!(checkout.git(&["branch", "--show-current"]), "main");
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
}

#[test]
fn a_detached_head_and_a_bare_repository_are_fine() {
    let checkout = Checkout::new();
    checkout.git(&["checkout", "-q", "--detach"]);
    assert!(make(&checkout.worktrees(), "t").is_ok());
    let bare = checkout.folder.path().join("bare.git");
    checkout.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let tree = make(&checkout.worktrees_of(&bare, "r2"), "t").unwrap();
    assert_eq!(read(tree.path.join("a.txt")), "a\n");
}

#[test]
fn a_project_in_a_subfolder_has_the_same_folder_in_its_tree() {
    let checkout = Checkout::new();
    let tree = make(&checkout.worktrees_of(&checkout.root.join("sub"), "r1"), "t").unwrap();
    assert_eq!(tree.dir, tree.path.join("sub"));
    assert_eq!(read(tree.dir.join("b.txt")), "b\n");
    // A folder that no commit has yet is there all the same, and is no change.
    std::fs::create_dir_all(checkout.root.join("new/deep")).unwrap();
    let worktrees = checkout.worktrees_of(&checkout.root.join("new/deep"), "r1");
    let tree = make(&worktrees, "u").unwrap();
    assert!(tree.dir.is_dir() && tree.dir.ends_with("new/deep"));
    assert!(!worktrees.changed(&tree).unwrap());
}

#[test]
fn a_project_folder_that_a_commit_has_as_a_link_outside_is_refused_and_nothing_is_left() {
    let checkout = Checkout::new();
    checkout.git(&["checkout", "-q", "-b", "evil"]);
    checkout.git(&["rm", "-rq", "sub"]);
    std::os::unix::fs::symlink("/tmp", checkout.root.join("sub")).unwrap();
    checkout.commit("link");
    checkout.git(&["checkout", "-q", "main"]);
    let worktrees = checkout.worktrees_of(&checkout.root.join("sub"), "r1");
    let error = worktrees.make(&Address::from("t"), Attempt::FIRST, Some("evil")).unwrap_err();
    assert!(matches!(error, WorkspaceError::Outside { .. }), "{error}");
    assert_eq!(checkout.branches(), "evil\nmain");
    assert_eq!(checkout.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn no_commits_and_no_repository_are_errors() {
    let folder = tempfile::TempDir::new().unwrap();
    let run = RunId::parse("r1").unwrap();
    let state = Some(folder.path().join("state"));
    let root = folder.path().join("project");
    std::fs::create_dir(&root).unwrap();
    let error = Worktrees::open(&root, state.clone(), &run).unwrap_err();
    assert!(matches!(error, WorkspaceError::NoRepository { .. }), "{error}");
    git(&root, &["init", "-q", "-b", "main"]);
    let error = make(&Worktrees::open(&root, state, &run).unwrap(), "t").unwrap_err();
    assert!(matches!(error, WorkspaceError::NoCommits { .. }), "{error}");
    assert!(!root.join(".git/worktrees").exists());
}

#[test]
fn a_folder_for_trees_inside_the_checkout_is_refused() {
    let checkout = Checkout::new();
    let run = RunId::parse("r1").unwrap();
    for dir in ["trees", "../project/trees", ".git/trees"] {
        let error = Worktrees::open(&checkout.root, Some(dir.into()), &run).unwrap_err();
        assert!(matches!(error, WorkspaceError::InsideCheckout { .. }), "{error}");
    }
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");
    assert!(Worktrees::open(&checkout.root, Some("../trees".into()), &run).is_ok());
}

#[test]
fn base_takes_a_revision_or_the_uncommitted_files() {
    let checkout = Checkout::new();
    let first = checkout.git(&["rev-parse", "HEAD"]);
    checkout.write("a.txt", "second\n");
    checkout.commit("second");
    checkout.write("a.txt", "dirty\n");
    checkout.write("new.txt", "new\n");
    checkout.write("junk.tmp", "ignored\n");
    checkout.git(&["rm", "-q", "sub/b.txt"]);
    let before = checkout.snapshot();
    let worktrees = checkout.worktrees();
    let tree = |id: &str, base| worktrees.make(&Address::from(id), Attempt::FIRST, Some(base)).unwrap();
    let old = tree("old", "HEAD~1");
    assert_eq!((read(old.path.join("a.txt")), old.base.clone()), ("a\n".to_owned(), first));
    let dirty = tree("dirty", "dirty");
    assert_eq!(read(dirty.path.join("a.txt")), "dirty\n");
    assert_eq!(read(dirty.path.join("new.txt")), "new\n");
    assert!(!dirty.path.join("sub/b.txt").exists() && !dirty.path.join("junk.tmp").exists());
    assert_eq!(dirty.lacked, Vec::<String>::new());
    assert!(!worktrees.changed(&dirty).unwrap());
    assert_eq!(checkout.snapshot(), before);
    let clean = worktrees.finish(&dirty, true, Merge::None, None).unwrap();
    assert_eq!((clean.path, clean.branch), (None, None));
}

#[test]
fn a_tree_says_what_it_lacks() {
    let checkout = Checkout::new();
    let module = checkout.folder.path().join("module");
    git(checkout.folder.path(), &["init", "-q", module.to_str().unwrap()]);
    git(&module, &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"]);
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "add", "-q", module.to_str().unwrap(), "vendor/m"];
    checkout.git(&add);
    checkout.commit("with a submodule");
    checkout.write("a.txt", "changed\n");
    // The same content at another time: git would like to note that in the index.
    let same = std::fs::File::options().write(true).open(checkout.root.join("sub/b.txt")).unwrap();
    same.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000)).unwrap();
    checkout.write("folder/x", "");
    checkout.write("evil\u{1b}[2J", "");
    let before = checkout.snapshot();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    assert_eq!(tree.lacked, ["a.txt", "evil\\u{1b}[2J", "folder/", "vendor/m (submodule)"]);
    assert_eq!(checkout.snapshot(), before);
    assert!(!worktrees.changed(&tree).unwrap());
    for n in 0..30 {
        checkout.write(&format!("many{n}"), "");
    }
    let tree = make(&worktrees, "u").unwrap();
    assert_eq!((tree.lacked.len(), tree.lacked[20].as_str()), (21, "and 14 more"));
}

#[test]
fn filters_of_the_person_run_and_hooks_do_not() {
    let checkout = Checkout::new();
    checkout.git(&["config", "filter.case.smudge", "tr a-z A-Z"]);
    checkout.git(&["config", "filter.case.clean", "tr A-Z a-z"]);
    checkout.write(".gitattributes", "*.up filter=case\n");
    checkout.write("x.up", "text\n");
    checkout.commit("filtered");
    let marker = checkout.folder.path().join("ran");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "post-commit"] {
        let path = format!(".git/hooks/{hook}");
        checkout.write(&path, &format!("#!/bin/sh\ntouch {}\n", marker.display()));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(checkout.root.join(&path), mode).unwrap();
    }
    checkout.git(&["config", "core.fsmonitor", &format!("touch {}; false", marker.display())]);
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    assert_eq!(read(tree.path.join("x.up")), "TEXT\n");
    assert!(!worktrees.changed(&tree).unwrap());
    write(&tree.path, "x.up", "NEW\n");
    let outcome = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert_eq!(checkout.git(&["-c", "core.fsmonitor=false", "show", "flow/r1/t.1:x.up"]), "new");
    assert_eq!(outcome.files_changed, 1);
    assert!(!marker.exists());
}

#[test]
fn without_the_program_the_library_makes_the_same_tree() {
    let checkout = Checkout::new();
    let before = checkout.snapshot();
    let worktrees = checkout.worktrees_by_library();
    let tree = make(&worktrees, "t").unwrap();
    assert_eq!(git(&tree.path, &["branch", "--show-current"]), "flow/r1/t.1");
    assert_eq!(git(&tree.path, &["status", "--porcelain"]), "");
    assert!(checkout.git(&["worktree", "list", "--porcelain"]).contains("locked flow run r1"));
    assert!(!worktrees.changed(&tree).unwrap());
    // The same task of another run: the entry in `.git/worktrees` has another name.
    let other = Worktrees { run: RunId::parse("r2").unwrap(), ..checkout.worktrees_by_library() };
    let tree_of_other = make(&other, "t").unwrap();
    assert!(matches!(make(&worktrees, "t").unwrap_err(), WorkspaceError::Exists { .. }));
    worktrees.finish(&tree, true, Merge::None, None).unwrap();
    other.finish(&tree_of_other, true, Merge::None, None).unwrap();
    assert_eq!(checkout.branches(), "main");
    assert_eq!(checkout.snapshot(), before);
}

#[test]
fn a_failed_creation_leaves_no_branch() {
    let checkout = Checkout::new();
    checkout.write(".gitattributes", "a.txt filter=broken\n");
    checkout.commit("attributes");
    checkout.git(&["config", "filter.broken.smudge", "false"]);
    checkout.git(&["config", "filter.broken.required", "true"]);
    let worktrees = checkout.worktrees();
    let error = make(&worktrees, "t").unwrap_err();
    assert!(matches!(error, WorkspaceError::Git { .. }), "{error}");
    assert_eq!(checkout.branches(), "main");
    assert_eq!(checkout.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!worktrees.home.join("r1").exists());
}
