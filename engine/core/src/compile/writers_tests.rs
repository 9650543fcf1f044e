use insta::assert_snapshot;

use crate::compile::testing::check;

#[test]
fn agents_that_may_write_at_once_are_warned_of_once_a_plan() {
    assert_snapshot!(check("defaults: { tools: [Edit, Write] }\ntasks:\n  a: { prompt: p }\n  b: { prompt: p }\n  c: { needs: [b], prompt: p }\n"), @r"
    warning[W0504]: agents may write to one tree at the same time: `a`, `b`
     --> plan.yaml:4:16
      |
    4 |   a: { prompt: p }
      |                ^
    5 |   b: { prompt: p }
      |                - may write as well
      |
      = help: give each `isolation: worktree`, or order them with `needs`
    ");
    assert_snapshot!(check("tasks:\n  a: { prompt: p, tools: Bash, for_each: [1, 2] }\n"), @r"
    warning[W0504]: the instances of `a` may write to one tree at the same time
     --> plan.yaml:3:16
      |
    3 |   a: { prompt: p, tools: Bash, for_each: [1, 2] }
      |                ^
      |
      = help: give it `isolation: worktree`, or `max_parallel: 1`
    ");
}

#[test]
fn writers_that_are_kept_apart_are_not() {
    for tasks in [
        "a: { prompt: p, tools: Edit }\n  b: { run: echo, needs: [a] }\n  c: { prompt: p, tools: Edit, needs: [b] }",
        "a: { prompt: p, tools: Edit }\n  b: { prompt: p, tools: Read }",
        "a: { prompt: p, tools: Edit, isolation: worktree }\n  b: { prompt: p, tools: Edit, isolation: worktree }",
        "a: { prompt: p, tools: Edit, for_each: [1, 2], max_parallel: 1 }",
        "a: { run: git commit }\n  b: { run: git commit }",
    ] {
        assert_eq!(check(&format!("tasks:\n  {tasks}\n")), "", "{tasks}");
    }
}
