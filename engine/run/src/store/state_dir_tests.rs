use std::fs;

use super::*;

fn refused(prepare: impl FnOnce(&Path)) -> StateError {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".flow");
    prepare(&path);
    let error = StateDir::at(&path).unwrap_err();
    assert_eq!(error.to_string(), StateDir::existing(&path).unwrap_err().to_string());
    error
}

#[test]
fn a_new_state_folder_is_private_and_ignores_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".flow");
    assert!(StateDir::existing(&path).unwrap().is_none());
    StateDir::at(&path).unwrap();
    let again = StateDir::at(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_to_string(path.join(".gitignore")).unwrap(), "*\n");
    assert!(again.runs().is_dir());
}

#[test]
fn a_link_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    let error = refused(|path| std::os::unix::fs::symlink(elsewhere.path(), path).unwrap());
    assert!(matches!(error, StateError::Link { .. }) && error.is_distrust());
}

#[test]
fn a_folder_that_everyone_may_write_is_refused() {
    let error = refused(|path| {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    });
    assert!(matches!(error, StateError::WorldWritable { .. }) && error.is_distrust());
}

#[test]
fn a_folder_of_another_user_is_refused() {
    // Only root can give a folder away; for others the root folder is one that is not theirs.
    if rustix::process::geteuid().is_root() {
        let error = refused(|path| {
            fs::create_dir(path).unwrap();
            std::os::unix::fs::chown(path, Some(65534), None).unwrap();
        });
        assert!(matches!(error, StateError::OtherOwner { owner: 65534, .. }) && error.is_distrust());
    } else {
        assert!(matches!(is_ours(Path::new("/")).unwrap_err(), StateError::OtherOwner { owner: 0, .. }));
    }
}

#[test]
fn a_file_in_its_place_is_an_obstacle() {
    let error = refused(|path| fs::write(path, "").unwrap());
    assert!(matches!(error, StateError::NoFolder { .. }) && !error.is_distrust());
}

#[test]
fn a_missing_parent_is_named() {
    let error = StateDir::at(Path::new("/nowhere/at/all/.flow")).unwrap_err();
    assert_eq!(error.to_string(), "can't make the state folder `/nowhere/at/all/.flow`");
}
