use flow_core::ids::Millis;
use flow_core::text::tail_lines;

use super::super::StateDir;
use super::*;

/// A run whose one output file holds other things around the slice.
fn with_output<T>(text: &[u8], look: impl FnOnce(&RunFolder, &OutputSlice) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join(".flow")).unwrap();
    let run = RunFolder::create(&state, Millis(0)).unwrap();
    let around = [b"before\n".as_slice(), text, b"after\n"].concat();
    std::fs::write(run.out().join("0.out"), around).unwrap();
    look(&run, &OutputSlice::new("out/0.out", 7, text.len() as u64))
}

fn tail(text: &str, lines: usize) -> String {
    String::from_utf8(with_output(text.as_bytes(), |run, slice| tail_of_slice(run, slice, lines).unwrap()))
        .unwrap()
}

#[test]
fn a_range_is_counted_from_the_slice_and_cut_to_it() {
    let read =
        |range: Range<u64>| with_output(b"0123456789", |run, slice| read_slice(run, slice, range).unwrap());
    assert_eq!(read(0..10), b"0123456789");
    assert_eq!(read(2..4), b"23");
    assert_eq!(read(8..u64::MAX), b"89");
    assert_eq!(read(20..30), b"");
    assert_eq!(read(4..4), b"");
}

#[test]
fn bytes_that_are_no_text_come_back_as_they_are() {
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(with_output(&bytes, |run, slice| read_slice(run, slice, 0..256).unwrap()), bytes);
}

#[test]
fn a_file_shorter_than_its_slice_gives_what_there_is() {
    with_output(b"abc", |run, slice| {
        let longer = OutputSlice { len: 1000, ..slice.clone() };
        assert_eq!(read_slice(run, &longer, 0..1000).unwrap(), b"abcafter\n");
        let beyond = OutputSlice { start: 1000, ..longer };
        assert_eq!(read_slice(run, &beyond, 0..1000).unwrap(), b"");
        assert_eq!(tail_of_slice(run, &beyond, 3).unwrap(), b"");
    });
}

#[test]
fn a_slice_outside_of_the_run_is_refused() {
    with_output(b"", |run, slice| {
        let bad = OutputSlice { file: "../../../etc/passwd".into(), ..slice.clone() };
        assert!(read_slice(run, &bad, 0..1).is_err());
        assert!(tail_of_slice(run, &bad, 1).is_err());
    });
}

#[test]
fn a_tail_agrees_with_the_one_of_a_text_in_memory() {
    let long: String = (0..9000).map(|number| format!("line {number}\n")).collect();
    for text in ["", "\n", "a", "a\n", "a\nb", "a\nb\n", "\n\n\n", "a\n\nb\n", &long, long.trim_end()] {
        for lines in [0, 1, 2, 3, 40, 8999, 9000, 9001] {
            let expected = tail_lines(text, lines);
            assert_eq!(tail(text, lines).trim_end_matches('\n'), expected.trim_end_matches('\n'), "{lines}");
        }
    }
}

#[test]
fn a_line_without_end_is_cut_to_a_mebibyte() {
    let long = "x".repeat(3 * 1024 * 1024);
    assert_eq!(tail(&long, 1).len(), 1024 * 1024);
}
