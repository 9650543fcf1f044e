use serde_json::json;

use super::super::testing::Journal;
use super::*;
use crate::event::Event;
use crate::model::RunStatus;

fn shown(outputs: Value) -> String {
    let mut journal = Journal::of(&[]);
    journal.add(Event::RunEnded {
        status: RunStatus::Completed,
        exit: 0,
        outputs: Some(outputs),
        message: None,
    });
    let mut out = String::new();
    super::outputs(&mut out, &journal.report());
    out.trim_matches('\n').to_owned()
}

#[test]
fn a_text_is_a_text_and_a_list_a_list() {
    insta::assert_snapshot!(shown(json!({
        "page": "# News\n\n- one\n- two",
        "log": "a  1\nb  2",
        "verdict": "PASS",
        "count": 3,
        "nothing": null,
        "areas": ["auth", "snake_case", ""],
        "long": ["a".repeat(120), "b".repeat(120)],
        "none": [],
    })), @r"
    **page**

    > # News
    >
    > - one
    > - two

    **log**

    ```text
    a  1
    b  2
    ```

    **verdict**: PASS

    **count**: 3

    **nothing**: *none*

    **areas**: auth, snake_case, *empty*

    **long**

    - aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    - bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb

    **none**: *empty*
    ");
}

#[test]
fn a_list_of_objects_is_a_table() {
    insta::assert_snapshot!(shown(json!({
        "findings": [
            { "file": "a.py", "line": 3, "what": "an empty | token\npasses" },
            { "file": "b.py", "line": 10, "fix": null },
        ],
    })), @r"
    **findings**

    | file | line | what | fix |
    |---|---:|---|---|
    | a.py | 3 | an empty \| token passes |  |
    | b.py | 10 |  | *none* |
    ");
}

#[test]
fn objects_are_lists_of_their_keys_however_deep() {
    insta::assert_snapshot!(shown(json!({
        "result": {
            "verdict": "BLOCK",
            "by": { "name": "x", "tags": ["a", "b"] },
            "notes": [{ "text": "t".repeat(500) }, 3],
        },
    })), @r"
    **result**

    - verdict: BLOCK

    **result.by**

    - name: x

    **result.by.tags**: a, b

    **result.notes\[0].text**

    > tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt

    **result.notes\[1]**: 3
    ");
    let deep = json!({ "a": { "b": { "c": { "d": { "e": 1 } } } } });
    insta::assert_snapshot!(shown(deep), @r#"
    **a.b.c.d**

    ```json
    {
      "e": 1
    }
    ```
    "#);
}

#[test]
fn a_run_that_did_not_get_so_far_has_no_outputs() {
    assert_eq!(shown(json!({ "a": null, "b": null })), "");
    assert_eq!(shown(json!({})), "");
}

#[test]
fn what_is_too_long_says_how_much_there_is() {
    let text = format!("{}\n{}", "a".repeat(LONG), "b".repeat(10));
    assert!(shown(json!({ "t": text })).ends_with("(11 bytes more)"));
    let many: Vec<u32> = (0..150).collect();
    assert!(shown(json!({ "n": many })).ends_with("- 99\n\nand 50 more"));
}
