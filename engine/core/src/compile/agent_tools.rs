//! Names of tools in definitions: which exist, and what was meant by those that don't.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::diagnostic::{Code, Diagnostic, SourceFile};
use crate::model::{OF_SERVER, TOOLS, ToolInfo, ToolRule, ToolState, known_tool, offered_tools, tool};
use crate::syntax::Text;
use crate::text::{did_you_mean, list_some};

/// Words for "no limit".
const EVERYTHING: &[&str] = &["all", "any", "inherit", "default"];

/// Whether a tool of this name exists, in this version or a later one.
pub(crate) fn is_known_tool(name: &str) -> bool {
    known_tool(name).is_some() || name.starts_with(OF_SERVER)
}

/// The tool that was probably meant by a name that isn't one.
pub(crate) fn meant_tool(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let found = |is: &dyn Fn(&ToolInfo) -> bool| TOOLS.iter().find(|tool| is(tool)).map(|tool| tool.name);
    found(&|tool| tool.name.to_lowercase() == lower)
        .or_else(|| found(&|tool| tool.elsewhere.contains(&lower.as_str())))
        .or_else(|| did_you_mean(name, TOOLS.iter().map(|tool| tool.name)))
}

/// Whether a name means a tool that only other programs, or later versions, have.
fn is_lacked(name: &str) -> bool {
    if let Some(tool) = known_tool(name) {
        return tool.state == ToolState::Later;
    }
    is_known_tool(name) || meant_tool(name).is_some_and(|meant| tool(meant).is_none())
}

/// Says once which of the tools of a definition flow lacks.
fn tell_lacked(file: &Arc<SourceFile>, words: &[Text], rules: &[ToolRule], found: &mut Vec<Diagnostic>) {
    let lacked = |at: &usize| is_lacked(&rules[*at].tool);
    let Some(first) = (0..rules.len()).find(lacked) else { return };
    let names = rules.iter().map(|rule| rule.tool.as_str()).filter(|name| is_lacked(name));
    let names: IndexSet<&str> = names.collect();
    let alone =
        if rules.iter().all(|rule| is_lacked(&rule.tool)) { ", and the agent has no other tool" } else { "" };
    let message = format!("flow has no {}{alone}", list_some(names, 6));
    let finding = Diagnostic::new(Code::IgnoredTool, file, words[first].span, message);
    found.push(finding.help("take it out, or let a task of its own do what it is for"));
}

/// The rules of a `tools` list. A name that is no tool is kept, and grants nothing; an error where nothing else is left.
pub(super) fn granted(file: &Arc<SourceFile>, words: &[Text], found: &mut Vec<Diagnostic>) -> Vec<ToolRule> {
    let rules: Vec<ToolRule> = words.iter().map(|word| ToolRule::parse(&word.value)).collect();
    tell_lacked(file, words, &rules, found);
    let is_unknown = |at: &usize| !is_known_tool(&rules[*at].tool) && !is_lacked(&rules[*at].tool);
    let unknown: Vec<usize> = (0..rules.len()).filter(is_unknown).collect();
    let nothing_left = !rules.is_empty() && unknown.len() == rules.len();
    for at in unknown {
        let name = &rules[at].tool;
        let help = match meant_tool(name) {
            _ if EVERYTHING.contains(&name.to_lowercase().as_str()) => {
                "for all tools leave `tools` out".to_owned()
            }
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("tools: {}", known_names()),
        };
        let (code, message) = match nothing_left {
            true => (Code::UnknownTool, format!("there is no tool `{name}`, and the agent has no other")),
            false => (Code::IgnoredTool, format!("there is no tool `{name}`; it grants nothing")),
        };
        found.push(Diagnostic::new(code, file, words[at].span, message).help(help));
    }
    rules
}

/// The rules of a `disallowedTools` list. A misspelt name denies what it was meant for: that can only narrow.
pub(super) fn denied(file: &Arc<SourceFile>, words: &[Text], found: &mut Vec<Diagnostic>) -> Vec<ToolRule> {
    let mut rules = Vec::with_capacity(words.len());
    for word in words {
        let rule = ToolRule::parse(&word.value);
        if rule.tool == "*" || is_known_tool(&rule.tool) {
            rules.push(rule);
            continue;
        }
        let meant = meant_tool(&rule.tool);
        let message = match meant {
            Some(meant) => format!("there is no tool `{}`; `{meant}` is taken away", rule.tool),
            None => format!("there is no tool `{}`, so nothing is taken away", rule.tool),
        };
        let help = meant.map(|meant| format!("write `{meant}`"));
        found.push(Diagnostic::new(Code::IgnoredTool, file, word.span, message).maybe_help(help));
        let tool = meant.map_or_else(|| rule.tool.clone(), str::to_owned);
        rules.push(ToolRule { tool, spec: rule.spec });
    }
    rules
}

/// Our tools in a row, for help lines.
pub(crate) fn known_names() -> String {
    let names: Vec<String> = offered_tools().map(|tool| format!("`{}`", tool.name)).collect();
    names.join(", ")
}
