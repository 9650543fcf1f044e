//! Finding and reading what a run is made of: project root, manifests, agent files, flow.toml layers.
//!
//! 1. Every file is read once; what is checked is what runs.
//! 2. Nothing but a regular file is read, and never more of it than its limit.
//! 3. Where things are looked for follows from the current folder, the plan's folder and [`Dirs`]; no environment is read here.
//! 4. Agents and settings come in order, weakest first, and names inside a folder are sorted.

mod agents;
mod agents_flag;
mod dirs;
mod plan;
mod project;
mod read;
mod settings;
mod shipped;

#[cfg(test)]
mod testing;

pub use agents::{FoundAgents, find_agents};
pub use dirs::Dirs;
pub use plan::{PlanSource, find_plan, own_plans, shipped_plans};
pub use project::Project;
pub use read::read_source;
pub use settings::find_settings;
