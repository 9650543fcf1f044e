//! The layers of `flow.toml`, folded into one.
//!
//! A later layer wins key by key. A repository's layers may narrow what a person decides and never widen it: its `allow`
//! rules, its folder for worktrees and its version of a person's provider are ignored with a warning, so that reading a
//! stranger's repository grants nothing.

use std::sync::Arc;

use super::agent_tools::{is_known_tool, known_names, meant_tool};
use crate::diagnostic::{Code, Diagnostic, SourceFile, Span, Spanned};
use crate::model::{
    ModelChoice, ModelTarget, PermissionRules, ProviderKind, ProviderSettings, Settings, SettingsLayer,
    ToolRule,
};
use crate::syntax::fields::{Field, Reader};
use crate::syntax::foreign::Place;
use crate::syntax::{Entry, NodeKind, Text, parse_toml};
use crate::text::{did_you_mean, list_some};
use crate::wire::{APIS, api};

/// A `flow.toml` as it was read.
#[derive(Clone, Debug)]
pub struct SettingsText {
    /// Whose it is.
    pub layer: SettingsLayer,
    /// The folder that its paths are relative to.
    pub dir: String,
    /// Its text.
    pub file: Arc<SourceFile>,
}

/// Folds the layers, the weakest first; `own`: the person's own file, for who has to write something there. The settings
/// may be used only when no diagnostic is an error.
pub fn settings(layers: Vec<SettingsText>, own: &str) -> (Settings, Vec<Diagnostic>) {
    let mut settings = Settings::default();
    let mut found = Vec::new();
    for text in layers {
        let node = match parse_toml(&text.file) {
            Ok(node) => node,
            Err(mut problems) => {
                found.append(&mut problems);
                continue;
            }
        };
        let NodeKind::Map(entries) = node.kind else { continue };
        let mut reader = Reader::new(&text.file);
        let mut layer = Layer { text: &text, settings: &mut settings, own };
        read_layer(&mut reader, &mut layer, entries);
        reader.found.sort_by_key(|problem| problem.labels.first().map(|label| label.span.start));
        found.append(&mut reader.found);
    }
    (settings, found)
}

/// Where the values of one file go.
struct Layer<'a> {
    text: &'a SettingsText,
    settings: &'a mut Settings,
    own: &'a str,
}

impl Layer<'_> {
    fn is_repository(&self) -> bool {
        match self.text.layer {
            SettingsLayer::Repository => true,
            SettingsLayer::User | SettingsLayer::Flag | SettingsLayer::Policy => false,
        }
    }
}

pub(super) const KEYS: &[&str] =
    &["models", "providers", "agents", "permissions", "worktrees", "concurrency"];

fn read_layer(reader: &mut Reader<'_>, layer: &mut Layer<'_>, entries: Box<[Entry]>) {
    for entry in entries {
        match entry.key.as_str() {
            "models" => models(reader, layer, entry),
            "providers" => providers(reader, layer, entry),
            "agents" => agents(reader, layer, entry),
            "permissions" => permissions(reader, layer, entry),
            "worktrees" => worktrees(reader, layer, entry),
            "concurrency" => {
                let count = positive(reader, entry);
                layer.settings.concurrency = count.or(layer.settings.concurrency);
            }
            _ => reader.unknown_key(Place::Other("`flow.toml`"), &entry, KEYS.iter().copied()),
        }
    }
}

/// A number from 1.
fn positive(reader: &mut Reader<'_>, entry: Entry) -> Option<u32> {
    let key = entry.key.clone();
    let number = reader.int(entry)?;
    match u32::try_from(number.value) {
        Ok(count) if count > 0 => Some(count),
        _ => {
            let message = format!("`{key}` can't be {}", number.value);
            reader.problem(Code::BadValue, number.span, message).help =
                Some("write a number from 1".to_owned());
            None
        }
    }
}

/// The entries of a table; a value of another type is reported, and has none.
fn table(reader: &mut Reader<'_>, entry: Entry) -> Option<Box<[Entry]>> {
    let written = format!("a table: `[{}]`", entry.key);
    reader.mapping(entry, &written)
}

fn models(reader: &mut Reader<'_>, layer: &mut Layer<'_>, entry: Entry) {
    for entry in table(reader, entry).unwrap_or_default() {
        let key = entry.key.clone();
        let targets = match entry.value.kind {
            NodeKind::List(items) => items
                .into_iter()
                .filter_map(|item| target(reader, Entry { value: item, key: key.clone(), ..entry }))
                .collect(),
            _ => Vec::from_iter(target(reader, entry)),
        };
        if !targets.is_empty() {
            let name = String::from(key);
            let weaker = layer.settings.models.get(&name).cloned().map(Box::new);
            let (dir, layer_of) = (layer.text.dir.clone(), layer.text.layer);
            layer.settings.models.insert(name, ModelChoice { targets, dir, layer: layer_of, weaker });
        }
    }
}

/// A written model while it is read.
#[derive(Default)]
struct Script {
    provider: Option<Text>,
    file: Option<Text>,
}

const SCRIPT: &[Field<Script>] = &[
    Field { name: "provider", read: |reader, script, entry| script.provider = reader.text(entry) },
    Field { name: "file", read: |reader, script, entry| script.file = reader.text(entry) },
];

fn target(reader: &mut Reader<'_>, entry: Entry) -> Option<ModelTarget> {
    const FORMS: &str = "a model, `{ provider = \"script\", file = \"…\" }`, or a list of those";
    let span = reader.shown(&entry);
    match entry.value.kind {
        NodeKind::Text { ref value, .. } if value.trim().is_empty() => {
            reader.problem(Code::BadValue, span, format!("`{}` names no model", entry.key));
            None
        }
        NodeKind::Text { value, .. } => Some(ModelTarget::Named(value.into())),
        NodeKind::Map(keys) => {
            let mut script = Script::default();
            reader.fields(Place::Other("a model"), keys, SCRIPT, &mut script);
            match &script.provider {
                Some(provider) if provider.value != "script" => {
                    let message = format!("a model in this form is a script, not `{}`", provider.value);
                    reader.problem(Code::BadValue, provider.span, message).help =
                        Some(format!("write `\"{}/MODEL\"` for a provider's model", provider.value));
                    return None;
                }
                Some(_) => {}
                None => missing(reader, span, &entry.key, "provider"),
            }
            if script.file.is_none() {
                missing(reader, span, &entry.key, "file");
            }
            script.file.map(|file| ModelTarget::Script(file.value))
        }
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::List(_) => {
            reader.wrong_type(&entry, FORMS);
            None
        }
    }
}

fn missing(reader: &mut Reader<'_>, span: Span, of: &str, key: &str) {
    reader.problem(Code::MissingKey, span, format!("`{of}` lacks `{key}`"));
}

/// A provider while it is read.
#[derive(Default)]
pub(super) struct Provider {
    kind: Option<Text>,
    base_url: Option<Text>,
    api_key_env: Option<Text>,
    max_concurrent: Option<u32>,
    allow_local: Option<Spanned<bool>>,
}

pub(super) const PROVIDER: &[Field<Provider>] = &[
    Field { name: "kind", read: |reader, provider, entry| provider.kind = reader.text(entry) },
    Field { name: "base_url", read: |reader, provider, entry| provider.base_url = reader.text(entry) },
    Field { name: "api_key_env", read: |reader, provider, entry| provider.api_key_env = reader.text(entry) },
    Field {
        name: "max_concurrent",
        read: |reader, provider, entry| provider.max_concurrent = positive(reader, entry),
    },
    Field { name: "allow_local", read: |reader, provider, entry| provider.allow_local = reader.flag(entry) },
];

fn providers(reader: &mut Reader<'_>, layer: &mut Layer<'_>, entry: Entry) {
    for entry in table(reader, entry).unwrap_or_default() {
        let Text { value: name, span } = entry.name();
        let mut provider = Provider::default();
        let Some(keys) = table(reader, entry) else { continue };
        reader.fields(Place::Other("a provider"), keys, PROVIDER, &mut provider);
        let Some(kind) = provider_kind(reader, &name, span, provider.kind.as_ref()) else { continue };
        let personal = |known: &ProviderSettings| known.layer != SettingsLayer::Repository;
        if layer.is_repository() && layer.settings.providers.get(&name).is_some_and(personal) {
            // Else a repository could send what a person means for their own server to another.
            ignored(reader, layer, span, &format!("providers.{name}"));
            continue;
        }
        if layer.is_repository()
            && let (Some(variable), true) = (&provider.api_key_env, provider.base_url.is_some())
        {
            // Else whoever writes a repository could have a person's key sent to a server of theirs.
            let message = format!(
                "`providers.{name}.api_key_env` is ignored: a project's flow.toml can't bind a key to a host"
            );
            reader.problem(Code::IgnoredSetting, variable.span, message).help =
                Some(format!("move `[providers.{name}]` to `{}`", layer.own));
        }
        let value = |text: Option<Text>| text.map(|text| text.value);
        let settings = ProviderSettings {
            kind,
            base_url: value(provider.base_url),
            api_key_env: value(provider.api_key_env),
            max_concurrent: provider.max_concurrent,
            allow_local: provider.allow_local.is_some_and(|flag| flag.value),
            layer: layer.text.layer,
        };
        layer.settings.providers.insert(name, settings);
    }
}

/// `kind`, or the provider's name where that says it.
fn provider_kind(
    reader: &mut Reader<'_>,
    name: &str,
    span: Span,
    kind: Option<&Text>,
) -> Option<ProviderKind> {
    let names = || APIS.iter().map(|api| api.kind.0);
    let word = kind.map_or(name, |kind| &kind.value);
    if let Some(api) = api(word) {
        return Some(api.kind);
    }
    let all = list_some(names(), APIS.len());
    match kind {
        Some(kind) => {
            let help = match did_you_mean(&kind.value, names()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("write one of {all}"),
            };
            let message = format!("there is no kind of provider `{}`", kind.value);
            reader.problem(Code::BadValue, kind.span, message).help = Some(help);
        }
        None => {
            let message = format!("provider `{name}` lacks `kind`");
            reader.problem(Code::MissingKey, span, message).help = Some(format!("write one of {all}"));
        }
    }
    None
}

/// `[agents]` while it is read.
#[derive(Default)]
pub(super) struct Agents {
    disable: Vec<Text>,
    max_tool_concurrency: Option<u32>,
}

pub(super) const AGENTS: &[Field<Agents>] = &[
    Field { name: "disable", read: |reader, agents, entry| agents.disable = reader.texts(entry) },
    Field {
        name: "max_tool_concurrency",
        read: |reader, agents, entry| agents.max_tool_concurrency = positive(reader, entry),
    },
];

fn agents(reader: &mut Reader<'_>, layer: &mut Layer<'_>, entry: Entry) {
    let mut agents = Agents::default();
    let keys = table(reader, entry).unwrap_or_default();
    reader.fields(Place::Other("`[agents]`"), keys, AGENTS, &mut agents);
    for name in agents.disable {
        // What one layer takes out no other puts back.
        if !layer.settings.disabled_agents.contains(&name.value) {
            layer.settings.disabled_agents.push(name.value);
        }
    }
    let limit = agents.max_tool_concurrency;
    layer.settings.max_tool_concurrency = limit.or(layer.settings.max_tool_concurrency);
}

/// `[permissions]` while it is read.
#[derive(Default)]
pub(super) struct Rules {
    allow: Vec<Text>,
    ask: Vec<Text>,
    deny: Vec<Text>,
    allow_key: Option<Span>,
}

pub(super) const PERMISSIONS: &[Field<Rules>] = &[
    Field {
        name: "allow",
        read: |reader, rules, entry| {
            rules.allow_key = Some(entry.key_span);
            rules.allow = reader.texts(entry);
        },
    },
    Field { name: "ask", read: |reader, rules, entry| rules.ask = reader.texts(entry) },
    Field { name: "deny", read: |reader, rules, entry| rules.deny = reader.texts(entry) },
];

fn permissions(reader: &mut Reader<'_>, layer: &mut Layer<'_>, entry: Entry) {
    let mut rules = Rules::default();
    let keys = table(reader, entry).unwrap_or_default();
    reader.fields(Place::Other("`[permissions]`"), keys, PERMISSIONS, &mut rules);
    let mut allow = tool_rules(reader, rules.allow);
    let (ask, deny) = (tool_rules(reader, rules.ask), tool_rules(reader, rules.deny));
    if layer.is_repository() && !allow.is_empty() {
        allow.clear();
        ignored(reader, layer, rules.allow_key.unwrap_or_default(), "permissions.allow");
    }
    if !(allow.is_empty() && ask.is_empty() && deny.is_empty()) {
        let rules = PermissionRules { layer: layer.text.layer, allow, ask, deny };
        layer.settings.permissions.push(rules);
    }
}

/// Rules whose tools exist: one that matches nothing would deny nothing.
fn tool_rules(reader: &mut Reader<'_>, texts: Vec<Text>) -> Vec<ToolRule> {
    let mut rules = Vec::with_capacity(texts.len());
    for text in texts {
        let rule = ToolRule::parse(&text.value);
        if rule.tool != "*" && !is_known_tool(&rule.tool) {
            let help = match meant_tool(&rule.tool) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("tools: {}", known_names()),
            };
            let message = format!("there is no tool `{}`", rule.tool);
            reader.problem(Code::UnknownTool, text.span, message).help = Some(help);
        }
        rules.push(rule);
    }
    rules
}

/// `[worktrees]` while it is read.
#[derive(Default)]
pub(super) struct Worktrees {
    dir: Option<(Text, Span)>,
    include: Vec<Text>,
    setup: Vec<Text>,
    setup_key: Span,
}

pub(super) const WORKTREES: &[Field<Worktrees>] = &[
    Field {
        name: "dir",
        read: |reader, worktrees, entry| {
            let key = entry.key_span;
            worktrees.dir = reader.text(entry).map(|dir| (dir, key));
        },
    },
    Field { name: "include", read: |reader, worktrees, entry| worktrees.include = reader.one_or_many(entry) },
    Field {
        name: "setup",
        read: |reader, worktrees, entry| {
            worktrees.setup_key = entry.key_span;
            worktrees.setup = reader.one_or_many(entry);
        },
    },
];

fn worktrees(reader: &mut Reader<'_>, layer: &mut Layer<'_>, entry: Entry) {
    let mut worktrees = Worktrees::default();
    let keys = table(reader, entry).unwrap_or_default();
    reader.fields(Place::Other("`[worktrees]`"), keys, WORKTREES, &mut worktrees);
    match worktrees.dir {
        Some((_, key)) if layer.is_repository() => ignored(reader, layer, key, "worktrees.dir"),
        Some((dir, _)) => layer.settings.worktrees_dir = Some(dir.value),
        None => {}
    }
    let values = |texts: Vec<Text>| texts.into_iter().map(|text| text.value);
    layer.settings.worktrees_include.extend(values(worktrees.include));
    if layer.is_repository() && !worktrees.setup.is_empty() {
        // Whoever runs a plan of their own in a stranger's repository has named none of its commands.
        ignored(reader, layer, worktrees.setup_key, "worktrees.setup");
    } else {
        layer.settings.worktrees_setup.extend(values(worktrees.setup));
    }
}

fn ignored(reader: &mut Reader<'_>, layer: &Layer<'_>, span: Span, setting: &str) {
    let message = format!("`{setting}` is ignored here");
    reader.problem(Code::IgnoredSetting, span, message).help =
        Some(format!("a repository can't set it; write it into your own `{}`", layer.own));
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
