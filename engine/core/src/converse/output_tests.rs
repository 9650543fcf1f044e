use std::sync::Arc;

use super::*;

fn schema(schema: Value) -> Form {
    Form::new(&OutputForm::Schema(Arc::new(schema))).unwrap()
}

#[track_caller]
fn check(form: &Form, text: &str, expected: Result<Value, &str>) {
    match (form.read(text), expected) {
        (Ok(Fit::Value(value)), Ok(expected)) => assert_eq!(value, expected, "{text}"),
        (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
        (read, expected) => panic!("{text}: {read:?} instead of {expected:?}"),
    }
}

#[test]
fn lines_lose_their_last_newlines_only() {
    check(&Form::Lines, "a\n\nb\n\n", Ok(json!(["a", "", "b"])));
    check(&Form::Lines, "a\r\nb", Ok(json!(["a", "b"])));
    assert_eq!(Form::Text.read("x\n"), Ok(Fit::Text));
}

#[test]
fn a_text_that_is_or_fences_one_json_value_counts() {
    for text in [
        " {\"a\": 1} \n",
        "```json\n{\"a\": 1}\n```",
        "Here it is:\n\n```\n{\"a\":\n1}\n```\nDone.",
        "````json\n{\"a\": 1}\n````",
        "```sh\nls\n```\n```json\n{\"a\": 1}\n```",
    ] {
        check(&Form::Json, text, Ok(json!({ "a": 1 })));
    }
    check(&Form::Json, "null", Ok(Value::Null));
    check(&Form::Json, "```\n\"a ``` b\"\n```", Ok(json!("a ``` b")));
}

#[test]
fn a_text_that_does_not_settle_on_one_value_is_refused() {
    check(&Form::Json, "it passes", Err("no JSON value: it begins with `it passes`"));
    check(&Form::Json, "\nnope again", Err("no JSON value: it begins with `nope again`"));
    check(&Form::Json, "{\"a\": 1} and more", Err("trailing characters"));
    check(&Form::Json, "```\n1\n```\n```\n2\n```", Err("fences 2 JSON values"));
    check(&Form::Json, "```json\n{\"a\": 1}", Err("no JSON value"));
    check(&Form::Json, "```json\n{\"a\": }\n```", Err("the fenced text is no JSON value"));
    check(&Form::Json, "{\"a\": 1, \"a\": 2}", Err("`a` stands twice"));
    check(&Form::Json, "1e400", Err("out of range"));
    check(&Form::Json, &"[".repeat(100_000), Err("recursion limit"));
}

#[test]
fn a_schema_names_what_does_not_fit() {
    let form = schema(json!({
        "type": "object", "required": ["verdict"],
        "properties": { "verdict": { "enum": ["pass", "fail"] }, "n": { "type": "integer" } },
    }));
    check(&form, "{\"verdict\": \"pass\"}", Ok(json!({ "verdict": "pass" })));
    check(&form, "{\"n\": \"x\"}", Err("\"verdict\" is a required property"));
    check(&form, "{\"verdict\": \"pass\", \"n\": \"x\"}", Err("at `/n`"));
    let many = schema(json!({ "items": { "type": "string" } }));
    let error = many.read("[0,1,2,3,4,5,6,7,8,9,10,11]").unwrap_err();
    assert!(error.contains("/9") && !error.contains("/10") && error.ends_with("and more"), "{error}");
}

#[test]
fn an_answer_that_is_no_object_is_handed_in_as_one_field() {
    let list = json!({
        "type": "array", "items": { "$ref": "#/$defs/name" }, "$defs": { "name": { "type": "string" } },
    });
    let Form::Schema(form) = schema(list) else { panic!() };
    assert_eq!(
        for_tool(&form.schema),
        json!({
            "type": "object", "required": ["value"], "additionalProperties": false,
            "$defs": { "name": { "type": "string" } },
            "properties": { "value": { "type": "array", "items": { "$ref": "#/$defs/name" } } },
        })
    );
    assert_eq!(form.hand_in(&json!({ "value": ["a"] })), Ok(json!(["a"])));
    assert!(form.hand_in(&json!({ "value": [1] })).is_err());
    assert!(form.hand_in(&json!({ "value": ["a"], "more": 1 })).is_err());
    assert!(form.hand_in(&json!("[]")).is_err());
}

#[test]
fn a_schema_that_reaches_out_cannot_be_used() {
    let outside = OutputForm::Schema(Arc::new(json!({ "$ref": "https://example.com/schema.json" })));
    assert!(Form::new(&outside).is_err());
}
