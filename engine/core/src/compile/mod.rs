//! From trees to a plan: sources, names, types, expansion. Everything that is wrong with a text is found here.
//!
//! 1. All that is wrong is reported, each thing once and with its place; a faulty part doesn't blame what reads it.
//! 2. The outside is asked through [`Place`] alone, and only for what the plan needs.
//! 3. A plan exists only for a text without errors. Its graph has no cycle, and every reference of its templates leads
//!    to something.
//! 4. Work grows with the size of the text, not with its square.

mod agent_def;
mod agent_task;
mod agent_tools;
mod agents;
mod bare;
mod claims;
mod compiler;
mod edges;
mod expansion;
mod fields;
mod findings;
mod fork;
mod include;
mod input;
mod inputs;
mod inputs_file;
mod literal;
mod matrix_rules;
mod private_tree;
mod prompts;
mod references;
mod schema;
mod schema_words;
mod scope;
mod settings;
mod shape;
mod shell;
mod task;
mod templates;
mod types;
mod words;
mod writers;

pub use agents::{AgentRegistry, AgentText, agent_registry};
pub use compiler::{SHORTEST_MASKED, compile};
pub use input::{CompileInput, Compiled, GitPlace, GivenInput, GivenValue, Place, Purpose};
pub use inputs_file::inputs_file;
pub use settings::{SettingsText, settings};

#[cfg(test)]
mod docs_tests;
#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod quirks_tests;
#[cfg(test)]
mod robust_tests;
#[cfg(test)]
pub(crate) mod testing;
