//! Which tool calls pass: rules, modes and the place.
//!
//! 1. A deny of any source stands; an `ask` is settled only by an allow of a stronger source.
//! 2. The repository and what an agent's definition merely names grant nothing.
//! 3. What can't be read for certain (a shell command, a path, a rule) is never allowed by a rule with a specifier,
//!    and always caught by one that denies or asks.
//! 4. Paths are compared as text, `..` resolved, links not: the tool has to check what it has opened.

mod command;
#[cfg(test)]
mod docs_tests;
mod path;
mod permissions;
mod read_only;
mod rule;
mod subject;

pub use permissions::{ModeSource, Permissions, Verdict};
