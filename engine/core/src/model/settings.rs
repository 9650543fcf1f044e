//! `flow.toml`, all layers folded into one.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::tool_rule::ToolRule;

/// Which layer a setting came from; a repository's may only narrow what a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsLayer {
    /// The user's own file.
    User,
    /// A file of the repository: root, then each folder down to the plan's.
    Repository,
    /// Flags and `FLOW_*` variables.
    Flag,
    /// The machine's policy.
    Policy,
}

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `[models]`: alias to what it means. `default` is the model of roots.
    pub models: IndexMap<String, ModelChoice>,
    /// `[providers.NAME]`.
    pub providers: IndexMap<String, ProviderSettings>,
    /// `[agents] disable`.
    pub disabled_agents: Vec<String>,
    /// `[agents] max_tool_concurrency`; 10 when unset.
    pub max_tool_concurrency: Option<u32>,
    /// `[permissions]` of each layer that has some.
    pub permissions: Vec<PermissionRules>,
    /// `[worktrees] dir`.
    pub worktrees_dir: Option<String>,
    /// `[worktrees] include` of all layers.
    pub worktrees_include: Vec<String>,
    /// `[worktrees] setup` of all layers but a repository's.
    pub worktrees_setup: Vec<String>,
    /// `concurrency`: plan tasks at once when neither flag nor plan says.
    pub concurrency: Option<u32>,
}

/// What an alias means: the first target that is usable here wins.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelChoice {
    /// In order of preference.
    pub targets: Vec<ModelTarget>,
    /// The folder of the flow.toml that said so; a script's path is relative to it.
    pub dir: String,
    /// Which layer said so.
    pub layer: SettingsLayer,
    /// What the next weaker flow.toml says of the same alias: a real model there goes before a written one of a
    /// repository.
    pub weaker: Option<Box<ModelChoice>>,
}

/// One meaning of an alias.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelTarget {
    /// Another alias, a provider's model id, or `provider/id`.
    Named(String),
    /// A written model: the path of its script.
    Script(String),
}

/// The model that an agent of a plan asks for by name, and who wrote it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelWish<N> {
    /// Nobody: the default of `[models]`.
    Default,
    /// The agent's definition, which knows nothing of this place: where its model can't be used the default stands in.
    Definition(N),
    /// The plan: this one and no other.
    Plan(N),
}

impl<N> ModelWish<N> {
    /// The same with another form of the name.
    pub fn map<M>(self, form: impl FnOnce(N) -> M) -> ModelWish<M> {
        match self {
            ModelWish::Default => ModelWish::Default,
            ModelWish::Definition(name) => ModelWish::Definition(form(name)),
            ModelWish::Plan(name) => ModelWish::Plan(form(name)),
        }
    }
}

impl ModelWish<String> {
    /// The same, borrowed.
    pub fn as_deref(&self) -> ModelWish<&str> {
        match self {
            ModelWish::Default => ModelWish::Default,
            ModelWish::Definition(name) => ModelWish::Definition(name),
            ModelWish::Plan(name) => ModelWish::Plan(name),
        }
    }
}

impl<'n> ModelWish<&'n str> {
    /// The name that is asked for, if there is one.
    pub fn name(self) -> Option<&'n str> {
        match self {
            ModelWish::Default => None,
            ModelWish::Definition(name) | ModelWish::Plan(name) => Some(name),
        }
    }
}

/// `[providers.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderSettings {
    /// Which API it speaks.
    pub kind: ProviderKind,
    /// Where; without one the vendor's own.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Requests at once.
    pub max_concurrent: Option<u32>,
    /// Whether `base_url` may be on loopback or a private address.
    pub allow_local: bool,
    /// Which layer said so.
    pub layer: SettingsLayer,
}

/// An API, by its word in flow.toml; which there are, `wire` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProviderKind(pub &'static str);

/// Rules of one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRules {
    /// Where they come from.
    pub layer: SettingsLayer,
    /// Calls that pass.
    pub allow: Vec<ToolRule>,
    /// Calls that ask.
    pub ask: Vec<ToolRule>,
    /// Calls that are refused.
    pub deny: Vec<ToolRule>,
}
