//! The machine itself.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::batch::Batch;
use super::judge::{Judge, Judgement, failed};
use super::output::{Fit, Form, HAND_IN, hand_in_tool};
use super::record::{Record, calls_of, text_of};
use super::{AgentEnd, AgentSpec, Call, CallResult, CheckFault, Effect, Input, Item, Spoil};
use crate::model::{Denial, Reason, Usage};
use crate::wire::{Block, Message, ModelError, ModelErrorKind, Reply, Request, Role, StopReason, ToolSpec};

/// Turns in a row in which nothing can be acted on, after which the agent has failed.
const MOST_SPOILED: usize = 5;

/// The loop of one agent.
#[derive(Debug)]
pub struct Converse {
    spec: AgentSpec,
    tools: Arc<[ToolSpec]>,
    judge: Judge,
    form: Result<Form, String>,
    record: Record,
    state: State,
}

#[derive(Debug)]
enum State {
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
        Converse { spec, tools, judge, form, record: Record::default(), state: State::Fresh }
    }

    /// A loop as it was when the last of these items was recorded; it waits for `Input::Continue`.
    pub fn restore(spec: AgentSpec, items: Vec<Item>) -> Self {
        let mut machine = Converse::new(spec);
        for item in &items {
            machine.record.apply(item);
        }
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
            (Input::ModelFailed(error), State::Asking) => step.model_failed(&error),
            (Input::Returned { id, result }, State::Calling(_)) => step.returned(&id, result),
            (Input::Checked(found), State::Checking(_)) => step.checked(found),
            (
                Input::Begin(_)
                | Input::Continue
                | Input::Replied(_)
                | Input::ModelFailed(_)
                | Input::Checked(_)
                | Input::Returned { .. },
                State::Fresh | State::Asking | State::Calling(_) | State::Checking(_) | State::Done,
            ) => {}
        }
        step.effects
    }
}

/// One input on its way to effects.
struct Step<'a> {
    machine: &'a mut Converse,
    effects: Vec<Effect>,
}

impl Step<'_> {
    fn record(&mut self, item: Item) {
        self.machine.record.apply(&item);
        self.effects.push(Effect::Record(item));
    }

    fn say(&mut self, content: Vec<Block>) {
        self.record(Item::Message { message: Message { role: Role::User, content } });
    }

    fn begin(&mut self, prompt: String) {
        self.say(vec![Block::Text { text: prompt }]);
        self.ask();
    }

    /// Goes on from whatever was recorded last.
    fn go_on(&mut self) {
        let Some(last) = self.machine.record.messages.last() else {
            return self.fail(Reason::Internal, "bug: there is no conversation to go on with");
        };
        if last.role == Role::User {
            return self.ask();
        }
        let text = "the engine stopped before this call had a result; it may have been made all the same";
        let open: Vec<Block> = calls_of(last).map(|(id, _, _)| result_block(id, failed(text))).collect();
        if open.is_empty() {
            let text = text_of(&last.content);
            return self.answered(&text, StopReason::EndTurn);
        }
        self.say(open);
        self.ask();
    }

    fn ask(&mut self) {
        if let Err(error) = &self.machine.form {
            let message = format!("the schema of the output can't be used: {error}");
            return self.fail(Reason::InvalidOutput, message);
        }
        if self.turns_left() == 0 {
            return self.out_of_turns();
        }
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

    fn turns_left(&self) -> u32 {
        self.machine.spec.max_turns.saturating_sub(self.machine.record.usage.turns)
    }

    fn no_repair_left(&self) -> bool {
        self.machine.record.repairs >= self.machine.spec.repair || self.turns_left() == 0
    }

    fn out_of_turns(&mut self) {
        let message = format!(
            "the limit of {} turns is reached; split the work into smaller tasks, or raise `max_turns`",
            self.machine.spec.max_turns
        );
        self.fail(Reason::MaxTurns, message);
    }

    fn replied(&mut self, reply: Reply) {
        let message = Message { role: Role::Assistant, content: self.tidy(reply.content) };
        let calls: Vec<(String, String, Value)> = calls_of(&message)
            .map(|(id, name, input)| (id.to_owned(), name.to_owned(), input.clone()))
            .collect();
        let text = text_of(&message.content);
        // A message without content would be refused by every API when it is sent back.
        if !message.content.is_empty() {
            self.record(Item::Message { message });
        }
        let tool_uses = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        self.record(Item::Turn { usage: Usage { turns: 1, tool_uses, ..reply.usage } });
        match reply.stop {
            StopReason::Refusal => {
                let model = &self.machine.spec.model;
                let message = format!("the model `{model}` refused to answer");
                self.fail(Reason::Provider, message);
            }
            StopReason::MaxTokens if !calls.is_empty() => self.cut(&calls),
            StopReason::EndTurn | StopReason::ToolUse | StopReason::MaxTokens | StopReason::Other => {
                if calls.is_empty() { self.answered(&text, reply.stop) } else { self.called(&calls, &text) }
            }
        }
    }

    /// The content with nothing empty in it, and with ids that stand once in the conversation: results find their
    /// calls by them.
    fn tidy(&self, content: Vec<Block>) -> Vec<Block> {
        let mut taken: HashSet<String> = HashSet::new();
        let mut out = Vec::with_capacity(content.len());
        for mut block in content {
            match &mut block {
                Block::Text { text } if text.is_empty() => continue,
                Block::ToolResult { .. } => continue,
                Block::ToolUse { id, .. } => {
                    let free = |id: &str| !id.is_empty() && !self.machine.record.ids.contains(id);
                    if !free(id) || taken.contains(id) {
                        let base = if id.is_empty() { "call" } else { id.as_str() };
                        let fresh = (2u64..).map(|n| format!("{base}_{n}"));
                        if let Some(name) = fresh.into_iter().find(|name| free(name) && !taken.contains(name))
                        {
                            *id = name;
                        }
                    }
                    taken.insert(id.clone());
                }
                Block::Text { .. } | Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
            }
            out.push(block);
        }
        out
    }

    /// The limit of tokens may have cut the last call, and those before may need it: none is made.
    fn cut(&mut self, calls: &[(String, String, Value)]) {
        let again = self.machine.record.spoiled.last() == Some(&Spoil::Cut);
        self.record(Item::Spoiled { by: Spoil::Cut });
        if again {
            let message = "two answers in a row were cut by the limit of tokens in the middle of their calls";
            return self.fail(Reason::InvalidOutput, message);
        }
        let text =
            "your answer reached the limit of tokens, so none of its calls was made; make smaller calls";
        let results = calls.iter().map(|(id, _, _)| result_block(id, failed(text))).collect();
        self.next_turn(results);
    }

    fn called(&mut self, calls: &[(String, String, Value)], text: &str) {
        let mut problem = None;
        if let Ok(Form::Schema(schema)) = &self.machine.form {
            for (at, (_, _, input)) in calls.iter().enumerate().filter(|(_, (_, name, _))| name == HAND_IN) {
                match schema.hand_in(input) {
                    Ok(value) => return self.handed_in(calls, at, value, text),
                    Err(error) => problem = Some(error),
                }
            }
            if let Some(problem) = &problem {
                if self.no_repair_left() {
                    let message = format!("the answer doesn't fit its schema: {problem}");
                    let raw = calls
                        .iter()
                        .rfind(|(_, name, _)| name == HAND_IN)
                        .map(|(_, _, input)| input.to_string());
                    let text = raw.unwrap_or_default();
                    return self.finish(Some(Reason::InvalidOutput), Some(message), text, None);
                }
                self.record(Item::Repair);
            }
        }
        if self.turns_left() == 0 {
            return self.out_of_turns();
        }
        let mut batch = Batch::new(self.machine.spec.max_tool_concurrency);
        let mut spoiled = true;
        for (id, name, input) in calls {
            if let (HAND_IN, Some(problem)) = (name.as_str(), &problem) {
                batch.add_done(id, failed(format!("your answer does not fit: {problem}; hand it in again")));
                spoiled = false;
                continue;
            }
            if name == HAND_IN && self.machine.spec.forked {
                let text = "that was the form of the conversation before; answer with a text";
                batch.add_done(id, failed(text));
                continue;
            }
            match self.machine.judge.judge(&self.machine.spec, name, input) {
                Judgement::Make => {
                    spoiled = false;
                    batch.add(Call { id: id.clone(), tool: name.clone(), input: input.clone() });
                }
                Judgement::Bad(result, denial) => {
                    if let Some(denial) = denial {
                        self.deny(denial);
                    }
                    batch.add_done(id, result);
                }
                Judgement::Refused(result, denial) => {
                    spoiled = false;
                    self.deny(denial);
                    batch.add_done(id, result);
                }
            }
        }
        if spoiled {
            self.record(Item::Spoiled { by: Spoil::BadCalls });
            if self.machine.record.spoiled.len() >= MOST_SPOILED {
                let message = format!("{MOST_SPOILED} turns in a row held no call that could be made");
                return self.fail(Reason::InvalidOutput, message);
            }
        }
        self.machine.state = State::Calling(batch);
        self.advance();
    }

    fn deny(&mut self, denial: Denial) {
        self.record(Item::Denied { denial: denial.clone() });
        self.effects.push(Effect::Denied(denial));
    }

    /// The answer is in: what else was called in its turn is not made.
    fn handed_in(&mut self, calls: &[(String, String, Value)], answer: usize, value: Value, text: &str) {
        let result = |at: usize| {
            if at == answer {
                CallResult { content: "accepted".to_owned(), is_error: false }
            } else {
                failed("not made: the answer was handed in in the same turn")
            }
        };
        let results = calls.iter().enumerate().map(|(at, (id, _, _))| result_block(id, result(at))).collect();
        self.say(results);
        let text = if text.trim().is_empty() { value.to_string() } else { text.to_owned() };
        self.finish(None, None, text, Some(value));
    }

    fn returned(&mut self, id: &str, result: CallResult) {
        if let State::Calling(batch) = &mut self.machine.state {
            batch.returned(id, result);
        }
        self.advance();
    }

    /// Starts what may run, or goes on to the next turn when nothing is left.
    fn advance(&mut self) {
        let State::Calling(batch) = &mut self.machine.state else { return };
        if let Some(results) = batch.results() {
            return self.next_turn(results);
        }
        self.effects.extend(batch.start().into_iter().map(Effect::Call));
    }

    fn next_turn(&mut self, content: Vec<Block>) {
        self.say(content);
        self.ask();
    }

    /// A turn without calls: its text is the answer.
    fn answered(&mut self, text: &str, stop: StopReason) {
        let cut = stop == StopReason::MaxTokens;
        if text.trim().is_empty() {
            let message = match cut {
                true => "the limit of tokens was reached before the agent had said anything",
                false => "the agent ended without a text",
            };
            return self.fail(Reason::NoOutput, message);
        }
        let form = match &self.machine.form {
            Ok(form) => form,
            Err(error) => return self.fail(Reason::InvalidOutput, error.clone()),
        };
        let wanted = form.wanted(self.machine.tools.iter().any(|tool| tool.name == HAND_IN));
        let note = cut.then(|| "the answer was cut by the limit of tokens".to_owned());
        match form.read(text) {
            Ok(Fit::Text) => self.finish(None, note, text.to_owned(), None),
            Ok(Fit::Value(value)) => self.finish(None, note, text.to_owned(), Some(value)),
            Err(mut problem) => {
                if let Some(note) = note {
                    problem = format!("{problem} ({note})");
                }
                if self.no_repair_left() {
                    let message = format!("the answer doesn't fit its form: {problem}");
                    return self.fail(Reason::InvalidOutput, message);
                }
                self.record(Item::Repair);
                let text = format!("Your answer does not fit: {problem}. Answer again with {wanted}.");
                self.next_turn(vec![Block::Text { text }]);
            }
        }
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

    fn fail(&mut self, reason: Reason, message: impl Into<String>) {
        let text = self.machine.record.text.clone();
        self.finish(Some(reason), Some(message.into()), text, None);
    }

    fn finish(
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
        self.record(Item::CheckFailed);
        let printed = match fault.output.trim_end() {
            "" => "It printed nothing.".to_owned(),
            output => format!("The end of what it printed:\n\n{output}"),
        };
        let text = format!(
            "Your work was checked, and the {}. {printed}\n\nMend it, then answer again in the form you were asked for.",
            fault.message
        );
        self.next_turn(vec![Block::Text { text }]);
    }
}

fn result_block(id: &str, CallResult { content, is_error }: CallResult) -> Block {
    Block::ToolResult { tool_use_id: id.to_owned(), content, is_error }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
