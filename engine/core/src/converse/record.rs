//! What was recorded of a conversation, as a fold of its items.

use std::collections::HashSet;

use serde_json::Value;

use super::{Item, Spoil};
use crate::model::{Denial, Usage};
use crate::wire::{Block, Message, Role};

/// The fold of the items.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) messages: Vec<Message>,
    pub(super) usage: Usage,
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
    /// Ids of calls, so that none stands twice in a conversation.
    pub(super) ids: HashSet<String>,
}

impl Record {
    /// Takes an item over: the one function that changes what was recorded.
    pub(super) fn apply(&mut self, item: &Item) {
        match item {
            Item::Forked { messages } => {
                // What the other one said is no text of this one's, but no call may have the id of one of its.
                let ids = messages.iter().flat_map(calls_of).map(|(id, _, _)| id.to_owned());
                self.ids.extend(ids);
                self.messages.extend_from_slice(messages);
            }
            Item::Message { message } => {
                self.read(message);
                self.messages.push(message.clone());
            }
            Item::Turn { usage } => {
                // A turn that added nothing to the streak has ended it.
                if self.spoiled.len() == self.spoiled_before {
                    self.spoiled.clear();
                }
                self.spoiled_before = self.spoiled.len();
                add(&mut self.usage, usage);
            }
            Item::Denied { denial } => self.denials.push(denial.clone()),
            Item::Repair => self.repairs += 1,
            Item::CheckFailed => self.check_failed = true,
            Item::Spoiled { by } => self.spoiled.push(*by),
        }
    }

    fn read(&mut self, message: &Message) {
        if message.role != Role::Assistant {
            return;
        }
        let text = text_of(&message.content);
        if !text.trim().is_empty() {
            self.text = text;
        }
        self.ids.extend(calls_of(message).map(|(id, _, _)| id.to_owned()));
    }
}

fn add(sum: &mut Usage, turn: &Usage) {
    sum.turns += turn.turns;
    sum.tool_uses += turn.tool_uses;
    sum.input_tokens += turn.input_tokens;
    sum.output_tokens += turn.output_tokens;
    sum.cache_read_tokens += turn.cache_read_tokens;
    sum.cache_write_tokens += turn.cache_write_tokens;
    if !turn.model.is_empty() {
        sum.model.clone_from(&turn.model);
    }
}

/// All texts of a message, joined by newlines.
pub(super) fn text_of(content: &[Block]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        Block::Thinking { .. }
        | Block::RedactedThinking { .. }
        | Block::ToolUse { .. }
        | Block::ToolResult { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
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
