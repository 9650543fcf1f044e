//! An attempt while it lives, as the loop knows it.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use flow_core::ids::Attempt;
use flow_core::model::{Outcome, Reason};
use flow_core::values::CommitMessage;
use futures_util::FutureExt;
use futures_util::future::CatchUnwind;

use crate::execute::{Attempting, Written};
use crate::sys::stop::StopSwitch;
use crate::workspace::PrivateTree;

/// An attempt that was launched and has not ended.
pub(super) struct Live {
    pub(super) attempt: Attempt,
    pub(super) switch: StopSwitch,
    /// What commits of its work say.
    pub(super) message: CommitMessage,
    /// The private tree, once it is announced.
    pub(super) tree: Option<Arc<PrivateTree>>,
    /// Whether its work is on its way home.
    pub(super) merging: bool,
    /// The attempt itself, as long as the loop has not let it go on by itself.
    pub(super) begun: Option<Begun>,
    /// Lets it go on once `attempt_running` is written.
    pub(super) launching: Option<Written>,
}

/// An attempt that has begun. One that panics has failed; the run goes on.
pub(super) struct Begun(CatchUnwind<AssertUnwindSafe<Attempting>>);

impl Begun {
    pub(super) fn new(attempting: Attempting) -> Self {
        Begun(AssertUnwindSafe(attempting).catch_unwind())
    }

    /// Takes its first steps right here, up to where it has to wait for something; its outcome, if it comes as far. Whoever
    /// polls it next is woken.
    pub(super) fn first_steps(&mut self) -> Option<Box<Outcome>> {
        match self.poll_unpin(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }
}

impl Future for Begun {
    type Output = Box<Outcome>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Box<Outcome>> {
        self.0.poll_unpin(context).map(|ended| ended.unwrap_or_else(|payload| Box::new(panicked(&*payload))))
    }
}

fn panicked(payload: &(dyn Any + Send)) -> Outcome {
    let text = payload.downcast_ref::<&str>().copied();
    let said = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let said = said.unwrap_or("it said nothing");
    Outcome::failed(Reason::Internal, format!("bug: the executor panicked: {said}"))
}
