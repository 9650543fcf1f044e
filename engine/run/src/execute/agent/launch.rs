//! What an agent's attempt is given, with everything resolved.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flow_core::converse::{AgentSpec, Item};
use flow_core::ids::{Address, Attempt};
use flow_core::model::Usage;

use super::super::mask::Mask;
use super::checks::AgentChecks;
use crate::provider::ModelHandle;
use crate::sys::files::random_u32;

/// An attempt of an agent, with everything resolved.
#[derive(Debug)]
pub struct AgentLaunch {
    /// The task.
    pub address: Address,
    /// Which try.
    pub attempt: Attempt,
    /// The conversation: `a` + 16 hex digits.
    pub agent_id: String,
    /// What earlier attempts have reported of this conversation.
    pub reported: Reported,
    /// The definition's name.
    pub agent_name: String,
    /// What the agent is. Its model is taken from `model`.
    pub spec: AgentSpec,
    /// The first prompt, composed.
    pub prompt: String,
    /// What it begins with in place of the prompt: what `flow_core::converse::fork` made of another task's conversation and
    /// the prompt.
    pub forked: Option<Item>,
    /// Who answers.
    pub model: ModelHandle,
    /// Where and how its tools work.
    pub place: AgentPlace,
    /// How long it may show no sign of life: no piece of an answer, no tool that runs.
    pub idle: Option<Duration>,
    /// The task's own folder; made here if need be.
    pub folder: PathBuf,
    /// The same, relative to the run folder.
    pub folder_name: String,
    /// Calls of the model that earlier attempts made: what `recorded_calls` says.
    pub position: u32,
    /// What hides the run's secrets in what tools return and in what the agent says.
    pub mask: Option<Arc<Mask>>,
    /// From nothing, or on from the transcript.
    pub start: AgentStart,
    /// What must pass once it is done.
    pub checks: Option<AgentChecks>,
}

/// Where an agent's tools work.
#[derive(Clone, Debug)]
pub struct AgentPlace {
    /// Its tree, absolute and free of links.
    pub tree: PathBuf,
    /// The folder in it where it starts, absolute and free of links.
    pub dir: PathBuf,
    /// Files of the run that its prompt names, which it may read.
    pub opened: Vec<PathBuf>,
    /// Variables for its commands.
    pub env: Vec<(String, String)>,
    /// `FLOW_ATTEMPT` of its commands; unique to the attempt.
    pub tag: String,
}

/// What a conversation has used and was refused up to some attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reported {
    /// What it has used.
    pub usage: Usage,
    /// How many calls were refused.
    pub denials: usize,
}

/// How an attempt begins.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentStart {
    /// With the prompt.
    Fresh,
    /// Where the transcript of the same task ends, if there is one that is whole.
    Continue,
}

/// A fresh id for a conversation: `a` + 16 hex digits.
pub fn new_agent_id() -> io::Result<String> {
    Ok(format!("a{:08x}{:08x}", random_u32()?, random_u32()?))
}
