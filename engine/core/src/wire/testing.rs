//! What the tests of the codecs share.

use std::sync::Arc;

use super::{Api, Delta, Message, ModelError, Reply, Request, SseDecoder};

/// A request with a prompt and nothing else.
pub(super) fn request(prompt: &str) -> Request {
    Request {
        model: "model-1".to_owned(),
        system: Arc::from(""),
        tools: Arc::from([]),
        messages: vec![Message::user(prompt)],
        max_tokens: 1000,
        effort: None,
    }
}

/// Events written as `data:` lines, one each.
pub(super) fn stream(events: &[&str]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// Decodes a stream that arrives in these pieces.
pub(super) fn decode(api: &Api, pieces: &[&[u8]]) -> Result<(Vec<Delta>, Reply), ModelError> {
    let mut events = SseDecoder::default();
    let mut decoder = api.decoder();
    let mut deltas = Vec::new();
    for piece in pieces {
        for event in events.push(piece)? {
            deltas.extend(decoder.event(&event)?);
        }
    }
    Ok((deltas, decoder.finish()?))
}

/// Asserts that the stream means the same however it is cut: in two at every position, byte by byte, and at random.
#[track_caller]
pub(super) fn same_at_every_cut(api: &Api, stream: &str) -> (Vec<Delta>, Reply) {
    let bytes = stream.as_bytes();
    let whole = decode(api, &[bytes]).unwrap();
    for at in 0..=bytes.len() {
        assert_eq!(decode(api, &[&bytes[..at], &bytes[at..]]).unwrap(), whole, "cut at {at}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(api, &single).unwrap(), whole, "byte by byte");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let cuts = proptest::collection::vec(0..=bytes.len(), 0..20);
    runner
        .run(&cuts, |mut cuts| {
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in cuts {
                pieces.push(&bytes[start..cut]);
                start = cut;
            }
            pieces.push(&bytes[start..]);
            proptest::prop_assert_eq!(&decode(api, &pieces).unwrap(), &whole);
            Ok(())
        })
        .unwrap();
    whole
}

/// Asserts that no proper beginning of a stream gives an answer.
#[track_caller]
pub(super) fn no_part_is_an_answer(api: &Api, stream: &str) {
    let end = stream.trim_end().len();
    for at in (0..=end).filter(|at| stream.is_char_boundary(*at)) {
        let error = decode(api, &[&stream.as_bytes()[..at]]).expect_err("a part of a stream is no answer");
        assert_eq!(error.kind, super::ModelErrorKind::Broken, "cut at {at}");
    }
}
