use super::*;

#[test]
fn lines_lose_their_ends_and_nothing_else() {
    let mut reader = "a\r\n\nb".as_bytes();
    let mut lines = Vec::new();
    while let Some(line) = next_line(&mut reader, 100).unwrap() {
        lines.push(line.text);
    }
    assert_eq!(lines, ["a", "", "b"]);
}

#[test]
fn a_line_is_kept_only_as_far_as_asked() {
    let text = "x".repeat(1_000_000) + "\nnext";
    let mut reader = std::io::BufReader::with_capacity(64, text.as_bytes());
    let line = next_line(&mut reader, 10).unwrap().unwrap();
    assert_eq!((line.text.as_str(), line.cut), ("xxxxxxxxxx", 999_990));
    assert_eq!(next_line(&mut reader, 10).unwrap().unwrap().text, "next");
}

#[test]
fn a_cut_says_what_is_missing_and_splits_no_character() {
    assert_eq!(clip("äöü", 3, 0), "äöü");
    assert_eq!(clip("äöü", 2, 5), "äö… (7 more bytes)");
}

#[test]
fn both_ends_of_a_stream_survive_in_any_pieces() {
    let text: Vec<u8> = (b'a'..=b'z').collect();
    for size in 1..=text.len() {
        let mut ends = Ends::new(4);
        text.chunks(size).for_each(|piece| ends.push(piece));
        assert_eq!(ends.text(), "abcd\n… 18 bytes left out …\nwxyz", "{size}");
    }
    let mut ends = Ends::new(4);
    ends.push(b"abcdefgh");
    assert_eq!(ends.text(), "abcdefgh");
}
