use super::*;
use ModelErrorKind::{ContextOverflow, Overloaded, RateLimit, Refused, Server};

#[track_caller]
fn check(status: u16, body: &str, kind: ModelErrorKind, message: &str) {
    let error = from_body(status, body);
    assert_eq!((error.kind, error.status, error.message.as_str()), (kind, Some(status), message));
}

#[test]
fn the_status_decides_the_kind() {
    for (status, kind) in [
        (429, RateLimit),
        (529, Overloaded),
        (503, Overloaded),
        (500, Server),
        (502, Server),
        (408, Server),
        (413, ContextOverflow),
        (400, Refused),
        (401, Refused),
        (403, Refused),
        (404, Refused),
        (302, Refused),
    ] {
        check(status, r#"{"error":{"message":"m"}}"#, kind, "m");
    }
}

#[test]
fn the_words_of_servers_for_a_conversation_that_is_too_long() {
    check(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
        ContextOverflow,
        "prompt is too long: 208310 tokens > 200000 maximum",
    );
    check(
        400,
        r#"{"error":{"message":"Your input exceeds the limit.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ContextOverflow,
        "Your input exceeds the limit.",
    );
    check(401, r#"{"error":{"message":"maximum context length"}}"#, Refused, "maximum context length");
}

#[test]
fn an_empty_account_is_no_rate_limit() {
    check(429, r#"{"error":{"message":"no money","type":"insufficient_quota"}}"#, Refused, "no money");
}

#[test]
fn bodies_that_are_no_error_object_are_shown_on_one_line() {
    check(502, "<html>\n  <h1>Bad Gateway</h1>\n</html>", Server, "<html> <h1>Bad Gateway</h1> </html>");
    check(400, r#"{"error":"model is loading"}"#, Refused, "model is loading");
    check(400, r#"{"detail":1}"#, Refused, r#"{"detail":1}"#);
    check(500, "", Server, "no further words");
}

#[test]
fn keys_in_messages_are_cut_short() {
    check(
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-proj-abc***xyz. See the task-sk-list."}}"#,
        Refused,
        "Incorrect API key provided: sk-…. See the task-sk-list.",
    );
    check(401, "key sk-ant-0123456789", Refused, "key sk-…");
}
