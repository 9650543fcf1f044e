//! One turn of the model, with everything that is told and written down on the way.

use std::sync::Arc;
use std::time::Duration;

use flow_core::converse::{Answered, Lines, LogLine, NoAnswer, last_line};
use flow_core::ids::Millis;
use flow_core::model::Reason;
use flow_core::wire::{Delta, ModelError, Reply, Request};
use tokio::sync::mpsc;

use super::super::progress::Progress;
use super::files::{AgentFiles, FilesError};
use super::idle::Pulse;
use crate::provider::{Cursor, ModelHandle, Sign, Tried};
use crate::sys::clock::now;
use crate::sys::stop::{StopOrder, StopSignal};

/// What a turn needs of its attempt.
pub(super) struct Asking {
    pub(super) model: ModelHandle,
    pub(super) cursor: Cursor,
    pub(super) turn: u32,
    pub(super) files: Arc<AgentFiles>,
    pub(super) progress: mpsc::Sender<Progress>,
    /// How long it may be silent.
    pub(super) idle: Option<Duration>,
}

/// What came of a turn.
pub(super) struct Asked {
    /// The answer of the model, or the order that came before it.
    pub(super) answer: Result<Result<Reply, ModelError>, StopOrder>,
    /// The text of the last try, as far as it came.
    pub(super) said: String,
    /// Where a script goes on.
    pub(super) cursor: Cursor,
}

impl Asking {
    /// Asks until there is an answer, a final failure or an order to stop; one that is silent for too long gets it here.
    pub(super) async fn ask(self, request: &Request, mut stop: StopSignal) -> Result<Asked, FilesError> {
        let Asking { model, mut cursor, turn, files, progress, idle } = self;
        // Whether the clock runs must not get lost in a full channel; there are few such signs, so these may queue up.
        let (clock, mut clocked) = mpsc::unbounded_channel();
        let mut hearing = Hearing {
            turn,
            files: &files,
            progress: &progress,
            lines: Lines::default(),
            said: String::new(),
            trying: None,
            written: Ok(()),
        };
        let answer = {
            let pulse = Pulse::new();
            let mut signs = |sign: Sign| {
                pulse.hear(&sign);
                if let Sign::Waiting(waits) = sign {
                    // The receiver lives as long as this function.
                    let _ = clock.send(waits);
                }
                hearing.hear(sign);
            };
            let asking = model.ask(&mut cursor, request, &mut signs);
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
        Ok(Asked { answer, said: hearing.end()?, cursor })
    }
}

/// What is heard of a turn on its way to the log and to those who look on.
struct Hearing<'a> {
    turn: u32,
    files: &'a AgentFiles,
    progress: &'a mpsc::Sender<Progress>,
    lines: Lines,
    /// The text of the latest try.
    said: String,
    /// Since when a try is under way.
    trying: Option<Millis>,
    /// Whether all could be written down.
    written: Result<(), FilesError>,
}

impl Hearing<'_> {
    fn hear(&mut self, sign: Sign) {
        match sign {
            Sign::Trying { at } => {
                self.trying = Some(at);
                self.said.clear();
                self.log(LogLine::RequestBegan { turn: self.turn });
            }
            Sign::Tried(tried) => {
                self.trying = None;
                self.text_ends(tried.error.is_some());
                self.log(ended(self.turn, tried));
            }
            Sign::Delta(Delta::Text(text)) => {
                self.said.push_str(&text);
                if let Some(whole) = self.lines.take(&text) {
                    self.text(whole, false);
                }
            }
            Sign::Delta(Delta::Thinking(_) | Delta::ToolUse(_)) => {
                self.text_ends(false);
                // What it says after that is another text.
                if !self.said.is_empty() && !self.said.ends_with('\n') {
                    self.said.push('\n');
                }
            }
            Sign::Parked { provider, wait, reason } => {
                self.tell(Progress::Parked { provider, wait, reason });
            }
            Sign::Delta(Delta::Ping) | Sign::Waiting(_) => {}
        }
    }

    /// No more of the text comes, which is `partial` when its answer broke off.
    fn text_ends(&mut self, partial: bool) {
        match self.lines.end() {
            Some(rest) => self.text(rest, partial),
            None if partial && !self.said.is_empty() => self.text(String::new(), true),
            None => {}
        }
    }

    fn text(&mut self, text: String, partial: bool) {
        let line = last_line(&text);
        self.log(LogLine::Text { turn: self.turn, text, partial });
        if let Some(line) = line {
            self.tell(Progress::Text(line));
        }
    }

    /// Writes down what is told afterwards, if at all.
    fn log(&mut self, line: LogLine) {
        let logged = self.files.log(line).map(drop);
        self.written = std::mem::replace(&mut self.written, Ok(())).and(logged);
    }

    fn tell(&self, progress: Progress) {
        let _ = self.progress.try_send(progress);
    }

    /// The turn is over; the text of its last try.
    fn end(mut self) -> Result<String, FilesError> {
        if let Some(at) = self.trying {
            self.text_ends(true);
            let ms = u64::try_from(now().since(at).as_millis()).unwrap_or(u64::MAX);
            let status = Answered::No(NoAnswer::Stopped);
            self.log(LogLine::RequestEnded { turn: self.turn, status, ms, usage: None, error: None });
        }
        self.written?;
        self.said.truncate(self.said.trim_end().len());
        Ok(self.said)
    }
}

fn ended(turn: u32, tried: Tried) -> LogLine {
    LogLine::RequestEnded {
        turn,
        status: tried.status.map_or(Answered::No(NoAnswer::NoAnswer), Answered::Http),
        ms: u64::try_from(tried.took.as_millis()).unwrap_or(u64::MAX),
        usage: tried.usage,
        error: tried.error,
    }
}
