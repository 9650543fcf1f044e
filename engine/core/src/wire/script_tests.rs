use std::sync::Arc;

use super::super::testing::request;
use super::super::{Message, ToolSpec};
use super::*;
use crate::model::ToolClass;

fn parse(text: &str) -> ModelScript {
    ModelScript::parse(text).unwrap()
}

/// Plays the turn of `t` at a position; `None` past the end.
fn play(text: &str, position: u32) -> Option<Played> {
    let script = parse(text);
    let turns = script.turns_for(&Address::task("t"), "agent")?;
    Some(turns.turn(position)?.play(&request("hello"), position))
}

fn reply(text: &str) -> Reply {
    match play(text, 0) {
        Some(Played::Reply(reply)) => reply,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = ModelScript::parse(text).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn the_nearest_entry_answers() {
    let all = ["review[auth]/change", "review/change", "change", "coder", "default"];
    for known in 0..all.len() {
        let text: String =
            all[known..].iter().rev().map(|key| format!("\"{key}\": [{{say: '{key}'}}]\n")).collect();
        let script = parse(&text);
        let turns = script.turns_for(&Address::from("review[auth]/change"), "coder").unwrap();
        let Played::Reply(reply) = turns.turn(0).unwrap().play(&request("x"), 0) else { panic!() };
        assert_eq!(reply.text(), all[known]);
    }
    assert!(parse("other: [{say: x}]").turns_for(&Address::task("t"), "agent").is_none());
}

#[test]
fn a_repeated_turn_is_unrolled_and_then_the_script_ends() {
    let text = "t: [{say: a}, {say: b, repeat: 4000000000}, {say: c}]";
    for (position, said) in
        [(0, Some("a")), (1, Some("b")), (4_000_000_000, Some("b")), (4_000_000_001, Some("c"))]
    {
        let Some(Played::Reply(reply)) = play(text, position) else { panic!("{position}") };
        assert_eq!(Some(reply.text().as_str()), said);
    }
    assert_eq!(play(text, 4_000_000_002), None);
    assert_eq!(script_ended(4).message, "script ended at turn 5");
}

#[test]
fn text_and_calls_make_one_answer() {
    let one = reply("t: [{say: look, call: Read, with: {file_path: a, n: 1}}]");
    let call = |n: u32, name: &str, input: Value| Block::ToolUse {
        id: format!("toolu_script_0_{n}"),
        name: name.to_owned(),
        input,
    };
    assert_eq!(
        one.content,
        [
            Block::Text { text: "look".to_owned() },
            call(0, "Read", serde_json::json!({ "file_path": "a", "n": 1 })),
        ]
    );
    assert_eq!(one.stop, StopReason::ToolUse);
    let two = reply("t: [{calls: [{call: A}, {call: B, with: {x: [1]}}]}]");
    assert_eq!(
        two.content,
        [call(0, "A", serde_json::json!({})), call(1, "B", serde_json::json!({ "x": [1] }))]
    );
    let empty = reply("t: [{say: ''}]");
    assert_eq!((empty.content.len(), empty.stop), (0, StopReason::EndTurn));
}

#[test]
fn usage_is_as_written_or_estimated() {
    let written = reply("t: [{say: x, usage: {input: 900, output: 40, cache_read: 5}}]").usage;
    assert_eq!((written.input_tokens, written.output_tokens, written.cache_read_tokens), (900, 40, 5));
    let estimated = reply("t: [{say: 123456789}]".replace("123456789", "'123456789'").as_str()).usage;
    assert_eq!(
        (estimated.input_tokens, estimated.output_tokens, estimated.model.as_str()),
        (2, 3, "model-1")
    );
}

#[test]
fn failures_have_the_kind_of_their_status() {
    let error = |text: &str| match play(text, 0) {
        Some(Played::Fail(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        error("t: [{fail: {status: 429, retry_after: 1.5, message: slow down}}]"),
        ModelError {
            kind: ModelErrorKind::RateLimit,
            status: Some(429),
            message: "slow down".to_owned(),
            retry_after: Some(Duration::from_millis(1500)),
        }
    );
    assert_eq!(error("t: [{fail: {status: 404}}]").kind, ModelErrorKind::Refused);
    assert_eq!(
        error("t: [{fail: {status: 400, message: prompt is too long}}]").kind,
        ModelErrorKind::ContextOverflow
    );
    assert_eq!(error("t: [{fail: {}}]").kind, ModelErrorKind::Connection);
}

#[test]
fn a_stream_can_be_cut_hang_or_be_late() {
    assert_eq!(play("t: [{say_partial: half}]", 0), Some(Played::Cut("half".to_owned())));
    assert_eq!(play("t: [{hang: true}]", 0), Some(Played::Hang));
    let script = parse("t: [{say: x, sleep: 200ms}]");
    let turn = script.turns_for(&Address::task("t"), "").unwrap().turn(0).unwrap();
    assert_eq!(turn.sleep, Some(Duration::from_millis(200)));
}

#[test]
fn an_expectation_is_checked_against_the_request() {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        input_schema: Value::Null,
        class: ToolClass::Reader,
    };
    let asked = Request {
        messages: vec![Message::user("look at auth"), Message::user("again")],
        tools: Arc::from([tool("Read"), tool("Grep"), tool("StructuredOutput")]),
        ..request("")
    };
    let check = |expect: &str| {
        let script = parse(&format!("t: [{{say: x, expect: {expect}}}]"));
        script.turns_for(&Address::task("t"), "").unwrap().turn(0).unwrap().check(&asked)
    };
    assert_eq!(check("{prompt_contains: auth, tools: [Grep, Read]}"), Ok(()));
    assert_eq!(check("{tools: [Grep, Read, StructuredOutput]}"), Ok(()));
    assert_eq!(
        check("{prompt_contains: billing}"),
        Err("the script expects a prompt that contains `billing`".to_owned())
    );
    assert_eq!(
        check("{tools: [Read]}"),
        Err("the script expects the tools `Read`, offered are `Grep`, `Read`".to_owned())
    );
    assert_eq!(
        check("{tools: []}"),
        Err("the script expects the tools none, offered are `Grep`, `Read`".to_owned())
    );
    let unmet = play("t: [{say: x, expect: {prompt_contains: billing}}]", 0);
    let Some(Played::Fail(error)) = unmet else { panic!("{unmet:?}") };
    assert_eq!((error.kind, error.kind.is_passing()), (ModelErrorKind::Refused, false));
    assert_eq!(error.message, "turn 1: the script expects a prompt that contains `billing`");
}

#[test]
fn what_cannot_be_played_is_refused_with_its_line() {
    refused("t:\n  - say: a\n  - sya: b\n", "unknown field `sya`");
    refused("t:\n  - say: a\n  - sya: b\n", "line 3");
    refused("t:\n  - sleep: 1s\n", "needs a turn after it");
    refused("t:\n  - usage: {input: 1}\n", "a turn needs");
    refused("t:\n  - say: a\n    fail: {status: 500}\n", "exclude each other");
    refused("t:\n  - say: a\n    with: {}\n", "`with` needs `call`");
    refused("t:\n  - call: A\n    calls: []\n", "`call` and `calls`");
    refused("t:\n  - say: a\n    repeat: 0\n", "at least 1");
    refused("t:\n  - say: a\n    sleep: 5\n", "sleep");
    refused("t:\n  - fail: {status: 200}\n", "400 to 599");
    refused("t:\n  - fail: {status: 500, retry_after: -1}\n", "retry_after");
    refused("t:\n  - hang: true\n    usage: {input: 1}\n", "`usage` needs");
    refused("t: [{say: a}]\nt: [{say: b}]\n", "`t` stands twice");
    refused("- say: a\n", "a map from an address");
    refused("t: {say: a}\n", "line 1");
}

#[test]
fn a_turn_that_only_sleeps_makes_the_next_one_late() {
    let script = parse(
        "default:\n  - sleep: 1s\n  - sleep: 500ms\n  - { say: a, repeat: 2, sleep: 1s }\n  - say: b\n",
    );
    let turns = script.turns_for(&Address::task("t"), "x").unwrap();
    let sleeps: Vec<_> = (0..3).map(|position| turns.turn(position).unwrap().sleep).collect();
    let seconds = |seconds| Some(std::time::Duration::from_secs_f64(seconds));
    assert_eq!(sleeps, [seconds(2.5), seconds(1.0), None]);
    refused("default: [{ say: a }, { sleep: 1s }]", "a `sleep` alone needs a turn after it");
}
