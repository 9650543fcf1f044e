//! What an agent may do on a task: its definition, narrowed by the task.

use super::AgentTask;
use crate::model::{AgentDef, PermissionMode, ToolRule, in_background, offered_tools};

impl AgentTask {
    /// Whether its agent has a tool: the definition's set, narrowed by the task's, less what either takes away, and less what
    /// the background forbids.
    pub fn has_tool(&self, definition: &AgentDef, tool: &str, background: bool) -> bool {
        definition.has_tool(tool)
            && self.tools.as_ref().is_none_or(|rules| ToolRule::any_names(rules, tool))
            && !ToolRule::any_names(&self.disallowed_tools, tool)
            && (!background || in_background(tool))
    }

    /// The tools that its model is offered, in the order of the table.
    pub fn offered(&self, definition: &AgentDef, background: bool) -> impl Iterator<Item = &'static str> {
        offered_tools().map(|tool| tool.name).filter(move |tool| self.has_tool(definition, tool, background))
    }

    /// The permission mode that was said; without one its place decides.
    pub fn mode(&self, definition: &AgentDef) -> Option<PermissionMode> {
        self.permission_mode.or(definition.permission_mode)
    }
}
