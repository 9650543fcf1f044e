use flow_core::ids::Millis;
use tokio::time::{advance, timeout};

use super::*;

const LIMIT: Duration = Duration::from_secs(10);

/// How many seconds pass from now on until it stalls, in steps of one.
async fn seconds_to_stall(pulse: &Pulse) -> Option<u64> {
    let began = Instant::now();
    let stalled = timeout(Duration::from_secs(1000), pulse.stalls(Some(LIMIT))).await;
    stalled.ok().map(|()| began.elapsed().as_secs())
}

fn text() -> Sign {
    Sign::Delta(Delta::Text("x".to_owned()))
}

#[tokio::test(start_paused = true)]
async fn silence_stalls_after_its_limit_and_without_one_never() {
    let pulse = Pulse::new();
    assert_eq!(seconds_to_stall(&pulse).await, Some(10));
    assert!(timeout(Duration::from_secs(1_000_000), pulse.stalls(None)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn what_the_model_sends_is_a_sign_of_life_and_what_the_line_does_is_none() {
    for (sign, left) in [
        (text(), 10),
        (Sign::Delta(Delta::Thinking("hm".to_owned())), 10),
        (Sign::Delta(Delta::ToolUse("Read".to_owned())), 10),
        (Sign::Delta(Delta::Ping), 6),
        (Sign::Trying { at: Millis(0) }, 6),
    ] {
        let pulse = Pulse::new();
        let stalls = pulse.stalls(Some(LIMIT));
        tokio::pin!(stalls);
        assert!(timeout(Duration::from_secs(4), &mut stalls).await.is_err());
        pulse.hear(&sign);
        let began = Instant::now();
        stalls.await;
        assert_eq!(began.elapsed().as_secs(), left, "{sign:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_stands_while_it_waits_for_the_provider_and_goes_on_from_there() {
    let pulse = Pulse::new();
    let stalls = pulse.stalls(Some(LIMIT));
    tokio::pin!(stalls);
    assert!(timeout(Duration::from_secs(4), &mut stalls).await.is_err());
    pulse.hear(&Sign::Waiting(true));
    pulse.hear(&Sign::Waiting(true));
    assert!(timeout(Duration::from_secs(1000), &mut stalls).await.is_err());
    pulse.hear(&Sign::Waiting(false));
    pulse.hear(&Sign::Waiting(false));
    let began = Instant::now();
    stalls.await;
    assert_eq!(began.elapsed().as_secs(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_was_stopped_for_long_listens_again_before_it_judges() {
    let pulse = Pulse::new();
    let stalls = pulse.stalls(Some(LIMIT));
    tokio::pin!(stalls);
    assert!(timeout(Duration::from_secs(4), &mut stalls).await.is_err());
    advance(Duration::from_secs(3600)).await;
    let began = Instant::now();
    stalls.await;
    assert_eq!(began.elapsed().as_secs(), 10);
}
