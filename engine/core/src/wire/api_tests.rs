use std::collections::HashSet;

use super::*;

#[test]
fn a_word_a_key_and_an_alias_mean_one_api() {
    let mut seen = HashSet::new();
    for entry in APIS {
        assert!(seen.insert(entry.kind.0) && seen.insert(entry.key_env), "{:?}", entry.kind);
        assert_eq!(api(entry.kind.0).map(|found| found.path), Some(entry.path));
    }
    for (alias, entry, id) in aliases() {
        assert!(seen.insert(alias), "{alias}");
        assert_eq!(api_of_model(id).map(|found| found.kind), Some(entry.kind));
    }
    assert!(api("Anthropic").is_none());
}

#[test]
fn a_model_belongs_to_the_vendor_whose_ids_begin_like_it() {
    for (id, expected) in [
        ("claude-sonnet-5-5", Some("anthropic")),
        ("gpt-5.4", Some("openai")),
        ("chatgpt-4o", Some("openai")),
        ("o3-mini", Some("openai")),
        ("opus", None),
        ("llama3", None),
    ] {
        assert_eq!(api_of_model(id).map(|found| found.kind.0), expected, "{id}");
    }
}

#[test]
fn the_middle_model_of_a_vendor_is_one_of_its_own() {
    for entry in APIS {
        let id = aliases()
            .find(|(alias, ..)| *alias == entry.middle_model)
            .map_or(entry.middle_model, |(.., id)| id);
        assert!((entry.has_model)(id), "{id}");
    }
}

#[test]
fn an_answer_past_the_limit_breaks_the_stream() {
    let ping = |length: usize| SseEvent {
        event: None,
        data: format!("{}{}", " ".repeat(length), r#"{"type":"ping"}"#),
    };
    let mut decoder = APIS[0].decoder();
    let failed = (0..=MOST >> 20).find_map(|_| decoder.event(&ping(1 << 20)).err());
    assert!(failed.is_some_and(|error| error.message.contains("64 MiB")));
}
