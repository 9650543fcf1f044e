//! What an answer of the model comes to: calls that are made one batch after the other, or the end of the agent.

use std::collections::HashSet;

use serde_json::Value;

use super::batch::{Batch, bounded};
use super::judge::{Judgement, failed};
use super::machine::{State, Step};
use super::output::{Fit, Form};
use super::record::owned_calls;
use super::{Call, CallResult, Effect, Item, Spoil};
use crate::model::{Denial, HAND_IN, Reason, Usage};
use crate::wire::{Block, Message, Reply, Role, StopReason};

/// Turns in a row in which nothing can be acted on, after which the agent has failed.
const MOST_SPOILED: usize = 5;

/// How often an answer may go on in a further turn.
const MOST_CONTINUED: u32 = 3;

impl Step<'_> {
    pub(super) fn replied(&mut self, reply: Reply) {
        let message = Message { role: Role::Assistant, content: self.tidy(reply.content) };
        let calls = owned_calls(&message);
        let text = message.text();
        let tool_uses = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let (usage, stop) = (Usage { turns: 1, tool_uses, ..reply.usage }, Some(reply.stop));
        // A message without content would be refused by every API when it is sent back.
        self.record(match message.content.is_empty() {
            true => Item::Turn { usage, stop },
            false => Item::Message { message, usage: Some(usage), stop, denial: None },
        });
        self.ended_turn(&text, reply.stop, &calls);
    }

    /// Acts on an answer that was recorded.
    pub(super) fn ended_turn(&mut self, text: &str, stop: StopReason, calls: &[(String, String, Value)]) {
        match stop {
            StopReason::Refusal => {
                let model = &self.machine.spec.model;
                let message = format!("the model `{model}` refused to answer");
                self.fail(Reason::Provider, message);
            }
            StopReason::WindowFull => {
                let message = "the model's window was full before the answer was whole";
                self.fail(Reason::ContextOverflow, message);
            }
            StopReason::MaxTokens if !calls.is_empty() => self.cut(calls),
            StopReason::MaxTokens | StopReason::Paused if calls.is_empty() => self.unfinished(stop),
            StopReason::EndTurn | StopReason::ToolUse | StopReason::MaxTokens | StopReason::Paused => {
                if calls.is_empty() { self.answered() } else { self.called(calls, text) }
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

    /// An answer that is not whole goes on in the next turn, a few times; what it lacks would be missed by nobody else.
    fn unfinished(&mut self, stop: StopReason) {
        let record = &self.machine.record;
        let limit = self.machine.spec.max_tokens;
        let is_cut = stop == StopReason::MaxTokens;
        if is_cut && record.answer.trim().is_empty() {
            let message = "the limit of tokens was reached before the agent had said anything";
            return self.fail(Reason::NoOutput, message);
        }
        let go_on = match is_cut {
            true => {
                "Your answer was cut by the limit of tokens. Go on exactly where it ends, and repeat nothing of it."
            }
            false => "Go on.",
        };
        let parts = record.parts;
        if parts > MOST_CONTINUED || self.turns_left() == 0 {
            let times = if parts == 1 {
                "an answer was".to_owned()
            } else {
                format!("{parts} answers in a row were")
            };
            let message = format!(
                "{times} cut (the limit is {limit} tokens); ask for less, or split the work into tasks"
            );
            return self.fail(Reason::Truncated, message);
        }
        // A part without content is no message, so what was asked last still is.
        if self.machine.record.messages.last().is_some_and(|last| last.role == Role::Assistant) {
            self.say(vec![Block::Text { text: go_on.to_owned() }]);
        }
        self.ask();
    }

    /// The limit of tokens may have cut the last call, and those before may need it: none is made.
    fn cut(&mut self, calls: &[(String, String, Value)]) {
        let again = self.machine.record.spoiled.last() == Some(&Spoil::Cut);
        self.record(Item::Spoiled { by: Spoil::Cut });
        if again {
            let message = "two answers in a row were cut by the limit of tokens in the middle of their calls";
            return self.fail(Reason::Truncated, message);
        }
        let text =
            "your answer reached the limit of tokens, so none of its calls was made; make smaller calls";
        for (id, _, _) in calls {
            self.result(id, failed(text), None);
        }
        self.ask();
    }

    fn called(&mut self, calls: &[(String, String, Value)], text: &str) {
        let problem = match self.handed(calls) {
            Ok(Some((at, value))) => return self.handed_in(calls, at, value, text),
            Ok(None) => None,
            Err(problem) => Some(problem),
        };
        if let Some(problem) = &problem {
            if self.no_repair_left() {
                let message = format!("the answer doesn't fit its schema: {problem}");
                let raw =
                    calls.iter().rfind(|(_, name, _)| name == HAND_IN).map(|(_, _, input)| input.to_string());
                let text = raw.unwrap_or_default();
                return self.finish(Some(Reason::InvalidOutput), Some(message), text, None);
            }
            self.record(Item::Repair);
        }
        if self.turns_left() == 0 {
            return self.out_of_turns();
        }
        let mut batch = Batch::new(self.machine.spec.max_tool_concurrency);
        let mut known = Vec::new();
        let mut spoiled = true;
        for (id, name, input) in calls {
            if let (HAND_IN, Some(problem)) = (name.as_str(), &problem) {
                let text = format!("your answer does not fit: {problem}; hand it in again");
                known.push((id, failed(text), None));
                spoiled = false;
                continue;
            }
            if name == HAND_IN && self.machine.spec.forked {
                let text = "that was the form of the conversation before; answer with a text";
                known.push((id, failed(text), None));
                continue;
            }
            match self.machine.judge.judge(&self.machine.spec, name, input) {
                Judgement::Make(class) => {
                    spoiled = false;
                    batch.add(Call { id: id.clone(), tool: name.clone(), input: input.clone() }, class);
                }
                Judgement::Bad(result, denial) => known.push((id, result, denial)),
                Judgement::Refused(result, denial) => {
                    spoiled = false;
                    known.push((id, result, Some(denial)));
                }
            }
        }
        if spoiled {
            self.record(Item::Spoiled { by: Spoil::BadCalls });
        }
        for (id, result, denial) in known {
            self.result(id, result, denial);
        }
        if spoiled && self.machine.record.spoiled.len() >= MOST_SPOILED {
            let message = format!("{MOST_SPOILED} turns in a row held no call that could be made");
            return self.fail(Reason::InvalidOutput, message);
        }
        self.machine.state = State::Calling(batch);
        self.advance();
    }

    /// Records what came of a call, whether it was made or not.
    pub(super) fn result(&mut self, id: &str, result: CallResult, denial: Option<Denial>) {
        let message = Message { role: Role::User, content: vec![result_block(id, bounded(result))] };
        self.record(Item::Message { message, usage: None, stop: None, denial: denial.clone() });
        self.effects.extend(denial.map(Effect::Denied));
    }

    /// The first call that hands in an answer which fits; the error is what the last one lacks.
    pub(super) fn handed(&self, calls: &[(String, String, Value)]) -> Result<Option<(usize, Value)>, String> {
        let Ok(Form::Schema(schema)) = &self.machine.form else { return Ok(None) };
        let mut problem = None;
        for (at, (_, _, input)) in calls.iter().enumerate().filter(|(_, (_, name, _))| name == HAND_IN) {
            match schema.hand_in(input) {
                Ok(value) => return Ok(Some((at, value))),
                Err(error) => problem = Some(error),
            }
        }
        problem.map_or(Ok(None), Err)
    }

    /// The answer is in: what else was called in its turn is not made.
    pub(super) fn handed_in(
        &mut self,
        calls: &[(String, String, Value)],
        answer: usize,
        value: Value,
        text: &str,
    ) {
        let results = calls.iter().enumerate().map(|(at, (id, _, _))| {
            let result = match at == answer {
                true => CallResult { content: "accepted".to_owned(), is_error: false },
                false => failed("not made: the answer was handed in in the same turn"),
            };
            result_block(id, result)
        });
        // All are recorded, or none is.
        if !self.machine.record.open_calls().is_empty() {
            self.say(results.collect());
        }
        let text = if text.trim().is_empty() { value.to_string() } else { text.to_owned() };
        self.finish(None, None, text, Some(value));
    }

    pub(super) fn returned(&mut self, id: &str, result: CallResult, refused: Option<Denial>) {
        if let State::Calling(batch) = &mut self.machine.state
            && batch.returned(id)
        {
            self.result(id, result, refused);
        }
        self.advance();
    }

    /// Starts what may run, or goes on to the next turn when nothing is left.
    fn advance(&mut self) {
        let State::Calling(batch) = &mut self.machine.state else { return };
        if batch.is_done() {
            return self.ask();
        }
        self.effects.extend(batch.start().into_iter().map(Effect::Call));
    }

    /// A turn without calls: its text is the answer.
    fn answered(&mut self) {
        let text = self.machine.record.answer.clone();
        if text.trim().is_empty() {
            return self.fail(Reason::NoOutput, "the agent ended without a text");
        }
        let form = match &self.machine.form {
            Ok(form) => form,
            Err(error) => return self.fail(Reason::InvalidOutput, error.clone()),
        };
        let wanted = form.wanted(self.machine.tools.iter().any(|tool| tool.name == HAND_IN));
        match form.read(&text) {
            Ok(Fit::Text) => self.finish(None, None, text, None),
            Ok(Fit::Value(value)) => self.finish(None, None, text, Some(value)),
            Err(problem) => {
                if self.no_repair_left() {
                    let message = format!("the answer doesn't fit its form: {problem}");
                    return self.fail(Reason::InvalidOutput, message);
                }
                let text = format!("Your answer does not fit: {problem}. Answer again with {wanted}.");
                self.say(vec![Block::Text { text }]);
                self.record(Item::Repair);
                self.ask();
            }
        }
    }
}

fn result_block(id: &str, CallResult { content, is_error }: CallResult) -> Block {
    Block::ToolResult { tool_use_id: id.to_owned(), content, is_error }
}
