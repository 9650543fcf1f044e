//! Who runs attempts.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use flow_core::model::Outcome;
use flow_core::plan::Kind;
use flow_core::values::AttemptPacket;

use super::sink::Sink;
use crate::sys::stop::StopSignal;

/// An attempt under way. It ends with its outcome, and nothing of it lives any more then.
pub type Attempting = Pin<Box<dyn Future<Output = Box<Outcome>> + Send>>;

/// Runs attempts of some kind, here or elsewhere.
///
/// 1. All that it knows of an attempt is the packet: neither plan nor run is at hand.
/// 2. A private tree is announced as soon as it is made, and the launch before its process or its first request begins. It
///    goes on once the announcement is in the journal, and ends if it can't be.
/// 3. What `expect.that` says, the merge and the journal are not its business.
pub trait Executor: Send + Sync {
    /// An attempt that has not begun. It begins when it is first polled.
    fn run(self: Arc<Self>, packet: Box<AttemptPacket>, sink: Sink, stop: StopSignal) -> Attempting;
}

/// The executors of a run, one for each kind of work.
pub struct Executors(Box<dyn Fn(Kind) -> Arc<dyn Executor> + Send>);

impl Executors {
    /// Those that a table gives.
    pub fn new(of: impl Fn(Kind) -> Arc<dyn Executor> + Send + 'static) -> Self {
        Executors(Box::new(of))
    }

    /// The one of a kind.
    pub fn of(&self, kind: Kind) -> Arc<dyn Executor> {
        (self.0)(kind)
    }
}
