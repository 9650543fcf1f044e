use std::os::unix::fs::PermissionsExt;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_atomic_write_replaces_the_content_and_leaves_nothing_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    write_atomically(&path, b"old").unwrap();
    write_atomically(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn an_atomic_write_that_fails_leaves_the_old_state() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("taken");
    fs::create_dir(&path).unwrap();
    write_atomically(&path, b"new").unwrap_err();
    assert!(path.is_dir());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn an_exclusive_file_is_never_an_existing_one_or_a_link_to_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
    assert_eq!(create_exclusively(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(create_for_append(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn private_folders_are_open_to_their_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    make_private_dirs(&dir.path().join("a/b")).unwrap();
    make_private_dir(&dir.path().join("a/b/c")).unwrap();
    assert_eq!(make_private_dir(&dir.path().join("a")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!([mode(&dir.path().join("a")), mode(&dir.path().join("a/b/c"))], [0o700, 0o700]);
}

#[test]
fn a_replaced_file_is_whole_and_private_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.md");
    replace(&path, b"old and long").unwrap();
    replace(&path, b"new").unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"new".to_vec(), 0o600));
    fs::create_dir(dir.path().join("taken")).unwrap();
    replace(&dir.path().join("taken"), b"new").unwrap_err();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}
