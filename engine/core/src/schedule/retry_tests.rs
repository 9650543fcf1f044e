use std::time::Duration;

use super::super::testing::bare;
use super::{RetryPolicy, delay, is_worth_it};
use crate::ids::{Address, Attempt};
use crate::model::Reason;

fn plain() -> RetryPolicy {
    bare("t").retry
}

fn waits(policy: &RetryPolicy, failures: u32) -> Duration {
    delay(policy, failures, 7, &Address::task("t"), Attempt(failures + 1))
}

#[test]
fn the_delay_doubles_up_to_the_longest() {
    let seconds: Vec<u64> = (1..=8).map(|failures| waits(&plain(), failures).as_secs()).collect();
    assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn absurd_numbers_give_the_longest_delay() {
    let policy = RetryPolicy { backoff: 1e300, ..plain() };
    assert_eq!(waits(&policy, 9), Duration::from_secs(60));
    assert_eq!(waits(&policy, u32::MAX - 1), Duration::from_secs(60));
}

#[test]
fn jitter_shortens_by_at_most_a_half_and_spreads() {
    let policy = RetryPolicy { jitter: true, backoff: 1.0, ..plain() };
    let all: Vec<u128> =
        (1..=1000).map(|n| delay(&policy, 1, 7, &Address::task("t"), Attempt(n)).as_millis()).collect();
    assert!(all.iter().all(|millis| (500..=1000).contains(millis)));
    let below = all.iter().filter(|&&millis| millis < 750).count();
    assert!((400..600).contains(&below), "{below}");
}

#[test]
fn jitter_is_a_function_of_seed_address_and_attempt() {
    let policy = RetryPolicy { jitter: true, ..plain() };
    let at = |seed, address, attempt| delay(&policy, 1, seed, &Address::task(address), Attempt(attempt));
    assert_eq!(at(1, "a", 2), at(1, "a", 2));
    assert_ne!(at(1, "a", 2), at(2, "a", 2));
    assert_ne!(at(1, "a", 2), at(1, "b", 2));
    assert_ne!(at(1, "a", 2), at(1, "a", 3));
}

#[test]
fn by_default_everything_is_worth_it_but_what_would_go_the_same_way_again() {
    let not: Vec<&str> = Reason::ALL
        .iter()
        .filter(|&&reason| !is_worth_it(&plain(), reason))
        .map(|reason| reason.as_str())
        .collect();
    assert_eq!(
        not,
        [
            "provider",
            "permission_denied",
            "isolation",
            "upstream",
            "condition",
            "not_selected",
            "cancelled",
            "fail_fast",
            "expression"
        ]
    );
}

#[test]
fn a_list_decides_alone_but_never_for_kills() {
    let policy =
        RetryPolicy { on: Some(vec![Reason::Provider, Reason::Cancelled, Reason::FailFast]), ..plain() };
    assert!(is_worth_it(&policy, Reason::Provider));
    assert!(!is_worth_it(&policy, Reason::ExitCode));
    assert!(!is_worth_it(&policy, Reason::Cancelled) && !is_worth_it(&policy, Reason::FailFast));
}
