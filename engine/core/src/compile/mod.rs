//! From trees to a plan: sources, names, types, expansion. Everything that is wrong with a text is found here.

mod agent_def;
mod agent_tools;
mod agents;
mod settings;

pub use agents::{AgentRegistry, AgentText, agent_registry};
pub use settings::{SettingsText, settings};

#[cfg(test)]
mod quirks_tests;
#[cfg(test)]
mod robust_tests;
