//! The kinds of work on this machine, and who runs each.

mod agent;
mod shell;

use std::sync::Arc;

use flow_core::plan::Kind;

use super::frame::Local;
use super::host::Host;
use crate::execute::{Executor, Executors};

impl Host {
    /// The executors that run everything here.
    pub fn executors(self) -> Executors {
        let host = Arc::new(self);
        Executors::new(move |kind| executor(kind, Arc::clone(&host)))
    }
}

/// A row for each kind.
fn executor(kind: Kind, host: Arc<Host>) -> Arc<dyn Executor> {
    match kind {
        Kind::Shell => Arc::new(Local::<shell::Shell>::new(host)),
        Kind::Agent => Arc::new(Local::<agent::Agent>::new(host)),
    }
}
