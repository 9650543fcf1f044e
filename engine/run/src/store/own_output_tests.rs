use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use flow_core::ids::Millis;

use super::super::{Slots, StateDir};
use super::*;

/// A run whose slot two commands have written to, and what each of them wrote.
fn two_of_one_slot() -> (tempfile::TempDir, RunFolder, [OutputSlice; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    let mut slots = Slots::new(&run, 1);
    let written = ["first\n", "second\n"].map(|text| {
        let files = slots.open(0).unwrap();
        files.stdout.file().write_all(text.as_bytes()).unwrap();
        files.stdout.slice(text.len() as u64).unwrap().unwrap()
    });
    (dir, run, written)
}

#[test]
fn two_commands_of_one_slot_have_each_its_own_output_alone() {
    let (_dir, run, [first, second]) = two_of_one_slot();
    assert_eq!(first.file, second.file);
    for (slice, file, text) in
        [(&first, "tasks/a/output.1", "first\n"), (&second, "tasks/b/output.2", "second\n")]
    {
        let path = give_own_file(&run, slice, file).unwrap();
        assert_eq!(path, run.path().join(file));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        // Who comes next finds it.
        let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&path.metadata().unwrap());
        let before = inode(&path);
        assert_eq!(inode(&give_own_file(&run, slice, file).unwrap()), before);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn an_output_that_is_not_what_was_written_is_not_handed_on() {
    let (_dir, run, [first, _]) = two_of_one_slot();
    std::fs::write(run.path().join(&first.file), "other\nsecond\n").unwrap();
    assert!(matches!(give_own_file(&run, &first, "tasks/a/output.1"), Err(OutputError::Changed { .. })));
    std::fs::write(run.path().join(&first.file), "fir").unwrap();
    assert!(matches!(give_own_file(&run, &first, "tasks/a/output.1"), Err(OutputError::Shorter { .. })));
    std::fs::remove_file(run.path().join(&first.file)).unwrap();
    assert!(matches!(give_own_file(&run, &first, "tasks/a/output.1"), Err(OutputError::Gone { .. })));
    assert!(!run.path().join("tasks").exists());
}

#[test]
fn no_file_outside_of_the_run_folder_is_written() {
    let (dir, run, [first, _]) = two_of_one_slot();
    let outside = dir.path().join("out").display().to_string();
    for file in ["../out", "tasks/../../out", outside.as_str()] {
        assert!(matches!(give_own_file(&run, &first, file), Err(OutputError::Io { .. })), "{file}");
    }
}

#[test]
fn a_copy_that_somebody_changed_is_made_again() {
    let (_dir, run, [first, _]) = two_of_one_slot();
    let path = give_own_file(&run, &first, "tasks/a/output.1").unwrap();
    std::fs::write(&path, "other!\n").unwrap();
    give_own_file(&run, &first, "tasks/a/output.1").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first\n");
}

#[test]
fn what_has_a_file_of_its_own_already_stays_in_it() {
    let (_dir, run, [first, second]) = two_of_one_slot();
    assert_eq!(give_own_file(&run, &second, &second.file).unwrap(), run.path().join(&first.file));
    assert_eq!(std::fs::read_to_string(run.path().join(&first.file)).unwrap(), "first\nsecond\n");
}
