//! The session of an agent: one loop over all that can happen to it while it works.
//!
//! What is under way (an answer of the model, calls of tools, checks) hears orders to stop itself and ends of itself; the
//! session waits for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use flow_core::converse::{
    AgentEnd, Call, CallResult, CheckFault, Converse, Effect, Input, Item, Letter, LogLine, Logbook, called,
};
use flow_core::model::{Denial, DenialReason, Outcome, Usage};
use flow_core::wire::Request;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc;

use super::super::progress::Progress;
use super::ask::{Asked, Asking};
use super::checks::AgentChecks;
use super::files::{AgentFiles, FilesError};
use super::launch::{AgentLaunch, AgentStart};
use super::outcome::{Cut, Ending};
use crate::provider::Cursor;
use crate::sys::process::sweep;
use crate::sys::stop::{StopOrder, StopSignal};
use crate::tool::{self, Called, ReadState, ToolContext};

/// The way to an agent while it works. Dropping it ends nothing.
#[derive(Clone, Debug)]
pub struct AgentHandle(mpsc::UnboundedSender<Input>);

impl AgentHandle {
    /// Offers letters, which the agent reads as its next turn begins, each of them once. What no turn follows it doesn't
    /// read: only its transcript says what it has.
    pub fn offer(&self, letters: Vec<Letter>) {
        // An agent that has ended takes nothing, as one doesn't that has no further turn.
        let _ = self.0.send(Input::Offered(letters));
    }
}

/// Runs an attempt, to which nobody speaks, to its outcome.
pub async fn run_agent(launch: AgentLaunch, stop: StopSignal, progress: mpsc::Sender<Progress>) -> Outcome {
    let (_handle, running) = start_agent(launch, stop, progress);
    running.await
}

/// An attempt that runs to its outcome while it is waited for, and the way to speak to it.
pub fn start_agent(
    mut launch: AgentLaunch,
    stop: StopSignal,
    progress: mpsc::Sender<Progress>,
) -> (AgentHandle, impl Future<Output = Outcome> + Send) {
    let (sender, inbox) = mpsc::unbounded_channel();
    let running = async move {
        let began = Instant::now();
        launch.spec.model = launch.model.id().to_owned();
        let mut outcome = match AgentFiles::open(&launch) {
            Ok(files) => Session::new(launch, files, (stop, inbox), progress).run().await,
            Err(error) => error.outcome(),
        };
        outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        outcome
    };
    (AgentHandle(sender), running)
}

/// An attempt under way.
struct Session {
    launch: AgentLaunch,
    files: Arc<AgentFiles>,
    stop: StopSignal,
    inbox: mpsc::UnboundedReceiver<Input>,
    progress: mpsc::Sender<Progress>,
    tools: ToolContext,
    cursor: Cursor,
    book: Logbook,
    used_tools: bool,
}

/// All that is under way.
type UnderWay = FuturesUnordered<BoxFuture<'static, Done>>;

/// Something that was under way and is done.
enum Done {
    /// A turn of the model.
    Asked(Result<Box<Asked>, FilesError>),
    /// A call of a tool: its id, and what came of it.
    Returned(String, CallResult, Option<Denial>),
    /// The checks, unless an order to stop came first.
    Checked(Option<AgentChecks>, Result<Result<(), CheckFault>, StopOrder>),
}

impl Session {
    fn new(
        launch: AgentLaunch,
        files: AgentFiles,
        (stop, inbox): (StopSignal, mpsc::UnboundedReceiver<Input>),
        progress: mpsc::Sender<Progress>,
    ) -> Self {
        let tools = ToolContext {
            tree: launch.place.tree.clone(),
            dir: launch.place.dir.clone(),
            opened: launch.place.opened.as_slice().into(),
            env: launch.place.env.clone(),
            permissions: Arc::clone(&launch.spec.permissions),
            stop: stop.clone(),
            tag: launch.place.tag.clone(),
            reads: ReadState::default(),
        };
        let cursor = Cursor {
            address: launch.address.clone(),
            agent: launch.agent_name.clone(),
            position: launch.position,
        };
        let (files, book) = (Arc::new(files), Logbook::default());
        Session { launch, files, stop, inbox, progress, tools, cursor, book, used_tools: false }
    }

    async fn run(mut self) -> Outcome {
        let mut outcome = match self.begin() {
            Ok((mut machine, first)) => {
                let end = self.converse(&mut machine, first).await;
                let printed = self.launch.checks.as_mut().and_then(|checks| checks.printed.take());
                let ending = Ending { launch: &self.launch, files: &self.files };
                let outcome = match end {
                    Ok(end) => ending.finished(end, printed),
                    Err(cut) => ending.cut(cut, &machine),
                };
                outcome.unwrap_or_else(|error| error.outcome())
            }
            Err(error) => error.outcome(),
        };
        let (end, reason, message) = (outcome.end, outcome.reason, outcome.message.clone());
        if let Err(error) = self.files.log(LogLine::Ended { end, reason, message }) {
            outcome = error.outcome();
        }
        outcome.leaky = self.used_tools && sweep(&self.launch.place.tag).await.escaped;
        outcome.agent_id = Some(self.launch.agent_id);
        outcome
    }

    fn begin(&mut self) -> Result<(Converse, Input), FilesError> {
        let items = match self.launch.start {
            AgentStart::Fresh => Vec::new(),
            AgentStart::Continue => self.files.transcript()?,
        };
        let continued = !items.is_empty();
        self.files.log(LogLine::Began {
            agent_id: self.launch.agent_id.clone(),
            agent: self.launch.agent_name.clone(),
            model: self.launch.model.name(),
            attempt: self.launch.attempt,
            continued,
        })?;
        if continued {
            self.launch.spec.system = self.files.system()?.into();
            self.book = Logbook::after(&items);
            return Ok((Converse::restore(self.launch.spec.clone(), items), Input::Continue));
        }
        self.files.begin(&self.launch)?;
        self.files.log(LogLine::Prompt { text: self.launch.prompt.clone() })?;
        let spec = self.launch.spec.clone();
        match self.launch.forked.take() {
            None => Ok((Converse::new(spec), Input::Begin(self.launch.prompt.clone()))),
            Some(forked) => {
                self.files.record(&forked)?;
                Ok((Converse::restore(spec, vec![forked]), Input::Continue))
            }
        }
    }

    /// Records an item, and what it says to those who look on.
    async fn record(&mut self, item: &Item) -> Result<(), FilesError> {
        self.files.record(item)?;
        for line in self.book.item(item) {
            self.tell(line).await?;
        }
        Ok(())
    }

    /// Writes a line about a call down and tells it; none of these is lost.
    async fn tell(&mut self, line: LogLine) -> Result<(), FilesError> {
        let logged = self.files.log(line)?;
        // Nobody listens any more: that ends no agent.
        let _ = self.progress.send(Progress::Logged(Box::new(logged))).await;
        Ok(())
    }

    /// Carries out what the loop decides until it is done. Whatever can happen to the agent comes in here.
    async fn converse(&mut self, machine: &mut Converse, first: Input) -> Result<AgentEnd, Cut> {
        // Letters that are there already stand in the first turn.
        let sent = std::iter::from_fn(|| self.inbox.try_recv().ok());
        let mut inputs: VecDeque<Input> = sent.chain([first]).collect();
        let mut under_way = UnderWay::new();
        let mut stopped = None;
        loop {
            while let Some(input) = inputs.pop_front() {
                for effect in machine.handle(input) {
                    stopped = stopped.or_else(|| self.stop.order());
                    match effect {
                        Effect::Record(item) => self.record(&item).await?,
                        // Recorded as an item, and said once the agent has ended.
                        Effect::Denied(_) => {}
                        Effect::Finish(end) => return Ok(*end),
                        Effect::Ask(_) | Effect::Call(_) | Effect::Check if stopped.is_some() => {}
                        Effect::Ask(request) => under_way.push(self.ask(request, machine.usage())),
                        Effect::Call(call) => {
                            self.tell(called(&call)).await?;
                            under_way.push(self.call(call));
                        }
                        Effect::Check => under_way.push(self.check()),
                    }
                }
            }
            tokio::select! {
                biased;
                order = self.stop.stopped(), if stopped.is_none() => stopped = Some(order),
                Some(told) = self.inbox.recv(), if stopped.is_none() => inputs.push_back(told),
                done = under_way.next() => match done {
                    Some(done) => inputs.extend(self.done(done, machine.usage(), &mut stopped)?),
                    None => return Err(stopped.map_or(Cut::Bug("the agent waits for nothing"), Cut::Stopped)),
                },
            }
        }
    }

    /// What the loop is told of something that is done.
    fn done(
        &mut self,
        done: Done,
        before: &Usage,
        stopped: &mut Option<StopOrder>,
    ) -> Result<Vec<Input>, FilesError> {
        Ok(match done {
            Done::Asked(asked) => {
                let Asked { answer, said, cursor } = *asked?;
                self.cursor = cursor;
                match answer {
                    Ok(Ok(reply)) => {
                        let fresh = before.fresh_tokens() + reply.usage.fresh_tokens();
                        let cached = before.cache_read_tokens + reply.usage.cache_read_tokens;
                        self.say(Progress::Tokens { fresh, cached });
                        vec![Input::Replied(reply)]
                    }
                    Ok(Err(error)) => vec![Input::Unanswered(said), Input::ModelFailed(error)],
                    Err(order) => {
                        stopped.get_or_insert(order);
                        vec![Input::Unanswered(said)]
                    }
                }
            }
            // It was made to end: that is no result of the call.
            Done::Returned(..) if stopped.is_some() => Vec::new(),
            Done::Returned(id, result, refused) => vec![Input::Returned { id, result, refused }],
            Done::Checked(checks, found) => {
                self.launch.checks = checks;
                match found {
                    Ok(found) => {
                        if self.launch.checks.is_some() {
                            let message = found.as_ref().err().map(|fault| fault.message.clone());
                            self.files.log(LogLine::Checked { message })?;
                        }
                        vec![Input::Checked(found)]
                    }
                    Err(order) => {
                        stopped.get_or_insert(order);
                        Vec::new()
                    }
                }
            }
        })
    }

    /// A turn of the model.
    fn ask(&mut self, request: Request, before: &Usage) -> BoxFuture<'static, Done> {
        let turn = before.turns + 1;
        self.say(Progress::Turn(turn));
        let asking = Asking {
            model: self.launch.model.clone(),
            cursor: self.cursor.clone(),
            turn,
            files: Arc::clone(&self.files),
            progress: self.progress.clone(),
            idle: self.launch.idle,
        };
        let stop = self.stop.clone();
        async move { Done::Asked(asking.ask(&request, stop).await.map(Box::new)) }.boxed()
    }

    /// A call of a tool.
    fn call(&mut self, call: Call) -> BoxFuture<'static, Done> {
        self.used_tools = true;
        let line = call.line();
        self.say(Progress::Tool(call.tool.clone(), line.clone()));
        let (tools, mask) = (self.tools.clone(), self.launch.mask.clone());
        let made = async move {
            let Called { mut result, refused } = tool::call(&call.tool, call.input, &tools).await;
            if let Some(mask) = mask {
                result.content = mask.apply(&result.content).into_owned();
            }
            let refused = refused.map(|reason| {
                let why = (reason == DenialReason::Rule).then(|| result.content.clone());
                Denial { tool: call.tool, call: line, reason, why }
            });
            Done::Returned(call.id, result, refused)
        };
        made.boxed()
    }

    /// The checks of the work.
    fn check(&mut self) -> BoxFuture<'static, Done> {
        let (checks, stop) = (self.launch.checks.take(), self.stop.clone());
        let checked = async move {
            let Some(mut checks) = checks else { return Done::Checked(None, Ok(Ok(()))) };
            let found = checks.run(&stop).await;
            Done::Checked(Some(checks), found)
        };
        checked.boxed()
    }

    /// Tells the watcher; one that is too slow misses it.
    fn say(&self, progress: Progress) {
        let _ = self.progress.try_send(progress);
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
