//! A fork: a conversation that goes on from where another one is, with a directive of its own.
//!
//! 1. What stands before the directive is the parent's, byte for byte, so that the provider's cache holds for it.
//! 2. Every call of the last assistant message, finished or not, gets the same placeholder: siblings share all bytes up to
//!    their directives, whatever of the parent's calls had come back by then.

use serde_json::Value;

use super::Item;
use super::record::{Record, calls_of};
use crate::wire::{Block, Message, Role};

/// What a fork is told of its parent's open calls.
pub const PLACEHOLDER: &str =
    "This call belongs to the conversation that this one was forked from; its result is not known here.";

/// What a fork begins with; `None` when the parent has said nothing yet. What the parent used and was refused is the
/// parent's and is not in it.
pub fn fork(parent: &[Item], directive: &str) -> Option<Item> {
    let mut messages = Record::of(parent).messages;
    let last = messages.iter().rposition(|message| message.role == Role::Assistant)?;
    messages.truncate(last + 1);
    let mut content: Vec<Block> = calls_of(&messages[last])
        .map(|(id, _, _)| Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: PLACEHOLDER.to_owned(),
            is_error: false,
        })
        .collect();
    content.push(Block::Text { text: directive.to_owned() });
    messages.push(Message { role: Role::User, content });
    Some(Item::Forked { messages })
}

/// What differs for a fork from what its conversation says.
#[derive(Debug, Default)]
pub struct Differences<'a> {
    /// The folders: where it works, and where the other one worked. `None`: the same.
    pub dirs: Option<(&'a str, &'a str)>,
    /// The branch of its own tree.
    pub branch: Option<&'a str>,
    /// The schema of its output, which no tool of its says.
    pub schema: Option<&'a Value>,
}

/// What a fork is told: what differs, then its prompt.
pub fn directive(differences: &Differences<'_>, prompt: &str) -> String {
    let mut text = String::new();
    if let Some((here, there)) = differences.dirs {
        let branch =
            differences.branch.map(|branch| format!(", on the branch `{branch}`")).unwrap_or_default();
        text.push_str(&format!(
            "From here on you work in `{here}`{branch}. Paths below `{there}` were those of the conversation so far: \
             read and change files in your own folder only, and read again what you rely on.\n\n"
        ));
    }
    text.push_str(prompt);
    if let Some(schema) = differences.schema {
        text.push_str(&format!(
            "\n\nAnswer with one JSON value and nothing else. It has to fit this JSON Schema: {schema}"
        ));
    }
    text
}

#[cfg(test)]
#[path = "fork_tests.rs"]
mod tests;
