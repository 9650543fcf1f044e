//! Whether a failure is worth another attempt, and when.

use std::time::Duration;

use crate::ids::{Address, Attempt};
use crate::model::Reason;
use crate::plan::RetryPolicy;

/// Whether an attempt that failed for this reason is worth another. Kills never are, whatever `retry.on` says.
pub(super) fn is_worth_it(policy: &RetryPolicy, reason: Reason) -> bool {
    match &policy.on {
        Some(reasons) => reasons.contains(&reason) && !is_final(reason),
        None => is_transient(reason),
    }
}

/// Reasons that no `retry` can answer: the task was stopped, or never ran.
fn is_final(reason: Reason) -> bool {
    reason.is_deliberate() || matches!(reason, Reason::Upstream | Reason::Condition | Reason::NotSelected)
}

/// The default of `retry.on`: everything that may well go better the next time.
pub(super) fn is_transient(reason: Reason) -> bool {
    match reason {
        Reason::PermissionDenied
        | Reason::Expression
        | Reason::Isolation
        | Reason::Provider
        | Reason::Cancelled
        | Reason::FailFast
        | Reason::Upstream
        | Reason::Condition
        | Reason::NotSelected => false,
        Reason::ExitCode
        | Reason::Signal
        | Reason::Timeout
        | Reason::Stall
        | Reason::MaxTurns
        | Reason::RateLimit
        | Reason::Overloaded
        | Reason::ContextOverflow
        | Reason::Truncated
        | Reason::InvalidOutput
        | Reason::NoOutput
        | Reason::MissingArtifact
        | Reason::CheckFailed
        | Reason::Expectation
        | Reason::OutputLimit
        | Reason::WorkerRestart
        | Reason::Spawn
        | Reason::Setup
        | Reason::MergeConflict
        | Reason::WorkspaceLost
        | Reason::GitLocked
        | Reason::Tampered
        | Reason::Resource
        | Reason::NoSpace
        | Reason::Internal => true,
    }
}

/// How long to wait after the `failures`-th failure in a row. Jitter shortens it by up to a half, so that tasks which
/// failed together don't come back together; it is a function of the run's seed, so that a replay is exact.
pub(super) fn delay(
    policy: &RetryPolicy,
    failures: u32,
    seed: u64,
    address: &Address,
    attempt: Attempt,
) -> Duration {
    let exponent = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
    let grown = policy.delay.as_secs_f64() * policy.backoff.powi(exponent);
    let full = Duration::try_from_secs_f64(grown).unwrap_or(policy.max_delay).min(policy.max_delay);
    if !policy.jitter {
        return full;
    }
    let hash = address.as_str().bytes().fold(seed, |hash, byte| mix(hash ^ u64::from(byte)));
    // 53 bits are what a double holds exactly.
    let fraction = (mix(hash ^ u64::from(attempt.0)) >> 11) as f64 / (1u64 << 53) as f64;
    full.mul_f64(1.0 - fraction / 2.0)
}

/// One step of splitmix64.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
