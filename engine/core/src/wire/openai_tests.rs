use std::sync::Arc;

use super::super::testing::{decode, no_part_is_an_answer, request, same_at_every_cut, stream};
use super::super::{ModelErrorKind, ToolSpec};
use super::*;
use crate::model::ToolClass;

/// Text and two calls, as the vendor sends them, with the usage in a last chunk without choices.
const RECORDED: &str = "\
data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-5-mini\",\"service_tier\":\"default\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null,\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n
: keep-alive\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Größe \"},\"finish_reason\":null}],\"usage\":null}\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lesen\"},\"finish_reason\":null}],\"usage\":null}\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_a\",\"type\":\"function\",\"function\":{\"name\":\"Read\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"file_\"}}]},\"finish_reason\":null}]}\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"call_b\",\"type\":\"function\",\"function\":{\"name\":\"Glob\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"path\\\":\\\"ü\\\"}\"}}]},\"finish_reason\":null}]}\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[],\"usage\":{\"prompt_tokens\":120,\"completion_tokens\":40,\"total_tokens\":160,\"prompt_tokens_details\":{\"cached_tokens\":100,\"audio_tokens\":0}}}\n
data: [DONE]\n
";

fn chunk(delta: Value, finish: Option<&str>) -> String {
    json!({ "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }).to_string()
}

/// Decodes these chunks with an end behind them.
fn play(chunks: &[String]) -> Result<Reply, ModelError> {
    let mut all: Vec<&str> = chunks.iter().map(String::as_str).collect();
    all.push("[DONE]");
    decode(&API, &[stream(&all).as_bytes()]).map(|(_, reply)| reply)
}

#[test]
fn a_recorded_stream_gives_the_same_answer_at_every_cut() {
    let (deltas, reply) = same_at_every_cut(&API, RECORDED);
    assert_eq!(
        deltas,
        [
            Delta::Text("Größe ".to_owned()),
            Delta::Text("lesen".to_owned()),
            Delta::ToolUse("Read".to_owned()),
            Delta::ToolUse("Glob".to_owned()),
        ]
    );
    assert_eq!(
        reply,
        Reply {
            content: vec![
                Block::Text { text: "Größe lesen".to_owned() },
                Block::ToolUse {
                    id: "call_a".to_owned(),
                    name: "Read".to_owned(),
                    input: json!({ "file_path": "ü" })
                },
                Block::ToolUse { id: "call_b".to_owned(), name: "Glob".to_owned(), input: json!({}) },
            ],
            stop: StopReason::ToolUse,
            usage: Usage {
                input_tokens: 20,
                output_tokens: 40,
                cache_read_tokens: 100,
                model: "gpt-5-mini".to_owned(),
                ..Usage::default()
            },
        }
    );
}

#[test]
fn a_stream_that_breaks_off_before_its_finish_reason_is_no_answer() {
    let last = RECORDED.find(
        "data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{},",
    );
    no_part_is_an_answer(&API, &RECORDED[..last.unwrap()]);
}

#[test]
fn a_stream_that_ends_after_its_finish_reason_is_a_whole_answer_with_or_without_the_rest() {
    let (_, whole) = same_at_every_cut(&API, RECORDED);
    let finish = RECORDED.find("\"finish_reason\":\"tool_calls\"").unwrap();
    let usage = RECORDED.find("\"cached_tokens\"").unwrap();
    for at in (finish..RECORDED.len()).filter(|at| RECORDED.is_char_boundary(*at)) {
        // The event is there once its blank line is.
        let part = &RECORDED[..at];
        let Ok((_, reply)) = decode(&API, &[part.as_bytes()]) else {
            assert!(!part[finish..].contains("\n\n"), "cut at {at}");
            continue;
        };
        assert_eq!((&reply.content, reply.stop), (&whole.content, whole.stop), "cut at {at}");
        let counted = at > usage && part[usage..].contains("\n\n");
        assert_eq!(reply.usage.output_tokens, if counted { 40 } else { 0 }, "cut at {at}");
    }
}

#[test]
fn without_a_finish_reason_no_end_makes_an_answer() {
    let text = chunk(json!({ "content": "half of" }), None);
    for events in [vec![text.as_str()], vec![text.as_str(), "[DONE]"]] {
        let error = decode(&API, &[stream(&events).as_bytes()]).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Broken);
        assert!(error.message.contains("finish reason"), "{}", error.message);
    }
}

#[test]
fn calls_without_an_index_or_all_with_the_same_one_stay_apart() {
    let call = |index: Value, id: Value, name: &str, arguments: &str| {
        let mut call = json!({ "function": { "name": name, "arguments": arguments } });
        if !index.is_null() {
            call["index"] = index;
        }
        if !id.is_null() {
            call["id"] = id;
        }
        chunk(json!({ "tool_calls": [call] }), None)
    };
    let end = chunk(json!({}), Some("stop"));
    let use_of = |id: &str, name: &str, input: Value| Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input,
    };
    let expected = [use_of("a", "A", json!({ "x": 1 })), use_of("b", "B", json!({}))];
    for index in [Value::Null, json!(0)] {
        let chunks = [
            call(index.clone(), json!("a"), "A", "{\"x\""),
            call(index.clone(), Value::Null, "", ":1}"),
            call(index.clone(), json!("b"), "B", "{}"),
            end.clone(),
        ];
        assert_eq!(play(&chunks).unwrap().content, expected, "index {index}");
    }
}

#[test]
fn reasoning_of_compatible_servers_becomes_thinking() {
    for key in ["reasoning_content", "reasoning"] {
        let reply =
            play(&[chunk(json!({ key: "hm" }), None), chunk(json!({ "content": "yes" }), Some("stop"))]);
        assert_eq!(
            reply.unwrap().content,
            [
                Block::Thinking { thinking: "hm".to_owned(), signature: String::new() },
                Block::Text { text: "yes".to_owned() },
            ]
        );
    }
}

#[test]
fn arguments_that_are_no_json_are_kept_as_text() {
    let reply = play(&[chunk(
        json!({ "tool_calls": [{ "index": 0, "id": "t", "function": { "name": "Read", "arguments": "{'a'" } }] }),
        Some("tool_calls"),
    )]);
    assert_eq!(
        reply.unwrap().content,
        [Block::ToolUse { id: "t".to_owned(), name: "Read".to_owned(), input: json!("{'a'") }]
    );
}

#[test]
fn finish_reasons_and_refusals_are_told_apart() {
    for (reason, stop) in [
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("content_filter", StopReason::Refusal),
        ("tool_calls", StopReason::ToolUse),
        ("model_length", StopReason::WindowFull),
        ("COMPLETE", StopReason::EndTurn),
    ] {
        assert_eq!(play(&[chunk(json!({}), Some(reason))]).unwrap().stop, stop);
    }
    let refused = play(&[chunk(json!({ "refusal": "no" }), Some("stop"))]).unwrap();
    assert_eq!((refused.stop, refused.text().as_str()), (StopReason::Refusal, "no"));
}

#[test]
fn an_empty_finish_reason_is_none_and_an_unknown_one_no_end() {
    let text = |text: &str, reason| chunk(json!({ "content": text }), reason);
    let half = [text("half", Some(""))];
    assert_eq!(play(&half).unwrap_err().kind, ModelErrorKind::Broken);
    let whole = [text("ha", Some("")), text("lf", Some("")), chunk(json!({}), Some("stop"))];
    assert_eq!(play(&whole).unwrap().text(), "half");
    for reason in ["insufficient_system_resource", "error", "network_error"] {
        let error = play(&[text("half", Some(reason))]).unwrap_err();
        assert_eq!((error.kind, error.message.contains(reason)), (ModelErrorKind::Broken, true));
    }
}

#[test]
fn chunks_that_say_nothing_are_ignored_and_bad_ones_break_the_stream() {
    let end = chunk(json!({ "content": "x" }), Some("stop"));
    let keep_alive = r#"{"object":"keep.alive","brand_new":1}"#.to_owned();
    assert_eq!(play(&[keep_alive, end.clone()]).unwrap().text(), "x");
    for bad in ["{\"choices\":", r#"{"choices":7}"#] {
        assert_eq!(play(&[bad.to_owned(), end.clone()]).unwrap_err().kind, ModelErrorKind::Broken, "{bad}");
    }
    let no_reason = play(&[chunk(json!({ "content": "x" }), None)]);
    assert_eq!(no_reason.unwrap_err().kind, ModelErrorKind::Broken);
}

#[test]
fn errors_in_the_stream_have_the_kind_of_their_code() {
    for (error, kind) in [
        (json!({ "message": "m", "type": "server_error", "code": null }), ModelErrorKind::Server),
        (json!({ "message": "m", "code": 429 }), ModelErrorKind::RateLimit),
        (json!({ "message": "m", "type": "rate_limit_exceeded" }), ModelErrorKind::RateLimit),
        (json!({ "message": "m", "code": "context_length_exceeded" }), ModelErrorKind::ContextOverflow),
        (json!({ "message": "m", "type": "overloaded" }), ModelErrorKind::Overloaded),
    ] {
        let event = json!({ "error": error }).to_string();
        assert_eq!(play(&[event]).unwrap_err().kind, kind, "{error}");
    }
}

#[test]
fn results_become_messages_of_their_own_before_the_text() {
    let body = encode(&Request {
        system: Arc::from("be good"),
        tools: Arc::from([ToolSpec {
            name: "A".to_owned(),
            description: "d".to_owned(),
            input_schema: json!({ "type": "object" }),
            class: ToolClass::Reader,
        }]),
        effort: Some(Effort::High),
        messages: vec![
            Message::user("hi"),
            Message {
                role: Role::Assistant,
                content: vec![
                    Block::Thinking { thinking: "t".to_owned(), signature: String::new() },
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
                    Block::Text { text: "go on".to_owned() },
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
    assert_eq!(
        body,
        json!({
            "model": "model-1", "stream": true, "stream_options": { "include_usage": true },
            "max_completion_tokens": 1000, "reasoning_effort": "high",
            "messages": [
                { "role": "system", "content": "be good" },
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "1", "type": "function", "function": { "name": "A", "arguments": "{\"x\":1}" } },
                    { "id": "2", "type": "function", "function": { "name": "A", "arguments": "{bad" } },
                ] },
                { "role": "tool", "tool_call_id": "1", "content": "ok" },
                { "role": "tool", "tool_call_id": "2", "content": "Error: no" },
                { "role": "user", "content": "go on" },
            ],
            "tools": [{ "type": "function", "function": {
                "name": "A", "description": "d", "parameters": { "type": "object" },
            } }],
        })
    );
}

#[test]
fn without_a_key_no_key_header_is_sent() {
    assert_eq!(headers("k"), [("authorization", "Bearer k".to_owned())]);
    assert_eq!(headers(""), []);
}
