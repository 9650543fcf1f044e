//! From bytes to trees with places: nothing is resolved yet.

#[cfg(test)]
mod docs_tests;
pub(crate) mod fields;
pub(crate) mod foreign;
mod foreign_file;
mod front_matter;
mod key;
mod misplaced;
mod node;
mod place;
mod source_text;
pub(crate) mod task;
mod task_file;
pub(crate) mod task_values;
pub(crate) mod toml;
mod tool_list;
mod workflow;
mod workflow_file;
pub(crate) mod yaml;
mod yaml_keys;
mod yaml_layout;
mod yaml_scalar;
pub(crate) mod yaml_trouble;

pub(crate) use self::toml::parse_toml;
pub(crate) use front_matter::{MatterKind, hidden_front_matter, split_front_matter};
pub use key::Key;
pub use node::{Entry, Node, NodeKind, Text};
pub use place::place_in;
pub use source_text::{AGENT_LIMIT, PLAN_LIMIT, source_text};
pub use task::{RareKeys, TaskKeys};
pub use task_file::{
    CheckFile, ExpectFile, MatrixFile, NeedFile, PermissionsFile, PromptText, RetryFile, RunText, TimeoutFile,
};
pub(crate) use tool_list::split_words;
pub use workflow::workflow;
pub use workflow_file::{InputFile, TaskFile, WorkflowFile};
pub use yaml::parse_yaml;
