use std::sync::Arc;

use super::super::testing::{decode, no_part_is_an_answer, request, same_at_every_cut, stream};
use super::super::{ModelErrorKind, ToolSpec};
use super::*;
use crate::model::ToolClass;

/// A thinking turn with text and two calls, with the noise that real streams have.
const RECORDED: &str = "\
event: message_start\r
data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":25,\"cache_creation_input_tokens\":7,\"cache_read_input_tokens\":90,\"output_tokens\":1,\"service_tier\":\"standard\"}}}\r
\r
event: content_block_start\r
data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\r
\r
event: ping\r
data: {\"type\": \"ping\"}\r
\r
event: content_block_delta\r
data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Zuerst lesen …\"}}\r
\r
event: content_block_delta\r
data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"EqQBCg==\"}}\r
\r
event: content_block_stop\r
data: {\"type\":\"content_block_stop\",\"index\":0}\r
\r
event: content_block_start\r
data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\r
\r
event: content_block_delta\r
data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"I look 😀\"}}\r
\r
event: content_block_delta\r
data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\" now.\"}}\r
\r
event: content_block_stop\r
data: {\"type\":\"content_block_stop\",\"index\":1}\r
\r
event: content_block_start\r
data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01\",\"name\":\"Read\",\"input\":{}}}\r
\r
event: content_block_delta\r
data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\r
\r
event: content_block_delta\r
data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"file_path\\\": \\\"src/\"}}\r
\r
event: content_block_delta\r
data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"lib.rs\\\"}\"}}\r
\r
event: content_block_stop\r
data: {\"type\":\"content_block_stop\",\"index\":2}\r
\r
event: content_block_start\r
data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_02\",\"name\":\"Glob\",\"input\":{}}}\r
\r
event: content_block_stop\r
data: {\"type\":\"content_block_stop\",\"index\":3}\r
\r
event: message_delta\r
data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":89}}\r
\r
event: message_stop\r
data: {\"type\":\"message_stop\"}\r
\r
";

const START: &str =
    r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}"#;
const END: [&str; 2] =
    [r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#, r#"{"type":"message_stop"}"#];

/// Decodes these events between a start and an end.
fn play(events: &[&str]) -> Result<Reply, ModelError> {
    let all: Vec<&str> = [START].into_iter().chain(events.iter().copied()).chain(END).collect();
    decode(&API, &[stream(&all).as_bytes()]).map(|(_, reply)| reply)
}

#[test]
fn a_recorded_stream_gives_the_same_answer_at_every_cut() {
    let (deltas, reply) = same_at_every_cut(&API, RECORDED);
    assert_eq!(
        deltas,
        [
            Delta::Ping,
            Delta::Thinking("Zuerst lesen …".to_owned()),
            Delta::Text("I look 😀".to_owned()),
            Delta::Text(" now.".to_owned()),
            Delta::ToolUse("Read".to_owned()),
            Delta::ToolUse("Glob".to_owned()),
        ]
    );
    assert_eq!(
        reply,
        Reply {
            content: vec![
                Block::Thinking { thinking: "Zuerst lesen …".to_owned(), signature: "EqQBCg==".to_owned() },
                Block::Text { text: "I look 😀 now.".to_owned() },
                Block::ToolUse {
                    id: "toolu_01".to_owned(),
                    name: "Read".to_owned(),
                    input: json!({ "file_path": "src/lib.rs" }),
                },
                Block::ToolUse { id: "toolu_02".to_owned(), name: "Glob".to_owned(), input: json!({}) },
            ],
            stop: StopReason::ToolUse,
            usage: Usage {
                input_tokens: 25,
                output_tokens: 89,
                cache_read_tokens: 90,
                cache_write_tokens: 7,
                model: "claude-sonnet-4-5".to_owned(),
                ..Usage::default()
            },
        }
    );
}

#[test]
fn a_stream_that_breaks_off_anywhere_is_no_answer() {
    no_part_is_an_answer(&API, RECORDED);
}

#[test]
fn arguments_that_are_no_json_are_kept_as_text() {
    let reply = play(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"Read"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": "}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
    ]);
    assert_eq!(
        reply.unwrap().content,
        [Block::ToolUse { id: "t".to_owned(), name: "Read".to_owned(), input: json!("{\"a\": ") }]
    );
}

#[test]
fn unknown_events_blocks_and_deltas_are_ignored() {
    let reply = play(&[
        r#"{"type":"brand_new"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"hi"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{}}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
    ]);
    assert_eq!(
        reply.unwrap().content,
        [Block::RedactedThinking { data: "xyz".to_owned() }, Block::Text { text: "hi".to_owned() }]
    );
}

#[test]
fn streams_that_contradict_themselves_are_broken() {
    let text = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let add = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#;
    let json =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"x"}}"#;
    for events in [
        &["{\"type\":"][..],
        &[r#"{"type":"content_block_start","index":"zero"}"#],
        &[text, text],
        &[add],
        &[text, stop, add],
        &[text, json],
        &[text],
        &[stop],
        &[text, stop, stop],
    ] {
        assert_eq!(play(events).unwrap_err().kind, ModelErrorKind::Broken, "{events:?}");
    }
    let no_reason = stream(&[START, END[1]]);
    assert_eq!(decode(&API, &[no_reason.as_bytes()]).unwrap_err().kind, ModelErrorKind::Broken);
}

#[test]
fn errors_in_the_stream_have_the_kind_of_their_name() {
    for (name, message, kind, status) in [
        ("overloaded_error", "Overloaded", ModelErrorKind::Overloaded, 529),
        ("rate_limit_error", "slow down", ModelErrorKind::RateLimit, 429),
        ("api_error", "oops", ModelErrorKind::Server, 500),
        ("invalid_request_error", "bad", ModelErrorKind::Refused, 400),
        ("invalid_request_error", "prompt is too long: 3 > 2", ModelErrorKind::ContextOverflow, 400),
    ] {
        let event = json!({ "type": "error", "error": { "type": name, "message": message } }).to_string();
        let error = play(&[&event]).unwrap_err();
        assert_eq!((error.kind, error.status, error.message.as_str()), (kind, Some(status), message));
    }
}

#[test]
fn stop_reasons_are_told_apart() {
    for (reason, stop) in [
        ("end_turn", StopReason::EndTurn),
        ("stop_sequence", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("refusal", StopReason::Refusal),
        ("pause_turn", StopReason::Paused),
        ("model_context_window_exceeded", StopReason::WindowFull),
    ] {
        let delta = json!({ "type": "message_delta", "delta": { "stop_reason": reason } }).to_string();
        let (_, reply) = decode(&API, &[stream(&[START, &delta, END[1]]).as_bytes()]).unwrap();
        assert_eq!(reply.stop, stop, "{reason}");
    }
}

#[test]
fn a_request_marks_what_is_to_be_cached_and_leaves_out_what_is_empty() {
    let bare = encode(&request("hi"));
    assert_eq!(
        bare,
        json!({
            "model": "model-1", "max_tokens": 1000, "stream": true,
            "messages": [{ "role": "user", "content": [
                { "type": "text", "text": "hi", "cache_control": { "type": "ephemeral" } },
            ] }],
        })
    );
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "d".to_owned(),
        input_schema: json!({ "type": "object" }),
        class: ToolClass::Reader,
    };
    let full = encode(&Request {
        system: Arc::from("be good"),
        tools: Arc::from([tool("A"), tool("B")]),
        messages: vec![
            Message::user("hi"),
            Message {
                role: Role::Assistant,
                content: vec![
                    Block::Thinking { thinking: "t".to_owned(), signature: "s".to_owned() },
                    Block::Thinking { thinking: "of another API".to_owned(), signature: String::new() },
                    Block::RedactedThinking { data: "r".to_owned() },
                    Block::Text { text: String::new() },
                    Block::ToolUse { id: "1".to_owned(), name: "A".to_owned(), input: json!({ "x": 1 }) },
                    Block::ToolUse { id: "2".to_owned(), name: "A".to_owned(), input: json!("{bad") },
                ],
            },
            Message {
                role: Role::User,
                content: vec![
                    Block::ToolResult {
                        tool_use_id: "1".to_owned(),
                        content: "ok".to_owned(),
                        is_error: false,
                    },
                    Block::ToolResult {
                        tool_use_id: "2".to_owned(),
                        content: "no".to_owned(),
                        is_error: true,
                    },
                ],
            },
        ],
        ..request("")
    });
    let cache = json!({ "type": "ephemeral" });
    assert_eq!(full["system"], json!([{ "type": "text", "text": "be good", "cache_control": cache }]));
    assert_eq!(full["tools"][0].get("cache_control"), None);
    assert_eq!(full["tools"][1]["cache_control"], cache);
    assert_eq!(
        full["messages"],
        json!([
            { "role": "user", "content": [{ "type": "text", "text": "hi" }] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "t", "signature": "s" },
                { "type": "redacted_thinking", "data": "r" },
                { "type": "tool_use", "id": "1", "name": "A", "input": { "x": 1 } },
                { "type": "tool_use", "id": "2", "name": "A", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "1", "content": "ok" },
                { "type": "tool_result", "tool_use_id": "2", "content": "no", "is_error": true,
                  "cache_control": cache },
            ] },
        ])
    );
}

#[test]
fn effort_becomes_a_thinking_budget_that_leaves_room_for_the_answer() {
    let budget = |effort, max_tokens| {
        let body = encode(&Request { effort, max_tokens, ..request("hi") });
        body.get("thinking").map(|thinking| thinking["budget_tokens"].as_u64().unwrap())
    };
    assert_eq!(budget(None, 32_000), None);
    assert_eq!(budget(Some(Effort::Low), 32_000), Some(2048));
    assert_eq!(budget(Some(Effort::Max), 32_000), Some(24_000));
    assert_eq!(budget(Some(Effort::High), 1000), None);
}

#[test]
fn without_a_key_no_key_header_is_sent() {
    assert_eq!(headers("k")[1], ("x-api-key", "k".to_owned()));
    assert_eq!(headers("").len(), 1);
}
