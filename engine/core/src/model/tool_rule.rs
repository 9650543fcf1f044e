//! Rules over the calls of tools, as they are written.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::OF_SERVER;

/// `Tool` or `Tool(spec)`, as written in a `tools` list or a permission rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

    /// Whether it speaks of a tool at all, by its name alone.
    pub fn names(&self, tool: &str) -> bool {
        let rule = self.tool.as_str();
        rule == tool
            || rule == "*"
            || rule.starts_with(OF_SERVER)
                && match rule.strip_suffix('*') {
                    Some(prefix) => tool.starts_with(prefix),
                    // The name of a server stands for all of its tools.
                    None => tool.strip_prefix(rule).is_some_and(|rest| rest.starts_with("__")),
                }
    }

    /// Whether one of them speaks of a tool.
    pub fn any_names(rules: &[ToolRule], tool: &str) -> bool {
        rules.iter().any(|rule| rule.names(tool))
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

#[cfg(test)]
#[path = "tool_rule_tests.rs"]
mod tests;
