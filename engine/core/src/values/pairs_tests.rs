use serde_json::json;

use super::pairs;

#[test]
fn lines_and_blocks_are_read_byte_for_byte_and_the_last_of_a_name_counts() {
    for (text, read) in [
        ("", json!({})),
        ("a=1\nb=x = y\n\nc=\n", json!({ "a": "1", "b": "x = y", "c": "" })),
        ("a=1\na=2", json!({ "a": "2" })),
        ("log<<END\n one\n\na=b\nEND\nd=<<END\n", json!({ "log": " one\n\na=b", "d": "<<END" })),
        ("empty<<E\nE\n", json!({ "empty": "" })),
        ("x<<a=b\n1\na=b\n", json!({ "x": "1" })),
        ("m=<b> & \"q\" ${{ x }}\n", json!({ "m": "<b> & \"q\" ${{ x }}" })),
    ] {
        assert_eq!(pairs(text), Ok(read), "{text:?}");
    }
}

#[test]
fn a_line_that_is_no_pair_is_named_with_its_number() {
    for (text, said) in [
        ("a=1\nhello\n", "line 2 of `$FLOW_OUTPUT` (`hello`) is neither `name=value` nor `name<<END`"),
        ("log<<END\nx\n", "line 1 of `$FLOW_OUTPUT` (`log<<END`) opens a block, and no line is `END`"),
        ("log<<\nx\n", "line 1 of `$FLOW_OUTPUT` (`log<<`) names no end of its block; write `name<<END`"),
        ("a b=1\n", "line 1 of `$FLOW_OUTPUT` (`a b=1`) has no good name: letters, digits, `_` and `-`"),
        ("=1\n", "line 1 of `$FLOW_OUTPUT` (`=1`) has no good name: letters, digits, `_` and `-`"),
    ] {
        assert_eq!(pairs(text), Err(said.to_owned()));
    }
}
