//! From the name of a model to the model.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flow_core::model::{ModelChoice, ModelTarget, ModelWish, ProviderSettings, Settings};
use flow_core::text::did_you_mean;
use flow_core::wire::{APIS, Api, ModelScript, aliases, api, api_of_model};

use super::endpoint::{Endpoint, vendor_settings};
use super::error::ProviderError;
use super::gate::{DEFAULT_MAX, Gate};
use super::handle::{Backend, ModelHandle, Written};

/// A written model has no server to spare.
const SCRIPT_MAX: usize = 100_000;

/// Looks an environment variable up.
pub type Lookup = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What decides which models there are.
pub struct ProviderConfig {
    /// `[models]` and `[providers]` of all layers.
    pub settings: Settings,
    /// `--model-script`: answers for every model.
    pub script: Option<PathBuf>,
    /// `--model`: goes before what tasks and definitions name.
    pub model: Option<String>,
    /// Looks a variable up; how keys are found.
    pub env: Lookup,
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("settings", &self.settings)
            .field("script", &self.script)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// The model that answers an agent.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The model.
    pub model: ModelHandle,
    /// Why it isn't the one that the agent's definition names.
    pub instead_of: Option<Arc<ProviderError>>,
}

impl Chosen {
    fn of(model: ModelHandle) -> Self {
        Chosen { model, instead_of: None }
    }
}

/// Every model of a run.
#[derive(Debug)]
pub struct Providers {
    config: ProviderConfig,
    /// `--model-script`, read.
    script: Option<(Arc<ModelScript>, Arc<Written>)>,
    made: Mutex<Made>,
}

/// What has been made so far, so that everyone shares it.
#[derive(Debug, Default)]
struct Made {
    scripts: HashMap<PathBuf, Arc<ModelScript>>,
    endpoints: HashMap<String, Arc<Endpoint>>,
    gates: HashMap<(String, String), Arc<Gate>>,
}

impl Providers {
    /// Reads the script of `--model-script`, if there is one. Nothing else happens before a model is wanted.
    pub fn new(config: ProviderConfig) -> Result<Self, ProviderError> {
        let read = |file: &Path| {
            let written = Written { file: file.to_owned(), layer: None, lacking: Vec::new() };
            read_script(file).map(|script| (script, Arc::new(written)))
        };
        let script = config.script.as_deref().map(read).transpose()?;
        Ok(Providers { config, script, made: Mutex::default() })
    }

    /// The model for an agent that wishes this one.
    ///
    /// `--model-script`, then `--model`, go before what plan and definition say. A definition is at home in many places:
    /// where its model can't be used, or is a written one of the repository, the default stands in, if that is better.
    pub fn resolve(&self, wish: ModelWish<&str>) -> Result<Chosen, ProviderError> {
        let wish = self.config.model.as_deref().map_or(wish, ModelWish::Plan);
        let wish = if wish.name() == Some("inherit") { ModelWish::Default } else { wish };
        if let Some((script, written)) = &self.script {
            let id = wish.name().unwrap_or("script");
            return Ok(Chosen::of(self.scripted(Arc::clone(script), Arc::clone(written), id)));
        }
        match wish {
            ModelWish::Default => self.default().map(Chosen::of),
            ModelWish::Plan(name) => match self.named(name, &mut Vec::new()) {
                Ok(model) => Ok(Chosen::of(model)),
                Err(error) => Err(error.with_example(|| self.real_default())),
            },
            ModelWish::Definition(name) => match self.named(name, &mut Vec::new()) {
                Ok(model) if model.yields() => match self.default() {
                    Ok(real) if real.written().is_none() => Ok(Chosen::of(real)),
                    Ok(_) | Err(_) => Ok(Chosen::of(model)),
                },
                Ok(model) => Ok(Chosen::of(model)),
                Err(error) if error.is_absence() => match (self.default(), &error) {
                    (Ok(model), _) => Ok(Chosen { model, instead_of: Some(Arc::new(error)) }),
                    // Which key the definition lacks says more than that there is none.
                    (Err(ProviderError::NoModel { .. }), ProviderError::NoKey { .. }) => Err(error),
                    (Err(no_default), _) => Err(no_default),
                },
                Err(error) => Err(error),
            },
        }
    }

    /// The name of the default, where that is a real model.
    fn real_default(&self) -> Option<String> {
        self.default().ok().filter(|model| model.written().is_none()).map(|model| model.name())
    }

    fn default(&self) -> Result<ModelHandle, ProviderError> {
        if self.config.settings.models.contains_key("default") {
            return self.named("default", &mut Vec::new());
        }
        let with_key =
            APIS.iter().find(|api| (self.config.env)(api.key_env).is_some_and(|key| !key.is_empty()));
        match with_key {
            Some(api) => self.named(api.middle_model, &mut Vec::new()),
            None => Err(ProviderError::NoModel {
                provider: self.config.settings.providers.keys().next().cloned(),
            }),
        }
    }

    /// Resolves a name; `seen` are the aliases on the way to it.
    fn named<'a>(&'a self, name: &'a str, seen: &mut Vec<&'a str>) -> Result<ModelHandle, ProviderError> {
        // `sonnet = "sonnet"`, or a chain that ends in itself, falls through to what is built in.
        if !seen.contains(&name)
            && let Some(choice) = self.config.settings.models.get(name)
        {
            seen.push(name);
            let answer = self.layered(name, choice, seen);
            seen.pop();
            return answer;
        }
        if let Some((_, api, id)) = aliases().find(|(alias, ..)| *alias == name) {
            return self.at(api.kind.0, id, name);
        }
        if let Some((provider, id)) = name.split_once('/') {
            return self.at(provider, id, name);
        }
        if let Some(api) = api_of_model(name) {
            return self.at(api.kind.0, name, name);
        }
        if seen.contains(&name) {
            return Err(ProviderError::Circle { alias: name.to_owned() });
        }
        let own = self.config.settings.models.keys().map(String::as_str);
        let near = did_you_mean(name, own.chain(aliases().map(|(alias, ..)| alias)));
        Err(ProviderError::UnknownModel { model: name.to_owned(), near: near.map(str::to_owned) })
    }

    /// What the strongest flow.toml says of an alias; but a written model of a repository stands behind whatever real
    /// one a weaker flow.toml has.
    fn layered<'a>(
        &'a self,
        alias: &str,
        choice: &'a ModelChoice,
        seen: &mut Vec<&'a str>,
    ) -> Result<ModelHandle, ProviderError> {
        let own = self.chosen(alias, choice, seen)?;
        let Some(weaker) = choice.weaker.as_deref().filter(|_| own.yields()) else { return Ok(own) };
        match self.layered(alias, weaker, seen) {
            Ok(real) if real.written().is_none() => Ok(real),
            Ok(_) | Err(_) => Ok(own),
        }
    }

    /// The first usable target of an alias.
    fn chosen<'a>(
        &'a self,
        alias: &str,
        choice: &'a ModelChoice,
        seen: &mut Vec<&'a str>,
    ) -> Result<ModelHandle, ProviderError> {
        let (mut reasons, mut lacking) = (Vec::new(), Vec::new());
        for target in &choice.targets {
            let answer = match target {
                ModelTarget::Named(name) => self.named(name, seen),
                ModelTarget::Script(file) => {
                    let path = Path::new(&choice.dir).join(file);
                    self.script_file(&path).map(|script| {
                        let layer = Some(choice.layer);
                        let written = Written { file: path, layer, lacking: Vec::new() };
                        self.scripted(script, Arc::new(written), alias)
                    })
                }
            };
            if let Err(ProviderError::NoKey { variable, .. }) = &answer {
                lacking.push(variable.clone());
            }
            match answer {
                Ok(model) => return Ok(model.lacking(lacking)),
                // A script that is there and wrong is a mistake to tell, not a reason to go on.
                Err(error @ ProviderError::BadScript { .. }) => return Err(error),
                Err(error) if choice.targets.len() == 1 => return Err(error),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(ProviderError::NoTarget { alias: alias.to_owned(), reasons })
    }

    /// A model of a provider.
    fn at(&self, provider: &str, id: &str, name: &str) -> Result<ModelHandle, ProviderError> {
        let endpoint = self.endpoint(provider, name)?;
        let max = endpoint.max_concurrent.map_or(DEFAULT_MAX, |max| max as usize);
        Ok(ModelHandle {
            provider: provider.into(),
            id: id.into(),
            gate: self.gate(provider, id, max),
            backend: Backend::Http(endpoint),
        })
    }

    fn scripted(&self, script: Arc<ModelScript>, written: Arc<Written>, id: &str) -> ModelHandle {
        ModelHandle {
            provider: "script".into(),
            id: id.into(),
            gate: self.gate("script", id, SCRIPT_MAX),
            backend: Backend::Script(script, written),
        }
    }

    fn endpoint(&self, provider: &str, model: &str) -> Result<Arc<Endpoint>, ProviderError> {
        if let Some(endpoint) = self.made().endpoints.get(provider) {
            return Ok(Arc::clone(endpoint));
        }
        let (api, settings) = self.provider(provider, model)?;
        let endpoint = Arc::new(Endpoint::new(provider, api, &settings, model, &*self.config.env)?);
        Ok(Arc::clone(self.made().endpoints.entry(provider.to_owned()).or_insert(endpoint)))
    }

    /// What a provider speaks, and how it is set up: by flow.toml, else as its vendor has it.
    fn provider(
        &self,
        provider: &str,
        model: &str,
    ) -> Result<(&'static Api, ProviderSettings), ProviderError> {
        let own = self.config.settings.providers.get(provider);
        if let Some(api) = api(own.map_or(provider, |own| own.kind.0)) {
            return Ok((api, own.cloned().unwrap_or_else(|| vendor_settings(api.kind))));
        }
        let known = self.config.settings.providers.keys().map(String::as_str);
        let near = did_you_mean(provider, known.chain(APIS.iter().map(|api| api.kind.0)));
        Err(ProviderError::UnknownProvider {
            provider: provider.to_owned(),
            model: model.to_owned(),
            near: near.map(str::to_owned),
        })
    }

    fn script_file(&self, path: &Path) -> Result<Arc<ModelScript>, ProviderError> {
        if let Some(script) = self.made().scripts.get(path) {
            return Ok(Arc::clone(script));
        }
        let script = read_script(path)?;
        Ok(Arc::clone(self.made().scripts.entry(path.to_owned()).or_insert(script)))
    }

    fn gate(&self, provider: &str, id: &str, max: usize) -> Arc<Gate> {
        let key = (provider.to_owned(), id.to_owned());
        Arc::clone(self.made().gates.entry(key).or_insert_with(|| Gate::new(max)))
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_script(path: &Path) -> Result<Arc<ModelScript>, ProviderError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ProviderError::ReadScript { path: path.to_owned(), source })?;
    let script = ModelScript::parse(&text)
        .map_err(|message| ProviderError::BadScript { path: path.to_owned(), message })?;
    Ok(Arc::new(script))
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
