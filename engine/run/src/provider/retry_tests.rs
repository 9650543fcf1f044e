use super::*;

/// The waits, in milliseconds, of a request that fails this way until it is given up or has failed twenty times.
fn check(kind: ModelErrorKind, retry_after: Option<u64>, chance: f64, waits: &[u128]) {
    let error = ModelError {
        kind,
        status: None,
        message: String::new(),
        retry_after: retry_after.map(Duration::from_secs),
    };
    let mut retries = Retries::default();
    let got: Vec<u128> =
        std::iter::from_fn(|| retries.next(&error, chance)).take(20).map(|wait| wait.as_millis()).collect();
    assert_eq!(got, waits, "{kind:?}");
}

#[test]
fn an_outage_gets_five_tries_with_doubled_waits() {
    for kind in [ModelErrorKind::Overloaded, ModelErrorKind::Server, ModelErrorKind::Connection] {
        check(kind, None, 0.0, &[500, 1000, 2000, 4000]);
        check(kind, None, 1.0, &[250, 500, 1000, 2000]);
    }
    check(ModelErrorKind::Overloaded, Some(3), 0.0, &[3000; 4]);
}

#[test]
fn a_limit_is_waited_for_ten_minutes_in_all() {
    check(ModelErrorKind::RateLimit, Some(250), 0.0, &[250_000, 250_000]);
    check(ModelErrorKind::RateLimit, Some(3_600), 0.0, &[]);
    check(ModelErrorKind::RateLimit, Some(0), 1.0, &[0; 20]);
    let doubled = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000];
    let rest = [60_000; 5];
    check(ModelErrorKind::RateLimit, None, 0.0, &[&doubled[..], &rest[..]].concat());
}

#[test]
fn what_the_provider_asks_for_is_never_cut_short() {
    check(ModelErrorKind::RateLimit, Some(290), 1.0, &[291_000, 291_000]);
    check(ModelErrorKind::Overloaded, Some(1), 0.5, &[1050; 4]);
}

#[test]
fn a_broken_stream_gets_two_more_tries() {
    check(ModelErrorKind::Broken, None, 0.0, &[500, 1000]);
}

#[test]
fn what_a_second_try_cannot_mend_gets_none() {
    for kind in [ModelErrorKind::Refused, ModelErrorKind::ContextOverflow, ModelErrorKind::ScriptEnded] {
        check(kind, Some(1), 0.0, &[]);
    }
}

#[test]
fn chances_lie_between_none_and_all() {
    for _ in 0..100 {
        assert!((0.0..=1.0).contains(&chance()));
    }
}
