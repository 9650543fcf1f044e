//! Orders of other processes, on their way into the loop.

use std::time::Duration;

use flow_core::schedule::Cancel;
use tokio::sync::mpsc;

use super::setup::Control;
use crate::store::{ControlOrder, ControlReader};

/// Between two looks: soon enough for a person, and nothing against what a run costs.
const LOOK: Duration = Duration::from_millis(100);

/// Follows the orders to a run until its loop is gone. Orders that can't be read are none: signals still work.
pub async fn follow_orders(mut reader: ControlReader, sender: mpsc::Sender<Control>) {
    loop {
        tokio::select! {
            () = sender.closed() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let Ok(orders) = reader.read() else { return };
        for order in orders {
            let control = match order {
                ControlOrder::StopRun { force } => Control::Cancel(how(force)),
                ControlOrder::StopTask { task, force } => Control::StopTask(task, how(force)),
            };
            if sender.send(control).await.is_err() {
                return;
            }
        }
    }
}

fn how(force: bool) -> Cancel {
    if force { Cancel::Now } else { Cancel::Gently }
}
