//! Whether a failed request is worth another try, and when.

use std::time::Duration;

use flow_core::wire::{ModelError, ModelErrorKind};

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Tries of a request that the provider can't answer at the moment.
const MAX_TRIES: u32 = 5;
/// Further tries after a stream that broke off.
const MAX_BROKEN: u32 = 2;
/// How long a provider's limit is waited for in all.
const MAX_LIMITED: Duration = Duration::from_secs(600);

/// What has gone wrong with one request so far.
#[derive(Debug, Default)]
pub(super) struct Retries {
    failed: u32,
    broken: u32,
    limited: Duration,
}

impl Retries {
    /// How long to wait before the next try; `None`: the failure stands. `chance` is from 0 to 1 and spreads those who
    /// failed together.
    pub(super) fn next(&mut self, error: &ModelError, chance: f64) -> Option<Duration> {
        match error.kind {
            ModelErrorKind::RateLimit => {
                let wait = wait(error, self.failed, chance);
                self.failed += 1;
                self.limited += wait;
                (self.limited <= MAX_LIMITED).then_some(wait)
            }
            ModelErrorKind::Overloaded | ModelErrorKind::Server | ModelErrorKind::Connection => {
                let wait = wait(error, self.failed, chance);
                self.failed += 1;
                self.limited += wait;
                (self.failed < MAX_TRIES && self.limited <= MAX_LIMITED).then_some(wait)
            }
            ModelErrorKind::Broken => {
                let wait = wait(error, self.broken, chance);
                self.broken += 1;
                (self.broken <= MAX_BROKEN).then_some(wait)
            }
            ModelErrorKind::Refused | ModelErrorKind::ContextOverflow | ModelErrorKind::ScriptEnded => None,
        }
    }

    /// Tries so far, the last one included.
    pub(super) fn tries(&self) -> u32 {
        self.failed + self.broken
    }
}

/// What the provider asks for and a little more, or twice the last wait less up to a half.
fn wait(error: &ModelError, earlier: u32, chance: f64) -> Duration {
    match error.retry_after {
        Some(asked) => asked + asked.mul_f64(chance / 10.0).min(Duration::from_secs(1)),
        None => {
            let longest = FIRST_WAIT.saturating_mul(1 << earlier.min(16)).min(LONGEST_WAIT);
            longest.mul_f64(1.0 - chance / 2.0)
        }
    }
}

/// A number from 0 to 1 that differs from process to process.
pub(super) fn chance() -> f64 {
    let mut bytes = [0u8; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX),
        // Without randomness all wait the same time, which is worse but no reason to fail.
        Err(_) => 0.5,
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
