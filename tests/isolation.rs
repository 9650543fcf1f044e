//! Private trees as a person sees them: made, prepared, brought home, refused.

use std::time::Duration;

use crate::support::{Flow, git, signal, wait_until};

/// A repository whose plan is one task; `keys` beside its `run`.
fn one(keys: &str, run: &str) -> Flow {
    Flow::new().plan(&format!("tasks:\n  t:\n    {keys}\n    run: |\n      {run}\n")).git()
}

fn status(flow: &Flow) -> String {
    git(&flow.dir(), &["status", "--porcelain"])
}

#[test]
fn apply_brings_changes_home_uncommitted() {
    let flow = one(
        "{ isolation: worktree, merge: apply }"
            .trim_matches(['{', '}', ' '])
            .replace(", ", "\n    ")
            .as_str(),
        "echo b > a.txt; echo new > new.txt",
    );
    flow.write("mine.txt", "untracked\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!((flow.read("a.txt"), flow.read("new.txt")), ("b\n".into(), "new\n".into()));
    assert_eq!(status(&flow), " M a.txt\n?? mine.txt\n?? new.txt\n");
    let merged = &flow.task("t")["worktree"]["merged"];
    assert_eq!((&merged["how"], merged["files"].as_array().unwrap().len()), (&"apply".into(), 2));
    assert_eq!(git(&flow.dir(), &["branch", "--list", "flow/*"]), "");
    let told: Vec<_> = flow.events().iter().map(|event| event["ev"].as_str().unwrap().to_owned()).collect();
    let at = |name: &str| told.iter().position(|ev| ev == name).unwrap();
    assert!(at("merge_started") < at("merge_ended") && at("merge_ended") < at("attempt_ended"));
    let report = flow.run(&["report"]).exits(0).stdout;
    assert!(report.contains("- `t`, attempt 1: `merge: apply` wrote 2 files"), "{report}");
}

#[test]
fn a_conflict_fails_the_task_writes_nothing_and_names_both_sides() {
    let flow = Flow::new()
        .plan(
            "concurrency: 1\ndefaults: { isolation: worktree, merge: apply }\ntasks:\n  \
             first: { run: echo first > a.txt }\n  \
             second: { run: 'echo second > a.txt; echo second > b.txt' }\n",
        )
        .git();
    let ran = flow.run(&["run", "plan.yaml", "-j", "1"]).exits(1);
    let tasks = ["first", "second"].map(|name| flow.task(name));
    let lost = tasks.iter().find(|task| task["state"] == "failed").unwrap();
    let won = tasks.iter().find(|task| task["state"] == "completed").unwrap();
    assert_eq!(lost["reason"], "merge_conflict");
    let conflict = &lost["worktree"]["merged"]["conflicts"][0];
    assert_eq!((&conflict["path"], &conflict["other"]), (&"a.txt".into(), &won["address"]));
    assert!(lost["worktree"]["branch"].is_string());
    let said = ["merge_conflict", "a.txt", "base: dirty"];
    assert!(said.iter().all(|text| ran.stderr.contains(text)), "{}", ran.stderr);
    assert!(!flow.exists("b.txt") || won["address"] == "second");
    let report = flow.run(&["report"]).exits(0).stdout;
    assert!(report.contains("was refused, nothing was written"), "{report}");
    assert!(
        report.contains(&format!(
            "`a.txt` is not what the task began with, by `{}`",
            won["address"].as_str().unwrap()
        )),
        "{report}"
    );
}

#[test]
fn what_the_person_edits_meanwhile_is_never_touched() {
    for merge in ["apply", "squash", "cherry_pick"] {
        let flow = one(
            &format!("isolation: worktree\n    merge: {merge}"),
            "echo agent > a.txt; echo $$ > ../../../../../pid; while [ ! -e ../../../../../go ]; do sleep 0.02; done",
        );
        let (home, state) = (flow.home(), flow.home().join("state"));
        let running = flow.start(&["run", "plan.yaml"]);
        assert!(
            wait_until(Duration::from_secs(20), || state.join("pid").exists() || home.join("pid").exists())
        );
        flow.write("a.txt", "person\n");
        let go = if state.join("pid").exists() { state } else { home };
        std::fs::write(go.join("go"), "").unwrap();
        running.wait().exits(1);
        assert_eq!(
            (flow.read("a.txt"), flow.task("t")["reason"].clone()),
            ("person\n".into(), "merge_conflict".into())
        );
        assert_eq!(status(&flow), " M a.txt\n", "{merge}");
        let branch = flow.task("t")["worktree"]["branch"].as_str().unwrap().to_owned();
        assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:a.txt")]), "agent\n");
    }
}

#[test]
fn squash_and_cherry_pick_make_commits_that_later_tasks_start_from() {
    let flow = Flow::new()
        .plan(
            "defaults: { isolation: worktree }\ntasks:\n  \
             one: { merge: squash, run: echo one > one.txt }\n  \
             two: { needs: [one], merge: cherry_pick, run: 'cat one.txt > two.txt; git add -A; git -c user.name=A -c user.email=a@x commit -qm two' }\n  \
             three: { needs: [two], base: HEAD~1, run: 'ls > seen; test ! -e two.txt' }\n",
        )
        .git();
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(flow.read("two.txt"), "one\n");
    assert_eq!(status(&flow), "");
    let log = git(&flow.dir(), &["log", "--format=%an %s"]);
    assert!(log.starts_with("A two\nTester Work of one.1 in run "), "{log}");
    let head = git(&flow.dir(), &["rev-parse", "HEAD"]);
    assert_eq!(flow.task("two")["worktree"]["merged"]["commits"][0], head.trim());
}

#[test]
fn a_failed_task_brings_nothing_home() {
    for merge in ["apply", "squash", "cherry_pick", "patch"] {
        let flow = one(&format!("isolation: worktree\n    merge: {merge}"), "echo b > a.txt; exit 3");
        flow.run(&["run", "plan.yaml"]).exits(1);
        assert_eq!((status(&flow).as_str(), flow.task("t")["reason"].clone()), ("", "exit_code".into()));
        assert!(flow.task("t")["worktree"]["branch"].is_string());
        assert!(flow.events().iter().all(|event| event["ev"] != "merge_started"));
    }
}

#[test]
fn a_copy_works_without_git_and_comes_home() {
    let flow = Flow::new().plan(
        "tasks:\n  \
         look: { isolation: copy, run: 'cat data.txt; ls -A; git rev-parse --show-toplevel 2>/dev/null || echo no repository' }\n  \
         work: { isolation: copy, merge: apply, needs: [look], run: echo changed > data.txt; echo new > new.txt }\n  \
         keep: { isolation: copy, needs: [work], run: 'cat data.txt; echo more >> data.txt' }\n  \
         patch: { isolation: copy, merge: patch, needs: [keep], run: echo patched > data.txt, expect: { changes: true } }\n",
    );
    flow.write("data.txt", "data\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    let out = flow.run(&["logs", "latest", "look"]).exits(0).stdout;
    assert_eq!(out, "data\ndata.txt\nplan.yaml\nno repository\n");
    assert_eq!((flow.read("data.txt"), flow.read("new.txt")), ("changed\n".into(), "new\n".into()));
    let kept = flow.task("keep")["worktree"]["path"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(format!("{kept}/data.txt")).unwrap(), "changed\nmore\n");
    let patch = flow.newest_run().join(flow.task("patch")["worktree"]["patch"].as_str().unwrap());
    assert!(std::fs::read_to_string(patch).unwrap().contains("+patched"));
    assert!(
        flow.task("look")["worktree"]["path"].is_null() && flow.task("patch")["worktree"]["path"].is_null()
    );
}

#[test]
fn a_copy_of_a_repository_has_uncommitted_files_and_not_the_ignored_ones() {
    let flow = Flow::new()
        .plan("tasks:\n  t: { isolation: copy, run: 'ls -A; cat a.txt' }\n")
        .file(".gitignore", "*.tmp\n")
        .git();
    flow.write("a.txt", "uncommitted\n");
    flow.write("x.tmp", "ignored\n");
    flow.write("new.txt", "untracked\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
    let out = flow.run(&["logs", "latest", "t"]).exits(0).stdout;
    assert_eq!(out, ".gitignore\na.txt\nnew.txt\nplan.yaml\nuncommitted\n");
}

#[test]
fn base_dirty_starts_from_what_is_not_committed() {
    let flow = Flow::new()
        .plan("tasks:\n  t: { isolation: worktree, base: dirty, merge: apply, run: 'cat a.txt new.txt; echo more >> a.txt' }\n")
        .git();
    flow.write("a.txt", "uncommitted\n");
    flow.write("new.txt", "untracked\n");
    let index = std::fs::read(flow.path(".git/index")).unwrap();
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(flow.run(&["logs", "latest", "t"]).exits(0).stdout, "uncommitted\nuntracked\n");
    assert_eq!(flow.read("a.txt"), "uncommitted\nmore\n");
    assert_eq!(flow.task("t")["worktree"]["merged"]["files"], serde_json::json!(["a.txt"]));
    assert_eq!(std::fs::read(flow.path(".git/index")).unwrap(), index, "the person's index is untouched");
}

#[test]
fn a_chain_of_tasks_builds_on_what_was_applied_before() {
    for isolation in ["isolation: worktree, base: dirty", "isolation: copy"] {
        let task = |number: u32, needs: &str| {
            format!("  t{number}: {{ {isolation}, merge: apply, {needs} run: 'echo {number} >> a.txt' }}\n")
        };
        let tasks = task(1, "") + &task(2, "needs: [t1],") + &task(3, "needs: [t2],");
        let flow = Flow::new().plan(&format!("tasks:\n{tasks}")).git();
        flow.run(&["run", "plan.yaml"]).exits(0);
        assert_eq!(flow.read("a.txt"), "a\n1\n2\n3\n");
    }
}

#[test]
fn setup_and_include_prepare_a_tree() {
    let flow = Flow::new()
        .plan(
            "inputs: { word: { type: string, default: \"a b; $(id)\" } }\ntasks:\n  t:\n    isolation: worktree\n    include: [/secret.tmp]\n    \
             setup:\n      - echo ${{ inputs.word }} > made.tmp\n      - 'echo \"second in $FLOW_TASK\" >> made.tmp; echo noise'\n    \
             run: cat made.tmp secret.tmp listed.tmp; test ! -e other.tmp\n",
        )
        .file(".gitignore", "*.tmp\n")
        .file(".worktreeinclude", "listed.*\n")
        .git();
    for name in ["secret", "listed", "other"] {
        flow.write(&format!("{name}.tmp"), &format!("{name}\n"));
    }
    flow.run(&["run", "plan.yaml"]).exits(0);
    let out = flow.run(&["logs", "latest", "t"]).exits(0).stdout;
    assert_eq!(out, "a b; $(id)\nsecond in t\nsecret\nlisted\n", "the output of setup is not the task's");
    let tree = &flow.task("t")["worktree"];
    assert!(tree["path"].is_null() && tree["branch"].is_null(), "what is ignored is no work: {tree}");
}

#[test]
fn a_setup_that_fails_says_so_and_the_task_never_begins() {
    for isolation in ["worktree", "copy"] {
        let flow = Flow::new()
            .plan(&format!(
                "tasks:\n  t: {{ isolation: {isolation}, setup: [true, 'echo because >&2; exit 4', touch never], run: touch ran }}\n  \
                 u: {{ isolation: {isolation}, agent: general-purpose, setup: exit 5, prompt: hello }}\n"
            ))
            .model("default: [{ say: done }]\n")
            .git();
        let ran = flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
        assert!(
            ran.stderr.contains("`setup` failed at `echo because >&2; exit 4`: exit code 4"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("because"), "{}", ran.stderr);
        for task in ["t", "u"] {
            assert_eq!(
                (&flow.task(task)["reason"], &flow.task(task)["worktree"]["path"]),
                (&"setup".into(), &serde_json::Value::Null)
            );
        }
    }
}

#[test]
fn setup_of_a_repositorys_settings_runs_nothing_and_its_include_is_used() {
    let flow = Flow::new()
        .plan("tasks:\n  t: { isolation: worktree, run: 'cat x.tmp; test ! -e made' }\n")
        .file("flow.toml", "[worktrees]\ninclude = ['x.tmp']\nsetup = ['touch made']\n")
        .file(".gitignore", "*.tmp\n")
        .git();
    flow.write("x.tmp", "x\n");
    flow.run(&["run", "plan.yaml"]).exits(0).says(&["W0601", "worktrees.setup"]);
    flow.write("../home/config/flow/flow.toml", "[worktrees]\nsetup = 'touch made'\n");
    flow.run(&["run", "plan.yaml"]).exits(1);
}

#[test]
fn plan_shows_trees_and_their_way_home() {
    let flow = one("isolation: copy\n    merge: apply\n    setup: make", "true");
    let shown = flow.run(&["plan", "plan.yaml"]).exits(0).stdout;
    assert!(shown.contains("of the tree as it is; comes home as uncommitted changes"), "{shown}");
    assert!(shown.contains("setup") && shown.contains("make"), "{shown}");
}

#[test]
fn r28_a_tree_that_vanishes_fails_its_task_and_no_other() {
    let flow = Flow::new()
        .plan("tasks:\n  t: { isolation: worktree, run: 'rm -rf \"$PWD\"' }\n  c: { isolation: copy, run: 'rm -rf \"$PWD\"' }\n  u: { run: echo fine }\n")
        .git();
    flow.run(&["run", "plan.yaml"]).exits(1);
    for task in ["t", "c"] {
        assert_eq!(flow.task(task)["reason"], "workspace_lost", "{task}");
    }
    assert_eq!(flow.task("u")["state"], "completed");
}

/// Leaves its process group and lives on.
const DAEMON: &str = "setsid sh -c 'echo $$ > \"$HOME/pid\"; exec sleep 100' & while [ ! -s \"$HOME/pid\" ]; do sleep 0.01; done";

#[test]
fn r29_nothing_of_a_task_lives_when_its_tree_goes() {
    let flow = one("isolation: worktree", DAEMON);
    flow.run(&["run", "plan.yaml"]).exits(0);
    let pid = std::fs::read_to_string(flow.home().join("pid")).unwrap();
    assert!(!crate::support::alive(&pid));
    assert!(flow.task("t")["worktree"]["path"].is_null() && flow.task("t")["leaky"] == true);
}

/// In a container that was entered from outside, session and group of the engine are of no process that it can see, and the
/// kernel calls them 0.
#[test]
fn r29_an_engine_whose_session_began_outside_of_its_container_ends_what_is_left_too() {
    let flow = one("isolation: worktree", DAEMON);
    let container = ["-Urpf", "--mount-proc", env!("CARGO_BIN_EXE_flow"), "run", "plan.yaml"];
    let entered = flow.finish(flow.command_in(&flow.dir(), "unshare", &["-Urpf", "--mount-proc", "true"]));
    if entered.code != Some(0) {
        eprintln!("no container can be made here: {}", entered.stderr);
        return;
    }
    flow.finish(flow.command_in(&flow.dir(), "unshare", &container)).exits(0);
    assert_eq!(flow.task("t")["leaky"], true);
}

#[test]
fn r27_a_repository_of_another_user_is_not_trusted() {
    let flow = one("isolation: worktree", "touch ran");
    // Only the administrator can give a folder away; the refusal itself is checked without.
    if std::os::unix::fs::chown(flow.path(".git"), Some(4242), None).is_err() {
        return;
    }
    std::os::unix::fs::chown(flow.dir(), Some(4242), None).unwrap();
    flow.run(&["run", "plan.yaml"]).exits(77).says(&["belongs to another user", "safe.directory"]);
    flow.run(&["gc"]).exits(77);
    assert!(!flow.exists(".flow/runs"), "nothing was begun");
    flow.write("plan.yaml", "flow: 1\ntasks:\n  t: { run: echo shared }\n");
    flow.run(&["run", "plan.yaml"]).exits(0);
}

#[test]
fn an_engine_that_dies_while_it_merges_leaves_old_or_new_and_a_resume_ends() {
    let files: String = (0..300).map(|number| format!("echo {number} > f{number}.txt; ")).collect();
    let flow = one("isolation: worktree\n    merge: apply", &format!("{files} true"));
    for number in 0..300 {
        flow.write(&format!("f{number}.txt"), "old\n");
    }
    git(&flow.dir(), &["add", "-A"]);
    git(&flow.dir(), &["commit", "-qm", "files"]);
    let running = flow.start(&["run", "plan.yaml"]);
    let began = || flow.exists("f1.txt") && flow.read("f1.txt") != "old\n";
    let journal = || {
        let Ok(runs) = std::fs::read_dir(flow.path(".flow/runs")) else { return String::new() };
        let run = runs.flatten().next();
        run.and_then(|run| std::fs::read_to_string(run.path().join("events.jsonl")).ok()).unwrap_or_default()
    };
    assert!(wait_until(Duration::from_secs(30), || began() || journal().contains("attempt_ended")));
    signal(running.id(), "KILL");
    running.wait();
    flow.run(&["resume", "latest"]).exits(0);
    for number in 0..300 {
        assert_eq!(flow.read(&format!("f{number}.txt")), format!("{number}\n"));
    }
    let odd: Vec<_> = std::fs::read_dir(flow.dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().ends_with("flow-tmp"))
        .collect();
    assert!(odd.is_empty(), "{odd:?}");
}
