//! The executors of this machine, a row for each kind.

use std::sync::Arc;

use super::agent::Agent;
use super::frame::Local;
use super::host::Host;
use super::shell::Shell;
use crate::execute::Executors;

impl Host {
    /// The executors that run everything here.
    pub fn executors(self) -> Executors {
        let host = Arc::new(self);
        Executors {
            shell: Arc::new(Local::<Shell>::new(Arc::clone(&host))),
            agent: Arc::new(Local::<Agent>::new(host)),
        }
    }
}
