//! Commands of other processes, on their way into the loop.

use std::time::Duration;

use flow_core::model::Command;
use tokio::sync::mpsc;

use crate::store::ControlReader;

/// Between two looks: soon enough for a person, and nothing against what a run costs.
const LOOK: Duration = Duration::from_millis(100);

/// Follows the commands to a run until its loop is gone. Those that can't be read are none: signals still work.
pub async fn follow_commands(mut reader: ControlReader, sender: mpsc::Sender<Command>) {
    loop {
        tokio::select! {
            () = sender.closed() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let Ok(commands) = reader.read() else { return };
        for command in commands {
            if sender.send(command).await.is_err() {
                return;
            }
        }
    }
}
