//! How long an agent shows no sign of life. Only a turn of the model can be silent: a tool that runs has a time limit of
//! its own and counts as alive.

use std::time::Duration;

use flow_core::wire::Delta;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::provider::Sign;

/// How much too late an alarm may come before it means that this process was stopped.
const LATE: Duration = Duration::from_secs(1);

/// Keeps the time since the last sign of life.
#[derive(Debug)]
pub(super) struct Pulse(watch::Sender<Silence>);

#[derive(Clone, Copy, Debug)]
enum Silence {
    /// Nothing was heard since then.
    Since(Instant),
    /// It waits for the provider, and was silent for so long before that.
    Stands(Duration),
}

impl Pulse {
    /// Begins with a sign of life.
    pub(super) fn new() -> Self {
        Pulse(watch::Sender::new(Silence::Since(Instant::now())))
    }

    /// Takes a sign in. A ping keeps the line alive and says nothing of who is at its other end.
    pub(super) fn hear(&self, sign: &Sign) {
        match sign {
            Sign::Delta(Delta::Text(_) | Delta::Thinking(_) | Delta::ToolUse(_)) => {
                self.0.send_replace(Silence::Since(Instant::now()));
            }
            Sign::Waiting(waits) => self.0.send_modify(|silence| *silence = silence.standing(*waits)),
            Sign::Delta(Delta::Ping) | Sign::Trying { .. } | Sign::Tried(_) | Sign::Parked { .. } => {}
        }
    }

    /// Returns once nothing was heard for so long; never without a limit.
    pub(super) fn stalls(&self, limit: Option<Duration>) -> impl Future<Output = ()> + use<> {
        stall(limit, self.0.subscribe())
    }
}

impl Silence {
    fn standing(self, stands: bool) -> Self {
        let now = Instant::now();
        match (self, stands) {
            (Silence::Since(at), true) => Silence::Stands(now.saturating_duration_since(at)),
            (Silence::Stands(before), false) => Silence::Since(now.checked_sub(before).unwrap_or(now)),
            (same, _) => same,
        }
    }
}

async fn stall(limit: Option<Duration>, mut pulse: watch::Receiver<Silence>) {
    let Some(limit) = limit else { return std::future::pending().await };
    let mut excused = Instant::now();
    loop {
        // The guard is let go before anything is waited for, so that the future can change threads.
        let silence = *pulse.borrow_and_update();
        match silence {
            Silence::Since(at) => {
                let until = at.max(excused) + limit;
                if Instant::now() >= until {
                    return;
                }
                sleep_until(until).await;
                // While this process was stopped, signs may have come that nobody has read yet.
                if Instant::now() > until + LATE {
                    excused = Instant::now();
                }
            }
            Silence::Stands(_) => {
                if pulse.changed().await.is_err() {
                    return std::future::pending().await;
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "idle_tests.rs"]
mod tests;
