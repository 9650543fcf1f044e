use super::*;

const SECRET: &str = "s3cr&t 'x'\"+/?";

fn masked(pieces: &[&[u8]]) -> String {
    let mask = Mask::new([SECRET]);
    let mut copy = MaskedCopy::new(&mask);
    let mut out = Vec::new();
    pieces.iter().for_each(|piece| copy.push(piece, &mut out));
    copy.finish(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn every_usual_form_is_masked() {
    let check = |form: &str| {
        let text = format!("a {form} z");
        assert_eq!(Mask::new([SECRET]).apply(&text), "a *** z", "{form}");
    };
    check(SECRET);
    check(r#"s3cr&t 'x'\"+/?"#);
    check("s3cr&amp;t 'x'\"+/?");
    check(r#"s3cr&t '\''x'\''"+/?"#);
    check("s3cr%26t%20%27x%27%22%2B%2F%3F");
    check("s3cr%26t+%27x%27%22%2B%2F%3F");
    check("73336372267420277827222b2f3f");
    check("73336372267420277827222B2F3F");
}

#[test]
fn base64_is_masked_wherever_the_secret_stands_in_it() {
    // printf 'SECRET', 'aSECRETb', 'aaSECRETbb' | base64
    for text in ["czNjciZ0ICd4JyIrLz8=", "YXMzY3ImdCAneCciKy8/Yg==", "YWFzM2NyJnQgJ3gnIisvP2Ji"] {
        let shown = Mask::new([SECRET]).apply(text).into_owned();
        assert!(shown.contains("***") && shown.len() < 13, "{shown}");
        let url = text.replace('/', "_").replace('+', "-");
        assert!(Mask::new([SECRET]).apply(&url).contains("***"));
    }
}

#[test]
fn a_secret_is_masked_however_the_stream_is_cut() {
    let text = format!("a{SECRET}b{SECRET}");
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let bytes = text.as_bytes();
            assert_eq!(masked(&[&bytes[..first], &bytes[first..second], &bytes[second..]]), "a***b***");
        }
    }
}

#[test]
fn what_only_begins_like_a_secret_comes_through_and_other_text_is_not_held_back() {
    assert_eq!(masked(&[b"s3cr", b"ewdriver ", b"s3c"]), "s3crewdriver s3c");
    let mask = Mask::new([SECRET]);
    let mut copy = MaskedCopy::new(&mask);
    let mut out = Vec::new();
    copy.push(b"prompt> s3", &mut out);
    assert_eq!(out, b"prompt> ");
}

#[test]
fn a_longer_secret_that_begins_with_another_is_masked_whole() {
    let mask = Mask::new(["secret", "secret-and-more"]);
    let mut copy = MaskedCopy::new(&mask);
    let mut out = Vec::new();
    ["a secret", "-and", "-more, a secret", "-and then"]
        .iter()
        .for_each(|piece| copy.push(piece.as_bytes(), &mut out));
    copy.finish(&mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "a ***, a ***-and then");
}

#[test]
fn lines_of_a_secret_are_masked_each_and_trimmed() {
    let mask = Mask::new(["  -----BEGIN-----\n  first-line\n  ab\n"]);
    assert_eq!(mask.apply("x first-line y -----BEGIN----- ab"), "x *** y *** ab");
}

#[test]
fn short_secrets_and_none_mask_nothing() {
    assert_eq!(Mask::new(["12345", ""]).apply("12345"), "12345");
    assert_eq!(Mask::new([]).apply("anything"), "anything");
    assert_eq!(Mask::new(["123456"]).apply("123456"), "***");
}

#[test]
fn bytes_that_are_no_text_pass_the_mask_unchanged() {
    let mask = Mask::new([SECRET]);
    let bytes: Vec<u8> = (0..=255).collect();
    let mut copy = MaskedCopy::new(&mask);
    let mut out = Vec::new();
    copy.push(&bytes, &mut out);
    copy.finish(&mut out);
    assert_eq!(out, bytes);
}
