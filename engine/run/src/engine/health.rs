//! What a look at the place finds: the default model, the state folder, what dead engines have left.

use flow_core::model::{ModelWish, Settings};

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

impl Engine {
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
