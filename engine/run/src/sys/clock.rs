//! The clock of a run: wall time when the process began, plus a monotonic count since. A clock that is set back, or
//! jumps, can therefore neither reorder a journal nor end a task.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use flow_core::ids::Millis;

/// The current moment. Never smaller than an earlier answer in the same process.
pub fn now() -> Millis {
    static START: OnceLock<(SystemTime, Instant)> = OnceLock::new();
    let (wall, start) = *START.get_or_init(|| (SystemTime::now(), Instant::now()));
    // A machine whose clock stands before 1970 counts from 0.
    let wall = wall.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Millis(u64::try_from(wall + start.elapsed().as_millis()).unwrap_or(u64::MAX))
}

/// The date in UTC: `2026-11-30`.
pub fn today() -> String {
    jiff::Timestamp::from_second(i64::try_from(now().0 / 1000).unwrap_or(i64::MAX))
        .map_or_else(|_| String::new(), |now| now.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_near_the_wall_and_never_goes_back() {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let moments: Vec<_> = (0..1000).map(|_| now()).collect();
        assert!(moments.is_sorted());
        assert!(u128::from(moments[0].0).abs_diff(wall) < 60_000);
    }
}
