use super::super::testing::Checkout;
use super::*;

/// What a change of a repository comes to.
fn changed(change: impl FnOnce(&Checkout)) -> String {
    let checkout = Checkout::new();
    checkout.write("a.txt", "dirty\n");
    checkout.write("new.txt", "new\n");
    let before = Snapshot::of(&checkout.root.join("sub")).unwrap();
    change(&checkout);
    before.differences(&Snapshot::of(&checkout.root).unwrap()).join(" ")
}

#[test]
fn a_repository_is_as_it_was_while_files_and_head_are() {
    assert_eq!(changed(|_| {}), "");
    assert_eq!(changed(|checkout| checkout.write("a.txt", "dirty\n")), "", "the same once more");
    assert_eq!(changed(|checkout| checkout.write("ignored.tmp", "x")), "");
    assert_eq!(changed(|checkout| checkout.write("a.txt", "other\n")), "a.txt");
    assert_eq!(changed(|checkout| checkout.write("a.txt", "a\n")), "a.txt", "clean again is a change too");
    assert_eq!(changed(|checkout| checkout.write("sub/b.txt", "x")), "sub/b.txt");
    assert_eq!(changed(|checkout| std::fs::remove_file(checkout.root.join("new.txt")).unwrap()), "new.txt");
    assert_eq!(changed(|checkout| drop(checkout.commit("all"))), "HEAD a.txt new.txt");
}

#[test]
fn a_folder_without_a_repository_is_compared_file_by_file() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(dir.path().join(path), text).unwrap();
    write("a", "1");
    write("b", "1");
    std::fs::create_dir(dir.path().join(".flow")).unwrap();
    let before = Snapshot::of(dir.path()).unwrap();
    write(".flow/journal", "grows");
    assert_eq!(before.differences(&Snapshot::of(dir.path()).unwrap()), [""; 0]);
    write("a", "2");
    write("c", "");
    std::fs::remove_file(dir.path().join("b")).unwrap();
    assert_eq!(before.differences(&Snapshot::of(dir.path()).unwrap()), ["a", "b", "c"]);
}
