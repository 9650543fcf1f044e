//! The header `Retry-After`.

use std::time::Duration;

use crate::ids::Millis;

/// How long a `Retry-After` header asks to wait from now: whole or broken seconds, or an HTTP date. A moment that has
/// passed is no wait; text that is neither says nothing.
pub fn retry_after(header: &str, now: Millis) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let due = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(header).ok()?;
    let due = u64::try_from(due.as_millisecond()).unwrap_or(0);
    Some(Millis(due).since(now))
}

#[cfg(test)]
#[path = "retry_after_tests.rs"]
mod tests;
