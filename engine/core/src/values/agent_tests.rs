use super::super::told::Workplace;
use super::*;
use crate::model::{ModelRef, PermissionMode, ToolPolicy, in_background};
use crate::template::Template;

fn definition(tools: ToolPolicy, disallowed: &[&str]) -> AgentDef {
    AgentDef {
        name: "a".to_owned(),
        description: String::new(),
        when_to_use: None,
        tools,
        disallowed_tools: disallowed.iter().map(|rule| ToolRule::parse(rule)).collect(),
        model: ModelRef::Inherit,
        effort: None,
        permission_mode: None,
        max_turns: Some(7),
        isolation: None,
        background: false,
        supports_background: true,
        skills: Vec::new(),
        initial_prompt: Some("Begin.".to_owned()),
        color: None,
        version: None,
        body: "You are. \n".to_owned(),
        source: AgentSource::Project,
        path: "agents/a.md".to_owned(),
        file: std::sync::Arc::new(crate::diagnostic::SourceFile::new("agents/a.md", "")),
        hash: String::new(),
        warnings: Vec::new(),
    }
}

fn task(tools: Option<&[&str]>) -> AgentTask {
    AgentTask {
        fork: None,
        agent: 0,
        prompt: Template::text("p").unwrap(),
        model: None,
        tools: tools.map(|tools| tools.iter().map(|rule| ToolRule::parse(rule)).collect()),
        disallowed_tools: Vec::new(),
        max_turns: None,
        permission_mode: None,
        permissions: Default::default(),
        checks: None,
        repair: 0,
    }
}

fn only(rules: &[&str]) -> ToolPolicy {
    ToolPolicy::Only(rules.iter().map(|rule| ToolRule::parse(rule)).collect())
}

#[test]
fn tools_are_the_definitions_narrowed_by_the_task_less_what_is_denied() {
    for (defined, denied, wanted, tools) in [
        (ToolPolicy::Inherit, &[][..], None, "Read Glob Grep Write Edit Bash"),
        (ToolPolicy::Inherit, &["Bash(rm *)", "Write"], None, "Read Glob Grep Edit"),
        (only(&["Read", "Bash(git *)"]), &[], None, "Read Bash"),
        (only(&["Read", "Grep"]), &[], Some(&["Grep", "Write"][..]), "Grep"),
        (only(&[]), &[], None, ""),
        (only(&["*"]), &["*"], None, ""),
    ] {
        let definition = definition(defined, denied);
        assert_eq!(task(wanted).offered(&definition, false).collect::<Vec<_>>().join(" "), tools);
    }
}

#[test]
fn an_agent_in_the_background_has_no_tool_that_the_background_forbids() {
    let (definition, task) = (definition(ToolPolicy::Inherit, &[]), task(None));
    let all: Vec<&str> = task.offered(&definition, true).collect();
    assert!(all.iter().all(|tool| in_background(tool)) && all.contains(&"Bash"), "{all:?}");
}

#[test]
fn the_mode_is_the_tasks_then_the_definitions_then_the_places() {
    let mut definition = definition(ToolPolicy::Inherit, &[]);
    let mut task = task(None);
    let mode = |definition: &AgentDef, task: &AgentTask, private_tree| {
        let tree = std::path::PathBuf::from("/t");
        let (dir, project) = (tree.clone(), tree.clone());
        let place = Workplace { tree, dir, project, home: None, private_tree };
        rules_of(definition, task, &Settings::default()).at(place).mode
    };
    assert_eq!(mode(&definition, &task, false), PermissionMode::Default);
    assert_eq!(mode(&definition, &task, true), PermissionMode::AcceptEdits);
    definition.permission_mode = Some(PermissionMode::Plan);
    assert_eq!(mode(&definition, &task, true), PermissionMode::Plan);
    task.permission_mode = Some(PermissionMode::DontAsk);
    assert_eq!(mode(&definition, &task, true), PermissionMode::DontAsk);
}
