//! Letters to an agent: kept whatever it is doing, and read at the beginning of its next turn.
//!
//! 1. A letter is read once. Its key is recorded together with its text, and a letter whose key is in the record is dropped:
//!    whoever sends may offer it again after every crash, as long as the record doesn't have it.
//! 2. Letters stand behind what the agent is told anyway, in the same message, since every API wants the roles to alternate.
//! 3. None stands inside an answer that goes on in a further turn.
//! 4. A letter that no turn follows is not taken: the record doesn't have it, so it is still its sender's.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::Item;
use super::machine::Step;
use crate::wire::{Block, Message, Role};

/// What tells one letter of a conversation from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LetterKey(pub String);

/// Something that an agent is to hear of while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Which one it is.
    pub key: LetterKey,
    /// What the agent reads.
    pub text: String,
}

/// Letters that have come and were not read yet, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Inbox(Vec<Letter>);

impl Inbox {
    fn put(&mut self, letter: Letter, read: &HashSet<LetterKey>) {
        let is_known = read.contains(&letter.key) || self.0.iter().any(|waiting| waiting.key == letter.key);
        if !is_known {
            self.0.push(letter);
        }
    }

    /// Takes all out: their keys, and what the agent reads.
    fn take(&mut self) -> Option<(Vec<LetterKey>, Message)> {
        if self.0.is_empty() {
            return None;
        }
        let letters = std::mem::take(&mut self.0).into_iter();
        let (keys, content) = letters.map(|letter| (letter.key, Block::Text { text: letter.text })).unzip();
        Some((keys, Message { role: Role::User, content }))
    }
}

impl Step<'_> {
    /// Keeps letters for the next turn.
    pub(super) fn offered(&mut self, letters: Vec<Letter>) {
        let machine = &mut *self.machine;
        letters.into_iter().for_each(|letter| machine.inbox.put(letter, &machine.record.read_letters));
    }

    /// A turn begins: what has come is read now.
    pub(super) fn read_letters(&mut self) {
        if self.machine.record.parts > 0 {
            return;
        }
        if let Some((keys, message)) = self.machine.inbox.take() {
            self.record(Item::Delivered { keys, message });
        }
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
