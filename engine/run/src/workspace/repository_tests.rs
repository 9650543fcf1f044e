use super::super::testing::{Checkout, git};
use super::*;

#[test]
fn a_place_is_none_without_commits_or_ready() {
    let folder = tempfile::TempDir::new().unwrap();
    assert_eq!((git_place(folder.path()), depth(folder.path())), (GitPlace::None, 0));
    git(folder.path(), &["init", "-q"]);
    assert_eq!(git_place(folder.path()), GitPlace::NoCommits);
    let checkout = Checkout::new();
    assert_eq!(git_place(&checkout.root), GitPlace::Ready);
    assert_eq!(git_place(&checkout.root.join("sub")), GitPlace::Ready);
    assert_eq!((depth(&checkout.root), depth(&checkout.root.join("sub"))), (0, 1));
    checkout.git(&["checkout", "-q", "--detach"]);
    assert_eq!(git_place(&checkout.root), GitPlace::Ready);
}

#[test]
fn a_linked_worktree_shares_the_main_repository_and_has_a_head_of_its_own() {
    let checkout = Checkout::new();
    let linked = checkout.folder.path().join("linked");
    checkout.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "l"]);
    git(&linked, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let (main, other) =
        (Repository::discover(&checkout.root).unwrap(), Repository::discover(&linked).unwrap());
    assert_eq!(main.common, other.common);
    assert_eq!(main.key(), other.key());
    assert!(main.key().starts_with("project-"), "{}", main.key());
    assert_eq!(other.commit(None).unwrap().to_string(), git(&linked, &["rev-parse", "HEAD"]));
    assert_ne!(main.commit(None).unwrap(), other.commit(None).unwrap());
    assert_eq!(other.commit(Some("main")).unwrap(), main.commit(Some("head")).unwrap());
}

#[test]
fn a_revision_that_names_nothing_is_named_in_the_error() {
    let checkout = Checkout::new();
    let repository = Repository::discover(&checkout.root).unwrap();
    let error = repository.commit(Some("no-such-branch")).unwrap_err();
    let line = "`base: no-such-branch` names no commit: revspec 'no-such-branch' not found";
    assert_eq!(error.one_line(), line);
}

#[test]
fn the_author_is_the_person_or_flow() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("config");
    let of = |text: &str| {
        std::fs::write(&file, text).unwrap();
        author(&git2::Config::open(&file).unwrap()).unwrap().to_string()
    };
    assert_eq!(of(""), "flow <flow@localhost>");
    assert_eq!(of("[user]\nname = Ada\n"), "flow <flow@localhost>");
    assert_eq!(of("[user]\nname = Ada\nemail = ada@example.org\n"), "Ada <ada@example.org>");
}
