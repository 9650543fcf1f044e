//! An attempt of an agent: the loop's decisions carried out, from the first prompt to the outcome.
//!
//! 1. A line of the transcript is on disk before what follows from it begins.
//! 2. After an order to stop no call of the model begins, and none of a tool. What is under way is ended before the
//!    outcome is there.
//! 3. What happens stands in `wire.jsonl` before anybody is told of it; every request leaves its beginning and its end there.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flow_core::converse::{
    AgentEnd, AgentSpec, Call, CallResult, CheckFault, Converse, Effect, Input, Item, LogLine, Logbook,
    called,
};
use flow_core::ids::{Address, Attempt};
use flow_core::model::{AttemptEnd, Denial, DenialReason, Digest, Outcome, Reason, Usage};
use flow_core::text::format_duration;
use flow_core::wire::Request;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::agent_ask::{Asked, Asking};
use super::agent_checks::AgentChecks;
use super::agent_files::{AgentFiles, FilesError};
use super::mask::Mask;
use super::progress::Progress;
use crate::provider::{Cursor, ModelHandle};
use crate::sys::files::random_u32;
use crate::sys::process::sweep;
use crate::sys::stop::{StopOrder, StopSignal};
use crate::tool::{self, Called, ReadState, ToolContext};

/// The largest output, as JSON, that an outcome carries itself.
const MAX_INLINE: usize = 64 * 1024;

/// An attempt of an agent, with everything resolved.
#[derive(Debug)]
pub struct AgentLaunch {
    /// The task.
    pub address: Address,
    /// Which try.
    pub attempt: Attempt,
    /// The conversation: `a` + 16 hex digits.
    pub agent_id: String,
    /// What earlier attempts have reported of this conversation.
    pub reported: Reported,
    /// The definition's name.
    pub agent_name: String,
    /// What the agent is. Its model is taken from `model`.
    pub spec: AgentSpec,
    /// The first prompt, composed.
    pub prompt: String,
    /// What it begins with in place of the prompt: what `flow_core::converse::fork` made of another task's conversation and
    /// the prompt.
    pub forked: Option<Item>,
    /// Who answers.
    pub model: ModelHandle,
    /// Where and how its tools work.
    pub place: AgentPlace,
    /// How long it may show no sign of life: no piece of an answer, no tool that runs.
    pub idle: Option<Duration>,
    /// The task's own folder; made here if need be.
    pub folder: PathBuf,
    /// The same, relative to the run folder.
    pub folder_name: String,
    /// Calls of the model that earlier attempts made: what `recorded_calls` says.
    pub position: u32,
    /// What hides the run's secrets in what tools return and in what the agent says.
    pub mask: Option<Arc<Mask>>,
    /// From nothing, or on from the transcript.
    pub start: AgentStart,
    /// What must pass once it is done.
    pub checks: Option<AgentChecks>,
}

/// Where an agent's tools work.
#[derive(Clone, Debug)]
pub struct AgentPlace {
    /// Its tree, absolute and free of links.
    pub tree: PathBuf,
    /// The folder in it where it starts, absolute and free of links.
    pub dir: PathBuf,
    /// Variables for its commands.
    pub env: Vec<(String, String)>,
    /// `FLOW_ATTEMPT` of its commands; unique to the attempt.
    pub tag: String,
}

/// What a conversation has used and was refused up to some attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reported {
    /// What it has used.
    pub usage: Usage,
    /// How many calls were refused.
    pub denials: usize,
}

/// How an attempt begins.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentStart {
    /// With the prompt.
    Fresh,
    /// Where the transcript of the same task ends, if there is one that is whole.
    Continue,
}

/// Why the loop was left before it had finished.
enum Cut {
    Stopped(StopOrder),
    Files(FilesError),
    Bug(&'static str),
}

impl From<FilesError> for Cut {
    fn from(error: FilesError) -> Self {
        Cut::Files(error)
    }
}

/// An attempt under way.
struct Session {
    launch: AgentLaunch,
    files: AgentFiles,
    stop: StopSignal,
    progress: mpsc::Sender<Progress>,
    tools: ToolContext,
    cursor: Cursor,
    book: Logbook,
    used_tools: bool,
}

/// A fresh id for a conversation: `a` + 16 hex digits.
pub fn new_agent_id() -> io::Result<String> {
    Ok(format!("a{:08x}{:08x}", random_u32()?, random_u32()?))
}

/// Runs an attempt to its outcome.
pub async fn run_agent(
    mut launch: AgentLaunch,
    stop: StopSignal,
    progress: mpsc::Sender<Progress>,
) -> Outcome {
    let began = Instant::now();
    launch.spec.model = launch.model.id().to_owned();
    let mut outcome = match AgentFiles::open(&launch) {
        Ok(files) => Session::new(launch, files, stop, progress).run().await,
        Err(error) => error.outcome(),
    };
    outcome.duration_ms = millis(began.elapsed());
    outcome
}

impl Session {
    fn new(
        launch: AgentLaunch,
        files: AgentFiles,
        stop: StopSignal,
        progress: mpsc::Sender<Progress>,
    ) -> Self {
        let tools = ToolContext {
            tree: launch.place.tree.clone(),
            dir: launch.place.dir.clone(),
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
        Session { launch, files, stop, progress, tools, cursor, book: Logbook::default(), used_tools: false }
    }

    async fn run(mut self) -> Outcome {
        let mut outcome = match self.begin() {
            Ok((mut machine, first)) => {
                let end = self.converse(&mut machine, first).await;
                let outcome = match end {
                    Ok(end) => self.finished(end),
                    Err(cut) => self.cut(cut, &machine),
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

    /// Carries out what the loop decides until it is done.
    async fn converse(&mut self, machine: &mut Converse, first: Input) -> Result<AgentEnd, Cut> {
        let mut inputs = VecDeque::from([first]);
        let mut calls = FuturesUnordered::new();
        loop {
            let mut ask = None;
            while let Some(input) = inputs.pop_front() {
                for effect in machine.handle(input) {
                    match effect {
                        Effect::Record(item) => self.record(&item).await?,
                        Effect::Ask(request) => ask = Some(request),
                        Effect::Call(call) => {
                            self.tell(called(&call)).await?;
                            calls.push(self.call(call));
                        }
                        // Recorded as an item, and said once the agent has ended.
                        Effect::Denied(_) => {}
                        Effect::Check => inputs.push_back(Input::Checked(self.check().await?)),
                        Effect::Finish(end) => return Ok(*end),
                    }
                }
            }
            if let Some(request) = ask {
                let Asked { answer, said } = self.ask(request, machine.usage()).await?;
                match answer {
                    Ok(Ok(reply)) => inputs.push_back(Input::Replied(reply)),
                    Ok(Err(error)) => {
                        inputs.extend([Input::Unanswered(said), Input::ModelFailed(error)]);
                    }
                    Err(order) => {
                        for effect in machine.handle(Input::Unanswered(said)) {
                            if let Effect::Record(item) = effect {
                                self.record(&item).await?;
                            }
                        }
                        return Err(Cut::Stopped(order));
                    }
                }
                continue;
            }
            let returned = tokio::select! {
                biased;
                order = self.stop.stopped() => Err(order),
                returned = calls.next() => Ok(returned),
            };
            match returned {
                Ok(Some((id, result, refused))) => {
                    inputs.push_back(Input::Returned { id, result, refused });
                }
                Ok(None) => return Err(Cut::Bug("the agent waits for nothing")),
                Err(order) => {
                    // They hear the order themselves, and one to hurry.
                    while calls.next().await.is_some() {}
                    return Err(Cut::Stopped(order));
                }
            }
        }
    }

    /// Checks the work; `Err` when an order to stop came first.
    async fn check(&mut self) -> Result<Result<(), CheckFault>, Cut> {
        let Some(checks) = &mut self.launch.checks else { return Ok(Ok(())) };
        let found = checks.run(&self.stop).await.map_err(Cut::Stopped)?;
        let message = found.as_ref().err().map(|fault| fault.message.clone());
        self.files.log(LogLine::Checked { message })?;
        Ok(found)
    }

    /// Asks the model; `Err` when an order to stop came before.
    async fn ask(&mut self, request: Request, before: &Usage) -> Result<Asked, Cut> {
        if let Some(order) = self.stop.order() {
            return Err(Cut::Stopped(order));
        }
        let turn = before.turns + 1;
        self.say(Progress::Turn(turn));
        let asking = Asking {
            model: &self.launch.model,
            cursor: &mut self.cursor,
            turn,
            files: &mut self.files,
            progress: &self.progress,
            idle: self.launch.idle,
        };
        let asked = asking.ask(&request, &mut self.stop).await?;
        if let Ok(Ok(reply)) = &asked.answer {
            let fresh = before.fresh_tokens() + reply.usage.fresh_tokens();
            let cached = before.cache_read_tokens + reply.usage.cache_read_tokens;
            self.say(Progress::Tokens { fresh, cached });
        }
        Ok(asked)
    }

    /// A call of a tool, to be waited for.
    fn call(&mut self, call: Call) -> impl Future<Output = (String, CallResult, Option<Denial>)> + use<> {
        self.used_tools = true;
        self.say(Progress::Tool(call.tool.clone(), call.line()));
        let (tools, mask) = (self.tools.clone(), self.launch.mask.clone());
        async move {
            let line = call.line();
            let Called { mut result, refused } = tool::call(&call.tool, call.input, &tools).await;
            if let Some(mask) = mask {
                result.content = mask.apply(&result.content).into_owned();
            }
            let refused = refused.map(|reason| {
                let why = (reason == DenialReason::Rule).then(|| result.content.clone());
                Denial { tool: call.tool, call: line, reason, why }
            });
            (call.id, result, refused)
        }
    }

    /// Tells the watcher; one that is too slow misses it.
    fn say(&self, progress: Progress) {
        let _ = self.progress.try_send(progress);
    }

    fn finished(&mut self, end: AgentEnd) -> Result<Outcome, FilesError> {
        let state = match end.reason {
            None => AttemptEnd::Completed,
            Some(_) => AttemptEnd::Failed,
        };
        let message = end.message.map(|message| self.masked(&message).into_owned());
        let mut outcome = Outcome::bare(state, end.reason, message);
        outcome.usage = Some(self.usage_of(end.usage));
        outcome.denials = self.denials_of(&end.denials);
        outcome.text = self.files.text(&self.masked(&end.text))?;
        if end.reason == Some(Reason::CheckFailed)
            && let Some([stdout, stderr]) =
                self.launch.checks.as_mut().and_then(|checks| checks.printed.take())
        {
            (outcome.stdout, outcome.stderr) = (stdout, stderr);
        }
        if let Some(mut output) = end.output {
            if let Some(mask) = &self.launch.mask {
                mask.apply_within(&mut output);
            }
            let json = output.to_string();
            if json.len() <= MAX_INLINE {
                outcome.output = Some(output);
            } else {
                outcome.output_file = Some(self.files.output(&json)?);
                outcome.output_hash = Some(Digest::of(json.as_bytes()));
            }
        }
        Ok(outcome)
    }

    fn cut(&mut self, cut: Cut, machine: &Converse) -> Result<Outcome, FilesError> {
        let mut outcome = match cut {
            Cut::Stopped(order) => Outcome::bare(
                AttemptEnd::when_stopped(order.reason),
                Some(order.reason),
                self.stop_message(order.reason),
            ),
            Cut::Files(error) => return Err(error),
            Cut::Bug(what) => Outcome::failed(Reason::Internal, format!("bug: {what}")),
        };
        outcome.usage = Some(self.usage_of(machine.usage().clone()));
        outcome.denials = self.denials_of(machine.denials());
        outcome.text = self.files.text(&self.masked(machine.text()))?;
        Ok(outcome)
    }

    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.launch.mask.as_ref().map_or(Cow::Borrowed(text), |mask| mask.apply(text))
    }

    fn stop_message(&self, reason: Reason) -> Option<String> {
        // Whoever gave another order knows more about it.
        let idle = self.launch.idle.filter(|_| reason == Reason::Stall)?;
        Some(format!("showed no sign of life for {} (`timeout.idle`)", format_duration(idle)))
    }

    /// What this attempt adds to what earlier ones reported. A turn that was begun counts, answered or not: it may have cost
    /// something.
    fn usage_of(&self, all: Usage) -> Usage {
        let mut usage = all.less(&self.launch.reported.usage);
        if usage.model.is_empty() {
            usage.model = self.launch.model.id().to_owned();
        }
        usage
    }

    fn denials_of(&self, all: &[Denial]) -> Vec<Denial> {
        all.iter().skip(self.launch.reported.denials).cloned().collect()
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
