use std::path::PathBuf;

use flow_core::model::Reason;

use super::super::testing::{Checkout, git, make, read, write};
use super::*;

fn commit_in(path: &Path, message: &str) {
    git(path, &["add", "-A"]);
    git(path, &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", message]);
}

fn kept(error: WorkspaceError) -> (WorkspaceError, PathBuf) {
    match error {
        WorkspaceError::Kept { path, source, .. } => (*source, path),
        other => panic!("{other}"),
    }
}

#[test]
fn a_clean_tree_goes_with_its_branch_and_its_entry() {
    let checkout = Checkout::new();
    let before = checkout.snapshot();
    let worktrees = checkout.worktrees();
    for merge in [Merge::None, Merge::Branch, Merge::Patch] {
        let tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "build.tmp", "ignored\n");
        let (path, base) = (tree.path.clone(), tree.base.clone());
        assert!(!worktrees.changed(&tree).unwrap());
        let patch = checkout.folder.path().join("t.patch");
        let outcome = worktrees.finish(&tree, true, merge, Some(&patch)).unwrap();
        let expected = WorktreeOutcome { base: Some(base), ignored: 1, ..WorktreeOutcome::default() };
        assert_eq!(outcome, expected);
        assert!(!path.exists() && !path.parent().unwrap().exists() && !patch.exists());
    }
    assert_eq!(checkout.branches(), "main");
    assert!(!checkout.root.join(".git/worktrees").exists());
    assert_eq!(checkout.snapshot(), before);
}

#[test]
fn dirty_work_is_committed_to_its_branch_and_the_folder_is_kept_unlocked() {
    let checkout = Checkout::new();
    let before = checkout.snapshot();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t[a]").unwrap();
    write(&tree.path, "new.txt", "work\n");
    write(&tree.path, "a.txt", "changed\n");
    write(&tree.path, "build.tmp", "ignored\n");
    std::fs::remove_file(tree.path.join("sub/b.txt")).unwrap();
    assert!(worktrees.changed(&tree).unwrap());
    let outcome = worktrees.finish(&tree, true, Merge::None, None).unwrap();
    let branch = outcome.branch.unwrap();
    let path = PathBuf::from(outcome.path.unwrap());
    assert_eq!(checkout.git(&["ls-tree", "-r", "--name-only", &branch]), ".gitignore\na.txt\nnew.txt");
    assert_eq!(checkout.git(&["show", &format!("{branch}:a.txt")]), "changed");
    assert_eq!(
        checkout.git(&["log", "-1", "--format=%an <%ae> %G?", &branch]),
        "Person <person@example.org> N"
    );
    let message = checkout.git(&["log", "-1", "--format=%s", &branch]);
    assert_eq!(message, "Work of t-a.1 in run r1");
    assert_eq!(outcome.commit.unwrap(), checkout.git(&["rev-parse", &branch]));
    assert_eq!(outcome.files_changed, 3);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(path.join("build.tmp").exists());
    assert!(!checkout.git(&["worktree", "list", "--porcelain"]).contains("locked"));
    assert_eq!(checkout.snapshot(), before);
}

#[test]
fn commits_keep_their_branch_though_the_tree_looks_clean() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "c.txt", "c\n");
    commit_in(&tree.path, "c");
    assert!(worktrees.changed(&tree).unwrap());
    let path = tree.path.clone();
    let outcome = worktrees.finish(&tree, false, Merge::Branch, None).unwrap();
    assert_eq!(outcome.branch.as_deref(), Some("flow/r1/t.1"));
    assert_eq!(checkout.git(&["show", "flow/r1/t.1:c.txt"]), "c");
    assert!(path.exists(), "the task did not complete, so nothing came home");
}

#[test]
fn merge_branch_keeps_the_branch_alone() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "c.txt", "c\n");
    commit_in(&tree.path, "c");
    write(&tree.path, "d.txt", "d\n");
    let path = tree.path.clone();
    let outcome = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert_eq!((outcome.path, outcome.files_changed), (None, 2));
    assert!(!path.exists());
    assert_eq!(checkout.git(&["log", "--format=%s", "main..flow/r1/t.1"]).lines().count(), 2);
    assert_eq!(checkout.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn merge_patch_holds_every_kind_of_change_and_applies() {
    let checkout = Checkout::new();
    checkout.git(&["config", "diff.noprefix", "true"]);
    checkout.git(&["config", "diff.mnemonicPrefix", "true"]);
    checkout.git(&["config", "diff.external", "false"]);
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    std::fs::write(tree.path.join("bytes.bin"), (0..=255u8).cycle().take(4000).collect::<Vec<_>>()).unwrap();
    write(&tree.path, "a.txt", "no newline at the end");
    write(&tree.path, "empty", "");
    write(&tree.path, "odd \"name\"\nwith newline \u{e9}", "x\n");
    std::fs::remove_file(tree.path.join("sub/b.txt")).unwrap();
    std::os::unix::fs::symlink("a.txt", tree.path.join("link")).unwrap();
    write(&tree.path, "run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(tree.path.join("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let path = tree.path.clone();
    let patch = checkout.folder.path().join("run/tasks/t.patch");
    let outcome = worktrees.finish(&tree, true, Merge::Patch, Some(&patch)).unwrap();
    assert_eq!((outcome.path, outcome.branch, outcome.commit), (None, None, None));
    assert_eq!(outcome.patch.as_deref(), patch.to_str());
    assert_eq!(outcome.files_changed, 7);
    assert!(!path.exists());
    assert_eq!(checkout.branches(), "main");
    checkout.git(&["apply", "--index", patch.to_str().unwrap()]);
    assert_eq!(read(checkout.root.join("a.txt")), "no newline at the end");
    assert_eq!(std::fs::read(checkout.root.join("bytes.bin")).unwrap().len(), 4000);
    assert_eq!(read(checkout.root.join("odd \"name\"\nwith newline \u{e9}")), "x\n");
    assert_eq!(checkout.root.join("link").read_link().unwrap(), Path::new("a.txt"));
    assert!(!checkout.root.join("sub/b.txt").exists() && checkout.root.join("empty").exists());
    assert!(checkout.git(&["ls-files", "-s", "run.sh"]).starts_with("100755"));
}

#[test]
fn a_patch_that_cant_be_written_keeps_everything_and_says_where() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "new.txt", "work\n");
    checkout.write("../file", "");
    let patch = checkout.folder.path().join("file/t.patch");
    let error = worktrees.finish(&tree, true, Merge::Patch, Some(&patch)).unwrap_err();
    assert!(error.one_line().contains("; the work is kept in `"), "{}", error.one_line());
    let (_, path) = kept(error);
    assert!(path.join("new.txt").exists());
    assert_eq!(checkout.git(&["show", "flow/r1/t.1:new.txt"]), "work");
}

#[test]
fn work_on_a_head_that_left_its_branch_is_not_lost() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    // Ahead of its branch on another one, with a file not committed: the branch follows.
    let tree = make(&worktrees, "ahead").unwrap();
    git(&tree.path, &["checkout", "-q", "-b", "mine"]);
    write(&tree.path, "c.txt", "c\n");
    commit_in(&tree.path, "c");
    write(&tree.path, "d.txt", "d\n");
    let outcome = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert_eq!((outcome.path, outcome.files_changed), (None, 2));
    assert_eq!(checkout.git(&["show", "flow/r1/ahead.1:d.txt"]), "d");
    assert_eq!(checkout.git(&["show", "mine:c.txt"]), "c");
    // Beside its branch and on none: the folder is what holds it.
    let tree = make(&worktrees, "beside").unwrap();
    write(&tree.path, "c.txt", "c\n");
    commit_in(&tree.path, "c");
    git(&tree.path, &["checkout", "-q", "--detach", "main"]);
    write(&tree.path, "e.txt", "e\n");
    commit_in(&tree.path, "e");
    let outcome = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    let path = outcome.path.unwrap();
    assert_eq!(read(Path::new(&path).join("e.txt")), "e\n");
    assert_eq!(checkout.git(&["show", "flow/r1/beside.1:c.txt"]), "c");
    // The branch was deleted under it.
    let tree = make(&worktrees, "deleted").unwrap();
    write(&tree.path, "c.txt", "c\n");
    commit_in(&tree.path, "c");
    git(&tree.path, &["checkout", "-q", "--detach"]);
    git(&tree.path, &["branch", "-D", "-q", "flow/r1/deleted.1"]);
    worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert_eq!(checkout.git(&["show", "flow/r1/deleted.1:c.txt"]), "c");
}

#[test]
fn a_repository_inside_the_tree_keeps_the_folder() {
    let checkout = Checkout::new();
    for (worktrees, run) in [(checkout.worktrees(), "t"), (checkout.worktrees_by_library(), "u")] {
        for unborn in [true, false] {
            let id = format!("{run}{unborn}");
            let tree = make(&worktrees, &id).unwrap();
            write(&tree.path, "inner/x.txt", "x\n");
            git(&tree.path.join("inner"), &["init", "-q"]);
            if !unborn {
                commit_in(&tree.path.join("inner"), "x");
            }
            write(&tree.path, "new.txt", "work\n");
            assert!(worktrees.changed(&tree).unwrap());
            let outcome = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
            assert_eq!(read(Path::new(&outcome.path.unwrap()).join("inner/x.txt")), "x\n");
            let files = checkout.git(&["ls-tree", "-r", "--name-only", &format!("flow/r1/{id}.1")]);
            assert_eq!(files, ".gitignore\na.txt\nnew.txt\nsub/b.txt");
        }
    }
}

#[test]
fn files_folders_and_links_may_take_each_others_place() {
    let checkout = Checkout::new();
    for (worktrees, id) in [(checkout.worktrees(), "t"), (checkout.worktrees_by_library(), "u")] {
        let tree = make(&worktrees, id).unwrap();
        std::fs::remove_file(tree.path.join("a.txt")).unwrap();
        write(&tree.path, "a.txt/inner", "x\n");
        std::fs::remove_dir_all(tree.path.join("sub")).unwrap();
        std::os::unix::fs::symlink("a.txt", tree.path.join("sub")).unwrap();
        write(&tree.path, "staged", "then gone\n");
        git(&tree.path, &["add", "staged"]);
        std::fs::remove_file(tree.path.join("staged")).unwrap();
        worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
        let files = checkout.git(&["ls-tree", "-r", "--name-only", &format!("flow/r1/{id}.1")]);
        assert_eq!(files, ".gitignore\na.txt/inner\nsub");
    }
}

#[test]
fn a_held_index_lock_is_waited_for_at_the_end() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "new.txt", "work\n");
    let lock = tree.chain.admin().join("index.lock");
    std::fs::write(&lock, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            std::fs::remove_file(&lock).unwrap();
        });
        worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    });
    assert_eq!(checkout.git(&["show", "flow/r1/t.1:new.txt"]), "work");
}

#[test]
fn a_vanished_folder_is_lost_and_its_branch_stays() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "c.txt", "c\n");
    commit_in(&tree.path, "c");
    std::fs::remove_dir_all(&tree.path).unwrap();
    assert_eq!(worktrees.changed(&tree).unwrap_err().reason(), Reason::WorkspaceLost);
    let error = worktrees.finish(&tree, true, Merge::Branch, None).unwrap_err();
    assert_eq!(error.reason(), Reason::WorkspaceLost);
    assert_eq!(checkout.git(&["show", "flow/r1/t.1:c.txt"]), "c");
}

/// Changes one thing about a tree's git files and expects that git is not called and nothing is removed.
fn check_planted(what: &str, plant: impl FnOnce(&Worktree, &Path)) {
    let checkout = Checkout::new();
    let tree = make(&checkout.worktrees(), "t").unwrap();
    write(&tree.path, "new.txt", "work\n");
    // A whole repository of somebody else's, with a monitor that shows that git read its configuration.
    let (evil, marker) = (checkout.folder.path().join("evil"), checkout.folder.path().join("ran"));
    git(checkout.folder.path(), &["init", "-q", evil.to_str().unwrap()]);
    git(&evil, &["config", "core.fsmonitor", &format!("touch {}; false", marker.display())]);
    plant(&tree, &evil.join(".git"));
    let called = checkout.folder.path().join("called");
    let program = checkout.folder.path().join("git");
    std::fs::write(&program, format!("#!/bin/sh\ntouch {}\nexit 1\n", called.display())).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let worktrees = Worktrees { git: Git::at(program), ..checkout.worktrees() };
    assert_eq!(worktrees.changed(&tree).unwrap_err().reason(), Reason::Tampered, "{what}");
    let path = tree.path.clone();
    let error = worktrees.finish(&tree, true, Merge::Branch, None).unwrap_err();
    assert_eq!(error.reason(), Reason::Tampered, "{what}");
    assert!(!called.exists() && !marker.exists(), "{what}");
    assert!(path.join("new.txt").exists(), "{what}");
    assert!(checkout.branches().contains("flow/r1/t.1"), "{what}");
}

#[test]
fn planted_git_files_are_refused_and_git_is_not_called() {
    check_planted("`.git` leads elsewhere", |tree, evil| {
        write(&tree.path, ".git", &format!("gitdir: {}\n", evil.display()));
    });
    check_planted("`.git` is the same text in a new file", |tree, _| {
        let text = read(tree.path.join(".git"));
        write(&tree.path, "other", &text);
        std::fs::rename(tree.path.join("other"), tree.path.join(".git")).unwrap();
    });
    check_planted("`.git` is a repository", |tree, evil| {
        std::fs::remove_file(tree.path.join(".git")).unwrap();
        std::fs::rename(evil, tree.path.join(".git")).unwrap();
    });
    check_planted("`.git` is a link", |tree, evil| {
        std::fs::remove_file(tree.path.join(".git")).unwrap();
        std::os::unix::fs::symlink(evil, tree.path.join(".git")).unwrap();
    });
    check_planted("`commondir` leads elsewhere", |tree, evil| {
        write(tree.chain.admin(), "commondir", &format!("{}\n", evil.display()));
    });
    check_planted("`gitdir` does not point back", |tree, evil| {
        write(tree.chain.admin(), "gitdir", &format!("{}\n", evil.display()));
    });
    check_planted("the entry is another folder", |tree, _| {
        let admin = tree.chain.admin();
        std::fs::rename(admin, admin.with_extension("old")).unwrap();
        std::fs::create_dir(admin).unwrap();
        for file in ["commondir", "gitdir", "HEAD", "index"] {
            std::fs::rename(admin.with_extension("old").join(file), admin.join(file)).unwrap();
        }
    });
}

#[test]
fn a_filter_that_a_task_planted_is_not_run() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let marker = checkout.folder.path().join("ran");
    git(&tree.path, &["config", "filter.evil.clean", &format!("touch {}; cat", marker.display())]);
    write(&tree.path, ".gitattributes", "* filter=evil\n");
    write(&tree.path, "new.txt", "work\n");
    worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert!(!marker.exists());
    assert_eq!(checkout.git(&["show", "flow/r1/t.1:new.txt"]), "work");
}

#[test]
fn a_repository_planted_in_a_subfolder_runs_nothing() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let marker = checkout.folder.path().join("ran");
    let bare = tree.path.join("sub/bare");
    git(&tree.path, &["init", "-q", "--bare", bare.to_str().unwrap()]);
    for key in ["core.fsmonitor", "filter.evil.clean", "core.pager"] {
        git(&bare, &["--git-dir=.", "config", key, &format!("touch {}; false", marker.display())]);
    }
    git(&bare, &["--git-dir=.", "config", "core.worktree", ".."]);
    write(&tree.path, "sub/.gitattributes", "* filter=evil\n");
    worktrees.finish(&tree, true, Merge::None, None).unwrap();
    assert!(!marker.exists());
}

#[test]
fn names_that_look_like_options_or_hold_newlines_are_committed() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let names = ["--upload-pack=x", "-rf", "a\nb", "c\u{1b}[2Jd", ":(exclude)e"];
    for name in names {
        write(&tree.path, name, "x\n");
    }
    let outcome = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert_eq!(outcome.files_changed, 5);
}

#[test]
fn read_only_folders_are_no_obstacle() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "cache.tmp/deep/x.tmp", "ignored\n");
    for folder in ["cache.tmp/deep", "cache.tmp"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o555);
        std::fs::set_permissions(tree.path.join(folder), mode).unwrap();
    }
    let path = tree.path.clone();
    assert_eq!(worktrees.finish(&tree, true, Merge::None, None).unwrap().path, None);
    assert!(!path.exists());
}

#[test]
fn a_sparse_checkout_gives_a_sparse_tree_whose_work_is_kept() {
    let checkout = Checkout::new();
    checkout.write("other/c.txt", "c\n");
    checkout.commit("more");
    checkout.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "sub"]);
    let before = checkout.snapshot();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    assert!(tree.path.join("sub/b.txt").exists() && !tree.path.join("other").exists());
    assert!(!worktrees.changed(&tree).unwrap());
    write(&tree.path, "sub/b.txt", "changed\n");
    let outcome = worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert_eq!(outcome.files_changed, 1);
    assert_eq!(checkout.git(&["show", "flow/r1/t.1:other/c.txt"]), "c");
    assert_eq!(checkout.snapshot(), before);
}

#[test]
fn a_shallow_repository_is_fine() {
    let checkout = Checkout::new();
    checkout.write("a.txt", "second\n");
    checkout.commit("second");
    let shallow = checkout.folder.path().canonicalize().unwrap().join("shallow");
    let from = format!("file://{}", checkout.root.display());
    checkout.git(&["clone", "-q", "--depth", "1", &from, shallow.to_str().unwrap()]);
    let worktrees = checkout.worktrees_of(&shallow, "r1");
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "new.txt", "work\n");
    worktrees.finish(&tree, true, Merge::Branch, None).unwrap();
    assert_eq!(git(&shallow, &["show", "flow/r1/t.1:new.txt"]), "work");
}

/// A repository with one commit in a folder of the tree.
fn nest(tree: &Worktree, folder: &str) {
    let at = tree.path.join(folder);
    write(&at, "inner.txt", "work\n");
    git(&at, &["init", "-q"]);
    git(&at, &["add", "-A"]);
    git(&at, &["-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "inner"]);
}

#[test]
fn a_repository_that_a_task_made_is_told_of_and_its_tree_stays_whatever_the_merge() {
    for merge in [Merge::Branch, Merge::Patch, Merge::Apply, Merge::Squash, Merge::CherryPick] {
        // Git knows of it, as of a submodule without a home, once it was added.
        for added in [false, true] {
            let checkout = Checkout::new();
            let worktrees = checkout.worktrees();
            let tree = make(&worktrees, "t").unwrap();
            nest(&tree, "vendor/lib");
            write(&tree.path, "new.txt", "work\n");
            if added {
                git(&tree.path, &["add", "vendor/lib"]);
            }
            let patch = checkout.folder.path().join("t.patch");
            let outcome = worktrees.finish(&tree, true, merge, Some(&patch)).unwrap();
            assert_eq!(outcome.undelivered, ["vendor/lib/"], "{merge:?} {added}");
            assert_eq!(outcome.path.as_deref(), tree.path.to_str());
            assert_eq!(read(tree.path.join("vendor/lib/inner.txt")), "work\n");
            let home = outcome.merged.map_or(Vec::new(), |merged| merged.files);
            assert!(home.iter().all(|file| file == "new.txt"), "{home:?}");
        }
    }
}

#[test]
fn ignored_files_of_a_task_are_counted_and_those_that_it_was_given_are_not() {
    for library in [false, true] {
        let checkout = Checkout::new();
        let worktrees = if library { checkout.worktrees_by_library() } else { checkout.worktrees() };
        let mut tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "given.tmp", "given\n");
        tree.included.insert("given.tmp".into());
        write(&tree.path, "new.txt", "work\n");
        write(&tree.path, "out/one.tmp", "1\n");
        write(&tree.path, "out/two.tmp", "2\n");
        let outcome = worktrees.finish(&tree, true, Merge::Squash, None).unwrap();
        assert_eq!(
            (outcome.ignored, outcome.merged.unwrap().files),
            (2, vec!["new.txt".to_owned()]),
            "{library}"
        );
    }
}

#[test]
fn uncommitted_changes_that_a_tree_lacks_are_counted() {
    let checkout = Checkout::new();
    checkout.write("a.txt", "changed\n");
    checkout.write("mine/one.txt", "1\n");
    checkout.write("mine/two.txt", "2\n");
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    let outcome = worktrees.finish(&tree, true, Merge::None, None).unwrap();
    assert_eq!((outcome.uncommitted, outcome.lacked), (2, vec!["a.txt".to_owned(), "mine/".to_owned()]));
    let dirty = worktrees.make(&"u".into(), flow_core::ids::Attempt::FIRST, Some("dirty")).unwrap();
    assert_eq!(worktrees.finish(&dirty, true, Merge::None, None).unwrap().uncommitted, 0);
}
