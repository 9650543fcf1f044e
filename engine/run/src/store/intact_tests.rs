use std::fs;

use flow_core::ids::Millis;

use super::super::StateDir;
use super::*;

/// A run whose output file holds other things around an output, and the output.
fn with_output(text: &[u8], look: impl FnOnce(&RunFolder, &OutputSlice)) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    fs::write(run.out().join("0.out"), [b"before\n", text, b"after\n"].concat()).unwrap();
    let slice = OutputSlice::new("out/0.out", 7, text.len() as u64).with_hash(Digest::of(text));
    look(&run, &slice);
}

fn fault(result: Result<impl std::fmt::Debug, OutputError>, run: &RunFolder) -> String {
    result.unwrap_err().to_string().replace(&format!("{}/", run.path().display()), "")
}

#[test]
fn what_was_written_is_read_whole() {
    let long = vec![b'x'; 3 * BLOCK + 1];
    for text in [b"".as_slice(), b"precious\n", &[0, 255, 10], &long] {
        with_output(text, |run, slice| {
            assert_eq!(read_whole(run, slice).unwrap(), text);
            check_slice(run, slice, u64::MAX).unwrap();
        });
    }
}

#[test]
fn a_file_that_is_gone_is_no_empty_output() {
    for text in [b"".as_slice(), b"precious"] {
        with_output(text, |run, slice| {
            fs::remove_file(run.out().join("0.out")).unwrap();
            assert_eq!(fault(read_whole(run, slice), run), "`out/0.out` is gone");
            assert_eq!(fault(check_slice(run, slice, 0), run), "`out/0.out` is gone");
        });
    }
}

#[test]
fn a_file_that_was_cut_off_is_no_shorter_output() {
    with_output(b"precious", |run, slice| {
        for (length, there) in [(14, 7), (7, 0), (0, 0)] {
            let file = File::options().write(true).open(run.out().join("0.out")).unwrap();
            file.set_len(length).unwrap();
            let expected = format!("`out/0.out` was cut off: {there} of 8 bytes are left");
            assert_eq!(fault(read_whole(run, slice), run), expected);
            assert_eq!(fault(check_slice(run, slice, 0), run), expected);
        }
    });
}

#[test]
fn other_bytes_in_the_same_place_are_no_output_unless_nobody_noted_the_first() {
    with_output(b"precious", |run, slice| {
        fs::write(run.out().join("0.out"), "before\npreCious").unwrap();
        let expected = "`out/0.out` was changed after the task had written it";
        assert_eq!(fault(read_whole(run, slice), run), expected);
        assert_eq!(fault(check_slice(run, slice, 8), run), expected);
        check_slice(run, slice, 7).unwrap();
        let old = OutputSlice { hash: None, ..slice.clone() };
        assert_eq!(read_whole(run, &old).unwrap(), b"preCious");
    });
}

#[test]
fn what_stands_before_and_behind_an_output_is_not_its_own() {
    with_output(b"precious", |run, slice| {
        fs::write(run.out().join("0.out"), "BEFORE\npreciousAFTER and more").unwrap();
        assert_eq!(read_whole(run, slice).unwrap(), b"precious");
    });
}

#[test]
fn a_kept_file_must_be_as_long_as_it_was_and_hold_the_same() {
    with_output(b"", |run, _| {
        let path = run.out().join("kept.txt");
        let artifact = |hash| Artifact { path: "a".into(), file: "out/kept.txt".into(), bytes: 4, hash };
        let (old, new) = (artifact(None), artifact(Some(Digest::of(b"kept"))));
        for (text, right) in [("kept", [true, true]), ("KEPT", [true, false]), ("kept!", [false, false])] {
            fs::write(&path, text).unwrap();
            let found = [&old, &new].map(|artifact| check_artifact(run, artifact).is_ok());
            assert_eq!(found, right, "{text}");
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(fault(check_artifact(run, &old), run), "`out/kept.txt` is gone");
    });
}

#[test]
fn a_reader_that_hashes_gives_the_hash_of_what_it_read() {
    let mut reader = Hashing::new(b"some text".as_slice());
    io::copy(&mut reader, &mut io::sink()).unwrap();
    assert_eq!(reader.digest(), Digest::of(b"some text"));
}
