use super::super::{APIS, api};
use super::*;

#[test]
fn the_table_and_the_lookup_agree() {
    for entry in APIS {
        assert_eq!(api(entry.kind).path, entry.path);
    }
    let keys: Vec<&str> = APIS.iter().map(|entry| entry.key_env).collect();
    assert_eq!(keys, ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
}

#[test]
fn an_answer_past_the_limit_breaks_the_stream() {
    let ping = |length: usize| SseEvent {
        event: None,
        data: format!("{}{}", " ".repeat(length), r#"{"type":"ping"}"#),
    };
    let mut decoder = (anthropic::API.decoder)();
    let failed = (0..=MOST >> 20).find_map(|_| decoder.event(&ping(1 << 20)).err());
    assert!(failed.is_some_and(|error| error.message.contains("64 MiB")));
}
