//! The gate before a provider's model: how many requests at once, and since when none at all.
//!
//! 1. At most `allowed` requests are under way, and `allowed` is from 1 to the maximum.
//! 2. A refusal for want of room halves `allowed`, once for each time that the gate closes; as many answers in a row
//!    as are allowed at once raise it by one.
//! 3. While the gate is closed nobody passes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Requests at once where nothing says otherwise.
pub(super) const DEFAULT_MAX: usize = 8;

/// A gate. Everyone who asks the same model of the same provider goes through the same one.
#[derive(Debug)]
pub(super) struct Gate {
    /// Holds `total` permits less those that are out.
    permits: Arc<Semaphore>,
    state: Mutex<State>,
    max: usize,
}

#[derive(Debug)]
struct State {
    allowed: usize,
    /// Permits that exist; more than `allowed` until enough of them have come back.
    total: usize,
    /// Answers since `allowed` last changed.
    clean: usize,
    closed_until: Option<Instant>,
}

/// The right to make one request.
#[derive(Debug)]
pub(super) struct Pass {
    gate: Arc<Gate>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Gate {
    /// A gate that lets `max` through at once.
    pub(super) fn new(max: usize) -> Arc<Self> {
        let max = max.clamp(1, Semaphore::MAX_PERMITS);
        let state = State { allowed: max, total: max, clean: 0, closed_until: None };
        Arc::new(Gate { permits: Arc::new(Semaphore::new(max)), state: Mutex::new(state), max })
    }

    /// The most that it lets through at once.
    pub(super) fn max(&self) -> usize {
        self.max
    }

    /// Waits for its turn. `waiting` is told when that takes time, and when it is over.
    pub(super) async fn enter(self: &Arc<Self>, mut waiting: impl FnMut(bool)) -> Pass {
        let mut waits = false;
        let mut wait = |now: bool| {
            if now != waits {
                waits = now;
                waiting(now);
            }
        };
        loop {
            if let Some(until) = self.closed() {
                wait(true);
                tokio::time::sleep_until(until).await;
                continue;
            }
            let permit = match Arc::clone(&self.permits).try_acquire_owned() {
                Ok(permit) => permit,
                Err(_) => {
                    wait(true);
                    match Arc::clone(&self.permits).acquire_owned().await {
                        Ok(permit) => permit,
                        // Only a closed semaphore says so, and nothing closes this one.
                        Err(_) => std::future::pending().await,
                    }
                }
            };
            let pass = Pass { gate: Arc::clone(self), permit: Some(permit) };
            // It may have closed while this one stood in the queue.
            if self.closed().is_none() {
                wait(false);
                return pass;
            }
        }
    }

    /// Closes the gate for a while. `crowded`: because too many came at once.
    pub(super) fn close(&self, wait: Duration, crowded: bool) {
        let now = Instant::now();
        let mut state = self.state();
        let open = state.closed_until.is_none_or(|until| until <= now);
        if crowded && open {
            state.allowed = (state.allowed / 2).max(1);
            state.clean = 0;
            let over = state.total - state.allowed;
            state.total -= self.permits.forget_permits(over);
        }
        let until = now + wait;
        state.closed_until = Some(state.closed_until.map_or(until, |known| known.max(until)));
    }

    /// Until when it is closed, if it is.
    fn closed(&self) -> Option<Instant> {
        self.state().closed_until.filter(|until| *until > Instant::now())
    }

    fn answered(&self) {
        let mut state = self.state();
        state.clean += 1;
        if state.clean >= state.allowed && state.allowed < self.max {
            state.allowed += 1;
            state.clean = 0;
            if state.total < state.allowed {
                state.total += 1;
                self.permits.add_permits(1);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    /// Gives the pass back after an answer.
    pub(super) fn answered(self) {
        self.gate.answered();
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        if state.total > state.allowed
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
            state.total -= 1;
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
