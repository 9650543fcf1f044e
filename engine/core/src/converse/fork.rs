//! A fork: a conversation that goes on from where another one is, with a directive of its own.
//!
//! 1. What stands before the directive is the parent's, byte for byte, so that the provider's cache holds for it.
//! 2. Every call of the last assistant message, finished or not, gets the same placeholder: siblings share all bytes up to
//!    their directives, whatever of the parent's calls had come back by then.

use super::Item;
use super::record::calls_of;
use crate::wire::{Block, Message, Role};

/// What a fork is told of its parent's open calls.
pub const PLACEHOLDER: &str =
    "This call belongs to the conversation that this one was forked from; its result is not known here.";

/// The items that a fork begins with; `None` when the parent has said nothing yet. What the parent used and was refused
/// is the parent's and is not among them.
pub fn fork(parent: &[Item], directive: &str) -> Option<Vec<Item>> {
    let mut messages: Vec<&Message> = parent
        .iter()
        .filter_map(|item| match item {
            Item::Message { message } => Some(message),
            Item::Turn { .. }
            | Item::Denied { .. }
            | Item::Repair
            | Item::CheckFailed
            | Item::Spoiled { .. } => None,
        })
        .collect();
    let last = messages.iter().rposition(|message| message.role == Role::Assistant)?;
    messages.truncate(last + 1);
    let mut content: Vec<Block> = calls_of(messages[last])
        .map(|(id, _, _)| Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: PLACEHOLDER.to_owned(),
            is_error: false,
        })
        .collect();
    content.push(Block::Text { text: directive.to_owned() });
    let begun = messages.into_iter().cloned().chain([Message { role: Role::User, content }]);
    Some(begun.map(|message| Item::Message { message }).collect())
}

#[cfg(test)]
#[path = "fork_tests.rs"]
mod tests;
