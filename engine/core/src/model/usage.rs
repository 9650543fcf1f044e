//! What agents use.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// What an agent used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Model turns.
    pub turns: u32,
    /// Tool calls that were made, refused ones included.
    pub tool_uses: u32,
    /// Tokens sent, cached ones not included.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Tokens sent that the provider had cached.
    pub cache_read_tokens: u64,
    /// Tokens that the provider cached.
    pub cache_write_tokens: u64,
    /// The model that answered, as its provider calls it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
}

impl Usage {
    /// What is left of it without a part of it.
    #[must_use]
    pub fn less(mut self, part: &Usage) -> Usage {
        self.turns = self.turns.saturating_sub(part.turns);
        self.tool_uses = self.tool_uses.saturating_sub(part.tool_uses);
        self.input_tokens = self.input_tokens.saturating_sub(part.input_tokens);
        self.output_tokens = self.output_tokens.saturating_sub(part.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_sub(part.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_sub(part.cache_write_tokens);
        self
    }

    /// All tokens.
    pub fn total_tokens(&self) -> u64 {
        self.fresh_tokens() + self.cache_read_tokens
    }

    /// All tokens but those that the provider had cached.
    pub fn fresh_tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens + self.cache_write_tokens
    }
}

/// Of the models the last that is known.
impl AddAssign<&Usage> for Usage {
    fn add_assign(&mut self, other: &Usage) {
        self.turns += other.turns;
        self.tool_uses += other.tool_uses;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        if !other.model.is_empty() {
            self.model.clone_from(&other.model);
        }
    }
}
