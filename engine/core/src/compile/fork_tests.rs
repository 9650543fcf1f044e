use insta::assert_snapshot;

use crate::compile::testing::{Trial, check};
use crate::graph::EdgeKind;
use crate::ids::TaskId;
use crate::model::{Isolation, PermissionMode};
use crate::plan::{AgentTask, Plan, TaskKind};

fn agent<'p>(plan: &'p Plan, id: &str) -> &'p AgentTask {
    let task = plan.tasks.iter().find(|task| task.address.as_str() == id).unwrap();
    let TaskKind::Agent(agent) = &task.kind else { panic!("{id} is no agent task") };
    agent
}

#[test]
fn a_fork_is_the_agent_of_the_task_that_it_names_wherever_that_stands() {
    let plan = Trial::of(
        "tasks:
  third: { fork: second, prompt: And then? }
  second: { fork: first, prompt: Go on. }
  first: { agent: planner, prompt: Begin., model: haiku, tools: [Read] }
",
    )
    .agent("planner.md", "name: planner")
    .plan();
    let [third, second, first] = ["third", "second", "first"].map(|id| agent(&plan, id));
    assert_eq!((second.agent, third.agent, plan.agents.len()), (first.agent, first.agent, 1));
    assert_eq!((&second.model, &third.model), (&first.model, &first.model));
    assert_eq!((third.fork, second.fork, first.fork), (Some(TaskId::at(1)), Some(TaskId::at(2)), None));
    let edges =
        |task: usize| plan.graph.needs[task].iter().map(|edge| (edge.from, edge.kind)).collect::<Vec<_>>();
    assert_eq!(edges(0), [(TaskId::at(1), EdgeKind::Success)]);
    assert_eq!(edges(1), [(TaskId::at(2), EdgeKind::Success)]);
}

#[test]
fn a_written_edge_wins_over_that_of_the_fork() {
    let plan = Trial::of(
        "tasks:\n  a: { prompt: x, tools: [Read] }\n  b: { needs: { a: done }, fork: a, prompt: Why? }\n",
    )
    .plan();
    assert_eq!(plan.graph.needs[1].iter().map(|edge| edge.kind).collect::<Vec<_>>(), [EdgeKind::Done]);
}

#[test]
fn what_restrains_and_grants_there_holds_for_the_fork_and_its_own_keys_add() {
    let plan = Trial::of(
        "defaults: { model: opus, tools: [Glob] }
tasks:
  a:
    prompt: x
    tools: [Read, Bash(ls *)]
    disallowed_tools: [Edit]
    max_turns: 7
    permission_mode: dontAsk
    permissions: { deny: [Read(keys/**)] }
  b: { fork: a, prompt: y, disallowed_tools: [Grep], permissions: { allow: [Bash(cat *)] } }
  c: { fork: b, prompt: z, max_turns: 2, permission_mode: plan }
",
    )
    .plan();
    let [a, b, c] = ["a", "b", "c"].map(|id| agent(&plan, id));
    assert_eq!((&b.tools, &b.model), (&a.tools, &a.model));
    let names =
        |agent: &AgentTask| agent.disallowed_tools.iter().map(|rule| rule.tool.clone()).collect::<Vec<_>>();
    assert_eq!((names(b), names(c)), (vec!["Edit".to_owned(), "Grep".to_owned()], names(b)));
    assert_eq!((b.permissions.allow.len(), b.permissions.deny.len()), (1, 1));
    assert_eq!(c.permissions, b.permissions);
    assert_eq!((b.max_turns, b.permission_mode), (Some(7), Some(PermissionMode::DontAsk)));
    assert_eq!((c.max_turns, c.permission_mode), (Some(2), Some(PermissionMode::Plan)));
}

#[test]
fn a_fork_can_have_a_tree_of_its_own_and_a_briefed_agent_has_none() {
    let plan = Trial::of(
        "tasks:
  a: { prompt: x, tools: [Read], isolation: fork }
  b: { fork: a, prompt: y, isolation: worktree, merge: patch }
  c: { fork: a, prompt: y, isolation: fork }
",
    )
    .plan();
    let isolations: Vec<Isolation> = plan.tasks.iter().map(|task| task.isolation).collect();
    assert_eq!(isolations, [Isolation::Fork, Isolation::Worktree, Isolation::Fork]);
}

#[test]
fn only_the_conversation_of_one_agent_can_be_gone_on_with() {
    assert_snapshot!(check("tasks:
  list: { run: ls }
  many: { for_each: [a, b], prompt: x }
  one: { prompt: x }
  a: { fork: list, prompt: y }
  b: { fork: many, prompt: y }
  c: { fork: oen, prompt: y }
  d: { fork: '${{ inputs.x }}', prompt: y }
"), @r"
    error[F0205]: `list` is a shell task and has no conversation to go on with
     --> plan.yaml:6:14
      |
    3 |   list: { run: ls }
      |                -- the command
    ...
    6 |   a: { fork: list, prompt: y }
      |              ^^^^
      |
      = help: name an agent task; the output of a command can stand in a prompt: `${{ tasks.NAME.output }}`

    error[F0205]: `many` becomes many, and each has a conversation of its own
     --> plan.yaml:7:14
      |
    4 |   many: { for_each: [a, b], prompt: x }
      |   ---- becomes many
    ...
    7 |   b: { fork: many, prompt: y }
      |              ^^^^
      |
      = help: name a task that doesn't expand, or let the prompt name what the instances found: `${{ tasks.NAME.results }}`

    error[F0301]: there is no task `oen`
     --> plan.yaml:8:14
      |
    8 |   c: { fork: oen, prompt: y }
      |              ^^^
      |
      = help: did you mean `one`? available: `list`, `many`, `one`, `a`, `b`, `c`, `d`

    error[F0402]: `fork` is taken as written: it holds no templates
     --> plan.yaml:9:15
      |
    9 |   d: { fork: '${{ inputs.x }}', prompt: y }
      |               ^^^^^^^^^^^^^^^
      |
      = help: templates stand in `run`, `prompt`, `checks`, `setup`, `env`, `dir`, `base`, `artifacts`, `for_each`, `matrix`, `key`, `lock`, `outputs` and a task's `description`
    ");
}

#[test]
fn what_a_fork_has_from_its_conversation_it_can_not_say_itself() {
    assert_snapshot!(check("tasks:
  a: { prompt: x }
  b: { fork: a, prompt: y, model: haiku, tools: [Read] }
  c: { fork: a, agent: general-purpose, prompt: y }
  d: { fork: a }
  e: { fork: a, run: ls }
  f: { run: ls, isolation: fork }
"), @r"
    error[F0205]: `model` is that of `a`, which `b` goes on with
     --> plan.yaml:4:28
      |
    4 |   b: { fork: a, prompt: y, model: haiku, tools: [Read] }
      |        ----                ^^^^^
      |        |
      |        goes on with that conversation
      |
      = help: take the key away: a fork keeps the model and the tools that its conversation began with

    error[F0205]: `tools` is that of `a`, which `b` goes on with
     --> plan.yaml:4:42
      |
    4 |   b: { fork: a, prompt: y, model: haiku, tools: [Read] }
      |        ----                              ^^^^^
      |        |
      |        goes on with that conversation
      |
      = help: take the key away: a fork keeps the model and the tools that its conversation began with

    error[F0205]: task `c` has both `agent` and `fork`
     --> plan.yaml:5:17
      |
    5 |   c: { fork: a, agent: general-purpose, prompt: y }
      |        ----     ^^^^^
      |        |
      |        goes on as the agent of that task
      |
      = help: take one of them away

    error[F0204]: task `d` goes on with a conversation and has no `prompt`
     --> plan.yaml:6:14
      |
    6 |   d: { fork: a }
      |              ^
      |
      = help: say what it shall do: `prompt: ...`

    error[F0205]: task `e` has both `run` and `fork`
     --> plan.yaml:7:8
      |
    7 |   e: { fork: a, run: ls }
      |        ^^^^     --- the shell command
      |
      = help: make it two tasks; a task either runs a command or asks an agent

    error[F0205]: `isolation: fork` is where a conversation begins, and `f` is a shell task
     --> plan.yaml:8:17
      |
    8 |   f: { run: ls, isolation: fork }
      |        ---      ^^^^^^^^^
      |        |
      |        this makes it a shell task
      |
      = help: write `worktree` or `copy`, or take the key away
    ");
}

#[test]
fn forks_of_each_other_are_a_circle_like_any_other() {
    assert_snapshot!(check("tasks:\n  a: { fork: b, prompt: x }\n  b: { fork: a, prompt: y }\n  c: { fork: c, prompt: z }\n"), @r"
    error[F0302]: tasks wait for each other: `a -> b -> a`
     --> plan.yaml:3:14
      |
    3 |   a: { fork: b, prompt: x }
      |              ^ `a` needs `b`
    4 |   b: { fork: a, prompt: y }
      |              - `b` needs `a`
      |
      = help: take one of these edges away

    error[F0302]: task waits for itself: `c -> c`
     --> plan.yaml:5:14
      |
    5 |   c: { fork: c, prompt: z }
      |              ^ `c` needs `c`
      |
      = help: take one of these edges away
    ");
}

#[test]
fn an_agent_that_is_missing_is_told_where_it_is_named() {
    assert_snapshot!(check("tasks:\n  a: { agent: nobody, prompt: x }\n  b: { fork: a, prompt: y }\n"), @r"
    error[F0501]: there is no agent `nobody`
     --> plan.yaml:3:15
      |
    3 |   a: { agent: nobody, prompt: x }
      |               ^^^^^^
      |
      = help: available: `general-purpose`; searched in `.claude/agents`, `agents`
    ");
}

#[test]
fn what_would_ask_is_told_where_the_conversation_begins_and_where_its_place_changes() {
    assert_snapshot!(check("tasks:
  a: { prompt: x, isolation: worktree, disallowed_tools: [Bash] }
  b: { fork: a, prompt: y, isolation: worktree }
  c: { fork: a, prompt: y }
"), @r"
    warning[W0503]: agent `general-purpose` has `Write`, `Edit`, which would ask, and there is nobody to ask
     --> plan.yaml:5:14
      |
    5 |   c: { fork: a, prompt: y }
      |              ^
      |
      = help: grant what it needs (`permissions: { allow: [Edit, Bash(cargo test *)] }`), or give it a tree of its own (`isolation: worktree`)
    ");
}
