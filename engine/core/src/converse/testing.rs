//! What the tests of the loop share.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{AgentSpec, Effect, OutputForm};
use crate::model::{PermissionMode, PermissionRules, SettingsLayer, ToolPolicy, ToolRule, Usage, tool};
use crate::policy::{ModeSource, Permissions};
use crate::wire::{Block, Reply, StopReason, ToolSpec};

/// An agent with the tools Read, Grep, Edit and Bash, of which the task grants Edit and `Bash(ok *)`.
pub(super) fn spec() -> AgentSpec {
    let spec = |name: &str, key: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        input_schema: json!({
            "type": "object", "required": [key], "properties": { key: { "type": "string" } },
        }),
        class: tool(name).unwrap().class(),
    };
    let rules = |texts: &[&str]| texts.iter().map(|text| ToolRule::parse(text)).collect::<Vec<_>>();
    AgentSpec {
        model: "model-1".to_owned(),
        system: Arc::from("be good"),
        tools: Arc::from([
            spec("Read", "file_path"),
            spec("Grep", "pattern"),
            spec("Edit", "file_path"),
            spec("Bash", "command"),
        ]),
        forked: false,
        permissions: Arc::new(Permissions {
            mode: PermissionMode::Default,
            mode_source: ModeSource::Definition,
            tree: PathBuf::from("/w"),
            dir: PathBuf::from("/w"),
            home: None,
            readable: Vec::new(),
            private_tree: false,
            layers: Vec::new(),
            task: PermissionRules {
                layer: SettingsLayer::Flag,
                allow: rules(&["Edit", "Bash(ok *)"]),
                ask: Vec::new(),
                deny: rules(&["Bash(rm *)"]),
            },
            definition: ToolPolicy::Inherit,
            disallowed: Vec::new(),
        }),
        max_turns: 20,
        max_tokens: 1000,
        effort: None,
        output: OutputForm::Text,
        repair: 1,
        max_tool_concurrency: 3,
        background: false,
        checked: false,
    }
}

/// A call: id, tool, arguments.
pub(super) fn call(id: &str, name: &str, input: Value) -> Block {
    Block::ToolUse { id: id.to_owned(), name: name.to_owned(), input }
}

/// An answer of these blocks that used one token each way.
pub(super) fn reply(content: Vec<Block>) -> Reply {
    let calls = content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
    Reply {
        content,
        stop: if calls { StopReason::ToolUse } else { StopReason::EndTurn },
        usage: Usage { input_tokens: 1, output_tokens: 1, ..Usage::default() },
    }
}

/// An answer of one text.
pub(super) fn say(text: &str) -> Reply {
    reply(vec![Block::Text { text: text.to_owned() }])
}

/// Effects in short: `record`, `ask`, `call ID`, `denied TOOL`, `finish REASON`.
pub(super) fn shape(effects: &[Effect]) -> String {
    let one = |effect: &Effect| match effect {
        Effect::Record(_) => "record".to_owned(),
        Effect::Ask(_) => "ask".to_owned(),
        Effect::Call(call) => format!("call {}", call.id),
        Effect::Check => "check".to_owned(),
        Effect::Denied(denial) => format!("denied {}", denial.tool),
        Effect::Finish(end) => format!("finish {}", end.reason.map_or("completed", |reason| reason.as_str())),
    };
    effects.iter().map(one).filter(|text| text != "record").collect::<Vec<_>>().join(", ")
}
