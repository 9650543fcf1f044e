//! What was recorded of a conversation, as a fold of its items.
//!
//! Results are recorded as they come, one by one; in the fold those of one turn are one message, in the order of its calls.

use std::collections::HashSet;

use serde_json::Value;

use super::{Item, LetterKey, Spoil};
use crate::model::{Denial, Usage};
use crate::wire::{Block, Message, Role, StopReason};

/// The fold of the items.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) messages: Vec<Message>,
    /// What all turns used, those included that were never answered.
    pub(super) usage: Usage,
    /// Turns that were never answered.
    pub(super) unanswered: u32,
    /// Why the last answer ended, where that is known.
    pub(super) stop: Option<StopReason>,
    pub(super) denials: Vec<Denial>,
    pub(super) repairs: u32,
    /// Whether a check of its work has failed already.
    pub(super) check_failed: bool,
    /// How the last turns were spoiled, back to the last one that was not.
    pub(super) spoiled: Vec<Spoil>,
    /// How many were when the last turn began.
    spoiled_before: usize,
    /// The last text that is not empty.
    pub(super) text: String,
    /// The text of the last answer; of one that was cut and went on all parts of it, joined.
    pub(super) answer: String,
    /// Whether the last answer had no content, and so is no message.
    pub(super) said_nothing: bool,
    /// How many parts of an answer that goes on there are so far; 0: the last one is whole.
    pub(super) parts: u32,
    /// Ids of calls, so that none stands twice in a conversation.
    pub(super) ids: HashSet<String>,
    /// Letters that were read, so that none is read twice.
    pub(super) read_letters: HashSet<LetterKey>,
}

impl Record {
    /// The fold of these.
    pub(super) fn of(items: &[Item]) -> Self {
        let mut record = Record::default();
        items.iter().for_each(|item| record.apply(item));
        record
    }

    /// Takes an item over: the one function that changes what was recorded.
    pub(super) fn apply(&mut self, item: &Item) {
        match item {
            Item::Forked { messages } => {
                // What the other one said is no text of this one's, but no call may have the id of one of its.
                let ids = messages.iter().flat_map(calls_of).map(|(id, _, _)| id.to_owned());
                self.ids.extend(ids);
                self.messages.extend_from_slice(messages);
            }
            Item::Message { message, usage, stop, denial } => {
                self.read(message, *stop);
                self.push(message);
                self.said_nothing = false;
                if let Some(usage) = usage {
                    self.turn(usage, *stop);
                }
                self.denials.extend(denial.clone());
            }
            Item::Delivered { keys, message } => {
                self.read_letters.extend(keys.iter().cloned());
                self.said_nothing = false;
                match self.messages.last_mut() {
                    Some(told) if told.role == Role::User => told.content.extend_from_slice(&message.content),
                    _ => self.messages.push(message.clone()),
                }
            }
            Item::Turn { usage, stop } => {
                // Earlier versions wrote it behind a message, and knew no reason.
                if stop.is_some() {
                    self.extend("", false, *stop);
                    self.said_nothing = true;
                }
                self.turn(usage, *stop);
            }
            Item::Unanswered { text } => {
                self.said_nothing = false;
                self.usage.turns += 1;
                self.unanswered += 1;
                if !text.trim().is_empty() {
                    self.text = if self.parts > 0 { format!("{}{text}", self.answer) } else { text.clone() };
                }
            }
            Item::Denied { denial } => self.denials.push(denial.clone()),
            Item::Repair => self.repairs += 1,
            Item::CheckFailed => self.check_failed = true,
            Item::Spoiled { by } => self.spoiled.push(*by),
        }
    }

    /// The last message but for results: an answer of the model, or what it was told since.
    pub(super) fn last_turn(&self) -> Option<&Message> {
        match self.messages.as_slice() {
            [.., before, last] if only_results(last) => Some(before),
            [.., last] => Some(last),
            [] => None,
        }
    }

    /// Calls of the last turn that have no result, in order.
    pub(super) fn open_calls(&self) -> Vec<&str> {
        let (calls, answered) = match self.messages.as_slice() {
            [.., last] if last.role == Role::Assistant => (last, None),
            [.., before, last] => (before, Some(last)),
            [_] | [] => return Vec::new(),
        };
        let has_result = |id: &str| {
            answered.is_some_and(|message| message.content.iter().any(|block| result_id(block) == Some(id)))
        };
        calls_of(calls).map(|(id, _, _)| id).filter(|id| !has_result(id)).collect()
    }

    fn turn(&mut self, usage: &Usage, stop: Option<StopReason>) {
        // A turn that added nothing to the streak has ended it.
        if self.spoiled.len() == self.spoiled_before {
            self.spoiled.clear();
        }
        self.spoiled_before = self.spoiled.len();
        self.stop = stop;
        self.usage += usage;
    }

    fn read(&mut self, message: &Message, stop: Option<StopReason>) {
        if message.role != Role::Assistant {
            return;
        }
        self.extend(&message.text(), calls_of(message).next().is_some(), stop);
        self.ids.extend(calls_of(message).map(|(id, _, _)| id.to_owned()));
    }

    /// Takes over the text of an answer, or of one more part of it.
    fn extend(&mut self, text: &str, has_calls: bool, stop: Option<StopReason>) {
        if self.parts == 0 {
            self.answer.clear();
        }
        self.answer.push_str(text);
        let goes_on = matches!(stop, Some(StopReason::MaxTokens | StopReason::Paused)) && !has_calls;
        self.parts = if goes_on { self.parts + 1 } else { 0 };
        if !self.answer.trim().is_empty() {
            self.text.clone_from(&self.answer);
        }
    }

    /// Appends a message; further results of a turn go to the others.
    fn push(&mut self, message: &Message) {
        match self.messages.as_mut_slice() {
            [.., asked, answered] if only_results(answered) && only_results(message) => {
                answered.content.extend_from_slice(&message.content);
                let ids: Vec<&str> = calls_of(asked).map(|(id, _, _)| id).collect();
                let place = |block: &Block| ids.iter().position(|id| result_id(block) == Some(id));
                answered.content.sort_by_key(place);
            }
            _ => self.messages.push(message.clone()),
        }
    }
}

fn only_results(message: &Message) -> bool {
    message.role == Role::User && message.content.iter().all(|block| result_id(block).is_some())
}

/// Whose result a block is.
pub(super) fn result_id(block: &Block) -> Option<&str> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        Block::Text { .. }
        | Block::Thinking { .. }
        | Block::RedactedThinking { .. }
        | Block::ToolUse { .. } => None,
    }
}

/// Id, name and arguments of each call in a message.
pub(super) fn calls_of(message: &Message) -> impl Iterator<Item = (&str, &str, &Value)> {
    message.content.iter().filter_map(|block| match block {
        Block::ToolUse { id, name, input } => Some((id.as_str(), name.as_str(), input)),
        Block::Text { .. }
        | Block::Thinking { .. }
        | Block::RedactedThinking { .. }
        | Block::ToolResult { .. } => None,
    })
}

/// The same as values.
pub(super) fn owned_calls(message: &Message) -> Vec<(String, String, Value)> {
    calls_of(message).map(|(id, name, input)| (id.to_owned(), name.to_owned(), input.clone())).collect()
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
