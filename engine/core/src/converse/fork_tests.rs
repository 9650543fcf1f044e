use serde_json::json;

use super::*;
use crate::model::Usage;

fn user(text: &str) -> Item {
    Item::Message { message: Message::user(text) }
}

fn assistant(text: &str, calls: &[&str]) -> Item {
    let mut content = vec![Block::Text { text: text.to_owned() }];
    content.extend(calls.iter().map(|id| Block::ToolUse {
        id: (*id).to_owned(),
        name: "Read".to_owned(),
        input: json!({ "file_path": "a" }),
    }));
    Item::Message { message: Message { role: Role::Assistant, content } }
}

fn results(ids: &[&str]) -> Item {
    let content = ids.iter().map(|id| Block::ToolResult {
        tool_use_id: (*id).to_owned(),
        content: "real".to_owned(),
        is_error: false,
    });
    Item::Message { message: Message { role: Role::User, content: content.collect() } }
}

fn bytes(items: &[Item]) -> String {
    serde_json::to_string(items).unwrap()
}

#[test]
fn a_fork_of_a_finished_conversation_goes_on_behind_its_last_text() {
    let parent =
        [user("go"), Item::Turn { usage: Usage { turns: 1, ..Usage::default() } }, assistant("done", &[])];
    let forked = fork(&parent, "And now?").unwrap();
    assert_eq!(forked, [user("go"), assistant("done", &[]), user("And now?")]);
}

#[test]
fn every_call_of_the_last_message_gets_the_same_placeholder_whether_it_had_come_back_or_not() {
    let open = [user("go"), assistant("looking", &["1", "2"])];
    let answered = [&open[..], &[results(&["1", "2"])]].concat();
    let (one, two) = (fork(&open, "first").unwrap(), fork(&answered, "second").unwrap());
    assert_eq!(bytes(&one).replace("first", "?"), bytes(&two).replace("second", "?"));
    let Item::Message { message } = &one[2] else { panic!("a message") };
    let placeholders = message.content.iter().filter(
        |block| matches!(block, Block::ToolResult { content, is_error: false, .. } if content == PLACEHOLDER),
    );
    assert_eq!((placeholders.count(), message.content.len()), (2, 3));
}

#[test]
fn earlier_results_stay_as_they_were() {
    let parent = [user("go"), assistant("a", &["1"]), results(&["1"]), assistant("b", &["2"])];
    let forked = fork(&parent, "d").unwrap();
    assert_eq!(forked[..4], parent);
}

#[test]
fn nothing_can_be_forked_before_the_parent_has_spoken() {
    assert_eq!(fork(&[], "d"), None);
    assert_eq!(fork(&[user("go")], "d"), None);
}
