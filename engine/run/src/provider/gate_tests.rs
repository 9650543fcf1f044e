use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Sends `count` requests of a second each through the gate and gives how many were under way at most, and how long
/// all took.
async fn rush(gate: &Arc<Gate>, count: usize) -> (usize, Duration) {
    let began = Instant::now();
    let (live, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let requests = (0..count).map(|_| {
        let (gate, live, most) = (Arc::clone(gate), Arc::clone(&live), Arc::clone(&most));
        tokio::spawn(async move {
            let pass = gate.enter(|_| {}).await;
            most.fetch_max(live.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            live.fetch_sub(1, Ordering::SeqCst);
            drop(pass);
        })
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.unwrap();
    }
    (most.load(Ordering::SeqCst), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn no_more_pass_at_once_than_are_allowed() {
    let gate = Gate::new(3);
    assert_eq!(rush(&gate, 9).await, (3, Duration::from_secs(3)));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_closes_the_gate_and_halves_what_passes_once() {
    let gate = Gate::new(8);
    gate.close(Duration::from_secs(10), true);
    gate.close(Duration::from_secs(5), true);
    let (most, took) = rush(&gate, 8).await;
    assert_eq!(most, 4);
    assert_eq!(took.as_secs(), 12);
}

#[tokio::test(start_paused = true)]
async fn passes_that_are_out_when_it_halves_do_not_come_back() {
    let gate = Gate::new(4);
    let out: Vec<Pass> = vec![gate.enter(|_| {}).await, gate.enter(|_| {}).await, gate.enter(|_| {}).await];
    gate.close(Duration::from_secs(1), true);
    drop(out);
    assert_eq!(rush(&gate, 6).await.0, 2);
}

#[tokio::test(start_paused = true)]
async fn a_closing_that_is_nobodys_crowd_keeps_the_number() {
    let gate = Gate::new(4);
    gate.close(Duration::from_secs(1), false);
    assert_eq!(rush(&gate, 8).await.0, 4);
}

#[tokio::test(start_paused = true)]
async fn answers_bring_the_number_back_up_to_the_maximum() {
    let gate = Gate::new(4);
    gate.close(Duration::from_secs(1), true);
    gate.close(Duration::from_secs(1), true);
    for _ in 0..2 {
        gate.enter(|_| {}).await.answered();
    }
    assert_eq!(rush(&gate, 9).await.0, 3);
    for _ in 0..30 {
        gate.enter(|_| {}).await.answered();
    }
    assert_eq!(rush(&gate, 12).await.0, 4);
}

#[tokio::test(start_paused = true)]
async fn only_a_wait_that_takes_time_is_told() {
    let gate = Gate::new(1);
    let mut told = Vec::new();
    let pass = gate.enter(|waits| told.push(waits)).await;
    assert!(told.is_empty());
    gate.close(Duration::from_secs(1), false);
    let later = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        drop(pass);
    };
    let (_pass, ()) = tokio::join!(gate.enter(|waits| told.push(waits)), later);
    assert_eq!(told, [true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_leaves_no_hole() {
    let gate = Gate::new(1);
    let pass = gate.enter(|_| {}).await;
    let gone = tokio::time::timeout(Duration::from_secs(1), gate.enter(|_| {})).await;
    assert!(gone.is_err());
    drop(pass);
    assert_eq!(rush(&gate, 2).await, (1, Duration::from_secs(2)));
}
