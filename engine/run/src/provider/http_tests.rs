use std::sync::Arc;
use std::time::Duration;

use flow_core::ids::Millis;
use flow_core::model::{ModelWish, ProviderKind, ProviderSettings, SettingsLayer};
use flow_core::wire::{Block, api};
use serde_json::json;

use super::super::testing::{
    Answer, End, Server, anthropic_call, anthropic_text, ask as ask_model, openai_call, openai_text, request,
};
use super::*;

/// The endpoint of a server, with little patience.
fn hasty(server: &Server) -> Endpoint {
    let settings = ProviderSettings {
        kind: ProviderKind("anthropic"),
        base_url: Some(server.base.clone()),
        api_key_env: None,
        max_concurrent: None,
        allow_local: true,
        layer: SettingsLayer::User,
    };
    let mut endpoint =
        Endpoint::new("test", api(settings.kind.0).unwrap(), &settings, "model-1", &|_| None).unwrap();
    endpoint.patience.first = Duration::from_millis(200);
    endpoint.patience.idle = Duration::from_millis(200);
    endpoint
}

async fn fails(answer: Answer) -> ModelError {
    let server = Server::start(vec![answer]).await;
    let (endpoint, request) = (hasty(&server), request());
    let mut delta = |_| {};
    let answer = timeout(Duration::from_secs(20), super::ask(&endpoint, &request, Millis(0), &mut delta));
    answer.await.expect("an answer or a failure in time").unwrap_err()
}

#[tokio::test]
async fn both_apis_stream_a_call_and_a_text() {
    let apis = [
        (ProviderKind("anthropic"), anthropic_call("a.txt"), anthropic_text("héllo"), "post /v1/messages "),
        (ProviderKind("openai"), openai_call("a.txt"), openai_text("héllo"), "post /chat/completions "),
    ];
    for (kind, call, text, line) in apis {
        let server = Server::start(vec![Answer::stream(&call), Answer::stream(&text)]).await;
        let model = server.model(kind);
        let reply = ask_model(&model).await.0.unwrap();
        let [Block::ToolUse { name, input, .. }] = &reply.content[..] else { panic!("{reply:?}") };
        assert_eq!((name.as_str(), input), ("Read", &json!({ "file_path": "a.txt" })));
        let reply = ask_model(&model).await.0.unwrap();
        assert_eq!(reply.text(), "héllo");
        assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (20, 5));
        let seen = server.seen();
        assert!(seen[0].head.starts_with(line), "{}", seen[0].head);
        assert_eq!(
            (seen.len(), &seen[0].body["model"], &seen[0].body["stream"]),
            (2, &json!("model-1"), &json!(true))
        );
    }
}

#[tokio::test]
async fn a_stream_in_pieces_of_any_size_is_the_same() {
    for (kind, text) in [
        (ProviderKind("anthropic"), anthropic_text("héllo ✓")),
        (ProviderKind("openai"), openai_text("héllo ✓")),
    ] {
        let sizes = [1, 2, 3, 5, 7, 11, 64];
        let server =
            Server::start(sizes.iter().map(|size| Answer::stream(&text).in_pieces(*size)).collect()).await;
        let model = server.model(kind);
        for size in sizes {
            assert_eq!(ask_model(&model).await.0.unwrap().text(), "héllo ✓", "{size}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_ends_anywhere_early_is_broken() {
    let whole = anthropic_text("héllo");
    // Without the last event: nothing but the end marker is missing.
    let without_end = whole.split("event: message_stop").next().unwrap();
    for end in [End::Whole, End::Cut] {
        for text in ["", "event: mess", &whole[..whole.len() / 2], without_end] {
            let error = fails(Answer::stream(text).end(end)).await;
            assert_eq!(error.kind, ModelErrorKind::Broken, "{text}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_events_is_shown_by_its_beginning() {
    let page = "<html><body>Please sign in\nto the network</body></html>";
    for (body, message) in [
        (page, format!("the answer is no stream of events; it begins with `{}`", page.replace('\n', " "))),
        ("{\"oops\": 1}", "the answer is no stream of events; it begins with `{\"oops\": 1}`".to_owned()),
        ("", "the answer is empty: no stream of events came".to_owned()),
        ("\n\n", "the answer is empty: no stream of events came".to_owned()),
    ] {
        let error = fails(Answer::stream(body)).await;
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Broken, message.as_str()));
    }
    let long = fails(Answer::stream(&"x".repeat(100_000))).await;
    assert!(long.message.len() < 300, "{}", long.message.len());
}

#[tokio::test]
async fn what_follows_the_end_marker_is_not_waited_for() {
    let server = Server::start(vec![Answer::stream(&anthropic_text("done")).end(End::Still)]).await;
    let reply = super::ask(&hasty(&server), &request(), Millis(0), &mut |_| {}).await.unwrap();
    assert_eq!(reply.text(), "done");
}

#[tokio::test]
async fn a_stream_that_stands_still_or_only_pings_is_broken() {
    let begun = anthropic_text("x");
    let begun = begun.split("event: content_block_stop").next().unwrap();
    for end in [End::Still, End::Pings] {
        let error = fails(Answer::stream(begun).end(end)).await;
        assert_eq!(error.kind, ModelErrorKind::Broken);
        assert!(error.message.contains("stood still"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_no_connection() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::start(Vec::new()).await;
    let mut endpoint = hasty(&server);
    endpoint.url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
    let error = super::ask(&endpoint, &request(), Millis(0), &mut |_| {}).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Connection);
    assert_eq!(error.message, "no connection to `127.0.0.1`: no answer within 200ms");
    drop(listener);
    let error = super::ask(&endpoint, &request(), Millis(0), &mut |_| {}).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Connection);
    assert!(error.message.starts_with("no connection to `127.0.0.1`: "), "{}", error.message);
}

#[tokio::test]
async fn a_redirect_is_refused_and_its_target_never_asked() {
    let elsewhere = Server::start(vec![Answer::stream(&anthropic_text("stolen"))]).await;
    let location = format!("location: {}/v1/messages", elsewhere.base);
    for status in [301, 302, 307, 308] {
        let error = fails(Answer::status(status, "").header(&location)).await;
        assert_eq!((error.kind, error.status), (ModelErrorKind::Refused, Some(status)));
        assert!(error.message.contains("redirect"), "{}", error.message);
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_key_goes_to_its_own_host_and_stands_in_no_message() {
    let body = r#"{"error": {"type": "authentication_error", "message": "bad key secret-key-123"}}"#;
    let server = Server::start(vec![Answer::status(401, body)]).await;
    let error = ask_model(&server.model(ProviderKind("anthropic"))).await.0.unwrap_err();
    assert!(server.seen()[0].head.contains("x-api-key: secret-key-123"));
    assert!(
        error.message.contains("`TEST_KEY`") && !error.message.contains("secret-key"),
        "{}",
        error.message
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_host_that_a_repository_names_gets_no_key_and_the_run_says_so() {
    let server = Server::start(vec![Answer::stream(&openai_text("hi")), Answer::status(401, "")]).await;
    let providers = server.providers(ProviderKind("openai"), SettingsLayer::Repository, Some("TEST_KEY"));
    let model = providers.resolve(ModelWish::Plan("test/m")).unwrap().model;
    assert!(model.note().unwrap().contains("no key is sent to `127.0.0.1`"));
    assert_eq!(ask_model(&model).await.0.unwrap().text(), "hi");
    let error = ask_model(&model).await.0.unwrap_err();
    assert!(error.message.contains("no key is sent to `127.0.0.1`"), "{}", error.message);
    for seen in server.seen() {
        assert!(!seen.head.contains("secret-key") && !seen.head.contains("authorization"), "{}", seen.head);
    }
}

#[tokio::test]
async fn a_user_s_server_without_a_named_variable_gets_no_key() {
    let server = Server::start(vec![Answer::stream(&openai_text("hi"))]).await;
    let model = server
        .providers(ProviderKind("openai"), SettingsLayer::User, None)
        .resolve(ModelWish::Plan("test/m"))
        .unwrap()
        .model;
    ask_model(&model).await.0.unwrap();
    assert!(!server.seen()[0].head.contains("authorization"), "{}", server.seen()[0].head);
}

#[tokio::test]
async fn a_request_that_is_dropped_hangs_up() {
    let begun = anthropic_text("x");
    let begun = begun.split("event: content_block_stop").next().unwrap();
    let server = Server::start(vec![Answer::stream(begun).end(End::Still)]).await;
    let model = server.model(ProviderKind("anthropic"));
    let arrived = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&arrived);
    let asking = tokio::spawn(async move {
        let mut signs = |_: super::super::Sign| told.notify_one();
        let _ = model.ask(&mut super::super::testing::cursor(), &request(), &mut signs).await;
    });
    arrived.notified().await;
    while server.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    asking.abort();
    server.hung_up().await;
}

#[tokio::test]
async fn a_date_to_retry_after_counts_from_now() {
    let answer = Answer::status(429, "slow down").header("retry-after: Thu, 01 Jan 1970 00:02:00 GMT");
    let server = Server::start(vec![answer]).await;
    let error = super::ask(&hasty(&server), &request(), Millis(30_000), &mut |_| {}).await.unwrap_err();
    assert_eq!((error.kind, error.retry_after), (ModelErrorKind::RateLimit, Some(Duration::from_secs(90))));
}

#[tokio::test]
async fn a_refusal_without_end_is_read_only_so_far() {
    let long = "x".repeat(1_000_000);
    let error = fails(Answer::status(400, &long)).await;
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(error.message.len() < 1_000);
}
