//! A model that can be asked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flow_core::ids::Address;
use flow_core::model::SettingsLayer;
use flow_core::wire::{Delta, ModelError, ModelErrorKind, ModelScript, Reply, Request};
use tokio::time::Instant;

use super::endpoint::Endpoint;
use super::gate::{Gate, Pass};
use super::retry::{Retries, chance};
use super::sign::{Cursor, Sign, Tried};
use super::{http, script};
use crate::sys::clock::now;

/// A written model: what answers was written down beforehand, and must never pass for a real one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Written {
    /// Its script.
    pub file: PathBuf,
    /// The layer whose flow.toml names it; `None`: `--model-script` does.
    pub layer: Option<SettingsLayer>,
    /// Variables that are not set, and whose keys would have brought a real model that stands before it.
    pub lacking: Vec<String>,
}

/// A model, resolved. Cheap to clone; clones share the gate.
#[derive(Clone, Debug)]
pub struct ModelHandle {
    pub(super) provider: Arc<str>,
    pub(super) id: Arc<str>,
    pub(super) backend: Backend,
    pub(super) gate: Arc<Gate>,
}

/// Who answers.
#[derive(Clone, Debug)]
pub(super) enum Backend {
    Script(Arc<ModelScript>, Arc<Written>),
    Http(Arc<Endpoint>),
}

impl ModelHandle {
    /// The model as its provider calls it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Provider and model: `anthropic/claude-…`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// How many requests its provider takes at once; a written model has no such limit.
    pub fn at_once(&self) -> Option<u32> {
        match &self.backend {
            Backend::Script(..) => None,
            Backend::Http(_) => u32::try_from(self.gate.max()).ok(),
        }
    }

    /// What the run has to say about this model, such as that no key is sent.
    pub fn note(&self) -> Option<String> {
        match &self.backend {
            Backend::Script(..) => None,
            Backend::Http(endpoint) => endpoint.note(),
        }
    }

    /// What is to be said of it when it is a written one.
    pub fn written(&self) -> Option<&Written> {
        match &self.backend {
            Backend::Script(_, written) => Some(written),
            Backend::Http(_) => None,
        }
    }

    /// Whether it has anything to say to the agent of a task; only a written one knows that beforehand.
    pub fn has_turns_for(&self, task: &Address, agent: &str) -> bool {
        match &self.backend {
            Backend::Script(script, _) => script.turns_for(task, agent).is_some(),
            Backend::Http(_) => true,
        }
    }

    /// The same model; a written one knows which keys would have brought a real one.
    pub(super) fn lacking(mut self, variables: Vec<String>) -> Self {
        if let Backend::Script(_, written) = &mut self.backend {
            let written = Arc::make_mut(written);
            written.lacking.extend(variables);
            written.lacking.dedup();
        }
        self
    }

    /// Whether a real model of the person goes before it: a repository has written it down, and the person may not know.
    pub(super) fn yields(&self) -> bool {
        self.written().is_some_and(|written| written.layer == Some(SettingsLayer::Repository))
    }

    /// Asks, waits where the provider says so, and tries again where that may help. Every try moves the cursor on.
    /// Dropping it ends the request at once.
    pub async fn ask(
        &self,
        cursor: &mut Cursor,
        request: &Request,
        signs: &mut (dyn FnMut(Sign) + Send),
    ) -> Result<Reply, ModelError> {
        let mut retries = Retries::default();
        loop {
            let pass = self.gate.enter(|waits| signs(Sign::Waiting(waits))).await;
            let error = match self.try_once(cursor, request, signs).await {
                Ok(reply) => {
                    pass.answered();
                    return Ok(reply);
                }
                Err(error) => error,
            };
            match retries.next(&error, chance()) {
                Some(wait) => self.hold(pass, wait, &error, signs).await,
                None => return Err(given_up(error, retries.tries())),
            }
        }
    }

    async fn try_once(
        &self,
        cursor: &mut Cursor,
        request: &Request,
        signs: &mut (dyn FnMut(Sign) + Send),
    ) -> Result<Reply, ModelError> {
        let (at, began) = (now(), Instant::now());
        let position = cursor.position;
        cursor.position += 1;
        signs(Sign::Trying { at });
        let mut delta = |delta: Delta| signs(Sign::Delta(delta));
        let answer = match &self.backend {
            Backend::Script(script, _) => script::ask(script, cursor, position, request, &mut delta).await,
            Backend::Http(endpoint) => http::ask(endpoint, request, at, &mut delta).await,
        };
        signs(Sign::Tried(Tried {
            at,
            took: began.elapsed(),
            status: match &answer {
                Ok(_) => Some(200),
                Err(error) => error.status,
            },
            usage: answer.as_ref().ok().map(|reply| reply.usage.clone()),
            error: answer.as_ref().err().map(|error| error.message.clone()),
        }));
        answer
    }

    /// Waits before the next try. What the provider suffers from holds up everyone at the gate; a stream that broke
    /// off is this request's own bad luck.
    async fn hold(
        &self,
        pass: Pass,
        wait: Duration,
        error: &ModelError,
        signs: &mut (dyn FnMut(Sign) + Send),
    ) {
        match error.kind {
            ModelErrorKind::RateLimit | ModelErrorKind::Overloaded => self.gate.close(wait, true),
            ModelErrorKind::Server | ModelErrorKind::Connection => self.gate.close(wait, false),
            ModelErrorKind::Broken
            | ModelErrorKind::Refused
            | ModelErrorKind::ContextOverflow
            | ModelErrorKind::ScriptEnded => {}
        }
        drop(pass);
        signs(Sign::Parked { provider: self.name(), wait, reason: error.message.clone() });
        signs(Sign::Waiting(true));
        tokio::time::sleep(wait).await;
        signs(Sign::Waiting(false));
    }
}

/// The failure that stands, with how often it was tried.
fn given_up(mut error: ModelError, tries: u32) -> ModelError {
    if let (ModelErrorKind::RateLimit, Some(asked)) = (error.kind, error.retry_after) {
        error.message.push_str(&format!(" (it asks to wait {} s)", asked.as_secs()));
    } else if tries > 1 {
        error.message.push_str(&format!(" (tried {tries} times)"));
    }
    error
}

#[cfg(test)]
#[path = "handle_tests.rs"]
mod tests;
