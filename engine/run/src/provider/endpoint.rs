//! A provider behind HTTP: where it is, which key it gets, and the client that speaks with it.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use flow_core::model::{ProviderKind, ProviderSettings, SettingsLayer};
use flow_core::text::{chain, one_line};
use flow_core::wire::Api;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::address::{Base, Reach, judge};
use super::error::ProviderError;

/// How long each part of a request may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) connect: Duration,
    /// Until the answer's head.
    pub(super) first: Duration,
    /// Between two pieces of content; pings are none.
    pub(super) idle: Duration,
}

impl Patience {
    pub(super) const DEFAULT: Patience = Patience {
        connect: Duration::from_secs(10),
        first: Duration::from_secs(60),
        idle: Duration::from_secs(120),
    };
}

/// The key of a request.
pub(super) enum Key {
    /// The server wants none.
    None,
    /// There may be one, but the host is not one that it is bound to.
    Unbound,
    /// A key and the variable that it stands in.
    Held {
        /// Never shown.
        value: String,
        /// The variable.
        variable: String,
    },
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::None => f.write_str("None"),
            Key::Unbound => f.write_str("Unbound"),
            Key::Held { variable, .. } => write!(f, "Held({variable})"),
        }
    }
}

/// A provider behind HTTP.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) api: &'static Api,
    pub(super) url: Url,
    pub(super) host: String,
    pub(super) key: Key,
    pub(super) max_concurrent: Option<u32>,
    pub(super) patience: Patience,
    reach: Reach,
    is_local: bool,
    client: OnceLock<Client>,
}

impl Endpoint {
    /// The endpoint of a provider; `model` is only for messages.
    pub(super) fn new(
        provider: &str,
        api: &'static Api,
        settings: &ProviderSettings,
        model: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let text = settings.base_url.as_deref().unwrap_or(api.default_base);
        let bad = |message: String| ProviderError::BadUrl { provider: provider.to_owned(), message };
        let base = judge(text, settings.allow_local, settings.layer).map_err(bad)?;
        let key = key(api, settings, &base, model, env)?;
        let url = format!("{}{}", base.url.as_str().trim_end_matches('/'), api.path);
        let url = Url::parse(&url).map_err(|error| bad(error.to_string()))?;
        Ok(Endpoint {
            api,
            url,
            host: base.host,
            key,
            max_concurrent: settings.max_concurrent,
            patience: Patience::DEFAULT,
            reach: base.reach,
            is_local: base.is_local,
            client: OnceLock::new(),
        })
    }

    /// The client, made at its first use: reading the machine's certificates takes longer than a whole run of shell
    /// tasks.
    pub(super) fn client(&self) -> Result<&Client, ProviderError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Another part of the process may have chosen a provider already, and any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("flow/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(self.patience.connect)
            .dns_resolver(Arc::new(Guarded { host: self.host.clone(), reach: self.reach }));
        if self.is_local {
            builder = builder.no_proxy();
        }
        if self.url.scheme() == "http" {
            // Without TLS and redirects no certificate is ever looked at.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| ProviderError::Client(in_short(&error)))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// What the run says about an endpoint that could have had a key.
    pub(super) fn note(&self) -> Option<String> {
        match self.key {
            Key::Unbound => Some(format!(
                "no key is sent to `{}`: only a flow.toml of your own can bind one to it",
                self.host
            )),
            Key::None | Key::Held { .. } => None,
        }
    }
}

/// The key for a base. A repository's text may choose a host but never a key for it.
fn key(
    api: &Api,
    settings: &ProviderSettings,
    base: &Base,
    model: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Key, ProviderError> {
    let own_host = judge(api.default_base, false, SettingsLayer::User).is_ok_and(|own| {
        own.host == base.host && own.url.port_or_known_default() == base.url.port_or_known_default()
    });
    let named = settings.api_key_env.as_deref();
    let variable = match settings.layer {
        SettingsLayer::Repository if own_host => api.key_env,
        SettingsLayer::Repository => return Ok(Key::Unbound),
        SettingsLayer::User | SettingsLayer::Flag | SettingsLayer::Policy => match named {
            Some(named) => named,
            None if own_host => api.key_env,
            None => return Ok(Key::None),
        },
    };
    match env(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()) {
        Some(value) => {
            hide_from_children();
            Ok(Key::Held { value, variable: variable.to_owned() })
        }
        None => Err(ProviderError::NoKey {
            variable: variable.to_owned(),
            model: model.to_owned(),
            default: None,
        }),
    }
}

/// The settings of a vendor that no flow.toml speaks of.
pub(super) fn vendor_settings(kind: ProviderKind) -> ProviderSettings {
    ProviderSettings {
        kind,
        base_url: None,
        api_key_env: None,
        max_concurrent: None,
        allow_local: false,
        layer: SettingsLayer::User,
    }
}

/// From the moment that a key is held, other processes of the same user, commands of agents among them, can't read
/// this one's environment or memory under `/proc`.
fn hide_from_children() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // Where the system refuses, commands still don't inherit the key.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// An error with its causes, on one line that is not too long.
pub(super) fn in_short(error: &(dyn std::error::Error + 'static)) -> String {
    one_line(&chain(error), 300)
}

/// Looks names up, and lets the provider's own stand only for addresses that it may: a name that was judged as public
/// can't turn out to be a server inside. Other names are those of proxies.
struct Guarded {
    host: String,
    reach: Reach,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let reach =
            (name.as_str().trim_end_matches('.').eq_ignore_ascii_case(&self.host)).then_some(self.reach);
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let open: Vec<_> = found
                .into_iter()
                .filter(|found| reach.is_none_or(|reach| reach.allows(found.ip())))
                .collect();
            if open.is_empty() {
                return Err(format!("`{}` stands for a private address", name.as_str()).into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
