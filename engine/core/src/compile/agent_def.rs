//! From an agent file to a definition: words become values, and what can't be is reported.

use std::sync::Arc;

use super::agent_tools::{denied, granted};
use super::agents::AgentText;
use super::words::ISOLATIONS;
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span, Spanned};
use crate::import::{AgentFile, ToolsFile};
use crate::model::{
    AgentDef, AgentSource, Effort, ModelRef, PermissionMode, ToolEffect, ToolPolicy, ToolRule, known_tool,
};
use crate::syntax::{Node, NodeKind, Text};
use crate::text::{did_you_mean, list_some};

/// The definition that a file gives. With an error in `found` it must not be used.
pub(super) fn agent_def(agent: AgentFile, text: &AgentText, found: &mut Vec<Diagnostic>) -> AgentDef {
    let file = Arc::clone(&agent.file);
    let name = agent.identity().to_owned();
    let tools = match &agent.tools {
        None => ToolPolicy::Inherit,
        Some(Spanned { value: ToolsFile::All, .. }) => ToolPolicy::Inherit,
        Some(Spanned { value: ToolsFile::Only(words), .. }) => ToolPolicy::Only(granted(&file, words, found)),
    };
    let disallowed_tools = denied(&file, &agent.disallowed_tools, found);
    let permission_mode = agent.permission_mode.as_ref().and_then(|word| {
        let mode = choice(&file, "permissionMode", word, PermissionMode::WORDS, found)?;
        let personal = mode == PermissionMode::BypassPermissions && !may_bypass(text.source);
        if personal {
            found.push(
                Diagnostic::new(
                    Code::IgnoredSetting,
                    &file,
                    word.span,
                    "`bypassPermissions` is read as `default`",
                )
                .help("only a definition of the user, a flag or a policy may ask for it"),
            );
        }
        Some(if personal { PermissionMode::Default } else { mode })
    });
    contradiction(&file, &agent, &tools, permission_mode, found);
    without_effect(&file, &agent, found);
    let isolation =
        agent.isolation.as_ref().and_then(|word| choice(&file, "isolation", word, ISOLATIONS, found));
    let effort = agent.effort.as_ref().and_then(|word| effort(&file, word, found));
    let max_turns = agent.max_turns.as_ref().and_then(|turns| turn_limit(&file, turns, found));
    let model = model(&file, &agent.model, found);
    let path = match text.source {
        AgentSource::BuiltIn => "built-in".to_owned(),
        AgentSource::Plugin
        | AgentSource::User
        | AgentSource::Project
        | AgentSource::Flag
        | AgentSource::Policy => text.file.name.clone(),
    };
    let value = |text: Option<Text>| text.map(|text| text.value);
    // As a person goes through the file.
    found.sort_by_key(|found| found.labels.first().map(|label| label.span.start));
    AgentDef {
        name,
        description: value(agent.description).unwrap_or_default(),
        when_to_use: value(agent.when_to_use),
        tools,
        disallowed_tools,
        model,
        effort,
        permission_mode,
        max_turns,
        isolation,
        background: agent.background.is_some_and(|flag| flag.value),
        supports_background: agent.supports_background.is_none_or(|flag| flag.value),
        skills: agent.skills.into_iter().map(|skill| skill.value).collect(),
        initial_prompt: value(agent.initial_prompt),
        color: value(agent.color),
        version: value(agent.version),
        body: agent.body,
        source: text.source,
        path,
        file: Arc::clone(&text.file),
        hash: blake3::hash(text.file.text.as_bytes()).to_hex().to_string(),
        warnings: found.iter().map(one_line).collect(),
    }
}

const EFFORTS: &[(&str, Effort)] = &[
    ("low", Effort::Low),
    ("medium", Effort::Medium),
    ("high", Effort::High),
    ("xhigh", Effort::Xhigh),
    ("max", Effort::Max),
];

fn may_bypass(source: AgentSource) -> bool {
    match source {
        AgentSource::BuiltIn | AgentSource::User | AgentSource::Flag | AgentSource::Policy => true,
        AgentSource::Plugin | AgentSource::Project => false,
    }
}

/// One word of a table. These limit the agent, so another word is an error.
fn choice<T: Copy>(
    file: &Arc<SourceFile>,
    key: &str,
    word: &Text,
    table: &[(&str, T)],
    found: &mut Vec<Diagnostic>,
) -> Option<T> {
    if let Some((_, value)) = table.iter().find(|(name, _)| *name == word.value) {
        return Some(*value);
    }
    let names = || table.iter().map(|(name, _)| *name);
    let help = match did_you_mean(&word.value, names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("write one of {}", list_some(names(), table.len())),
    };
    let message = format!("`{key}` can't be `{}`", word.value);
    found.push(Diagnostic::new(Code::BadValue, file, word.span, message).help(help));
    None
}

/// Effort limits nothing, and files in the field have words of later versions: another word is ignored.
fn effort(file: &Arc<SourceFile>, word: &Text, found: &mut Vec<Diagnostic>) -> Option<Effort> {
    let known = EFFORTS.iter().find(|(name, _)| *name == word.value).map(|(_, effort)| *effort);
    if known.is_none() {
        let names = list_some(EFFORTS.iter().map(|(name, _)| *name), EFFORTS.len());
        let message = format!("there is no effort `{}`; the default is used", word.value);
        found.push(
            Diagnostic::new(Code::Suspicious, file, word.span, message).help(format!("write one of {names}")),
        );
    }
    known
}

fn turn_limit(file: &Arc<SourceFile>, turns: &Spanned<i64>, found: &mut Vec<Diagnostic>) -> Option<u32> {
    match u32::try_from(turns.value) {
        Ok(limit) if limit > 0 => Some(limit),
        _ => {
            let message = format!("`maxTurns` can't be {}", turns.value);
            found.push(
                Diagnostic::new(Code::BadValue, file, turns.span, message)
                    .help("write a number from 1, or take it out for no limit of its own"),
            );
            None
        }
    }
}

fn model(file: &Arc<SourceFile>, names: &[Text], found: &mut Vec<Diagnostic>) -> ModelRef {
    if let Some(second) = names.get(1) {
        let message = "of several models only the first is used";
        found.push(
            Diagnostic::new(Code::IgnoredKey, file, second.span, message)
                .help("give the list a name in flow.toml: `[models] NAME = [\"…\", \"…\"]`"),
        );
    }
    match names.first().map(|name| name.value.trim()) {
        None | Some("" | "inherit") => ModelRef::Inherit,
        Some(name) => ModelRef::Named(name.to_owned()),
    }
}

/// What an author relies on and does not get: a guard that does not stand is worse than none.
fn without_effect(file: &Arc<SourceFile>, agent: &AgentFile, found: &mut Vec<Diagnostic>) {
    const HOOKS: &str =
        "what they forbid write as `disallowedTools` here, or as `permissions: { deny: [...] }` of the task";
    const SKILLS: &str = "put what the agent has to know into its prompt, or into a file that it reads";
    const MEMORY: &str = "what earlier agents learned it doesn't know; put it into its prompt";
    let written = |node: &Option<Node>| {
        node.as_ref().filter(|node| !matches!(node.kind, NodeKind::Null)).map(|node| node.span)
    };
    let keys = [
        ("hooks", written(&agent.hooks), HOOKS),
        ("mcpServers", written(&agent.mcp_servers), "the agent has none of their tools"),
        ("skills", agent.skills.first().map(|skill| skill.span), SKILLS),
        ("memory", agent.memory.as_ref().map(|memory| memory.span), MEMORY),
    ];
    for (key, span, help) in keys {
        if let Some(span) = span {
            let message = format!("`{key}` has no effect yet");
            found.push(Diagnostic::new(Code::IgnoredKey, file, span, message).help(help));
        }
    }
}

/// An agent that may only write, in a mode that refuses writing.
fn contradiction(
    file: &Arc<SourceFile>,
    agent: &AgentFile,
    tools: &ToolPolicy,
    mode: Option<PermissionMode>,
    found: &mut Vec<Diagnostic>,
) {
    let writes =
        |rule: &ToolRule| known_tool(&rule.tool).is_some_and(|tool| tool.effect == ToolEffect::Edits);
    let only_writes = match tools {
        ToolPolicy::Inherit => false,
        ToolPolicy::Only(rules) => !rules.is_empty() && rules.iter().all(writes),
    };
    if !only_writes || mode != Some(PermissionMode::Plan) {
        return;
    }
    let span = |place: Option<Span>| place.unwrap_or_default();
    let tools = span(agent.tools.as_ref().map(|tools| tools.span));
    let mode = span(agent.permission_mode.as_ref().map(|mode| mode.span));
    found.push(
        Diagnostic::new(
            Code::AgentConflict,
            file,
            tools,
            "every tool of this agent writes, and its mode refuses writers",
        )
        .label(file, mode, "refuses them")
        .help("take one of the two out"),
    );
}

/// `agents/x.md:3:1: message`.
fn one_line(diagnostic: &Diagnostic) -> String {
    match diagnostic.labels.first() {
        Some(label) => format!("{}: {}", label.file.at(label.span.start), diagnostic.message),
        None => diagnostic.message.clone(),
    }
}
