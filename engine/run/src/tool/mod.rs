//! The tools of an agent, by the names and parameters that Claude Code gave them.
//!
//! 1. The loop has judged a call by its text before it comes here. A path that turns out to lead elsewhere, through
//!    a link or because the agent works in a folder below its tree, is judged once more by where it leads.
//! 2. A file is changed only after the agent has read it, and only if nobody has changed it since.
//! 3. What a tool answers is bounded, and a defect in one is an answer too.
//! 4. No process of a call outlives the call, and none sees a variable that was not named for it.

mod bash;
mod call;
mod context;
mod edit;
mod glob;
mod grep;
mod judge;
mod lines;
mod path;
mod read;
#[cfg(test)]
mod testing;
mod walk;
mod write;

pub use call::{Called, call, specs};
pub use context::{ReadState, ToolContext};

use call::Tool;

/// Every tool, in the order in which they are offered.
const TOOLS: &[&Tool] = &[&read::TOOL, &glob::TOOL, &grep::TOOL, &write::TOOL, &edit::TOOL, &bash::TOOL];
