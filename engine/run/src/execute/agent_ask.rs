//! One turn of the model, with everything that is told and written down on the way.

use std::time::Duration;

use flow_core::converse::{Lines, last_line};
use flow_core::ids::Millis;
use flow_core::model::Reason;
use flow_core::wire::{Delta, ModelError, Reply, Request};
use tokio::sync::mpsc;

use super::agent_files::{AgentFiles, FilesError, WireLine, WireStatus};
use super::agent_idle::Pulse;
use super::stop::{Progress, StopOrder, StopSignal};
use crate::provider::{Cursor, ModelHandle, Sign, Tried};
use crate::sys::clock::now;

/// What a turn needs of its attempt.
pub(super) struct Asking<'a> {
    pub(super) model: &'a ModelHandle,
    pub(super) cursor: &'a mut Cursor,
    pub(super) turn: u32,
    pub(super) files: &'a mut AgentFiles,
    pub(super) progress: &'a mpsc::Sender<Progress>,
    /// How long it may be silent.
    pub(super) idle: Option<Duration>,
}

/// The answer of the model, or the order that came before it.
pub(super) type Asked = Result<Result<Reply, ModelError>, StopOrder>;

impl Asking<'_> {
    /// Asks until there is an answer, a final failure or an order to stop; one that is silent for too long gets it here.
    pub(super) async fn ask(self, request: &Request, stop: &mut StopSignal) -> Result<Asked, FilesError> {
        let Asking { model, cursor, turn, files, progress, idle } = self;
        // Whether the clock runs must not get lost in a full channel; there are few such signs, so these may queue up.
        let (clock, mut clocked) = mpsc::unbounded_channel();
        let mut trying = None;
        let mut written = Ok(());
        let mut lines = Lines::default();
        let asked = {
            let pulse = Pulse::new();
            let mut signs = |sign: Sign| {
                pulse.hear(&sign);
                match sign {
                    Sign::Trying { at } => trying = Some(at),
                    Sign::Tried(tried) => {
                        trying = None;
                        let line = files.wire(&line_of(turn, tried));
                        written = std::mem::replace(&mut written, Ok(())).and(line);
                        tell_line(progress, lines.end());
                    }
                    Sign::Delta(Delta::Text(text)) => tell_line(progress, lines.take(&text)),
                    Sign::Delta(Delta::Thinking(_) | Delta::ToolUse(_)) => tell_line(progress, lines.end()),
                    Sign::Delta(Delta::Ping) => {}
                    Sign::Waiting(waits) => {
                        // The receiver lives as long as this function.
                        let _ = clock.send(waits);
                    }
                    Sign::Parked { provider, wait, reason } => {
                        tell(progress, Progress::Parked { provider, wait, reason });
                    }
                }
            };
            let asking = model.ask(cursor, request, &mut signs);
            let stalls = pulse.stalls(idle);
            tokio::pin!(asking, stalls);
            loop {
                tokio::select! {
                    biased;
                    order = stop.stopped() => break Err(order),
                    Some(waits) = clocked.recv() => {
                        // Nobody listens any more: then nobody keeps time either.
                        let _ = progress.send(Progress::Waiting(waits)).await;
                    }
                    answer = &mut asking => break Ok(answer),
                    () = &mut stalls => break Err(StopOrder { reason: Reason::Stall, force: false }),
                }
            }
        };
        while let Ok(waits) = clocked.try_recv() {
            let _ = progress.send(Progress::Waiting(waits)).await;
        }
        if let Some(at) = trying {
            files.wire(&stopped_line(turn, at))?;
        }
        written?;
        Ok(asked)
    }
}

fn tell(progress: &mpsc::Sender<Progress>, what: Progress) {
    let _ = progress.try_send(what);
}

/// Tells the last line of what is whole of a text.
fn tell_line(progress: &mpsc::Sender<Progress>, whole: Option<String>) {
    if let Some(line) = whole.as_deref().and_then(last_line) {
        tell(progress, Progress::Text(line));
    }
}

fn line_of(turn: u32, tried: Tried) -> WireLine {
    WireLine {
        at: tried.at,
        turn,
        status: match (tried.status, &tried.error) {
            (Some(status), _) => WireStatus::Http(status),
            (None, _) => WireStatus::NoAnswer,
        },
        ms: u64::try_from(tried.took.as_millis()).unwrap_or(u64::MAX),
        usage: tried.usage,
        error: tried.error,
    }
}

fn stopped_line(turn: u32, at: Millis) -> WireLine {
    let ms = u64::try_from(now().since(at).as_millis()).unwrap_or(u64::MAX);
    WireLine { at, turn, status: WireStatus::Stopped, ms, usage: None, error: None }
}
