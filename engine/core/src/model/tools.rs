//! The tools an agent can have, by the names that Claude Code gave them, and rules over their calls.

use std::fmt;

/// What a call of a tool can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Looks only; several run at once.
    Reader,
    /// May change something; one at a time, in order.
    Writer,
}

/// A tool as every layer knows it.
#[derive(Debug)]
pub struct ToolInfo {
    /// The name on the wire, exact case.
    pub name: &'static str,
    /// Reader or writer.
    pub class: ToolClass,
}

/// Every tool that a definition or a task may name.
pub const TOOLS: &[ToolInfo] = &[
    ToolInfo { name: "Read", class: ToolClass::Reader },
    ToolInfo { name: "Glob", class: ToolClass::Reader },
    ToolInfo { name: "Grep", class: ToolClass::Reader },
    ToolInfo { name: "Write", class: ToolClass::Writer },
    ToolInfo { name: "Edit", class: ToolClass::Writer },
    ToolInfo { name: "Bash", class: ToolClass::Writer },
];

/// The tool of a name, exact case.
pub fn tool(name: &str) -> Option<&'static ToolInfo> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// `Tool` or `Tool(spec)`, as written in a `tools` list or a permission rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolRule {
    /// The tool's name, not checked.
    pub tool: String,
    /// What stands between the parentheses.
    pub spec: Option<String>,
}

impl ToolRule {
    /// Reads one rule; text without a closing parenthesis at its end is all name.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        match text.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
            Some((tool, spec)) => ToolRule { tool: tool.trim().to_owned(), spec: Some(spec.to_owned()) },
            None => ToolRule { tool: text.to_owned(), spec: None },
        }
    }
}

impl fmt::Display for ToolRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spec {
            Some(spec) => write!(f, "{}({spec})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}
