//! An agent as the work of an attempt.

use std::path::Path;
use std::sync::Arc;

use flow_core::converse::{AgentSpec, Item, fork, hand_in_tool};
use flow_core::event::LaunchAgent;
use flow_core::model::{Outcome, Reason};
use flow_core::text::chain;
use flow_core::values::{
    AgentName, AgentWork, AttemptPacket, Beginning, Earlier, Whereabouts, WorkKind, Workplace,
};
use tokio::sync::mpsc;

use super::super::frame::Ready;
use super::super::judge::Checks;
use super::super::site::{Refused, Site, refused, unusable};
use crate::execute::sink::Sink;
use crate::execute::{
    AgentChecks, AgentLaunch, AgentPlace, AgentStart, Recorded, Reported, ShellLaunch, new_agent_id,
    recorded, recorded_calls, run_agent,
};
use crate::provider::ModelHandle;
use crate::store::{RunFolder, SlotFiles};
use crate::sys::clock;
use crate::sys::stop::StopSignal;
use crate::tool;
use crate::workspace::PrivateTree;

/// The most tokens of one answer.
const MAX_TOKENS: u32 = 16_384;

/// How many signs of life of one attempt may wait.
const PROGRESS: usize = 64;

/// An agent that is ready to run.
pub(super) struct Agent {
    launch: AgentLaunch,
    /// Its `checks`, each with a line for people.
    checks: Vec<(String, ShellLaunch)>,
    /// What the journal says of it.
    journaled: LaunchAgent,
    name: AgentName,
    folder: Arc<RunFolder>,
}

impl Ready for Agent {
    fn of(site: &Site<'_>, _: &mut Checks) -> Result<Self, Refused> {
        let WorkKind::Agent(work) = &site.packet.work.kind else {
            return Err(refused(Reason::Internal, "bug: the work of another kind was handed to an agent"));
        };
        let launch = agent_launch(site, work)?;
        let checks = site.checks(&work.checks)?;
        let journaled = journaled(&launch, work, site.host.root());
        let folder = Arc::clone(&site.host.folder);
        Ok(Agent { launch, checks, journaled, name: work.agent.clone(), folder })
    }

    fn agent(&self) -> Option<LaunchAgent> {
        Some(self.journaled.clone())
    }

    fn note(&self) -> Option<String> {
        let model = &self.launch.model;
        model.note().map(|note| format!("model `{}`: {note}", model.name()))
    }

    fn prints(&self) -> bool {
        !self.checks.is_empty()
    }

    async fn run(mut self, files: Option<SlotFiles>, stop: StopSignal, sink: &Sink) -> Outcome {
        self.launch.checks = files.map(|files| AgentChecks {
            commands: self.checks,
            files,
            folder: self.folder,
            printed: None,
        });
        let (progress, mut signs) = mpsc::channel(PROGRESS);
        let mut run = Box::pin(run_agent(self.launch, stop, progress));
        let outcome = loop {
            tokio::select! {
                biased;
                Some(sign) = signs.recv() => sink.progress(sign).await,
                ended = &mut run => break ended,
            }
        };
        // What it said in its last breath.
        while let Ok(sign) = signs.try_recv() {
            sink.progress(sign).await;
        }
        explained(outcome, &self.name)
    }
}

/// Says whose model it was that failed.
fn explained(mut outcome: Outcome, agent: &AgentName) -> Outcome {
    if outcome.reason == Some(Reason::Provider) {
        let message = outcome.message.take().unwrap_or_default();
        outcome.message = Some(format!("{message} (agent `{}`, {})", agent.name, agent.path));
    }
    outcome
}

fn journaled(launch: &AgentLaunch, work: &AgentWork, root: &Path) -> LaunchAgent {
    let AgentName { name, source, path, hash, version } = work.agent.clone();
    let model = &launch.model;
    LaunchAgent {
        id: launch.agent_id.clone(),
        name,
        source: source.as_str().to_owned(),
        path,
        hash,
        version,
        model: model.name().to_owned(),
        at_once: model.at_once(),
        written: model
            .written()
            .map(|written| written.file.strip_prefix(root).unwrap_or(&written.file).display().to_string()),
        fork: match &work.beginning {
            Beginning::New(_) => None,
            Beginning::Fork(fork) => Some(fork.task.clone()),
        },
    }
}

fn agent_launch(site: &Site<'_>, work: &AgentWork) -> Result<AgentLaunch, Refused> {
    let (host, packet) = (site.host, site.packet);
    let model = model(site, work)?;
    let mut tools = tool::specs(&work.tools);
    if let Beginning::Fork(fork) = &work.beginning {
        tools.extend(hand_in_tool(&fork.output));
    }
    let place = Workplace {
        tree: site.tree_path().to_owned(),
        dir: site.dir.clone(),
        project: host.root().to_owned(),
        home: host.facts.env.get("HOME").map(Into::into),
        private_tree: site.tree.is_some(),
    };
    let told = told(site, work)?;
    let mut permissions = work.rules.at(place);
    permissions.readable.extend(site.opened.iter().cloned());
    let spec = AgentSpec {
        model: model.id().to_owned(),
        system: told.system.into(),
        tools: tools.into(),
        forked: told.forked.is_some(),
        permissions: Arc::new(permissions),
        max_turns: work.max_turns,
        max_tokens: MAX_TOKENS,
        effort: work.effort,
        output: work.output.clone(),
        repair: work.repair,
        background: packet.work.background,
        checked: !work.checks.is_empty(),
        max_tool_concurrency: work.max_tool_concurrency,
    };
    let folder = site.make_folder().map_err(unusable)?;
    let Conversation { agent_id, start, reported } = conversation(packet)?;
    Ok(AgentLaunch {
        attempt: packet.attempt,
        agent_id,
        reported,
        agent_name: work.agent.name.clone(),
        spec,
        prompt: told.prompt,
        forked: told.forked,
        mask: host.mask.clone(),
        model,
        place: AgentPlace {
            tree: site.tree_path().to_owned(),
            dir: site.dir.clone(),
            opened: site.opened.clone(),
            env: site.agent_env(),
            tag: packet.tag(),
        },
        idle: packet.work.timeout.idle,
        folder_name: host.folder.relative(&folder).unwrap_or_default(),
        position: recorded_calls(&folder).map_err(unusable)?,
        start,
        checks: None,
        folder,
        address: packet.address.clone(),
    })
}

fn model(site: &Site<'_>, work: &AgentWork) -> Result<ModelHandle, Refused> {
    let chosen = site.host.providers.resolve(work.model.as_deref()).map_err(|error| {
        let AgentName { name, path, .. } = &work.agent;
        refused(Reason::Provider, format!("agent `{name}` ({path}): {}", chain(&error)))
    })?;
    Ok(chosen.model)
}

/// What an agent is told first.
struct Told {
    system: String,
    prompt: String,
    /// What it begins with in place of the prompt, for a fork.
    forked: Option<Item>,
}

fn told(site: &Site<'_>, work: &AgentWork) -> Result<Told, Refused> {
    let here = site.dir.display().to_string();
    let from = match &work.beginning {
        Beginning::New(conversation) => {
            let date = clock::today();
            let place = Whereabouts { dir: &here, platform: std::env::consts::OS, date: &date };
            let prompt = site.host.masked(conversation.first_message(place, &work.prompt));
            return Ok(Told { system: conversation.system(place), prompt, forked: None });
        }
        Beginning::Fork(from) => from,
    };
    let branch = site.tree.as_deref().and_then(PrivateTree::branch);
    let prompt = site.host.masked(from.directive(&here, branch, &work.output, &work.prompt));
    let Recorded { system, items } = recorded(&site.host.folder.task(&from.task)).map_err(unusable)?;
    match fork(&items, &prompt) {
        Some(forked) => Ok(Told { system, prompt, forked: Some(forked) }),
        None => {
            let from = &from.task;
            let message = format!("`{from}` has said nothing, so there is no conversation to go on with");
            Err(refused(Reason::Upstream, message))
        }
    }
}

/// Whose conversation an attempt has.
struct Conversation {
    agent_id: String,
    start: AgentStart,
    reported: Reported,
}

/// An agent whose last attempt was cut off goes on where its transcript ends, in the tree that it had.
fn conversation(packet: &AttemptPacket) -> Result<Conversation, Refused> {
    if let Some(Earlier { agent_id, usage, denials, tree: _ }) = packet.earlier.clone() {
        return Ok(Conversation {
            agent_id,
            start: AgentStart::Continue,
            reported: Reported { usage, denials },
        });
    }
    let agent_id = new_agent_id().map_err(unusable)?;
    Ok(Conversation { agent_id, start: AgentStart::Fresh, reported: Reported::default() })
}
