//! Agents on tasks: which definition, which tools, and what it may do without anybody to ask.

use std::collections::HashSet;

use super::agent_tools::{is_known_tool, known_names, meant_tool};
use super::findings::Findings;
use super::input::CompileInput;
use super::prompts;
use super::scope::Scope;
use super::shape::{Keys, Shape};
use super::shell;
use super::words::{literal, whole, word};
use crate::diagnostic::{Code, Span, Spanned};
use crate::model::{
    AgentDef, ModelRef, PermissionMode, Settings, ToolEffect, ToolPolicy, ToolRule, offered_tools, tool,
};
use crate::plan::{AgentTask, Output, Permissions, Task};
use crate::syntax::{PromptText, Text};
use crate::text::{alike, list_some};

/// The agent of a task that has a prompt and names none.
const DEFAULT_AGENT: &str = "general-purpose";

/// Turns to mend an output that doesn't fit its form, unless the task says.
const REPAIRS: u32 = 1;

/// The definitions that tasks name, once each.
#[derive(Default)]
pub(super) struct Cast {
    agents: Vec<AgentDef>,
    /// Those that can't be used and have been told.
    told: HashSet<String>,
}

impl Cast {
    /// The index of the definition that a task names; reports one that doesn't exist or can't be used.
    pub(super) fn resolve(
        &mut self,
        findings: &mut Findings,
        input: &CompileInput<'_>,
        keys: Keys<'_>,
    ) -> Option<usize> {
        let span = agent_place(keys);
        let name = match &keys.own.agent {
            Some(agent) if !literal(findings, "agent", agent) => return None,
            Some(agent) => agent.value.as_str(),
            None => DEFAULT_AGENT,
        };
        if let Some(index) = self.agents.iter().position(|agent| agent.name == name) {
            return Some(index);
        }
        if let Some(faults) = input.agents.broken(name) {
            let user = |fault: &crate::diagnostic::Diagnostic| {
                findings.related(fault.clone(), span, format!("this task needs agent `{name}`"))
            };
            // What is wrong with a file is said once, not for every task.
            if self.told.insert(name.to_owned()) {
                findings.extend(faults.iter().map(user).collect::<Vec<_>>());
            }
            return None;
        }
        if let Some(agent) = input.agents.get(name) {
            self.agents.push(agent.clone());
            return Some(self.agents.len() - 1);
        }
        let near = match input.agents.is_disabled(name) {
            true => Some("`[agents] disable` of flow.toml takes it out".to_owned()),
            false => {
                // Of a hundred agents the nearest first.
                let near = alike(name, input.agents.names());
                let others = input.agents.names().filter(|other| !near.contains(other));
                findings.instead(name, near.iter().copied().chain(others))
            }
        };
        let searched = match input.agents.searched.as_slice() {
            [] => None,
            folders => Some(format!("searched in {}", list_some(folders.iter().map(String::as_str), 12))),
        };
        let help = [near, searched].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let finding = findings.at(Code::UnknownAgent, span, format!("there is no agent `{name}`"));
        findings.push(finding.maybe_help(Some(help).filter(|help| !help.is_empty())));
        None
    }

    pub(super) fn get(&self, index: usize) -> Option<&AgentDef> {
        self.agents.get(index)
    }

    pub(super) fn into_agents(self) -> Vec<AgentDef> {
        self.agents
    }
}

/// Builds an agent task.
pub(super) fn task<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    shape: &Shape<'a>,
    index: usize,
    agent: &AgentDef,
) -> Option<AgentTask> {
    let keys = shape.keys;
    let is_fork = keys.own.fork.is_some();
    let own_model = keys.own.model.as_ref().filter(|model| literal(findings, "model", *model));
    let model = match (own_model, &keys.defaults.model, &agent.model) {
        (Some(model), _, _) => Some(model.value.clone()),
        // `defaults.model` ranks below the definition; a fork has the model of its conversation.
        (None, Some(model), ModelRef::Inherit) if !is_fork => Some(model.value.clone()),
        (None, _, _) => None,
    };
    let tools = keys.get(|keys| &keys.tools).filter(|_| !is_fork);
    let tools = tools.map(|tools| rules(findings, "tools", &tools.value));
    let disallowed = keys.get(|keys| &keys.disallowed_tools);
    let disallowed_tools =
        disallowed.map(|tools| rules(findings, "disallowed_tools", &tools.value)).unwrap_or_default();
    let max_turns = keys.get(|keys| &keys.max_turns);
    let max_turns = max_turns.and_then(|most| whole(findings, "max_turns", most, 1..=10_000));
    let permission_mode =
        keys.get(|keys| &keys.permission_mode).and_then(|mode| permission_mode(findings, mode));
    let permissions = match keys.get(|keys| &keys.permissions) {
        None => Permissions::default(),
        Some(Spanned { value, .. }) => Permissions {
            allow: rules(findings, "permissions.allow", &value.allow),
            ask: rules(findings, "permissions.ask", &value.ask),
            deny: rules(findings, "permissions.deny", &value.deny),
        },
    };
    let repair = match (keys.get(|keys| &keys.repair), &shape.output) {
        (_, Output::Text | Output::Pairs) => Some(0),
        (None, Output::Json | Output::Lines | Output::Schema(_)) => Some(REPAIRS),
        (Some(turns), Output::Json | Output::Lines | Output::Schema(_)) => {
            whole(findings, "repair", turns, 0..=100)
        }
    };
    let checks = keys.get(|keys| &keys.checks).and_then(|checks| shell::checks(findings, scope, checks));
    let prompt = keys.own.prompt.as_ref()?;
    let prompt = prompts::prompt(findings, scope, prompt)?;
    let task = AgentTask {
        agent: index,
        fork: shape.fork,
        prompt,
        model,
        tools,
        disallowed_tools,
        max_turns,
        permission_mode,
        permissions,
        checks,
        repair: repair.unwrap_or(0),
    };
    check_tools(findings, keys, &task, agent);
    Some(task)
}

fn permission_mode(findings: &mut Findings, mode: &Text) -> Option<PermissionMode> {
    let read = word(findings, "permission_mode", mode, PermissionMode::WORDS)?;
    if read == PermissionMode::BypassPermissions {
        let message = "a plan can't switch permissions off";
        let finding = findings.at(Code::AgentConflict, mode.span, message);
        findings.push(finding.help(
            "grant what the task needs: `tools: [Read, Edit, Bash(cargo test *)]`, or `Bash` for any command",
        ));
        return None;
    }
    Some(read)
}

/// Reads rules and checks the names of their tools.
fn rules(findings: &mut Findings, key: &str, texts: &[Text]) -> Vec<ToolRule> {
    // What takes away may name what this version doesn't have; what grants may not.
    let grants = matches!(key, "tools" | "permissions.allow");
    let mut rules = Vec::with_capacity(texts.len());
    for text in texts {
        if !literal(findings, key, text) {
            continue;
        }
        let rule = ToolRule::parse(&text.value);
        let known = tool(&rule.tool).is_some() || (rule.tool == "*" && rule.spec.is_none());
        let later = !known && is_known_tool(&rule.tool);
        if !known && (grants || !later) {
            let message = match later {
                true => format!("this version of flow has no tool `{}`", rule.tool),
                false => format!("there is no tool `{}`", rule.tool),
            };
            let help = match meant_tool(&rule.tool).filter(|meant| tool(meant).is_some()) {
                Some(meant) => format!("did you mean `{meant}`? tools: {}", known_names()),
                None => format!("tools: {}", known_names()),
            };
            findings.push(findings.at(Code::UnknownTool, text.span, message).help(help));
        }
        rules.push(rule);
    }
    rules
}

/// Reports tools that contradict the mode, and tools that the definition doesn't have.
fn check_tools(findings: &mut Findings, keys: Keys<'_>, task: &AgentTask, agent: &AgentDef) {
    let agent_span = agent_place(keys);
    if task.mode(agent) == Some(PermissionMode::Plan) {
        let named =
            |rules: &[ToolRule]| editors().find(|editor| rules.iter().any(|rule| rule.tool == *editor));
        let in_definition = match &agent.tools {
            ToolPolicy::Inherit => None,
            ToolPolicy::Only(rules) => named(rules).filter(|editor| agent.has_tool(editor)),
        };
        let in_task = task.tools.as_deref().and_then(named);
        if let Some(editor) = in_task.or(in_definition) {
            let span = match (in_task, keys.get(|keys| &keys.tools)) {
                (Some(_), Some(tools)) => tools.span,
                _ => agent_span,
            };
            let message = format!(
                "agent `{}` gets `{editor}` and works in permission mode `plan`, which refuses it",
                agent.name
            );
            let finding = findings.at(Code::AgentConflict, span, message);
            findings
                .push(finding.help(format!("take `{editor}` away, or choose another mode ({})", agent.path)));
            return;
        }
    }
    for (rule, text) in
        task.tools.iter().flatten().zip(keys.get(|keys| &keys.tools).iter().flat_map(|all| &all.value))
    {
        if tool(&rule.tool).is_some() && !agent.has_tool(&rule.tool) {
            let message = format!("agent `{}` has no `{}`, so the task can't have it", agent.name, rule.tool);
            let finding = findings.at(Code::IgnoredTool, text.span, message);
            findings.push(finding.help("`tools` of a task narrow those of its agent; choose another agent"));
        }
    }
}

/// The tools that change files.
fn editors() -> impl Iterator<Item = &'static str> {
    with_effect(ToolEffect::Edits)
}

/// The tools that run commands. They stand apart since commands that only look pass without asking.
fn runners() -> impl Iterator<Item = &'static str> {
    with_effect(ToolEffect::Runs)
}

fn with_effect(effect: ToolEffect) -> impl Iterator<Item = &'static str> {
    offered_tools().filter(move |tool| tool.effect == effect).map(|tool| tool.name)
}

/// What an agent may do on its task, as far as rules tell before the run.
pub(super) struct Powers<'p> {
    pub agent: &'p AgentDef,
    pub task: &'p Task,
    pub work: &'p AgentTask,
    pub settings: &'p Settings,
}

impl Powers<'_> {
    fn mode(&self) -> PermissionMode {
        self.work.mode(self.agent).unwrap_or_else(|| PermissionMode::unsaid(self.task.isolation.is_private()))
    }

    fn has(&self, name: &str) -> bool {
        self.work.has_tool(self.agent, name, self.task.background)
    }

    /// Whether some call of the tool passes without a question.
    fn is_granted(&self, name: &str) -> bool {
        let allows = |rules: &[ToolRule]| ToolRule::any_names(rules, name);
        let by_mode = match self.mode() {
            PermissionMode::BypassPermissions => true,
            PermissionMode::AcceptEdits => editors().any(|editor| editor == name),
            PermissionMode::Default
            | PermissionMode::Plan
            | PermissionMode::DontAsk
            | PermissionMode::Auto
            | PermissionMode::Bubble => false,
        };
        let by_definition = match &self.agent.tools {
            ToolPolicy::Inherit => false,
            ToolPolicy::Only(rules) => rules.iter().any(|rule| rule.tool == name && rule.spec.is_some()),
        };
        by_mode
            || by_definition
            || self.work.tools.as_deref().is_some_and(allows)
            || allows(&self.work.permissions.allow)
            || self.settings.permissions.iter().any(|layer| allows(&layer.allow))
    }

    /// Whether it may change files.
    pub(super) fn may_write(&self) -> bool {
        let writes = |name: &str| self.has(name) && self.is_granted(name);
        self.mode() != PermissionMode::Plan && editors().chain(runners()).any(writes)
    }

    /// Warns of tools that the agent has and that would always ask.
    pub(super) fn warn_of_denials(&self, findings: &mut Findings, keys: Keys<'_>) {
        let refused = |name: &&str| self.has(name) && !self.is_granted(name);
        let mut tools: Vec<&str> = editors().filter(refused).collect();
        // Where it says so itself, the refusal is what was asked for.
        let on_purpose = matches!(self.mode(), PermissionMode::Plan | PermissionMode::DontAsk);
        if tools.is_empty() || on_purpose {
            return;
        }
        tools.extend(runners().filter(refused));
        // Whoever named no agent has asked for none of them; what is refused is told once the run has ended.
        if keys.own.agent.is_none() && keys.own.fork.is_none() {
            return;
        }
        let span = agent_place(keys);
        let message = format!(
            "agent `{}` has {}, which would ask, and there is nobody to ask",
            self.agent.name,
            list_some(tools, 3)
        );
        let help = "grant what it needs (`permissions: { allow: [Edit, Bash(cargo test *)] }`), or give it a tree of \
                    its own (`isolation: worktree`)";
        findings.push(findings.at(Code::AlwaysDenied, span, message).help(help));
    }
}

/// Where a task says which agent works on it.
pub(super) fn agent_place(keys: Keys<'_>) -> Span {
    let prompt = keys.own.prompt.as_ref().map(PromptText::written);
    keys.own.agent.as_ref().or(keys.own.fork.as_ref()).or(prompt).map_or(keys.own.span, |text| text.span)
}

#[cfg(test)]
#[path = "agent_task_tests.rs"]
mod tests;
