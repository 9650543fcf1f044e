use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::model::PermissionMode;
use crate::plan::{AgentTask, TaskKind};

/// The agent task of a plan with one.
fn agent_task(trial: Trial) -> AgentTask {
    match trial.plan().tasks.remove(0).kind {
        TaskKind::Agent(task) => *task,
        TaskKind::Shell(_) => panic!("an agent task"),
    }
}

#[test]
fn an_unknown_agent_comes_with_the_near_one_and_where_was_searched() {
    let plan = "tasks:\n  t:\n    agent: reviewer\n    prompt: p\n";
    assert_snapshot!(Trial::of(plan).agent("rev.md", "name: rev").report(), @r"
    error[F0501]: there is no agent `reviewer`
     --> plan.yaml:4:12
      |
    4 |     agent: reviewer
      |            ^^^^^^^^
      |
      = help: did you mean `rev`? available: `general-purpose`, `rev`; searched in `.claude/agents`, `agents`
    ");
}

#[test]
fn a_broken_agent_is_reported_once_however_many_tasks_name_it() {
    let plan = "tasks:\n  t: { agent: bad, prompt: p }\n  u: { agent: bad, prompt: p }\n";
    let report = Trial::of(plan).agent("bad.md", "name: bad\ntools: Bahs").report();
    assert_eq!(report.matches("F0503").count(), 1, "{report}");
}

#[test]
fn a_broken_agent_is_reported_where_it_is_broken() {
    let plan = "tasks:\n  t:\n    agent: bad\n    prompt: p\n";
    assert_snapshot!(Trial::of(plan).agent("bad.md", "name: bad\ntools: Bahs").report(), @r"
    error[F0503]: there is no tool `Bahs`, and the agent has no other
     --> agents/bad.md:3:8
      |
    3 | tools: Bahs
      |        ^^^^
      |
     ::: plan.yaml:4:12
      |
    4 |     agent: bad
      |            --- this task needs agent `bad`
      |
      = help: did you mean `Bash`?
    ");
}

#[test]
fn tools_of_a_task_exist() {
    assert_snapshot!(check("tasks:\n  t: { prompt: p, tools: [Bahs, Read] }\n"), @r"
    error[F0503]: there is no tool `Bahs`
     --> plan.yaml:3:27
      |
    3 |   t: { prompt: p, tools: [Bahs, Read] }
      |                           ^^^^
      |
      = help: did you mean `Bash`? tools: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`
    ");
    assert_snapshot!(check("tasks:\n  t: { prompt: p, tools: [Read, WebFetch], disallowed_tools: [WebFetch, Wirte], permissions: { deny: [Bsh] } }\n"), @r"
    error[F0503]: this version of flow has no tool `WebFetch`
     --> plan.yaml:3:33
      |
    3 |   t: { prompt: p, tools: [Read, WebFetch], disallowed_tools: [WebFetch, Wirte], permissions: { deny: [Bsh] } }
      |                                 ^^^^^^^^
      |
      = help: tools: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`

    error[F0503]: there is no tool `Wirte`
     --> plan.yaml:3:73
      |
    3 |   t: { prompt: p, tools: [Read, WebFetch], disallowed_tools: [WebFetch, Wirte], permissions: { deny: [Bsh] } }
      |                                                                         ^^^^^
      |
      = help: did you mean `Write`? tools: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`

    error[F0503]: there is no tool `Bsh`
     --> plan.yaml:3:103
      |
    3 |   t: { prompt: p, tools: [Read, WebFetch], disallowed_tools: [WebFetch, Wirte], permissions: { deny: [Bsh] } }
      |                                                                                                       ^^^
      |
      = help: did you mean `Bash`? tools: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`
    ");
}

#[test]
fn a_task_gets_no_tool_that_its_agent_lacks() {
    let plan = "tasks:\n  t: { agent: looker, prompt: p, tools: [Read, Write] }\n";
    assert_snapshot!(Trial::of(plan).agent("looker.md", "name: looker\ntools: Read, Grep").report(), @r"
    warning[W0502]: agent `looker` has no `Write`, so the task can't have it
     --> plan.yaml:3:48
      |
    3 |   t: { agent: looker, prompt: p, tools: [Read, Write] }
      |                                                ^^^^^
      |
      = help: `tools` of a task narrow those of its agent; choose another agent
    ");
}

#[test]
fn writing_tools_contradict_the_mode_that_refuses_them() {
    let plan = "tasks:\n  t: { agent: w, prompt: p }\n";
    assert_snapshot!(Trial::of(plan).agent("w.md", "name: w\ntools: Write\npermissionMode: plan").report(), @r"
    error[F0505]: every tool of this agent writes, and its mode refuses writers
     --> agents/w.md:3:8
      |
    3 | tools: Write
      |        ^^^^^
    4 | permissionMode: plan
      |                 ---- refuses them
      |
     ::: plan.yaml:3:15
      |
    3 |   t: { agent: w, prompt: p }
      |               - this task needs agent `w`
      |
      = help: take one of the two out
    ");
    assert_snapshot!(check("tasks:\n  t: { prompt: p, tools: [Edit], permission_mode: plan }\n"), @r"
    error[F0505]: agent `general-purpose` gets `Edit` and works in permission mode `plan`, which refuses it
     --> plan.yaml:3:26
      |
    3 |   t: { prompt: p, tools: [Edit], permission_mode: plan }
      |                          ^^^^^^
      |
      = help: take `Edit` away, or choose another mode (built-in)
    ");
}

#[test]
fn a_plan_switches_no_permissions_off() {
    assert_snapshot!(check("tasks:\n  t: { prompt: p, permission_mode: bypassPermissions }\n"), @r"
    error[F0505]: a plan can't switch permissions off
     --> plan.yaml:3:36
      |
    3 |   t: { prompt: p, permission_mode: bypassPermissions }
      |                                    ^^^^^^^^^^^^^^^^^
      |
      = help: grant what the task needs: `tools: [Read, Edit, Bash(cargo test *)]`, or `Bash` for any command
    ");
}

#[test]
fn tools_that_nobody_can_allow_are_warned_of_once_a_task() {
    assert_snapshot!(check("tasks:\n  t: { agent: general-purpose, prompt: p }\n"), @r"
    warning[W0503]: agent `general-purpose` has `Write`, `Edit`, `Bash`, which would ask, and there is nobody to ask
     --> plan.yaml:3:15
      |
    3 |   t: { agent: general-purpose, prompt: p }
      |               ^^^^^^^^^^^^^^^
      |
      = help: grant what it needs (`permissions: { allow: [Edit, Bash(cargo test *)] }`), or give it a tree of its own (`isolation: worktree`)
    ");
    // Whoever names no agent has asked for none of its tools.
    assert_eq!(check("tasks:\n  t: { prompt: p }\n"), "");
    for granted in [
        "tools: [Write, Edit, Bash]",
        "tools: [Read, Grep]",
        "isolation: worktree",
        "permission_mode: acceptEdits",
        "permission_mode: dontAsk",
        "permissions: { allow: [Write, Edit] }",
        "disallowed_tools: [Write, Edit]",
    ] {
        let text = format!("tasks:\n  t: {{ agent: general-purpose, prompt: p, {granted} }}\n");
        assert_eq!(check(&text), "", "{granted}");
    }
    let settings =
        Trial::of("tasks:\n  t: { agent: general-purpose, prompt: p }\n").allowed("Write").allowed("Edit");
    assert_eq!(settings.report(), "");
}

#[test]
fn the_model_of_defaults_ranks_below_the_definition() {
    let plan = "defaults: { model: cheap }\ntasks:\n  t: { agent: a, prompt: p, tools: Read }\n";
    let with = |keys: &str| agent_task(Trial::of(plan).agent("a.md", keys)).model;
    assert_eq!(with("name: a"), Some("cheap".to_owned()));
    assert_eq!(with("name: a\nmodel: haiku"), None);
}

#[test]
fn what_a_task_says_of_its_agent_is_kept() {
    let plan = "tasks:\n  t:\n    prompt: p\n    model: haiku\n    tools: Read, Bash(git log:*)\n    disallowed_tools: [Grep]\n    max_turns: 7\n    permission_mode: dontAsk\n    output: json\n";
    let task = agent_task(Trial::of(plan));
    let tools: Vec<String> = task.tools.iter().flatten().map(ToString::to_string).collect();
    assert_eq!(tools, ["Read", "Bash(git log:*)"]);
    assert_eq!((task.model.as_deref(), task.max_turns, task.repair), (Some("haiku"), Some(7), 1));
    assert_eq!(task.permission_mode, Some(PermissionMode::DontAsk));
    assert_eq!(task.disallowed_tools[0].tool, "Grep");
}
