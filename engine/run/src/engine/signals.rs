//! What the terminal and the system tell this process, for whoever shows a run.

use std::io;
use std::time::Duration;

use flow_core::model::{Command, Signal};
use tokio::sync::mpsc;

use super::error::EngineError;
use crate::sys::signals::{Orders, suspend};

pub use crate::sys::signals::Order;

/// Makes commands to a run of the signals of this process, until the run is gone.
pub(super) async fn obey(mut signals: Orders, commands: mpsc::Sender<Command>) {
    let mut told = false;
    loop {
        let stop = |signal| Command::StopRun { force: told, signal: Some(signal) };
        let command = match signals.next().await {
            Order::Interrupt => stop(Signal::Interrupt),
            Order::Terminate => stop(Signal::Terminate),
            Order::HangUp => stop(Signal::HangUp),
            Order::Suspend => Command::Suspend,
        };
        // Who says it twice means it.
        told |= command != Command::Suspend;
        if commands.send(command).await.is_err() {
            return;
        }
    }
}

/// Begins to listen. From then on no signal ends or stops the process by itself.
pub(super) fn listen() -> Result<Orders, EngineError> {
    let failed = |source: io::Error| EngineError::System { what: "can't listen for signals", source };
    Orders::listen().map_err(failed)
}

/// The signals of this process, for who only looks at a run and may want to leave.
#[derive(Debug)]
pub struct Listener {
    orders: Orders,
    runtime: tokio::runtime::Runtime,
}

impl Listener {
    /// Begins to listen.
    pub fn new() -> Result<Listener, EngineError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|source| EngineError::System { what: "can't start the runtime", source })?;
        let orders = runtime.block_on(async { listen() })?;
        Ok(Listener { orders, runtime })
    }

    /// The next order, if one comes within so long. One to stand still is followed at once, and is none.
    pub fn next(&mut self, at_most: Duration) -> Option<Order> {
        let next = self.orders.next();
        match self.runtime.block_on(async { tokio::time::timeout(at_most, next).await }) {
            Ok(Order::Suspend) => {
                // A terminal that can't stop us is no reason to leave.
                let _ = suspend();
                None
            }
            Ok(order) => Some(order),
            Err(_in_time) => None,
        }
    }
}
