use serde_json::json;

use super::*;

#[test]
fn numbers_are_kept_as_they_are_written() {
    for (text, same) in [
        ("356686000032329832", json!(356_686_000_032_329_832_i64)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("0.1", json!(0.1)),
        ("2.225073858507201e-308", json!(2.225_073_858_507_201e-308)),
        ("-0", json!(-0.0)),
        ("0e-999", json!(0.0)),
        (
            r#"{"zip": "00501", "n": "123456789012345678901234567890"}"#,
            json!({ "zip": "00501", "n": "123456789012345678901234567890" }),
        ),
        (r#"["\"1e400", "\\", 7]"#, json!(["\"1e400", "\\", 7])),
    ] {
        assert_eq!(parse_json(text), Ok(same), "{text}");
    }
}

#[test]
fn numbers_that_would_become_others_are_refused_with_their_line() {
    let refused = |text: &str| parse_json(text).unwrap_err();
    assert_eq!(
        refused("{\n\"huge\": 123456789012345678901234567890}"),
        "the number `123456789012345678901234567890` in line 2 can't be kept exactly; write it as text, in quotes"
    );
    for text in ["18446744073709551616", "[1, -9223372036854775809]", "1e-400", "{\"a\": [0.0001e-330]}"] {
        assert!(refused(text).contains("can't be kept exactly"), "{text}");
    }
    assert!(refused("1e400").contains("out of range"));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_fault() {
    assert_eq!(parse_json("\u{feff}{\"a\": 1}\r\n"), Ok(json!({ "a": 1 })));
}

#[test]
fn what_is_no_json_is_shown_by_its_beginning() {
    let said = |text: &str| parse_json(text).unwrap_err();
    assert_eq!(said("nope: 1"), "expected ident at line 1 column 2; it begins with `nope: 1`");
    assert_eq!(said(" \r\n"), "it is empty");
    let coloured = said("\u{1b}[1m{\u{1b}[0m\"a\": 1}");
    assert!(coloured.ends_with("escape sequences, as of colours: let the program print none"), "{coloured}");
    assert!(!coloured.contains('\u{1b}'), "{coloured}");
}
