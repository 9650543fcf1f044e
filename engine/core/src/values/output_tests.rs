use std::sync::Arc;

use serde_json::json;

use super::*;

#[test]
fn text_stays_itself_and_lines_and_json_become_values() {
    assert_eq!(settle_output(&Output::Text, "{}"), Ok(None));
    assert_eq!(settle_output(&Output::Lines, "a\n\nb\n"), Ok(Some(json!(["a", "", "b"]))));
    assert_eq!(settle_output(&Output::Lines, ""), Ok(Some(json!([]))));
    assert_eq!(settle_output(&Output::Json, " {\"a\": [1]} \n"), Ok(Some(json!({ "a": [1] }))));
}

#[test]
fn what_is_no_json_or_too_much_of_it_says_where() {
    for (text, says) in [
        ("", "empty"),
        ("  \n", "empty"),
        ("{", "line 1"),
        ("1 2", "trailing"),
        ("1e400", "number out of range"),
        ("nope", "expected"),
    ] {
        let error = settle_output(&Output::Json, text).unwrap_err();
        assert!(error.contains(says), "{text:?}: {error}");
    }
    let deep = "[".repeat(100_000);
    assert!(settle_output(&Output::Json, &deep).is_err(), "and no stack overflow");
}

#[test]
fn a_schema_says_what_does_not_fit_and_where() {
    let schema =
        json!({ "type": "object", "required": ["v"], "properties": { "v": { "enum": ["a", "b"] } } });
    let form = Output::Schema(Arc::new(schema));
    assert_eq!(settle_output(&form, r#"{"v": "a"}"#), Ok(Some(json!({ "v": "a" }))));
    let error = settle_output(&form, r#"{"v": "c"}"#).unwrap_err();
    assert!(error.contains("`/v`"), "{error}");
    assert!(settle_output(&form, "{}").unwrap_err().contains("required"));
}
