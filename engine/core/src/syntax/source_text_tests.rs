use super::*;

fn check(bytes: &[u8], limit: usize, expected: Result<&str, (Code, &str)>) {
    let found = source_text("p.yaml", bytes.to_vec(), limit);
    let found = match &found {
        Ok(file) => Ok(file.text.as_str()),
        Err(diagnostic) => Err((diagnostic.code, diagnostic.message.as_str())),
    };
    assert_eq!(found, expected, "{bytes:?}");
}

#[test]
fn text_passes_with_its_byte_order_mark() {
    check("é: 1\n".as_bytes(), 9, Ok("é: 1\n"));
    check("\u{feff}a".as_bytes(), 9, Ok("\u{feff}a"));
}

#[test]
fn what_is_no_text_names_the_byte() {
    check(b"ab\xff", 9, Err((Code::NotText, "`p.yaml` isn't UTF-8: byte 2 is 0xFF")));
    check(b"\xff\xfea\0", 9, Err((Code::NotText, "`p.yaml` isn't UTF-8: byte 0 is 0xFF")));
    check(b"abc\0d", 9, Err((Code::NotText, "`p.yaml` holds a NUL at byte 3")));
}

#[test]
fn a_file_past_its_limit_is_not_looked_at() {
    check(b"\xff\xff", 1, Err((Code::TooLarge, "`p.yaml` has 2 bytes, more than the 1 bytes it may have")));
}

#[test]
fn the_place_of_a_bad_byte_is_its_line_and_column() {
    let bad = source_text("p.yaml", b"a: 1\nb: \xe9\n".to_vec(), 99).unwrap_err();
    assert_eq!(bad.labels[0].file.at(bad.labels[0].span.start), "p.yaml:2:4");
}
