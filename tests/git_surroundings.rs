//! What the repository and git's own variables around a run may do to it.

use crate::support::{Flow, git};

/// Says which repository each kind of command is in.
const WHERE: &str = "tasks:
  here: { run: 'git rev-parse --show-toplevel; git ls-files' }
  tree:
    isolation: worktree
    merge: squash
    setup: ['git rev-parse --show-toplevel > setup.txt']
    run: 'echo t > t.txt; git add t.txt; git status --short; git rev-parse --show-toplevel'
  agent:
    prompt: p
    isolation: worktree
    merge: branch
    permissions: { allow: [Bash] }
    checks: ['test \"$(git rev-parse --show-toplevel)\" = \"$PWD\"']
";
const MODEL: &str = "agent:
  - call: Bash
    with: { command: 'git rev-parse --show-toplevel > top.txt; pwd >> top.txt; cat top.txt' }
  - say: done
";

fn check_places(flow: &Flow) {
    let here = flow.run(&["logs", "latest", "here"]).exits(0).stdout;
    let top = flow.dir().canonicalize().unwrap();
    assert_eq!(here.lines().next(), top.to_str(), "{here}");
    assert!(here.lines().any(|line| line == "a.txt"), "{here}");
    let setup = git(&flow.dir(), &["show", "HEAD:setup.txt"]);
    assert!(setup.contains("/flow/worktrees/"), "{setup}");
    assert_eq!(git(&flow.dir(), &["show", "HEAD:t.txt"]), "t\n");
    let branch = flow.task("agent")["worktree"]["branch"].as_str().unwrap().to_owned();
    let said = git(&flow.dir(), &["show", &format!("{branch}:top.txt")]);
    let lines: Vec<_> = said.lines().collect();
    assert!(lines.len() == 2 && lines[0] == lines[1] && lines[0].contains("/flow/worktrees/"), "{said}");
}

#[test]
fn variables_that_redirect_git_reach_no_command_of_a_run() {
    let flow = Flow::new().plan(WHERE).model(MODEL).git();
    let other = flow.home().join("other");
    std::fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q", "-b", "main"]);
    let at = |path: &str| other.join(path).display().to_string();
    let flow = flow
        .env("GIT_DIR", &at(".git"))
        .env("GIT_WORK_TREE", &at(""))
        .env("GIT_INDEX_FILE", &at(".git/index"))
        .env("GIT_OBJECT_DIRECTORY", &at(".git/objects"))
        .env("GIT_COMMON_DIR", &at(".git"))
        .env("GIT_NAMESPACE", "other")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.worktree")
        .env("GIT_CONFIG_VALUE_0", &at(""));
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    check_places(&flow);
    assert_eq!(git(&other, &["status", "--short"]), "");
}

#[test]
fn a_run_from_a_hook_works_on_the_folder_it_is_in() {
    let flow = Flow::new().plan(WHERE).model(MODEL).git();
    let program = env!("CARGO_BIN_EXE_flow");
    flow.write(
        ".git/hooks/post-commit",
        &format!("#!/bin/sh\nrm .git/hooks/post-commit\n{program} run plan.yaml --model-script model.yaml\n"),
    );
    flow.write("b.txt", "b\n");
    let line = "git add b.txt && GIT_AUTHOR_NAME=Ann git -c core.abbrev=12 commit -q -m second 2>hook.txt";
    flow.shell(line).exits(0);
    let said = flow.read("hook.txt");
    assert!(said.contains("completed") || flow.report()["status"] == "completed", "{said}");
    check_places(&flow);
}

#[test]
fn a_task_may_name_another_repository_itself() {
    let flow = Flow::new()
        .plan("tasks:\n  t: { env: { GIT_DIR: other.git }, run: 'git rev-parse --git-dir' }\n")
        .git();
    git(&flow.dir(), &["init", "-q", "--bare", "other.git"]);
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(flow.run(&["logs", "latest", "t"]).stdout.trim(), "other.git");
}
