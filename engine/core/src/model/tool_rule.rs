//! Rules over the calls of tools, as they are written.

use std::fmt;

use serde::{Deserialize, Serialize};

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
}

impl fmt::Display for ToolRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spec {
            Some(spec) => write!(f, "{}({spec})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}
