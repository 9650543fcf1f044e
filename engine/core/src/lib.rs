//! The deciding half of flow: text in, decisions out.
//!
//! Nothing here touches a file, a clock, a process, the environment or a thread, and nothing is `async`.
//! Time is a parameter, randomness a seed, the content of a file an argument. The folder's `.clippy.toml` bans the rest.
//!
//! The modules stand in the rows of `engine/ARCHITECTURE.md`: each knows only what stands before it.

pub mod compile;
pub mod converse;
pub mod diagnostic;
pub mod event;
pub mod graph;
pub mod ids;
pub mod import;
pub mod model;
pub mod plan;
pub mod policy;
pub mod report;
pub mod schedule;
pub mod syntax;
pub mod template;
#[cfg(test)]
mod testing;
pub mod text;
pub mod values;
pub mod wire;
