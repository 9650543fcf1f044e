//! What a look at the place finds: the default model, the state folder, what dead engines have left.

use flow_core::model::{ModelWish, Settings, SettingsLayer};
use flow_core::wire::APIS;

use super::error::EngineError;
use super::models::env;
use super::project::Engine;
use super::runs::Run;
use crate::provider::{ProviderConfig, ProviderError, Providers};
use crate::store::StateDir;
use crate::sys::process::processes_tagged;
use crate::workspace::{self, Abandoned};

/// The model that answers where nobody names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultModel {
    /// One that is asked, by its name.
    Real(String),
    /// A script, as a person would write its path.
    Written(String),
}

/// The variables that may hold a model's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelKeys {
    /// Those that are set.
    pub set: Vec<String>,
    /// Those that are not.
    pub unset: Vec<String>,
}

impl Engine {
    /// Which keys of models there are. No key is read.
    pub fn model_keys(&self, settings: &Settings) -> ModelKeys {
        // A key that a project's flow.toml names is never sent.
        let personal = settings.providers.values().filter(|one| one.layer != SettingsLayer::Repository);
        let own = personal.filter_map(|provider| provider.api_key_env.clone());
        let mut names: Vec<String> = APIS.iter().map(|api| api.key_env.to_owned()).chain(own).collect();
        names.sort_unstable();
        names.dedup();
        let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let (set, unset) = names.into_iter().partition(is_set);
        ModelKeys { set, unset }
    }

    /// The model that answers where nobody names one.
    pub fn default_model(&self, settings: &Settings) -> Result<DefaultModel, ProviderError> {
        let config = ProviderConfig { settings: settings.clone(), script: None, model: None, env: env() };
        let model = Providers::new(config)?.resolve(ModelWish::Default)?.model;
        Ok(match model.written() {
            Some(written) => DefaultModel::Written(self.show(&written.file)),
            None => DefaultModel::Real(model.name()),
        })
    }

    /// Whether there is a state folder; an error where there is one that can't be used.
    pub fn has_state(&self) -> Result<bool, EngineError> {
        Ok(StateDir::existing(&self.project.state_dir)?.is_some())
    }

    /// Private trees whose engine died and that nobody has taken down.
    pub fn abandoned_trees(&self) -> Vec<Abandoned> {
        workspace::abandoned(&self.project.root)
    }
}

impl Run {
    /// The processes that carry its mark.
    pub fn processes(&self) -> Vec<i32> {
        processes_tagged(self.id().as_str())
    }
}
