use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::converse::testing::{call, reply, say, shape, spec};
use crate::converse::{AgentSpec, Converse, Effect, Input, OutputForm, hand_in_tool};
use crate::model::Usage;

fn user(text: &str) -> Item {
    Item::said(Message::user(text))
}

fn assistant(text: &str, calls: &[&str]) -> Item {
    let mut content = vec![Block::Text { text: text.to_owned() }];
    content.extend(calls.iter().map(|id| Block::ToolUse {
        id: (*id).to_owned(),
        name: "Read".to_owned(),
        input: json!({ "file_path": "a" }),
    }));
    Item::said(Message { role: Role::Assistant, content })
}

fn results(ids: &[&str]) -> Item {
    let content = ids.iter().map(|id| Block::ToolResult {
        tool_use_id: (*id).to_owned(),
        content: "real".to_owned(),
        is_error: false,
    });
    Item::said(Message { role: Role::User, content: content.collect() })
}

/// The messages that a fork begins with.
fn forked(parent: &[Item], directive: &str) -> Vec<Item> {
    let Some(Item::Forked { messages }) = fork(parent, directive) else { panic!("no fork") };
    messages.into_iter().map(Item::said).collect()
}

fn bytes(items: &[Item]) -> String {
    serde_json::to_string(items).unwrap()
}

#[test]
fn a_fork_of_a_finished_conversation_goes_on_behind_its_last_text() {
    let parent = [
        user("go"),
        Item::Turn { usage: Usage { turns: 1, ..Usage::default() }, stop: None },
        assistant("done", &[]),
    ];
    assert_eq!(forked(&parent, "And now?"), [user("go"), assistant("done", &[]), user("And now?")]);
}

#[test]
fn every_call_of_the_last_message_gets_the_same_placeholder_whether_it_had_come_back_or_not() {
    let open = [user("go"), assistant("looking", &["1", "2"])];
    let answered = [&open[..], &[results(&["1", "2"])]].concat();
    let (one, two) = (forked(&open, "first"), forked(&answered, "second"));
    assert_eq!(bytes(&one).replace("first", "?"), bytes(&two).replace("second", "?"));
    let Item::Message { message, .. } = &one[2] else { panic!("a message") };
    let placeholders = message.content.iter().filter(
        |block| matches!(block, Block::ToolResult { content, is_error: false, .. } if content == PLACEHOLDER),
    );
    assert_eq!((placeholders.count(), message.content.len()), (2, 3));
}

#[test]
fn earlier_results_stay_as_they_were() {
    let parent = [user("go"), assistant("a", &["1"]), results(&["1"]), assistant("b", &["2"])];
    assert_eq!(forked(&parent, "d")[..4], parent);
}

#[test]
fn nothing_can_be_forked_before_the_parent_has_spoken() {
    assert_eq!(fork(&[], "d"), None);
    assert_eq!(fork(&[user("go")], "d"), None);
}

#[test]
fn a_fork_can_be_forked_and_what_it_was_forked_from_stays_byte_for_byte() {
    let parent = [user("go"), assistant("a", &["1"]), results(&["1"]), assistant("b", &["2"])];
    let child = [vec![fork(&parent, "more").unwrap()], vec![assistant("c", &["3"])]].concat();
    let again = forked(&child, "still more");
    assert_eq!(again[..5], forked(&parent, "more"));
    assert_eq!(again.len(), 7);
}

#[test]
fn what_differs_stands_before_the_prompt_and_nothing_does_where_nothing_differs() {
    assert_eq!(directive(&Differences::default(), "Go on."), "Go on.");
    let schema = json!({ "type": "object" });
    let differences =
        Differences { dirs: Some(("/tree", "/work")), branch: Some("flow/r/b"), schema: Some(&schema) };
    insta::assert_snapshot!(directive(&differences, "Go on."), @r#"
    From here on you work in `/tree`, on the branch `flow/r/b`. Paths below `/work` were those of the conversation so far: read and change files in your own folder only, and read again what you rely on.

    Go on.

    Answer with one JSON value and nothing else. It has to fit this JSON Schema: {"type":"object"}
    "#);
}

fn schema(name: &str) -> OutputForm {
    OutputForm::Schema(Arc::new(json!({
        "type": "object", "required": [name], "properties": { name: { "type": "string" } },
    })))
}

/// The loop of a fork whose parent had to hand in a `verdict`, and what it asks first.
fn begun(output: OutputForm) -> (Converse, Vec<Effect>) {
    let plain = spec();
    let tools = plain.tools.iter().cloned().chain(hand_in_tool(&schema("verdict"))).collect();
    let spec = AgentSpec { tools, forked: true, output, ..plain };
    let parent = [user("go"), assistant("looking", &["1"]), results(&["1"]), assistant("done", &[])];
    let mut machine = Converse::restore(spec, vec![fork(&parent, "And now?").unwrap()]);
    let effects = machine.handle(Input::Continue);
    (machine, effects)
}

#[test]
fn a_fork_is_offered_the_tools_of_its_conversation_whatever_its_own_output_is() {
    for output in [OutputForm::Text, OutputForm::Json, schema("other")] {
        let (_, effects) = begun(output);
        let [Effect::Ask(request)] = effects.as_slice() else { panic!("{effects:?}") };
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["Read", "Grep", "Edit", "Bash", "StructuredOutput"]);
        assert!(request.tools[4].input_schema["properties"]["verdict"].is_object());
        assert_eq!(request.messages.len(), 5);
    }
}

#[test]
fn what_the_parent_had_to_hand_in_is_no_answer_of_a_fork() {
    let (mut machine, _) = begun(OutputForm::Text);
    let hand_in = call("2", "StructuredOutput", json!({ "verdict": "x" }));
    assert_eq!(shape(&machine.handle(Input::Replied(reply(vec![hand_in])))), "ask");
    assert_eq!(shape(&machine.handle(Input::Replied(say("my own text")))), "finish completed");
}

#[test]
fn a_fork_with_an_output_of_its_own_gives_it_as_text_and_may_mend_it() {
    let (mut machine, _) = begun(schema("other"));
    assert_eq!(shape(&machine.handle(Input::Replied(say("{\"verdict\": \"x\"}")))), "ask");
    let effects = machine.handle(Input::Replied(say("{\"other\": \"y\"}")));
    let Some(Effect::Finish(end)) = effects.last() else { panic!("{effects:?}") };
    assert_eq!((end.reason, &end.output), (None, &Some(json!({ "other": "y" }))));
}

#[test]
fn what_the_parent_said_and_used_is_none_of_a_forks_own() {
    let (mut machine, _) = begun(OutputForm::Text);
    assert_eq!((machine.text(), machine.usage()), ("", &Usage::default()));
    // An id of the parent's stands in the conversation already.
    machine.handle(Input::Replied(reply(vec![call("1", "Read", json!({ "file_path": "a" }))])));
    let effects = machine.handle(Input::Returned {
        id: "1_2".to_owned(),
        result: crate::converse::CallResult { content: "x".to_owned(), is_error: false },
        refused: None,
    });
    assert_eq!(shape(&effects), "ask");
}
