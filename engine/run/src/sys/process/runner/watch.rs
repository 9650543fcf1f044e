//! Waiting for a command, and making it end.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep, sleep_until};

use super::super::{Leader, Remnant};
use super::command::{Command, Limits};
use super::run::{Cut, Limit};
use crate::sys::stop::StopSignal;

/// How often the output of a running command is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How often its time is looked at, where its output need not be.
const SLOW_TICK: Duration = Duration::from_secs(1);

/// How long what a command left in its group may go on by itself: a shell doesn't wait for `>(...)`.
const LINGER: Duration = Duration::from_millis(200);

/// How long it may then take to obey TERM.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

/// How long a killed process may take to vanish: one stuck in the kernel must not hang the engine.
const PATIENCE: Duration = Duration::from_secs(2);

/// A command that was told to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    pub(super) cut: Cut,
    /// When asking becomes insisting. `None`: it was killed already.
    deadline: Option<Instant>,
}

impl Stopping {
    fn begin(cut: Cut, force: bool, leader: &Leader, grace: Duration) -> Self {
        if force {
            leader.signal(Signal::KILL);
            return Stopping { cut, deadline: None };
        }
        leader.signal(Signal::TERM);
        // A stopped process would not get to hear it.
        leader.signal(Signal::CONT);
        Stopping { cut, deadline: Some(Instant::now() + grace) }
    }

    /// Waits until it is time to insist: its grace is over, or there is an order to hurry.
    async fn patience_ends(self, stop: &mut StopSignal) {
        let Some(deadline) = self.deadline else { return };
        tokio::select! {
            () = sleep_until(deadline) => {}
            _ = stop.forced() => {}
        }
    }
}

/// Waits for the leader's end and makes it end where an order or a limit asks for it.
pub(super) async fn watch(
    leader: &mut Leader,
    command: &Command<'_>,
    stop: &mut StopSignal,
) -> (io::Result<(ExitStatus, Remnant)>, Option<Stopping>) {
    let mut watched = Watched::new(command.limits);
    let mut stopping = loop {
        let (cut, force) = tokio::select! {
            biased;
            end = leader.wait() => return (end, None),
            order = stop.stopped() => (Cut::Ordered(order.reason), order.force),
            () = sleep(watched.pause()), if watched.is_limited() => match watched.look() {
                // With grace it could fill the disk.
                Some(limit) => (Cut::Limited(limit), limit == Limit::Output),
                None => continue,
            },
        };
        break Stopping::begin(cut, force, leader, command.grace);
    };
    tokio::select! {
        biased;
        end = leader.wait() => return (end, Some(stopping)),
        () = stopping.patience_ends(stop) => {}
    }
    leader.signal(Signal::KILL);
    stopping.deadline = None;
    (leader.wait().await, Some(stopping))
}

/// A running command, as far as its limits go.
#[derive(Debug)]
struct Watched<'a> {
    limits: Limits<'a>,
    lived: Duration,
    seen: u64,
    quiet: Duration,
    looked: Instant,
}

impl<'a> Watched<'a> {
    fn new(limits: Limits<'a>) -> Self {
        let nothing = Duration::ZERO;
        Watched { limits, lived: nothing, seen: 0, quiet: nothing, looked: Instant::now() }
    }

    fn is_limited(&self) -> bool {
        self.limits.time.is_some() || self.limits.printing.is_some()
    }

    /// How long until the next look.
    fn pause(&self) -> Duration {
        match (self.limits.printing, self.limits.time) {
            (None, Some(time)) => time.saturating_sub(self.lived).min(SLOW_TICK),
            (Some(_), _) | (None, None) => TICK,
        }
    }

    /// The limit that it has broken, if any.
    fn look(&mut self) -> Option<Limit> {
        // A look that comes late counts as one that didn't: while this process was stopped, so was the command.
        let passed = self.looked.elapsed().min(self.pause().max(TICK) * 2);
        self.looked = Instant::now();
        self.lived += passed;
        if let Some(printing) = self.limits.printing {
            let printed = (printing.printed)();
            if printed > printing.most {
                return Some(Limit::Output);
            }
            self.quiet = if printed == self.seen { self.quiet + passed } else { Duration::ZERO };
            self.seen = printed;
        }
        if self.limits.time.is_some_and(|time| self.lived >= time) {
            return Some(Limit::Time);
        }
        let idle = self.limits.printing.and_then(|printing| printing.idle);
        idle.is_some_and(|idle| self.quiet >= idle).then_some(Limit::Idle)
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
        Some(stopping) => {
            tokio::select! {
                biased;
                () = remnant.ends() => {}
                () = stopping.patience_ends(stop) => {}
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
#[path = "watch_tests.rs"]
mod tests;
