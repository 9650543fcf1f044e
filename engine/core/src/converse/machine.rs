//! The machine itself.

use std::sync::Arc;

use serde_json::Value;

use super::batch::Batch;
use super::inbox::Inbox;
use super::judge::{Judge, failed};
use super::output::{Form, hand_in_tool};
use super::record::{Record, owned_calls};
use super::{AgentEnd, AgentSpec, CheckFault, Effect, Input, Item};
use crate::model::{Denial, Reason, Usage};
use crate::wire::{Block, Message, ModelError, ModelErrorKind, Request, Role, StopReason, ToolSpec};

/// The loop of one agent.
#[derive(Debug)]
pub struct Converse {
    pub(super) spec: AgentSpec,
    pub(super) tools: Arc<[ToolSpec]>,
    pub(super) judge: Judge,
    pub(super) form: Result<Form, String>,
    pub(super) record: Record,
    pub(super) inbox: Inbox,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// Nothing has happened in this loop.
    Fresh,
    /// The model was asked.
    Asking,
    /// Calls are being made.
    Calling(Batch),
    /// It would end so, once its work is checked.
    Checking(Box<AgentEnd>),
    /// It is over.
    Done,
}

impl Converse {
    /// A loop that waits for `Input::Begin`.
    pub fn new(spec: AgentSpec) -> Self {
        let judge = Judge::new(&spec.tools);
        let form = Form::new(&spec.output);
        let extra = form.as_ref().ok().filter(|_| !spec.forked).and_then(|_| hand_in_tool(&spec.output));
        let tools = match extra {
            None => Arc::clone(&spec.tools),
            Some(extra) => spec.tools.iter().cloned().chain([extra]).collect(),
        };
        let (record, inbox) = (Record::default(), Inbox::default());
        Converse { spec, tools, judge, form, record, inbox, state: State::Fresh }
    }

    /// A loop as it was when the last of these items was recorded; it waits for `Input::Continue`.
    pub fn restore(spec: AgentSpec, items: Vec<Item>) -> Self {
        let mut machine = Converse::new(spec);
        machine.record = Record::of(&items);
        machine
    }

    /// What it has used so far.
    pub fn usage(&self) -> &Usage {
        &self.record.usage
    }

    /// What was refused so far.
    pub fn denials(&self) -> &[Denial] {
        &self.record.denials
    }

    /// Its last text so far.
    pub fn text(&self) -> &str {
        &self.record.text
    }

    /// Takes what happened and says what to do, in this order. What doesn't fit the state is ignored.
    pub fn handle(&mut self, input: Input) -> Vec<Effect> {
        let mut step = Step { machine: self, effects: Vec::new() };
        match (input, &step.machine.state) {
            (Input::Begin(prompt), State::Fresh) => step.begin(prompt),
            (Input::Continue, State::Fresh) => step.go_on(),
            (Input::Replied(reply), State::Asking) => step.replied(reply),
            (Input::Unanswered(text), State::Asking) => step.record(Item::Unanswered { text }),
            (Input::ModelFailed(error), State::Asking) => step.model_failed(&error),
            (Input::Returned { id, result, refused }, State::Calling(_)) => {
                step.returned(&id, result, refused)
            }
            (Input::Checked(found), State::Checking(_)) => step.checked(found),
            (
                Input::Offered(letters),
                State::Fresh | State::Asking | State::Calling(_) | State::Checking(_),
            ) => step.offered(letters),
            (
                Input::Begin(_)
                | Input::Continue
                | Input::Replied(_)
                | Input::Unanswered(_)
                | Input::ModelFailed(_)
                | Input::Checked(_)
                | Input::Offered(_)
                | Input::Returned { .. },
                State::Fresh | State::Asking | State::Calling(_) | State::Checking(_) | State::Done,
            ) => {}
        }
        step.effects
    }
}

/// One input on its way to effects.
pub(super) struct Step<'a> {
    pub(super) machine: &'a mut Converse,
    pub(super) effects: Vec<Effect>,
}

impl Step<'_> {
    pub(super) fn record(&mut self, item: Item) {
        self.machine.record.apply(&item);
        self.effects.push(Effect::Record(item));
    }

    pub(super) fn say(&mut self, content: Vec<Block>) {
        self.record(Item::said(Message { role: Role::User, content }));
    }

    fn begin(&mut self, prompt: String) {
        self.say(vec![Block::Text { text: prompt }]);
        self.ask();
    }

    /// Goes on from whatever was recorded last.
    fn go_on(&mut self) {
        let record = &self.machine.record;
        let Some(last) = record.last_turn() else {
            return self.fail(Reason::Internal, "bug: there is no conversation to go on with");
        };
        let (calls, text) = (owned_calls(last), last.text());
        let stop = record.stop.unwrap_or(StopReason::EndTurn);
        if record.said_nothing {
            return self.ended_turn("", stop, &[]);
        }
        if last.role == Role::Assistant && calls.is_empty() {
            return self.ended_turn(&text, stop, &[]);
        }
        if stop != StopReason::MaxTokens
            && let Ok(Some((at, value))) = self.handed(&calls)
        {
            return self.handed_in(&calls, at, value, &text);
        }
        let open: Vec<String> = record.open_calls().into_iter().map(str::to_owned).collect();
        for id in open {
            let text = "the engine stopped before this call had a result; it may have been made all the same";
            self.result(&id, failed(text), None);
        }
        self.ask();
    }

    pub(super) fn ask(&mut self) {
        if let Err(error) = &self.machine.form {
            let message = format!("the schema of the output can't be used: {error}");
            return self.fail(Reason::InvalidOutput, message);
        }
        if self.turns_left() == 0 {
            return self.out_of_turns();
        }
        self.read_letters();
        let machine = &mut *self.machine;
        machine.state = State::Asking;
        self.effects.push(Effect::Ask(Request {
            model: machine.spec.model.clone(),
            system: Arc::clone(&machine.spec.system),
            tools: Arc::clone(&machine.tools),
            messages: machine.record.messages.clone(),
            max_tokens: machine.spec.max_tokens,
            effort: machine.spec.effort,
        }));
    }

    pub(super) fn turns_left(&self) -> u32 {
        let record = &self.machine.record;
        self.machine.spec.max_turns.saturating_sub(record.usage.turns - record.unanswered)
    }

    pub(super) fn no_repair_left(&self) -> bool {
        self.machine.record.repairs >= self.machine.spec.repair || self.turns_left() == 0
    }

    pub(super) fn out_of_turns(&mut self) {
        let message = format!(
            "the limit of {} turns is reached; split the work into smaller tasks, or raise `max_turns`",
            self.machine.spec.max_turns
        );
        self.fail(Reason::MaxTurns, message);
    }

    fn model_failed(&mut self, error: &ModelError) {
        let reason = match error.kind {
            ModelErrorKind::RateLimit => Reason::RateLimit,
            ModelErrorKind::Overloaded => Reason::Overloaded,
            ModelErrorKind::ContextOverflow => Reason::ContextOverflow,
            ModelErrorKind::Server
            | ModelErrorKind::Refused
            | ModelErrorKind::Connection
            | ModelErrorKind::Broken
            | ModelErrorKind::ScriptEnded => Reason::Provider,
        };
        let model = &self.machine.spec.model;
        let message = match error.status {
            Some(status) => format!("the model `{model}` answered {status}: {}", error.message),
            None => format!("the model `{model}` gave no answer: {}", error.message),
        };
        self.fail(reason, message);
    }

    pub(super) fn fail(&mut self, reason: Reason, message: impl Into<String>) {
        let text = self.machine.record.text.clone();
        self.finish(Some(reason), Some(message.into()), text, None);
    }

    pub(super) fn finish(
        &mut self,
        reason: Option<Reason>,
        message: Option<String>,
        text: String,
        output: Option<Value>,
    ) {
        let usage = self.machine.record.usage.clone();
        let denials = self.machine.record.denials.clone();
        let end = Box::new(AgentEnd { reason, message, text, output, usage, denials });
        if self.machine.spec.checked && reason.is_none() {
            self.machine.state = State::Checking(end);
            self.effects.push(Effect::Check);
        } else {
            self.end(end);
        }
    }

    fn end(&mut self, end: Box<AgentEnd>) {
        self.machine.state = State::Done;
        self.effects.push(Effect::Finish(end));
    }

    /// The work was checked: what failed goes back to the agent once.
    fn checked(&mut self, found: Result<(), CheckFault>) {
        let State::Checking(mut end) = std::mem::replace(&mut self.machine.state, State::Done) else {
            return;
        };
        let fault = match found {
            Ok(()) => return self.end(end),
            Err(fault) => fault,
        };
        if self.machine.record.check_failed || self.turns_left() == 0 {
            (end.reason, end.message, end.output) = (Some(Reason::CheckFailed), Some(fault.message), None);
            return self.end(end);
        }
        let printed = match fault.output.trim_end() {
            "" => "It printed nothing.".to_owned(),
            output => format!("The end of what it printed:\n\n{output}"),
        };
        let text = format!(
            "Your work was checked, and the {}. {printed}\n\nMend it, then answer again in the form you were asked for.",
            fault.message
        );
        self.say(vec![Block::Text { text }]);
        self.record(Item::CheckFailed);
        self.ask();
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
