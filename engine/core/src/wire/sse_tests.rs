use super::*;

fn decode(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
    let mut decoder = SseDecoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(decoder.push(piece).unwrap().into_iter().map(|event| (event.event, event.data)));
    }
    events
}

#[track_caller]
fn check(stream: &str, expected: &[(Option<&str>, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(event, data)| (event.map(str::to_owned), (*data).to_owned())).collect();
    let bytes = stream.as_bytes();
    for at in 0..=bytes.len() {
        assert_eq!(decode(&[&bytes[..at], &bytes[at..]]), expected, "cut at {at}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(&single), expected, "byte by byte");
}

#[test]
fn every_line_end_is_understood_and_a_cut_inside_one_changes_nothing() {
    for end in ["\n", "\r\n", "\r"] {
        let stream = ["event: a", "data: 1", "", "data: 2", "", ""].join(end);
        check(&stream, &[(Some("a"), "1"), (None, "2")]);
    }
    check("data: 1\r\ndata: 2\n\r\ndata: 3\r\r", &[(None, "1\n2"), (None, "3")]);
}

#[test]
fn a_byte_order_mark_and_comments_are_skipped() {
    check("\u{feff}: hello\n\ndata: x\n: more\n\n", &[(None, "x")]);
    check("data: a\n\n\u{feff}data: b\n\n", &[(None, "a")]);
}

#[test]
fn data_lines_join_and_one_blank_after_the_colon_goes() {
    check("data:  two\ndata:\ndata\ndata:é😀\n\n", &[(None, " two\n\n\né😀")]);
}

#[test]
fn unknown_fields_and_events_without_data_give_nothing() {
    check("id: 7\nretry: 10\nfoo: bar\nevent: lonely\n\ndata: x\n\n", &[(None, "x")]);
}

#[test]
fn an_event_without_its_blank_line_never_existed() {
    check("data: 1\n\ndata: 2\n", &[(None, "1")]);
    check("data: 1\n\ndata: 2", &[(None, "1")]);
}

#[test]
fn bytes_that_are_no_utf8_are_replaced() {
    assert_eq!(decode(&[b"data: a\xffb\n\n"]), [(None, "a\u{fffd}b".to_owned())]);
}

#[test]
fn an_event_past_the_limit_breaks_the_stream() {
    let piece = vec![b'x'; 1 << 20];
    let mut decoder = SseDecoder::default();
    decoder.push(b"data: ").unwrap();
    let failed = (0..17).find_map(|_| decoder.push(&piece).err()).unwrap();
    assert_eq!(failed.kind, ModelErrorKind::Broken);
    assert!(failed.message.contains("16 MiB"), "{}", failed.message);

    let mut decoder = SseDecoder::default();
    let mut line = b"data: ".to_vec();
    line.extend_from_slice(&piece);
    line.push(b'\n');
    assert!((0..17).any(|_| decoder.push(&line).is_err()), "many lines of one event count together");
}
