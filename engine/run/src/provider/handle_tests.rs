use std::time::Duration;

use flow_core::model::{ModelWish, ProviderKind};

use super::super::testing::{Answer, End, Server, anthropic_text, ask, cursor, request};
use super::super::{ProviderConfig, Providers};
use super::*;

/// A model that a script plays.
fn scripted(text: &str) -> ModelHandle {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.yaml");
    std::fs::write(&path, text).unwrap();
    let config = ProviderConfig {
        settings: flow_core::model::Settings::default(),
        script: Some(path),
        model: None,
        env: Box::new(|_| None),
    };
    Providers::new(config).unwrap().resolve(ModelWish::Default).unwrap().model
}

fn statuses(signs: &[Sign]) -> Vec<Option<u16>> {
    let tried = |sign: &Sign| match sign {
        Sign::Tried(tried) => Some(tried.status),
        Sign::Trying { .. } | Sign::Delta(_) | Sign::Waiting(_) | Sign::Parked { .. } => None,
    };
    signs.iter().filter_map(tried).collect()
}

fn waits(signs: &[Sign]) -> Vec<bool> {
    let waits = |sign: &Sign| match sign {
        Sign::Waiting(waits) => Some(*waits),
        Sign::Trying { .. } | Sign::Delta(_) | Sign::Tried(_) | Sign::Parked { .. } => None,
    };
    signs.iter().filter_map(waits).collect()
}

#[tokio::test]
async fn a_limit_is_waited_for_and_the_same_request_sent_again() {
    let limited = Answer::status(429, r#"{"error": {"message": "slow down"}}"#).header("retry-after: 0");
    let server =
        Server::start(vec![limited.clone(), limited, Answer::stream(&anthropic_text("at last"))]).await;
    let (reply, signs) = ask(&server.model(ProviderKind("anthropic"))).await;
    assert_eq!(reply.unwrap().text(), "at last");
    assert_eq!(statuses(&signs), [Some(429), Some(429), Some(200)]);
    assert_eq!(waits(&signs), [true, false, true, false]);
    let seen = server.seen();
    assert_eq!((seen.len(), &seen[0].body), (3, &seen[2].body));
    let parked = signs.iter().find(|sign| matches!(sign, Sign::Parked { .. })).unwrap();
    let Sign::Parked { provider, reason, .. } = parked else { unreachable!() };
    assert_eq!((provider.as_str(), reason.as_str()), ("test/model-1", "slow down"));
}

#[tokio::test]
async fn a_cut_stream_is_asked_again_and_its_part_thrown_away() {
    let text = anthropic_text("whole");
    let cut = text.split("event: content_block_stop").next().unwrap();
    let server = Server::start(vec![Answer::stream(cut).end(End::Cut), Answer::stream(&text)]).await;
    let (reply, signs) = ask(&server.model(ProviderKind("anthropic"))).await;
    assert_eq!(reply.unwrap().text(), "whole");
    assert_eq!(statuses(&signs), [None, Some(200)]);
}

#[tokio::test]
async fn what_cannot_be_mended_is_asked_once() {
    for status in [400, 401, 403, 404] {
        let server = Server::start(vec![Answer::status(status, "no")]).await;
        let (reply, _) = ask(&server.model(ProviderKind("anthropic"))).await;
        assert_eq!(reply.unwrap_err().status, Some(status));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_given_up_after_five_tries() {
    let model = scripted("t: [{ fail: { status: 529, message: busy }, repeat: 50 }]");
    let (reply, signs) = ask(&model).await;
    assert_eq!(reply.unwrap_err().message, "busy (tried 5 times)");
    assert_eq!(statuses(&signs), [Some(529); 5]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_past_all_patience_is_given_up_at_once() {
    let began = Instant::now();
    let (reply, _) = ask(&scripted("t: [{ fail: { status: 429, retry_after: 3600, message: full } }]")).await;
    assert_eq!(reply.unwrap_err().message, "full (it asks to wait 3600 s)");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_script_is_played_from_the_cursor_on_and_every_try_moves_it() {
    let model =
        scripted("t: [{ say: zero }, { fail: { status: 500 } }, { say_partial: hal }, { say: three }]");
    let mut cursor = cursor();
    cursor.position = 1;
    let mut signs = Vec::new();
    let reply = model.ask(&mut cursor, &request(), &mut |sign| signs.push(sign)).await.unwrap();
    assert_eq!((reply.text().as_str(), cursor.position), ("three", 4));
    assert!(signs.contains(&Sign::Delta(Delta::Text("hal".to_owned()))));
    let error = model.ask(&mut cursor, &request(), &mut |_| {}).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::ScriptEnded, "script ended at turn 5"));
}

#[tokio::test(start_paused = true)]
async fn a_script_without_turns_for_a_task_says_for_which() {
    let error = ask(&scripted("other: [{ say: x }]")).await.0.unwrap_err();
    assert_eq!(error.message, "the script has no turns for `t`, its agent `worker` or `default`");
}

#[tokio::test(start_paused = true)]
async fn what_one_request_learns_of_an_outage_holds_up_the_others() {
    let model =
        scripted("t: [{ fail: { status: 503, retry_after: 30 } }, { say: late }]\nu: [{ say: other }]");
    let other = model.clone();
    let began = Instant::now();
    let first = tokio::spawn(async move { ask(&model).await.0.unwrap().text() });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut cursor = cursor();
    cursor.address = "u".into();
    let mut signs = Vec::new();
    other.ask(&mut cursor, &request(), &mut |sign| signs.push(sign)).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(30));
    assert_eq!(waits(&signs), [true, false]);
    assert_eq!(first.await.unwrap(), "late");
}

#[tokio::test(start_paused = true)]
async fn a_script_takes_the_time_it_says_and_hangs_for_ever() {
    let began = Instant::now();
    let model = scripted("t: [{ say: x, sleep: 2s }, { hang: true }]");
    ask(&model).await.0.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    let mut cursor = cursor();
    cursor.position = 1;
    let request = request();
    let mut signs = |_| {};
    let hanging = model.ask(&mut cursor, &request, &mut signs);
    assert!(tokio::time::timeout(Duration::from_secs(3_600), hanging).await.is_err());
}
