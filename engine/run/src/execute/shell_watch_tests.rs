use std::ffi::OsString;
use std::path::PathBuf;

use super::*;

/// Looks at outputs of these lengths, each after so many milliseconds; returns the first order.
async fn look(idle: Option<u64>, lengths: &[(u64, u64)]) -> Option<(usize, Reason)> {
    let launch = ShellLaunch {
        idle: idle.map(Duration::from_millis),
        max_output: 100,
        ..ShellLaunch::new(vec![OsString::from("x")], PathBuf::new(), String::new())
    };
    let mut limits = Limits::new(&launch);
    for (at, (pause, length)) in lengths.iter().enumerate() {
        tokio::time::advance(Duration::from_millis(*pause)).await;
        if let Some(order) = limits.look(*length) {
            return Some((at, order.reason));
        }
    }
    None
}

#[tokio::test(start_paused = true)]
async fn output_that_grows_is_no_stall_and_output_that_stops_is() {
    assert_eq!(look(Some(120), &[(50, 1), (50, 2), (50, 3), (50, 4), (50, 5)]).await, None);
    assert_eq!(look(Some(120), &[(50, 1), (50, 1), (50, 1), (50, 1)]).await, Some((3, Reason::Stall)));
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
    assert_eq!(look(Some(50), &[(50, 100), (50, 101)]).await, Some((1, Reason::OutputLimit)));
}
