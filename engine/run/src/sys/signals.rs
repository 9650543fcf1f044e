//! What the person, the terminal or the system tells this process.

use std::io;

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{self, SignalKind};

use super::process;

/// An order from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Ctrl-C.
    Interrupt,
    /// A request to end; QUIT counts as one.
    Terminate,
    /// The terminal is gone.
    HangUp,
    /// Ctrl-Z. Whoever hears it calls `suspend`.
    Suspend,
}

/// The stream of orders. From its making on none of them ends or stops the process by itself.
#[derive(Debug)]
pub struct Orders {
    interrupt: Option<unix::Signal>,
    quit: Option<unix::Signal>,
    terminate: Option<unix::Signal>,
    hang_up: Option<unix::Signal>,
    suspend: Option<unix::Signal>,
}

impl Orders {
    /// Begins to listen. A signal that was ignored when we were started (`nohup`, `&` in a script) is no order. It is caught
    /// all the same: a command would inherit that it is ignored, and what is caught is at its default in a new program.
    pub fn listen() -> io::Result<Orders> {
        let ignored = ignored_signals();
        let listen = |kind: SignalKind| {
            let caught = unix::signal(kind)?;
            Ok::<_, io::Error>((ignored >> (kind.as_raw_value() - 1) & 1 == 0).then_some(caught))
        };
        Ok(Orders {
            interrupt: listen(SignalKind::interrupt())?,
            quit: listen(SignalKind::quit())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            suspend: listen(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
        })
    }

    /// Waits for the next order. May be dropped and called again without losing one.
    pub async fn next(&mut self) -> Order {
        tokio::select! {
            () = heard(&mut self.interrupt) => Order::Interrupt,
            () = heard(&mut self.quit) => Order::Terminate,
            () = heard(&mut self.terminate) => Order::Terminate,
            () = heard(&mut self.hang_up) => Order::HangUp,
            () = heard(&mut self.suspend) => Order::Suspend,
        }
    }
}

async fn heard(signal: &mut Option<unix::Signal>) {
    if let Some(signal) = signal
        && signal.recv().await.is_some()
    {
        return;
    }
    // Not listened for, or none can come any more.
    std::future::pending().await
}

/// Stops every live process group, then this process. Returns when somebody continues it, with the groups going on.
/// The caller keeps the time that passed out of its tasks' timeouts.
pub fn suspend() -> io::Result<()> {
    process::stop_all();
    // STOP, since TSTP is what we listen for. The whole process stands still inside this call.
    let stopped = kill_process(getpid(), Signal::STOP);
    process::continue_all();
    Ok(stopped?)
}

/// The signals that this process ignores, as a bit set; none where it can't be known.
fn ignored_signals() -> u64 {
    parse_ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
}

fn parse_ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
#[path = "signals_tests.rs"]
mod tests;
