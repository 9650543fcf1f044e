//! An agent definition as written: keys known, types right, words still text.

use std::sync::Arc;

use crate::diagnostic::{SourceFile, Spanned};
use crate::syntax::{Node, Text};
use crate::text::file_stem;

/// An agent definition.
#[derive(Debug)]
pub struct AgentFile {
    /// The file as it was parsed; all places are in it.
    pub file: Arc<SourceFile>,
    /// `name`; absent when the file doesn't say.
    pub name: Option<Text>,
    /// `description`.
    pub description: Option<Text>,
    /// `flow.when_to_use`.
    pub when_to_use: Option<Text>,
    /// `tools`, or what was meant by a misspelt one.
    pub tools: Option<Spanned<ToolsFile>>,
    /// `disallowedTools`.
    pub disallowed_tools: Vec<Text>,
    /// `model`; in order of preference where it's a list.
    pub model: Vec<Text>,
    /// `effort`.
    pub effort: Option<Text>,
    /// `permissionMode`.
    pub permission_mode: Option<Text>,
    /// `maxTurns`.
    pub max_turns: Option<Spanned<i64>>,
    /// `isolation`.
    pub isolation: Option<Text>,
    /// `background`.
    pub background: Option<Spanned<bool>>,
    /// `flow.supports_background`.
    pub supports_background: Option<Spanned<bool>>,
    /// `memory`.
    pub memory: Option<Text>,
    /// `skills`.
    pub skills: Vec<Text>,
    /// `mcpServers`.
    pub mcp_servers: Option<Node>,
    /// `hooks`.
    pub hooks: Option<Node>,
    /// `color`.
    pub color: Option<Text>,
    /// `initialPrompt`.
    pub initial_prompt: Option<Text>,
    /// `flow.version`, or `version` itself.
    pub version: Option<Text>,
    /// The system prompt, byte for byte.
    pub body: String,
}

/// What a `tools` key says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolsFile {
    /// `*`: everything.
    All,
    /// These; nothing at all when empty.
    Only(Vec<Text>),
}

impl AgentFile {
    /// A definition that says nothing yet.
    pub(crate) fn new(file: &Arc<SourceFile>, body: String) -> Self {
        AgentFile {
            file: Arc::clone(file),
            name: None,
            description: None,
            when_to_use: None,
            tools: None,
            disallowed_tools: Vec::new(),
            model: Vec::new(),
            effort: None,
            permission_mode: None,
            max_turns: None,
            isolation: None,
            background: None,
            supports_background: None,
            memory: None,
            skills: Vec::new(),
            mcp_servers: None,
            hooks: None,
            color: None,
            initial_prompt: None,
            version: None,
            body,
        }
    }

    /// The name of the definition: what it says, else the file's stem.
    pub fn identity(&self) -> &str {
        match &self.name {
            Some(name) => &name.value,
            None => file_stem(&self.file.name),
        }
    }
}
