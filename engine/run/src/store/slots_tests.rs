use std::io::Write;

use flow_core::ids::Millis;
use flow_core::model::Digest;

use super::super::{StateDir, read_slice};
use super::*;

fn run() -> (tempfile::TempDir, RunFolder) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    (dir, run)
}

/// Plays an attempt that prints a text; returns its part of the file.
fn attempt(slots: &mut Slots, slot: u32, text: &str) -> OutputSlice {
    let files = slots.open(slot).unwrap();
    files.stdout.file().write_all(text.as_bytes()).unwrap();
    assert_eq!(files.stdout.written().unwrap(), text.len() as u64);
    assert_eq!(files.stderr.written().unwrap(), 0);
    let slice = files.stdout.slice(text.len() as u64).unwrap().unwrap();
    assert_eq!(slice.hash, (!text.is_empty()).then(|| Digest::of(text.as_bytes())));
    OutputSlice { hash: None, ..slice }
}

fn slice(file: &str, start: u64, len: u64) -> OutputSlice {
    OutputSlice::new(file, start, len)
}

#[test]
fn attempts_of_a_slot_share_its_files_one_after_the_other() {
    let (_dir, run) = run();
    let mut slots = Slots::new(&run, 2);
    assert_eq!(attempt(&mut slots, 0, "one"), slice("out/0.out", 0, 3));
    assert_eq!(attempt(&mut slots, 1, "two"), slice("out/1.out", 0, 3));
    let third = attempt(&mut slots, 0, "three");
    assert_eq!(third, slice("out/0.out", 3, 5));
    assert_eq!(read_slice(&run, &third, 0..u64::MAX).unwrap(), b"three");
    assert_eq!(std::fs::read_dir(run.out()).unwrap().count(), 4);
}

#[test]
fn a_slot_beyond_the_count_works_too() {
    let (_dir, run) = run();
    assert_eq!(attempt(&mut Slots::new(&run, 1), 7, "x"), slice("out/7.out", 0, 1));
}

#[test]
fn retired_files_get_no_further_attempt() {
    let (_dir, run) = run();
    let mut slots = Slots::new(&run, 1);
    slots.open(0).unwrap().retire();
    assert_eq!(attempt(&mut slots, 0, "x"), slice("out/0.1.out", 0, 1));
    assert_eq!(attempt(&mut slots, 0, "y"), slice("out/0.1.out", 1, 1));
}

#[test]
fn big_files_get_no_further_attempt() {
    let (_dir, run) = run();
    let mut slots = Slots::new(&run, 1);
    slots.rotate_at = 4;
    assert_eq!(attempt(&mut slots, 0, "123"), slice("out/0.out", 0, 3));
    assert_eq!(attempt(&mut slots, 0, "456"), slice("out/0.out", 3, 3));
    assert_eq!(attempt(&mut slots, 0, "789"), slice("out/0.1.out", 0, 3));
}

#[test]
fn files_of_an_earlier_engine_are_never_taken_over() {
    let (_dir, run) = run();
    attempt(&mut Slots::new(&run, 1), 0, "old");
    assert_eq!(attempt(&mut Slots::new(&run, 1), 0, "new"), slice("out/0.1.out", 0, 3));
}

#[test]
fn an_attempts_output_can_be_cut_without_touching_what_was_before() {
    let (_dir, run) = run();
    let mut slots = Slots::new(&run, 1);
    attempt(&mut slots, 0, "before");
    let files = slots.open(0).unwrap();
    files.stdout.file().write_all(b"0123456789").unwrap();
    files.stdout.cut(4).unwrap();
    assert_eq!(files.stdout.written().unwrap(), 4);
    assert_eq!(std::fs::read(run.resolve("out/0.out").unwrap()).unwrap(), b"before0123");
}

#[test]
fn files_that_lost_their_names_get_no_further_attempt() {
    let (_dir, run) = run();
    let mut slots = Slots::new(&run, 1);
    attempt(&mut slots, 0, "lost");
    std::fs::remove_file(run.out().join("0.err")).unwrap();
    assert_eq!(attempt(&mut slots, 0, "kept"), slice("out/0.1.out", 0, 4));
}

#[test]
fn what_an_attempt_wrote_is_unknown_once_its_file_was_cut_off_under_it() {
    let cases: [(&str, &str, &str); 3] = [
        ("first attempt ", "ours", ""),
        ("first attempt ", "ours", "longer than all that was before"),
        ("", "ours", ""),
    ];
    for (before, ours, after) in cases {
        let (_dir, run) = run();
        let mut slots = Slots::new(&run, 1);
        attempt(&mut slots, 0, before);
        let files = slots.open(0).unwrap();
        let mut file = files.stdout.file();
        file.write_all(ours.as_bytes()).unwrap();
        file.set_len(0).unwrap();
        file.write_all(after.as_bytes()).unwrap();
        let len = if before.is_empty() { 4 } else { files.stdout.written().unwrap() };
        assert_eq!(files.stdout.slice(len).unwrap(), None, "{before:?} {after:?}");
    }
}
