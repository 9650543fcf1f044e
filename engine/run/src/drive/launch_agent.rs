//! From an agent task to what its executor starts with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::converse::{AgentSpec, Differences, Item, directive, fork, hand_in_tool};
use flow_core::ids::Address;
use flow_core::model::{AttemptEnd, Isolation, Reason, ToolRule};
use flow_core::plan::{AgentTask, Output};
use flow_core::values::{
    PreparedAgent, Whereabouts, Workplace, first_message, max_turns_of, model_of, notifications_of_needs,
    origin, output_form, permissions_of, system_prompt, tools_of,
};

use super::command::agent_env;
use super::driver::Driver;
use super::launch::{Refused, Site, refused};
use crate::execute::{
    AgentLaunch, AgentPlace, AgentStart, Recorded, Reported, has_conversation, new_agent_id, recorded,
    recorded_calls,
};
use crate::sys::clock;
use crate::tool;
use crate::workspace::PrivateTree;

/// Readers at once unless the settings say otherwise.
const TOOLS_AT_ONCE: u32 = 10;

/// The most tokens of one answer.
const MAX_TOKENS: u32 = 16_384;

impl Driver {
    pub(super) fn agent_launch(
        &self,
        site: Site<'_>,
        agent_task: &AgentTask,
        agent: &PreparedAgent,
    ) -> Result<AgentLaunch, Refused> {
        let Site { id, attempt, task, dir, tree } = site;
        let setup = &self.setup;
        let definition = &setup.plan.agents[agent_task.agent];
        let chosen = setup.providers.resolve(model_of(definition, agent_task)).map_err(|error| {
            refused(
                Reason::Provider,
                format!("agent `{}` ({}): {}", definition.name, definition.path, chain(&error)),
            )
        })?;
        let model = chosen.model;
        let own_tree = tree.map_or_else(|| PathBuf::from(&setup.facts.root), |tree| tree.path().to_owned());
        let tools = tools_of(definition, agent_task, task.background);
        // A fork is offered what its conversation was begun with, and refused what its own place forbids.
        let (began, began_as) = origin(&setup.plan, task, agent_task);
        let offered = tools_of(definition, began_as, began.background);
        let mut tool_specs = tool::specs(&offered);
        if agent_task.fork.is_some() {
            tool_specs.extend(hand_in_tool(&output_form(&began.output)));
        }
        let place = Workplace {
            tree: own_tree.clone(),
            dir: dir.to_path_buf(),
            project: PathBuf::from(&setup.facts.root),
            home: setup.facts.env.get("HOME").map(PathBuf::from),
            private_tree: tree.is_some(),
        };
        let mut permissions = permissions_of(definition, agent_task, &setup.settings, place);
        let forbidden = offered.iter().filter(|tool| !tools.contains(tool));
        permissions.disallowed.extend(forbidden.map(|tool| ToolRule::parse(tool)));
        let beginning = self.beginning(site, agent_task, &agent.prompt)?;
        let spec = AgentSpec {
            model: model.id().to_owned(),
            system: beginning.system.into(),
            tools: tool_specs.into(),
            forked: agent_task.fork.is_some(),
            permissions: Arc::new(permissions),
            max_turns: max_turns_of(definition, agent_task),
            max_tokens: MAX_TOKENS,
            effort: definition.effort,
            output: output_form(&task.output),
            repair: agent_task.repair,
            background: task.background,
            checked: agent_task.checks.is_some(),
            max_tool_concurrency: setup.settings.max_tool_concurrency.unwrap_or(TOOLS_AT_ONCE),
        };
        let address = self.address(id);
        let folder = setup.folder.make_task(&address).map_err(io)?;
        let Conversation { agent_id, start, reported } = self.conversation(&address, tree, &folder)?;
        Ok(AgentLaunch {
            attempt,
            agent_id,
            reported,
            agent_name: definition.name.clone(),
            spec,
            prompt: beginning.prompt,
            forked: beginning.forked,
            mask: self.mask.clone(),
            model,
            place: AgentPlace {
                tree: own_tree,
                dir: dir.to_path_buf(),
                env: agent_env(&agent.common, tree),
                tag: self.tag(id, attempt),
            },
            idle: task.timeout.idle,
            folder_name: setup.folder.relative(&folder).unwrap_or_default(),
            position: recorded_calls(&folder).map_err(io)?,
            start,
            checks: None,
            folder,
            address,
        })
    }

    /// What an agent is told before it says anything.
    fn beginning(&self, site: Site<'_>, agent_task: &AgentTask, prompt: &str) -> Result<Beginning, Refused> {
        let Site { id, attempt, task, dir, tree } = site;
        let setup = &self.setup;
        let definition = &setup.plan.agents[agent_task.agent];
        let here = dir.display().to_string();
        let masked = |text: String| match &self.mask {
            Some(mask) => mask.apply(&text).into_owned(),
            None => text,
        };
        let Some(from) = agent_task.fork.map(|from| &setup.plan.tasks[from.index()].address) else {
            let known = match task.isolation {
                Isolation::Fork => notifications_of_needs(&self.scope(id, task.id, attempt), task.id)
                    .map_err(|why| refused(Reason::Resource, why))?,
                Isolation::None | Isolation::Worktree | Isolation::Copy => Vec::new(),
            };
            let date = clock::today();
            let place = Whereabouts { dir: &here, platform: std::env::consts::OS, date: &date };
            let prompt = first_message(place, setup.plan.briefing.as_deref(), known, definition, prompt);
            let system = system_prompt(definition, place);
            return Ok(Beginning { system, prompt: masked(prompt), forked: None });
        };
        let there = setup.run.task(from).and_then(|task| task.dir.clone());
        let schema = match &task.output {
            Output::Schema(schema) => Some(&**schema),
            Output::Text | Output::Json | Output::Lines | Output::Pairs => None,
        };
        let differences = Differences {
            dirs: there.as_deref().filter(|there| *there != here).map(|there| (here.as_str(), there)),
            branch: tree.map(PrivateTree::branch).filter(|branch| !branch.is_empty()),
            schema,
        };
        let prompt = masked(directive(&differences, prompt));
        let Recorded { system, items } = recorded(&setup.folder.task(from)).map_err(io)?;
        let Some(forked) = fork(&items, &prompt) else {
            let message = format!("`{from}` has said nothing, so there is no conversation to go on with");
            return Err(refused(Reason::Upstream, message));
        };
        Ok(Beginning { system, prompt, forked: Some(forked) })
    }

    /// An agent whose last attempt was cut off goes on where its transcript ends; one that failed begins anew. So does one
    /// with a tree of its own: the tree is a new one, and lacks what the transcript says was done.
    fn conversation(
        &self,
        address: &Address,
        tree: Option<&PrivateTree>,
        folder: &Path,
    ) -> Result<Conversation, Refused> {
        let attempts = self.setup.run.task(address).map_or(&[][..], |task| &task.attempts);
        let before = attempts.iter().rev().nth(1).filter(|_| tree.is_none());
        let cut_off =
            before.filter(|before| matches!(before.end, Some(AttemptEnd::Lost | AttemptEnd::Killed)));
        if let Some(agent_id) = cut_off.and_then(|before| before.agent_id.clone())
            && has_conversation(folder, &agent_id).map_err(io)?
        {
            let mut reported = Reported::default();
            for attempt in attempts.iter().filter(|attempt| attempt.agent_id.as_ref() == Some(&agent_id)) {
                attempt.usage.iter().for_each(|usage| reported.usage += usage);
                reported.denials += attempt.denied;
            }
            return Ok(Conversation { agent_id, start: AgentStart::Continue, reported });
        }
        let agent_id = new_agent_id().map_err(io)?;
        Ok(Conversation { agent_id, start: AgentStart::Fresh, reported: Reported::default() })
    }
}

/// Whose conversation an attempt has.
struct Conversation {
    agent_id: String,
    start: AgentStart,
    reported: Reported,
}

/// What an agent is told first.
struct Beginning {
    system: String,
    prompt: String,
    forked: Option<Item>,
}

fn io(error: std::io::Error) -> Refused {
    refused(Reason::Resource, format!("can't use the task's folder: {error}"))
}

/// An error with everything that caused it, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
