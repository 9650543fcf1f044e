use serde_json::json;

use super::*;
use crate::converse::testing::call;

fn items(lines: &str) -> Vec<Item> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn result(id: &str) -> Item {
    let block = Block::ToolResult { tool_use_id: id.to_owned(), content: id.to_owned(), is_error: false };
    Item::said(Message { role: Role::User, content: vec![block] })
}

fn ids(message: &Message) -> Vec<&str> {
    message.content.iter().filter_map(result_id).collect()
}

#[test]
fn results_of_a_turn_are_one_message_in_the_order_of_its_calls() {
    let calls = ["a", "b", "c"].map(|id| call(id, "Read", json!({})));
    let asked = Item::said(Message { role: Role::Assistant, content: calls.to_vec() });
    let begun = [Item::said(Message::user("go")), asked];
    let after = |order: &[&str]| {
        Record::of(&[&begun[..], &order.iter().map(|id| result(id)).collect::<Vec<_>>()].concat())
    };
    assert_eq!(after(&[]).open_calls(), ["a", "b", "c"]);
    assert_eq!(after(&["c"]).open_calls(), ["a", "b"]);
    let record = after(&["c", "a", "b"]);
    assert_eq!((record.messages.len(), ids(&record.messages[2])), (3, vec!["a", "b", "c"]));
    assert_eq!(record.open_calls(), [""; 0]);
    assert_eq!(Record::of(&begun[..1]).open_calls(), [""; 0]);
}

#[test]
fn transcripts_of_earlier_versions_are_read() {
    let record = Record::of(&items(
        r#"{"item":"message","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"item":"message","message":{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"a","name":"Bash","input":{}},{"type":"tool_use","id":"b","name":"Read","input":{}}]}}
{"item":"turn","usage":{"turns":1,"tool_uses":2,"input_tokens":3,"output_tokens":4,"cache_read_tokens":0,"cache_write_tokens":0}}
{"item":"denied","denial":{"tool":"Bash","call":"rm x","reason":"rule"}}
{"item":"message","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true},{"type":"tool_result","tool_use_id":"b","content":"x"}]}}
{"item":"spoiled","by":"bad_calls"}
{"item":"repair"}"#,
    ));
    assert_eq!((record.usage.turns, record.usage.input_tokens, record.text.as_str()), (1, 3, "so"));
    assert_eq!((record.denials.len(), record.repairs, record.spoiled.len()), (1, 1, 1));
    assert_eq!((record.messages.len(), record.open_calls()), (3, vec![""; 0]));
}
