//! From trees to a plan: sources, names, types, expansion. Everything that is wrong with a text is found here.

mod agent_def;
mod agent_tools;
mod agents;

pub use agents::{AgentRegistry, AgentText, agent_registry};

#[cfg(test)]
mod quirks_tests;
