//! How what is under way is told to end.

use flow_core::model::Reason;
use tokio::sync::watch;

/// An order to end. A later order can only be harsher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopOrder {
    /// What the outcome has to say.
    pub reason: Reason,
    /// Kill at once instead of asking first.
    pub force: bool,
}

/// The side that gives orders. Dropping it gives none.
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<Option<StopOrder>>);

/// The side that listens; clones hear the same.
#[derive(Clone, Debug)]
pub struct StopSignal(watch::Receiver<Option<StopOrder>>);

/// A switch and its signal.
pub fn stop_pair() -> (StopSwitch, StopSignal) {
    let (sender, receiver) = watch::channel(None);
    (StopSwitch(sender), StopSignal(receiver))
}

impl StopSwitch {
    /// Gives an order. The reason of the first one stands; force adds up.
    pub fn stop(&self, order: StopOrder) {
        self.0.send_modify(|current| {
            *current = Some(match *current {
                Some(first) => StopOrder { force: first.force || order.force, ..first },
                None => order,
            });
        });
    }
}

impl StopSignal {
    /// The order so far.
    pub fn order(&self) -> Option<StopOrder> {
        *self.0.borrow()
    }

    /// Waits for an order. Never returns when none can come any more.
    pub async fn stopped(&mut self) -> StopOrder {
        self.wait(|_| true).await
    }

    /// Waits for an order to kill at once. Never returns when none can come any more.
    pub async fn forced(&mut self) -> StopOrder {
        self.wait(|order| order.force).await
    }

    async fn wait(&mut self, enough: impl Fn(&StopOrder) -> bool) -> StopOrder {
        // The guard of the channel is let go before anything is waited for, so that the future can change threads.
        let order = match self.0.wait_for(|order| order.as_ref().is_some_and(&enough)).await {
            Ok(order) => *order,
            Err(_) => None,
        };
        match order {
            Some(order) => order,
            None => std::future::pending().await,
        }
    }
}
