//! Why there is no model.

use std::path::PathBuf;

/// Why a model can't be used here.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// A script can't be read.
    #[error("can't read the model script `{}`: {source}", path.display())]
    ReadScript {
        /// The script.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A script is not one.
    #[error("the model script `{}` is wrong: {message}", path.display())]
    BadScript {
        /// The script.
        path: PathBuf,
        /// What is wrong, with its line.
        message: String,
    },
    /// No model is configured, and no key is there.
    #[error("no model is configured")]
    NoModel {
        /// A provider of flow.toml that could have one.
        provider: Option<String>,
    },
    /// Nobody knows a model of this name.
    #[error("no provider is known for the model `{model}`")]
    UnknownModel {
        /// The name.
        model: String,
        /// An alias or provider that was likely meant.
        near: Option<String>,
    },
    /// `provider/id` with an unknown provider.
    #[error("there is no provider `{provider}` for the model `{model}`")]
    UnknownProvider {
        /// The provider.
        provider: String,
        /// The whole name.
        model: String,
        /// A provider that was likely meant.
        near: Option<String>,
    },
    /// The variable with the key is not set.
    #[error("`{variable}` is not set, so the model `{model}` can't be used")]
    NoKey {
        /// The variable.
        variable: String,
        /// The model.
        model: String,
        /// The model that is the default here and could be asked instead.
        default: Option<String>,
    },
    /// `base_url` leads where no request may go.
    #[error("`base_url` of the provider `{provider}` can't be used: {message}")]
    BadUrl {
        /// The provider.
        provider: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// None of the targets of an alias is usable.
    #[error("nothing that the model alias `{alias}` stands for is usable: {}", reasons.join("; "))]
    NoTarget {
        /// The alias.
        alias: String,
        /// A reason for each target.
        reasons: Vec<String>,
    },
    /// An alias leads back to itself.
    #[error("the model alias `{alias}` leads back to itself")]
    Circle {
        /// The alias.
        alias: String,
    },
    /// The HTTP client can't be made.
    #[error("can't set up HTTPS: {0}")]
    Client(String),
}

/// Whether a name can stand left of `=` in TOML without quotes.
fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

impl ProviderError {
    /// Whether only this place lacks the model: a key, or a name that means something elsewhere. What is written down
    /// wrongly is a mistake to tell.
    pub(super) fn is_absence(&self) -> bool {
        match self {
            ProviderError::NoKey { .. }
            | ProviderError::UnknownModel { .. }
            | ProviderError::UnknownProvider { .. }
            | ProviderError::NoTarget { .. } => true,
            ProviderError::NoModel { .. }
            | ProviderError::ReadScript { .. }
            | ProviderError::BadScript { .. }
            | ProviderError::BadUrl { .. }
            | ProviderError::Circle { .. }
            | ProviderError::Client(_) => false,
        }
    }

    /// The same, with the model that is the default here, for its help.
    pub(super) fn with_example(mut self, found: impl FnOnce() -> Option<String>) -> Self {
        if let ProviderError::NoKey { default, .. } = &mut self {
            *default = found();
        }
        self
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        const SCRIPT: &str =
            "to run without a model, write its answers down and pass them with `--model-script FILE`";
        let near = |near: &Option<String>| near.as_ref().map(|near| format!("did you mean `{near}`?"));
        match self {
            ProviderError::NoModel { provider } => Some(format!(
                "set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, or name one in flow.toml: `default = \"{}/MODEL\"` under `[models]`; {SCRIPT}",
                provider.as_deref().unwrap_or("PROVIDER")
            )),
            ProviderError::NoKey { variable, model, default: Some(default) } if is_bare(model) => {
                Some(format!(
                    "set `{variable}`, or say what it means here: `{model} = \"{default}\"` under `[models]` in flow.toml"
                ))
            }
            ProviderError::NoKey { variable, .. } => Some(format!("set `{variable}`; {SCRIPT}")),
            ProviderError::UnknownModel { near: found, model } => Some(near(found).unwrap_or_else(|| {
                match is_bare(model) {
                    true => format!(
                        "write `PROVIDER/MODEL`, or say what it means: `{model} = \"PROVIDER/MODEL\"` under `[models]` in flow.toml"
                    ),
                    false => "write `PROVIDER/MODEL`, or define an alias under `[models]` in flow.toml".to_owned(),
                }
            })),
            ProviderError::UnknownProvider { near: found, provider, .. } => {
                Some(near(found).unwrap_or_else(|| format!("define `[providers.{provider}]` in flow.toml")))
            }
            ProviderError::NoTarget { .. } => Some(SCRIPT.to_owned()),
            ProviderError::ReadScript { .. }
            | ProviderError::BadScript { .. }
            | ProviderError::BadUrl { .. }
            | ProviderError::Circle { .. }
            | ProviderError::Client(_) => None,
        }
    }
}
