//! What an attempt says to the driver while it lives.

use std::sync::Arc;

use flow_core::event::Launch;
use flow_core::ids::{Attempt, NodeId};
use flow_core::model::Outcome;
use tokio::sync::{mpsc, oneshot};

use super::progress::Progress;
use crate::workspace::PrivateTree;

/// What an attempt has to say, and which.
#[derive(Debug)]
pub struct Message {
    /// The node.
    pub node: NodeId,
    /// Which try.
    pub attempt: Attempt,
    /// What.
    pub said: Said,
}

/// What an attempt has to say.
#[derive(Debug)]
pub enum Said {
    /// Something that is to be written down before it goes on.
    Announced(Announcement),
    /// A sign of life.
    Progress(Progress),
    /// It is over and nothing of it lives; the last that it says.
    Ended(Box<Outcome>),
}

/// Something that is to be written down before the attempt goes on. An attempt whose announcement is dropped ends.
#[derive(Debug)]
pub struct Announcement {
    /// What.
    pub what: Announced,
    /// Lets the attempt go on.
    pub written: Written,
}

/// What is announced.
#[derive(Debug)]
pub enum Announced {
    /// Its private tree is made.
    Tree(Arc<PrivateTree>),
    /// Its process or its first request is about to begin.
    Launch {
        /// What is being run.
        launch: Box<Launch>,
        /// What people are to be told of it once in a run.
        note: Option<String>,
    },
}

/// Lets an attempt go on that waits for something to be written down.
#[derive(Debug)]
pub struct Written(oneshot::Sender<()>);

impl Written {
    /// It is written.
    pub fn go_on(self) {
        // An attempt that is gone already has nothing to go on with.
        let _ = self.0.send(());
    }
}

/// The journal can't be written, so nothing may begin any more.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the journal can't be written")]
pub struct NotWritten;

/// The way of an attempt to the driver.
#[derive(Debug)]
pub struct Sink {
    node: NodeId,
    attempt: Attempt,
    /// Takes the first announcement where the driver waits for it right here.
    first: Option<oneshot::Sender<Announcement>>,
    sender: mpsc::Sender<Message>,
}

impl Sink {
    /// The way of an attempt. The receiver gets its first announcement, unless it is gone by then.
    pub fn new(
        node: NodeId,
        attempt: Attempt,
        sender: mpsc::Sender<Message>,
    ) -> (Self, oneshot::Receiver<Announcement>) {
        let (first, announced) = oneshot::channel();
        (Sink { node, attempt, first: Some(first), sender }, announced)
    }

    /// Announces a private tree.
    pub async fn tree(&mut self, tree: Arc<PrivateTree>) -> Result<(), NotWritten> {
        self.announce(Announced::Tree(tree)).await
    }

    /// Announces what is about to begin, with what people are to be told of it once in a run.
    pub async fn launch(&mut self, launch: Launch, note: Option<String>) -> Result<(), NotWritten> {
        self.announce(Announced::Launch { launch: Box::new(launch), note }).await
    }

    /// A sign of life.
    pub async fn progress(&self, progress: Progress) {
        self.say(Said::Progress(progress)).await;
    }

    async fn announce(&mut self, what: Announced) -> Result<(), NotWritten> {
        let (written, is_written) = oneshot::channel();
        let announcement = Announcement { what, written: Written(written) };
        let announcement = match self.first.take() {
            Some(first) => first.send(announcement).err(),
            None => Some(announcement),
        };
        if let Some(announcement) = announcement {
            self.say(Said::Announced(announcement)).await;
        }
        is_written.await.map_err(|_| NotWritten)
    }

    async fn say(&self, said: Said) {
        // The driver lives until every attempt has ended, so it hears this.
        let _ = self.sender.send(Message { node: self.node, attempt: self.attempt, said }).await;
    }
}
