//! What one task can read of another: one row a fact of `tasks.x`. The compiler checks references against it, and a run
//! gets the values by it.

use serde_json::{Value, json};

use super::kind::Kind;
use crate::model::Usage;

/// A fact of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the docs of the language say what each is")]
pub enum Fact {
    Output,
    Results,
    Text,
    Stdout,
    Stderr,
    ExitCode,
    Status,
    Reason,
    Attempts,
    Duration,
    Usage,
    Notification,
    Branch,
    Patch,
    Artifacts,
    Dir,
}

/// A row.
#[derive(Debug)]
pub struct FactInfo {
    /// Which fact.
    pub fact: Fact,
    /// The name behind `tasks.x`.
    pub name: &'static str,
    /// The tasks that have it.
    pub of: FactOf,
    /// What it is.
    pub is: FactType,
    /// What it is of a task that became many.
    pub of_many: OfMany,
    /// Whether it stands in an element of `.results`.
    pub in_results: bool,
    /// Whether an attempt has it that has just ended: as `task` in `expect.that` and `retry.if`.
    pub of_attempt: bool,
}

/// The tasks that have a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactOf {
    /// Those of these kinds.
    Kinds(&'static [Kind]),
    /// Those with a private tree that leaves it behind.
    PrivateTree,
    /// Only those that became many.
    Many,
}

/// What a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactType {
    /// What the task's `output` says.
    Output,
    /// Text.
    Text,
    /// A number.
    Number,
    /// A list of paths.
    Paths,
    /// The word of a state in which a task can end.
    State,
    /// The word of a reason.
    Reason,
    /// What an agent used.
    Usage,
    /// Every fact of an instance, with its key and item.
    Results,
}

/// What a fact is of a task that became many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfMany {
    /// Nothing: each instance has its own.
    Nothing,
    /// A list, one element an instance.
    List,
    /// One of the whole, as of any other task.
    Whole,
}

const fn row(fact: Fact, name: &'static str, is: FactType) -> FactInfo {
    let of = FactOf::Kinds(Kind::ALL);
    FactInfo { fact, name, of, is, of_many: OfMany::Nothing, in_results: true, of_attempt: true }
}

const SHELL: FactOf = FactOf::Kinds(&[Kind::Shell]);
const AGENT: FactOf = FactOf::Kinds(&[Kind::Agent]);

/// Every fact, in the order in which they stand in an element of `.results`.
pub const FACTS: &[FactInfo] = &[
    FactInfo { of_many: OfMany::List, ..row(Fact::Output, "output", FactType::Output) },
    FactInfo {
        of: FactOf::Many,
        of_many: OfMany::List,
        in_results: false,
        of_attempt: false,
        ..row(Fact::Results, "results", FactType::Results)
    },
    row(Fact::Text, "text", FactType::Text),
    FactInfo { of: SHELL, ..row(Fact::Stdout, "stdout", FactType::Text) },
    FactInfo { of: SHELL, ..row(Fact::Stderr, "stderr", FactType::Text) },
    FactInfo { of: SHELL, ..row(Fact::ExitCode, "exit_code", FactType::Number) },
    FactInfo { of_many: OfMany::Whole, ..row(Fact::Status, "status", FactType::State) },
    FactInfo { of_many: OfMany::Whole, ..row(Fact::Reason, "reason", FactType::Reason) },
    FactInfo {
        of_many: OfMany::Whole,
        of_attempt: false,
        ..row(Fact::Attempts, "attempts", FactType::Number)
    },
    FactInfo { of_many: OfMany::Whole, ..row(Fact::Duration, "duration", FactType::Number) },
    FactInfo { of: AGENT, ..row(Fact::Usage, "usage", FactType::Usage) },
    FactInfo {
        of_many: OfMany::List,
        in_results: false,
        of_attempt: false,
        ..row(Fact::Notification, "notification", FactType::Text)
    },
    FactInfo { of: FactOf::PrivateTree, of_attempt: false, ..row(Fact::Branch, "branch", FactType::Text) },
    FactInfo { of: FactOf::PrivateTree, of_attempt: false, ..row(Fact::Patch, "patch", FactType::Text) },
    row(Fact::Artifacts, "artifacts", FactType::Paths),
    FactInfo { of_attempt: false, ..row(Fact::Dir, "dir", FactType::Text) },
];

impl FactInfo {
    /// The fact of this name.
    pub fn of_name(name: &str) -> Option<&'static FactInfo> {
        FACTS.iter().find(|row| row.name == name)
    }

    /// Whether tasks of a kind have it, wherever they work.
    pub fn is_of(&self, kind: Kind) -> bool {
        match self.of {
            FactOf::Kinds(kinds) => kinds.contains(&kind),
            FactOf::PrivateTree | FactOf::Many => false,
        }
    }

    /// Whether it is about how the task ended, which is known of one that never ran as well.
    pub fn is_of_the_end(&self) -> bool {
        self.of_many == OfMany::Whole
    }
}

/// A fact in `.usage`: its name and its value.
pub type UsageFact = (&'static str, fn(&Usage) -> Value);

/// The facts in `.usage`.
pub const USAGE: &[UsageFact] = &[
    ("turns", |usage| json!(usage.turns)),
    ("tool_uses", |usage| json!(usage.tool_uses)),
    ("total_tokens", |usage| json!(usage.total_tokens())),
    ("input_tokens", |usage| json!(usage.input_tokens)),
    ("output_tokens", |usage| json!(usage.output_tokens)),
    ("cache_read_tokens", |usage| json!(usage.cache_read_tokens)),
    ("cache_write_tokens", |usage| json!(usage.cache_write_tokens)),
    ("model", |usage| json!(usage.model)),
];
