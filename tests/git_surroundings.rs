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

/// What the person has after they went to `elsewhere` while a run worked.
fn check_elsewhere(flow: &Flow, said: &str) {
    let branch = flow.task("t")["worktree"]["branch"].as_str().unwrap().to_owned();
    assert!(branch.starts_with("flow/") && said.contains(&branch), "{branch}: {said}");
    let why = "the checkout is on `elsewhere`, and the run began on `main`";
    assert!(said.contains(why), "{said}");
    let subjects = |branch: &str| git(&flow.dir(), &["log", "--format=%s", branch]);
    assert_eq!((subjects("elsewhere"), subjects("main")), ("mine\nstart\n".into(), "start\n".into()));
    assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:t.txt")]), "t\n");
    assert_eq!(git(&flow.dir(), &["status", "--short"]), "");
    let report = std::fs::read_to_string(flow.newest_run().join("report.md")).unwrap();
    assert!(report.contains(why) && report.contains(&branch), "{report}");
    assert_eq!(flow.report()["branch"], "main");
}

const LEAVE: &str = "git switch -qc elsewhere; echo mine > mine.txt; git add mine.txt; git commit -qm mine";

#[test]
fn work_does_not_follow_a_checkout_that_left_the_branch_of_the_run() {
    for how in ["squash", "cherry_pick", "apply"] {
        let plan = format!(
            "tasks:\n  t: {{ isolation: worktree, merge: {how}, run: '(cd \"$CHECKOUT\" && {LEAVE}) && echo t > t.txt' }}\n"
        );
        let flow = Flow::new().plan(&plan).file(".gitignore", ".flow\n").git();
        let dir = flow.dir().display().to_string();
        let flow = flow.env("CHECKOUT", &dir);
        let ran = flow.run(&["run", "plan.yaml"]).exits(1);
        check_elsewhere(&flow, &ran.stderr);
        assert_eq!(flow.task("t")["reason"], "merge_conflict");
    }
}

#[test]
fn a_resume_on_another_branch_lands_nothing_there() {
    let plan = "tasks:\n  t: { isolation: worktree, merge: squash, run: 'test -f \"$HOME/again\" || { touch \"$HOME/again\"; kill -9 $PPID; exit; }; echo t > t.txt' }\n";
    let flow = Flow::new().plan(plan).file(".gitignore", ".flow\n").git();
    assert_eq!(flow.run(&["run", "plan.yaml"]).code, None, "killed");
    flow.shell(LEAVE).exits(0);
    let ran = flow.run(&["resume", "latest"]).exits(1);
    check_elsewhere(&flow, &ran.stderr);
}

#[test]
fn what_is_left_out_stands_in_the_line_of_a_task_and_once_in_the_report() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  a: { isolation: worktree, run: 'echo a > a.tmp; echo a > a.txt' }\n  \
             b: { isolation: worktree, merge: apply, run: 'git init -q lib; echo b > lib/b; echo b > b.txt' }\n",
        )
        .file(".gitignore", "*.tmp\n.flow\n")
        .git();
    flow.write("draft.txt", "uncommitted");
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    ran.says(&["1 ignored left behind, 1 uncommitted not seen", "1 not delivered, 1 uncommitted not seen"]);
    let (a, b) = (flow.task("a"), flow.task("b"));
    assert_eq!((&a["worktree"]["ignored"], &a["worktree"]["uncommitted"]), (&1.into(), &1.into()));
    assert_eq!(b["worktree"]["undelivered"][0], "lib/");
    assert_eq!(b["worktree"]["merged"]["files"], serde_json::json!(["b.txt"]));
    let tree = b["worktree"]["path"].as_str().unwrap();
    assert!(std::path::Path::new(tree).join("lib/b").exists() && flow.exists("b.txt") && !flow.exists("lib"));
    let report = std::fs::read_to_string(flow.newest_run().join("report.md")).unwrap();
    assert_eq!(report.matches("`draft.txt`").count(), 1, "{report}");
    assert!(report.contains(tree), "{report}");
}

#[test]
fn branches_and_commits_of_instances_can_be_read() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  fix:\n    for_each: [src/core.rs, src-core.rs]\n    isolation: worktree\n    \
             merge: { how: squash, message: \"fix(${{ key }}): mend it\" }\n    \
             run: 'echo x > $(echo ${{ item }} | tr / _).txt'\n  \
             doc: { isolation: worktree, merge: squash, description: Describe it, run: 'echo d > d.txt' }\n  \
             keep:\n    for_each: [src/core.rs]\n    prompt: \"# Look at ${{ item }}\"\n    isolation: worktree\n    \
             merge: branch\n",
        )
        .model("keep:\n  - call: Write\n    with: { file_path: k.txt, content: k }\n  - say: done\n")
        .git();
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    let log = git(&flow.dir(), &["log", "--format=%s"]);
    let mut subjects: Vec<&str> = log.lines().collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["Describe it", "fix(src-core.rs): mend it", "fix(src/core.rs): mend it", "start"]);
    let kept = flow.task("keep[src/core.rs]")["worktree"]["branch"].as_str().unwrap().to_owned();
    assert!(kept.starts_with("flow/") && kept.ends_with("/keep-src-core.rs.1"), "{kept}");
    assert_eq!(git(&flow.dir(), &["log", "-1", "--format=%s", &kept]), "Look at src/core.rs\n");
    // `flow gc` knows them, and those of older versions.
    let (at, old) = (kept.rsplit_once('/').unwrap().0, "keep.5Bsrc.2Fcore.2Ers.5D.1");
    git(&flow.dir(), &["branch", &format!("{at}/{old}"), &kept]);
    let said = flow.run(&["gc"]).exits(0).stdout;
    assert!(said.contains("keep-src-core.rs.1") && said.contains(old), "{said}");
}

#[test]
fn a_setup_of_several_lines_that_fails_names_none_it_can_not_know() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  a:\n    isolation: worktree\n    setup: |\n      mkdir -p ${{ run.id }}/x\n      false\n    \
             run: 'true'\n  b: { isolation: worktree, setup: 'test -d ${{ run.id }}', run: 'true' }\n",
        )
        .git();
    flow.run(&["run", "plan.yaml"])
        .exits(1)
        .says(&["`setup` failed: exit code 1", "`setup` failed at `test -d ${{ run.id }}`: exit code 1"]);
}

#[test]
fn siblings_may_change_other_lines_of_one_file() {
    let lines: String = (1..=20).map(|number| format!("{number}\n")).collect();
    let flow = Flow::new()
        .plan(
            "defaults: { isolation: worktree, merge: apply }\ntasks:\n  \
             a: { run: 'sed -i s/^2$/two/ f.txt' }\n  b: { run: 'sed -i s/^18$/eighteen/ f.txt' }\n",
        )
        .file("f.txt", &lines)
        .git();
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(flow.read("f.txt"), lines.replace("\n2\n", "\ntwo\n").replace("18", "eighteen"));
}
