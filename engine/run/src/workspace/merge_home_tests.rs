use std::sync::Barrier;

use super::super::testing::{Checkout, git, make, read, write};
use super::super::trees::{PrivateTree, TreeEnd, Trees};
use super::*;
use flow_core::values::CommitMessage;

const ALL: [Merge; 3] = [Merge::Apply, Merge::Squash, Merge::CherryPick];

fn commit_in(tree: &Worktree, message: &str) {
    git(&tree.path, &["add", "-A"]);
    git(&tree.path, &["-c", "user.name=Agent", "-c", "user.email=agent@x", "commit", "-qm", message]);
}

fn merged(worktrees: &Worktrees, tree: &Worktree, how: Merge) -> flow_core::model::WorktreeOutcome {
    worktrees.finish(tree, true, how, None).unwrap()
}

fn conflicts(outcome: &flow_core::model::WorktreeOutcome) -> Vec<(&str, ConflictKind)> {
    let merged = outcome.merged.as_ref().unwrap();
    merged.conflicts.iter().map(|conflict| (conflict.path.as_str(), conflict.kind)).collect()
}

#[test]
fn apply_leaves_uncommitted_changes_and_neither_tree_nor_branch() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let head = checkout.git(&["rev-parse", "HEAD"]);
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "a.txt", "changed\n");
    write(&tree.path, "new/file", "new\n");
    commit_in(&tree, "half");
    std::fs::remove_file(tree.path.join("sub/b.txt")).unwrap();
    checkout.write("a.tmp", "ignored");
    checkout.write("mine.txt", "uncommitted");
    let outcome = merged(&worktrees, &tree, Merge::Apply);
    assert_eq!((outcome.path, outcome.branch, outcome.files_changed), (None, None, 3));
    assert_eq!(outcome.merged.unwrap().files, ["a.txt", "new/file", "sub/b.txt"]);
    assert_eq!(checkout.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(checkout.git(&["status", "--porcelain"]), " M a.txt\n D sub/b.txt\n?? mine.txt\n?? new/");
    assert_eq!(checkout.branches(), "main");
    assert!(!tree.path.exists() && !worktrees.home.join(LANDINGS).join("r1.t.1").exists());
}

#[test]
fn squash_makes_one_commit_and_cherry_pick_each_with_its_author() {
    for how in [Merge::Squash, Merge::CherryPick] {
        let checkout = Checkout::new();
        let worktrees = checkout.worktrees();
        let tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "a.txt", "one\n");
        commit_in(&tree, "one");
        write(&tree.path, "c.txt", "two\n");
        commit_in(&tree, "two");
        // The person went on meanwhile.
        checkout.write("sub/b.txt", "person\n");
        checkout.commit("person");
        checkout.write("mine.txt", "uncommitted");
        let outcome = merged(&worktrees, &tree, how);
        let commits = outcome.merged.unwrap().commits;
        assert_eq!(commits.last(), Some(&checkout.git(&["rev-parse", "main"])));
        assert_eq!(checkout.git(&["status", "--porcelain"]), "?? mine.txt");
        assert_eq!(read(checkout.root.join("a.txt")), "one\n");
        let log = checkout.git(&["log", "--format=%an/%cn: %s", "-4"]);
        match how {
            Merge::Squash => {
                assert!(
                    log.starts_with("Person/Person: Work of t.1 in run r1\nPerson/Person: person"),
                    "{log}"
                );
                assert_eq!(checkout.git(&["log", "-1", "--format=%b"]), "- one\n- two");
            }
            _ => assert!(
                log.starts_with("Agent/Person: two\nAgent/Person: one\nPerson/Person: person"),
                "{log}"
            ),
        }
        assert_eq!(checkout.branches(), "main");
    }
}

#[test]
fn without_work_nothing_is_merged() {
    for how in ALL {
        let checkout = Checkout::new();
        let before = checkout.snapshot();
        let worktrees = checkout.worktrees();
        let tree = make(&worktrees, "t").unwrap();
        let outcome = merged(&worktrees, &tree, how);
        assert_eq!(outcome.merged, Some(nothing_to_merge(how)));
        assert_eq!((outcome.path, outcome.branch), (None, None));
        assert_eq!(checkout.snapshot(), before);
    }
}

#[test]
fn a_conflict_writes_nothing_and_keeps_the_branch() {
    for how in ALL {
        let checkout = Checkout::new();
        let worktrees = checkout.worktrees();
        let tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "a.txt", "agent\n");
        write(&tree.path, "sub/b.txt", "agent\n");
        checkout.write("a.txt", "person\n");
        if how != Merge::Apply {
            checkout.commit("person");
        }
        let before = checkout.snapshot();
        let outcome = merged(&worktrees, &tree, how);
        let kind = if how == Merge::Apply { ConflictKind::Changed } else { ConflictKind::Content };
        assert_eq!(conflicts(&outcome), [("a.txt", kind)]);
        assert_eq!(outcome.branch.as_deref(), Some("flow/r1/t.1"));
        assert!(outcome.path.is_some());
        assert_eq!(checkout.snapshot(), before);
    }
}

#[test]
fn uncommitted_and_untracked_files_that_a_commit_would_touch_are_conflicts() {
    for how in [Merge::Squash, Merge::CherryPick] {
        let checkout = Checkout::new();
        let worktrees = checkout.worktrees();
        let tree = make(&worktrees, "t").unwrap();
        for path in ["a.txt", "sub/b.txt", "fresh.txt"] {
            write(&tree.path, path, "agent\n");
        }
        checkout.write("a.txt", "dirty\n");
        checkout.write("sub/b.txt", "staged\n");
        checkout.git(&["add", "sub/b.txt"]);
        checkout.write("sub/b.txt", "b\n");
        // Even one that is what the commit would make of it: it is not committed, and nobody asked the person.
        checkout.write("fresh.txt", "agent\n");
        let before = checkout.snapshot();
        let outcome = merged(&worktrees, &tree, how);
        let mut found = conflicts(&outcome);
        found.sort_unstable_by_key(|(path, _)| *path);
        let changed = ConflictKind::Changed;
        assert_eq!(found, [("a.txt", changed), ("fresh.txt", changed), ("sub/b.txt", changed)]);
        assert_eq!(checkout.snapshot(), before);
    }
}

#[test]
fn a_detached_head_a_bare_repository_and_a_linked_checkout_get_their_commits() {
    let checkout = Checkout::new();
    checkout.git(&["checkout", "-q", "--detach"]);
    let tree = make(&checkout.worktrees(), "t").unwrap();
    write(&tree.path, "a.txt", "agent\n");
    let outcome = merged(&checkout.worktrees(), &tree, Merge::Squash);
    assert_eq!(outcome.merged.unwrap().commits, [checkout.git(&["rev-parse", "HEAD"])]);
    assert_eq!(
        (checkout.git(&["status", "--porcelain"]).as_str(), checkout.git(&["rev-parse", "main^0"])),
        ("", outcome.base.unwrap())
    );

    let bare = checkout.folder.path().canonicalize().unwrap().join("bare.git");
    checkout.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let worktrees = checkout.worktrees_of(&bare, "r2");
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "a.txt", "bare\n");
    assert_eq!(merged(&worktrees, &tree, Merge::CherryPick).merged.unwrap().commits.len(), 1);
    assert_eq!(git(&bare, &["show", "HEAD:a.txt"]), "bare");
    let tree = make(&worktrees, "u").unwrap();
    write(&tree.path, "a.txt", "again\n");
    assert!(worktrees.finish(&tree, true, Merge::Apply, None).unwrap_err().one_line().contains("bare"));

    let linked = checkout.folder.path().canonicalize().unwrap().join("linked");
    checkout.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "l"]);
    let worktrees = checkout.worktrees_of(&linked, "r3");
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "sub/b.txt", "linked\n");
    merged(&worktrees, &tree, Merge::Squash);
    assert_eq!(git(&linked, &["show", "l:sub/b.txt"]), "linked");
    assert_eq!(
        (git(&linked, &["status", "--porcelain"]), read(checkout.root.join("sub/b.txt"))),
        (String::new(), "b\n".into())
    );
}

#[test]
fn a_merge_of_the_person_under_way_is_not_disturbed() {
    let checkout = Checkout::new();
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "a.txt", "agent\n");
    std::fs::write(checkout.root.join(".git/MERGE_HEAD"), checkout.git(&["rev-parse", "HEAD"])).unwrap();
    let error = worktrees.finish(&tree, true, Merge::Squash, None).unwrap_err();
    assert_eq!(error.reason(), flow_core::model::Reason::MergeConflict);
    assert!(error.one_line().contains("end it first") && tree.path.exists());
}

#[test]
fn siblings_land_one_after_the_other_and_the_second_is_told_who_was_first() {
    let checkout = Checkout::new();
    let trees =
        Trees::new(&checkout.root, Some(checkout.state()), &flow_core::ids::RunId::parse("r1").unwrap());
    let worktrees = checkout.worktrees();
    let barrier = Barrier::new(8);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let tree = make(&worktrees, &format!("t[{number}]")).unwrap();
                write(&tree.path, &format!("own{number}.txt"), "x\n");
                write(&tree.path, "shared.txt", &format!("{number}\n"));
                let (trees, barrier) = (&trees, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let address = flow_core::ids::Address::from(&*format!("t[{number}]"));
                    let end = TreeEnd {
                        address,
                        completed: true,
                        merge: Merge::Apply,
                        message: CommitMessage::Nameless,
                        patch_to: None,
                        hold: false,
                    };
                    trees.finish(&PrivateTree::Worktree(Box::new(tree)), &end).unwrap().0.merged.unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let winners: Vec<usize> = (0..8).filter(|number| outcomes[*number].conflicts.is_empty()).collect();
    assert_eq!(winners.len(), 1);
    assert_eq!(read(checkout.root.join("shared.txt")), format!("{}\n", winners[0]));
    for outcome in outcomes.iter().filter(|outcome| !outcome.conflicts.is_empty()) {
        assert_eq!(outcome.conflicts[0].path, "shared.txt");
        assert_eq!(outcome.conflicts[0].other.as_ref().unwrap().as_str(), format!("t[{}]", winners[0]));
        assert!(outcome.files.is_empty());
    }
    assert_eq!(checkout.git(&["status", "--porcelain"]).lines().count(), 2);
}

#[test]
fn filters_of_the_person_are_undone_on_the_way_home() {
    let checkout = Checkout::new();
    checkout.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    checkout.git(&["config", "filter.up.smudge", "tr A-Z a-z"]);
    checkout.write(".gitattributes", "*.up filter=up\n");
    checkout.write("x.up", "hello\n");
    checkout.commit("filtered");
    for how in ALL {
        let worktrees = checkout.worktrees();
        let tree =
            worktrees.make(&how.as_str().into(), flow_core::ids::Attempt::FIRST, Some("dirty")).unwrap();
        let text = format!("{}\n", how.as_str());
        write(&tree.path, "x.up", &text);
        assert_eq!(conflicts(&merged(&worktrees, &tree, how)), []);
        assert_eq!(read(checkout.root.join("x.up")), text);
        checkout.git(&["commit", "-aqm", "kept", "--allow-empty"]);
    }
}

#[test]
fn without_the_program_the_library_does_the_same() {
    for how in ALL {
        let checkout = Checkout::new();
        let worktrees = checkout.worktrees_by_library();
        let tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "a.txt", "agent\n");
        write(&tree.path, "new.txt", "agent\n");
        std::fs::remove_file(tree.path.join("sub/b.txt")).unwrap();
        assert_eq!(conflicts(&merged(&worktrees, &tree, how)), []);
        let expected = if how == Merge::Apply { " M a.txt\n D sub/b.txt\n?? new.txt" } else { "" };
        assert_eq!(checkout.git(&["status", "--porcelain"]), expected);
        assert_eq!(read(checkout.root.join("new.txt")), "agent\n");
    }
}

/// A commit that was to be merged when the engine died: everything is written down, and the files are written.
fn interrupted(checkout: &Checkout, moved: bool) -> Worktrees {
    let worktrees = checkout.worktrees();
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "a.txt", "agent\n");
    write(&tree.path, "new.txt", "agent\n");
    commit_in(&tree, "work");
    let repository = worktrees.repository.open().unwrap();
    let (from, to) = (tree.start, Oid::from_str(&git(&tree.path, &["rev-parse", "HEAD"])).unwrap());
    let deltas = deltas(&repository, from, to).unwrap();
    let scratch = worktrees.scratch().unwrap();
    let changes = worktrees.changes(&worktrees.git, &deltas, (from, to), scratch.path()).unwrap();
    let branch = BranchMove {
        git_dir: path_to_text(&worktrees.repository.git_dir),
        reference: "refs/heads/main".to_owned(),
        from: from.to_string(),
        to: to.to_string(),
    };
    let landing =
        Landing::begin(&worktrees.landing_of(&tree), &checkout.root, &changes, Some(branch.clone())).unwrap();
    landing.write(&checkout.root, &changes).unwrap();
    let entries = deltas.iter().map(|delta| (delta.path.as_path(), delta.new));
    set_index(&worktrees.git, &worktrees.repository, &checkout.root, entries).unwrap();
    if moved {
        move_branch(&worktrees.git, &worktrees.repository, &branch, worktrees.patience.git).unwrap();
    }
    worktrees
}

#[test]
fn a_crash_before_the_branch_moved_is_undone_and_one_after_it_stands() {
    let checkout = Checkout::new();
    interrupted(&checkout, false);
    assert_ne!(checkout.git(&["status", "--porcelain"]), "");
    // Whoever comes next finds it.
    let worktrees = checkout.worktrees_of(&checkout.root, "r2");
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");
    assert_eq!(
        (read(checkout.root.join("a.txt")), checkout.root.join("new.txt").exists()),
        ("a\n".into(), false)
    );
    assert!(std::fs::read_dir(worktrees.home.join(LANDINGS)).unwrap().next().is_none());

    let checkout = Checkout::new();
    interrupted(&checkout, true);
    checkout.worktrees_of(&checkout.root, "r2");
    assert_eq!(
        (checkout.git(&["status", "--porcelain"]), read(checkout.root.join("a.txt"))),
        (String::new(), "agent\n".into())
    );
    assert_eq!(checkout.git(&["log", "--format=%s"]), "work\nfirst");
}

#[test]
fn a_crash_after_the_branch_moved_stands_though_somebody_has_committed_on_top() {
    let checkout = Checkout::new();
    interrupted(&checkout, true);
    let landed = read(checkout.root.join("a.txt"));
    write(&checkout.root, "later.txt", "x\n");
    checkout.commit("later");
    checkout.worktrees_of(&checkout.root, "r2");
    assert_eq!(checkout.git(&["status", "--porcelain"]), "");
    assert_eq!((read(checkout.root.join("a.txt")), checkout.root.join("new.txt").exists()), (landed, true));
}

#[test]
fn nothing_lands_on_another_branch_than_the_one_that_the_run_began_on() {
    for how in ALL {
        let checkout = Checkout::new();
        let worktrees = Worktrees { began_on: Some("main".to_owned()), ..checkout.worktrees() };
        let tree = make(&worktrees, "t").unwrap();
        write(&tree.path, "new.txt", "work\n");
        checkout.git(&["switch", "-qc", "elsewhere"]);
        checkout.write("mine.txt", "mine\n");
        let mine = checkout.commit("mine");
        let outcome = merged(&worktrees, &tree, how);
        let merged = outcome.merged.unwrap();
        let moved = Moved { from: "main".to_owned(), to: "elsewhere".to_owned() };
        assert_eq!((merged.is_refused(), merged.moved, merged.files), (true, Some(moved), vec![]));
        assert_eq!(checkout.git(&["rev-parse", "HEAD"]), mine);
        assert_eq!(checkout.git(&["status", "--porcelain"]), "");
        assert_eq!(checkout.git(&["show", &format!("{}:new.txt", outcome.branch.unwrap())]), "work");
        // Back again, it lands.
        checkout.git(&["switch", "-q", "main"]);
        let tree = make(&worktrees, "u").unwrap();
        write(&tree.path, "u.txt", "u\n");
        assert_eq!(self::merged(&worktrees, &tree, how).merged.unwrap().files, ["u.txt"]);
    }
}

#[test]
fn a_detached_checkout_stays_where_merges_land() {
    let checkout = Checkout::new();
    checkout.git(&["switch", "-q", "--detach"]);
    let worktrees = Worktrees { began_on: Some("HEAD".to_owned()), ..checkout.worktrees() };
    let tree = make(&worktrees, "t").unwrap();
    write(&tree.path, "new.txt", "work\n");
    assert_eq!(merged(&worktrees, &tree, Merge::Squash).merged.unwrap().files, ["new.txt"]);
    let tree = make(&worktrees, "u").unwrap();
    write(&tree.path, "u.txt", "work\n");
    checkout.git(&["switch", "-q", "main"]);
    let merged = merged(&worktrees, &tree, Merge::Squash).merged.unwrap();
    assert_eq!(merged.moved, Some(Moved { from: "HEAD".to_owned(), to: "main".to_owned() }));
}

/// Twenty lines, of which some say something else.
fn lines(changed: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let found = changed.iter().find(|(at, _)| *at == number).map(|(_, text)| *text);
        found.map_or_else(|| format!("{number}\n"), |text| format!("{text}\n"))
    };
    (1..=20).map(line).collect()
}

#[test]
fn siblings_that_change_other_lines_of_one_file_both_land() {
    let checkout = Checkout::new();
    checkout.write("a.txt", &lines(&[]));
    checkout.commit("lines");
    let worktrees = checkout.worktrees();
    let trees: Vec<_> = [(2, "two"), (18, "eighteen"), (2, "TWO"), (10, "ten")]
        .iter()
        .enumerate()
        .map(|(number, change)| {
            let tree = make(&worktrees, &format!("t{number}")).unwrap();
            write(&tree.path, "a.txt", &lines(&[*change]));
            tree
        })
        .collect();
    let now = || read(checkout.root.join("a.txt"));
    let mut outcomes = trees.iter().map(|tree| merged(&worktrees, tree, Merge::Apply));
    assert_eq!(outcomes.next().unwrap().merged.unwrap().files, ["a.txt"]);
    assert_eq!(outcomes.next().unwrap().merged.unwrap().files, ["a.txt"]);
    assert_eq!(now(), lines(&[(2, "two"), (18, "eighteen")]));
    let refused = outcomes.next().unwrap();
    assert_eq!(conflicts(&refused), [("a.txt", ConflictKind::Changed)]);
    assert_eq!(now(), lines(&[(2, "two"), (18, "eighteen")]));
    // What a person makes of it is theirs.
    checkout.write("a.txt", &lines(&[(2, "two"), (18, "mine")]));
    assert_eq!(conflicts(&outcomes.next().unwrap()), [("a.txt", ConflictKind::Changed)]);
    assert_eq!(now(), lines(&[(2, "two"), (18, "mine")]));
}

#[test]
fn commits_say_what_the_task_gives_them_to_say() {
    let titled = CommitMessage::Titled("Mend the cache".to_owned());
    let written = CommitMessage::Written("fix(cache): mend it\n\nWhy.".to_owned());
    for (how, message, expected) in [
        (Merge::Squash, &written, "fix(cache): mend it\n\nWhy."),
        (Merge::CherryPick, &written, "fix(cache): mend it\n\nWhy."),
        (Merge::Squash, &titled, "Mend the cache\n\nWork of fix-src-core.rs.1 in run r1."),
        (
            Merge::CherryPick,
            &titled,
            "Mend the cache\n\nWork of fix-src-core.rs.1 in run r1.\nCommitted by flow at the end of the task.",
        ),
    ] {
        let checkout = Checkout::new();
        let worktrees = checkout.worktrees();
        let tree = make(&worktrees, "fix[src/core.rs]").unwrap();
        write(&tree.path, "new.txt", "work\n");
        worktrees.settle(&tree, Way { merge: how, message }, None, false).unwrap();
        assert_eq!(checkout.git(&["log", "-1", "--format=%B"]).trim_end(), expected, "{how:?}");
    }
}
