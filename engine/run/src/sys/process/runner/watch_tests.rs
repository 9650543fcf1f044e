use std::sync::atomic::{AtomicU64, Ordering};

use super::super::command::Printing;
use super::*;

/// Looks at outputs of these lengths, each after so many milliseconds; returns which look found a limit broken, and which.
async fn look(idle: Option<u64>, lengths: &[(u64, u64)]) -> Option<(usize, Limit)> {
    let length = AtomicU64::new(0);
    let printed = || length.load(Ordering::Relaxed);
    let idle = idle.map(Duration::from_millis);
    let printing = Some(Printing { printed: &printed, most: 100, idle });
    let mut watched = Watched::new(Limits { time: None, printing });
    for (at, (pause, now)) in lengths.iter().enumerate() {
        tokio::time::advance(Duration::from_millis(*pause)).await;
        length.store(*now, Ordering::Relaxed);
        if let Some(limit) = watched.look() {
            return Some((at, limit));
        }
    }
    None
}

#[tokio::test(start_paused = true)]
async fn output_that_grows_is_no_stall_and_output_that_stops_is() {
    assert_eq!(look(Some(120), &[(50, 1), (50, 2), (50, 3), (50, 4), (50, 5)]).await, None);
    assert_eq!(look(Some(120), &[(50, 1), (50, 1), (50, 1), (50, 1)]).await, Some((3, Limit::Idle)));
    assert_eq!(look(Some(120), &[(50, 0), (50, 0), (50, 1), (50, 1), (50, 1)]).await, None);
    assert_eq!(look(None, &[(50, 0); 100]).await, None);
}

#[tokio::test(start_paused = true)]
async fn time_in_which_we_stood_still_ourselves_does_not_count() {
    assert_eq!(look(Some(1000), &[(50, 1), (3_600_000, 1), (50, 1)]).await, None);
}

#[tokio::test(start_paused = true)]
async fn the_limit_itself_is_allowed_and_a_byte_more_is_not() {
    assert_eq!(look(None, &[(50, 100)]).await, None);
    assert_eq!(look(Some(50), &[(50, 100), (50, 101)]).await, Some((1, Limit::Output)));
}

#[tokio::test(start_paused = true)]
async fn a_command_whose_output_nobody_counts_is_looked_at_when_its_time_is_up() {
    let check = async |time: u64, pauses: &[u64]| {
        let mut watched = Watched::new(Limits { time: Some(Duration::from_millis(time)), printing: None });
        for pause in pauses {
            assert_eq!(watched.pause(), Duration::from_millis(*pause));
            tokio::time::advance(watched.pause()).await;
            let limit = watched.look();
            assert_eq!(limit.is_some(), watched.lived == Duration::from_millis(time), "{limit:?}");
        }
    };
    check(300, &[300]).await;
    check(2500, &[1000, 1000, 500]).await;
}
