//! What events say of instances, and of what an attempt runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::Address;

/// One of the many that a task became.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Its key, unique among its siblings.
    pub key: String,
    /// The item, or for a matrix the object of axis values.
    pub item: Value,
}

/// What is being run in an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// `local_bash` or `local_agent`.
    pub kind: String,
    /// For people: the rendered `description`, else the first line of script or prompt.
    pub description: String,
    /// The folder it works in.
    pub dir: String,
    /// Whether the rules of background tasks hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The agent instance and its definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<LaunchAgent>,
}

/// The agent of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchAgent {
    /// The instance: `a` + 16 hex digits.
    pub id: String,
    /// The definition's name.
    pub name: String,
    /// Its source.
    pub source: String,
    /// Its file.
    pub path: String,
    /// BLAKE3 of that file.
    pub hash: String,
    /// The definition's own version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model as the provider calls it.
    pub model: String,
    /// How many requests its provider takes at once; a written model has no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// The script of a written model, which answers in place of a real one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The task whose conversation it goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Address>,
}
