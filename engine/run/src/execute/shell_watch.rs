//! Waiting for a command, and making it end.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use flow_core::model::Reason;
use rustix::process::Signal;
use tokio::time::{Instant, sleep, sleep_until};

use super::shell::{ShellLaunch, written};
use super::stop::{StopOrder, StopSignal};
use crate::store::SlotFiles;
use crate::sys::process::{Leader, Remnant};

/// How often a running attempt's output is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long what a command left in its group may go on by itself: a shell doesn't wait for `>(...)`.
const LINGER: Duration = Duration::from_millis(200);

/// How long it may then take to obey TERM.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

/// How long a killed process may take to vanish: one stuck in the kernel must not hang the engine.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// An attempt that was told to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    pub(super) reason: Reason,
    /// When asking becomes insisting. `None`: it was killed already.
    deadline: Option<Instant>,
}

impl Stopping {
    fn begin(order: StopOrder, leader: &Leader, grace: Duration) -> Self {
        if order.force {
            leader.signal(Signal::KILL);
            return Stopping { reason: order.reason, deadline: None };
        }
        leader.signal(Signal::TERM);
        // A stopped process would not get to hear it.
        leader.signal(Signal::CONT);
        Stopping { reason: order.reason, deadline: Some(Instant::now() + grace) }
    }
}

/// Waits for the leader's end and makes it end where an order or a limit asks for it.
pub(super) async fn watch(
    leader: &mut Leader,
    launch: &ShellLaunch,
    files: &SlotFiles,
    stop: &mut StopSignal,
) -> (io::Result<(ExitStatus, Remnant)>, Option<Stopping>) {
    let mut stopping: Option<Stopping> = None;
    let mut limits = Limits::new(launch);
    loop {
        let order = tokio::select! {
            biased;
            end = leader.wait() => return (end, stopping),
            order = next_order(stopping, stop) => Some(order),
            () = sleep(TICK), if stopping.is_none() => limits.look(written(files)),
        };
        stopping = match (order, stopping) {
            (Some(order), None) => Some(Stopping::begin(order, leader, launch.grace)),
            (Some(_), Some(first)) => {
                leader.signal(Signal::KILL);
                Some(Stopping { deadline: None, ..first })
            }
            (None, _) => stopping,
        };
    }
}

/// The next order to obey: the first one, then that to insist. After that there is none.
async fn next_order(stopping: Option<Stopping>, stop: &mut StopSignal) -> StopOrder {
    match stopping {
        None => stop.stopped().await,
        Some(Stopping { reason, deadline: Some(deadline) }) => {
            tokio::select! {
                () = sleep_until(deadline) => {}
                _ = stop.forced() => {}
            }
            StopOrder { reason, force: true }
        }
        Some(Stopping { deadline: None, .. }) => std::future::pending().await,
    }
}

/// What a running attempt may not do.
#[derive(Debug)]
struct Limits {
    limit: Option<Duration>,
    lived: Duration,
    idle: Option<Duration>,
    max_output: u64,
    seen: u64,
    quiet: Duration,
    looked: Instant,
}

impl Limits {
    fn new(launch: &ShellLaunch) -> Self {
        Limits {
            limit: launch.limit,
            lived: Duration::ZERO,
            idle: launch.idle,
            max_output: launch.max_output,
            seen: 0,
            quiet: Duration::ZERO,
            looked: Instant::now(),
        }
    }

    fn look(&mut self, written: u64) -> Option<StopOrder> {
        // A look that comes late counts as one that didn't: while this process was stopped, so was the command.
        let passed = self.looked.elapsed().min(TICK * 2);
        self.looked = Instant::now();
        if written > self.max_output {
            // With grace it could fill the disk.
            return Some(StopOrder { reason: Reason::OutputLimit, force: true });
        }
        self.lived += passed;
        if self.limit.is_some_and(|limit| self.lived >= limit) {
            return Some(StopOrder { reason: Reason::Timeout, force: false });
        }
        if written != self.seen {
            self.seen = written;
            self.quiet = Duration::ZERO;
            return None;
        }
        self.quiet += passed;
        let stalled = self.idle.is_some_and(|idle| self.quiet >= idle);
        stalled.then_some(StopOrder { reason: Reason::Stall, force: false })
    }
}

/// Ends what is left in the group; says whether there was something that should not have been.
pub(super) async fn end_remnant(
    remnant: &Remnant,
    stopping: Option<Stopping>,
    stop: &mut StopSignal,
) -> bool {
    if !remnant.is_alive() {
        return false;
    }
    match stopping {
        // It has been told already, so it has what is left of the grace, and is no leak.
        Some(Stopping { deadline, .. }) => {
            let grace = deadline
                .map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()));
            tokio::select! {
                _ = remnant.ends_within(grace) => {}
                _ = stop.forced() => {}
            }
            remnant.signal(Signal::KILL);
            !remnant.ends_within(PATIENCE).await
        }
        None => {
            if remnant.ends_within(LINGER).await {
                return false;
            }
            remnant.signal(Signal::TERM);
            remnant.signal(Signal::CONT);
            if !remnant.ends_within(LEFTOVER_GRACE).await {
                remnant.signal(Signal::KILL);
                remnant.ends_within(PATIENCE).await;
            }
            true
        }
    }
}

#[cfg(test)]
#[path = "shell_watch_tests.rs"]
mod tests;
