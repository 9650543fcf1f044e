//! Private trees beside other engines, beside other programs that hold git's locks, and in the keys that meet in one task.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Flow, Ran, Running, alive, git, wait_until};

/// One agent with a `setup`, and `checks` that pass once it has written `new.txt`.
fn prepared_and_checked(isolation: &str, setup: &str, keys: &str, turns: &str) -> (Flow, Ran) {
    let plan = format!(
        "tasks:\n  t:\n    prompt: p\n    isolation: {isolation}\n    setup: ['{setup}']\n    \
         checks: ['echo check >> log.tmp; echo noise', 'test -f ${{{{ \"new.txt\" }}}}']\n    \
         artifacts: ['*.tmp']\n    {keys}\n"
    );
    let write = "  - call: Write\n    with: { file_path: new.txt, content: x }\n";
    let flow = Flow::new()
        .plan(&plan)
        .model(&format!("t:\n{}", turns.replace("  - write\n", write)))
        .file(".gitignore", "*.tmp\n")
        .git();
    let ran = flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]);
    (flow, ran)
}

fn log(flow: &Flow) -> String {
    let kept = flow.task("t")["artifacts"][0]["file"].as_str().unwrap().to_owned();
    std::fs::read_to_string(flow.newest_run().join(kept)).unwrap()
}

#[test]
fn setup_runs_once_in_the_tree_that_checks_look_at_each_time() {
    for isolation in ["worktree", "copy"] {
        let turns = "  - say: first\n  - write\n  - say: second\n";
        let (flow, ran) =
            prepared_and_checked(isolation, "echo setup >> log.tmp; echo noise", "merge: apply", turns);
        ran.exits(0);
        assert_eq!(log(&flow), "setup\ncheck\ncheck\n", "{isolation}");
        let said = flow.run(&["logs", "latest", "t", "--raw"]).exits(0).stdout;
        assert_eq!(said.trim_end(), "second", "what setup and checks print is not the output");
        assert_eq!((flow.read("new.txt"), flow.exists("log.tmp")), ("x".into(), false));
    }
}

#[test]
fn a_second_attempt_is_set_up_and_checked_in_a_tree_of_its_own() {
    for isolation in ["worktree", "copy"] {
        let turns = "  - say: first\n  - say: again first\n  - write\n  - say: second\n";
        let keys = "retry: { max: 1, delay: 1ms, on: [check_failed] }";
        let (flow, ran) = prepared_and_checked(isolation, "echo setup >> log.tmp", keys, turns);
        ran.exits(0);
        assert_eq!(log(&flow), "setup\ncheck\n", "{isolation}");
        let task = flow.task("t");
        let ends: Vec<&Value> =
            task["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["reason"]).collect();
        assert_eq!(ends, [&json!("check_failed"), &json!(null)]);
        let message = task["attempts"][0]["message"].as_str().unwrap();
        assert!(message.contains("check `test -f ${{ \"new.txt\" }}` failed"), "as it is written: {message}");
    }
}

#[test]
fn where_setup_fails_no_model_is_asked_and_nothing_is_checked() {
    for isolation in ["worktree", "copy"] {
        let (flow, ran) =
            prepared_and_checked(isolation, "echo setup > log.tmp; exit 4", "", "  - say: first\n");
        ran.exits(1).says(&["`setup` failed at", "exit code 4"]);
        let task = flow.task("t");
        assert_eq!((&task["reason"], &task["usage"]["turns"]), (&"setup".into(), &json!(null)), "{task:#}");
        assert_eq!(task["dir"].as_str().map(|dir| dir.ends_with('/')), Some(false), "{isolation}");
    }
}

/// Four trees a run, one for each way home.
const FOUR: &str = "concurrency: 4\ndefaults: { isolation: worktree }\ntasks:\n  \
    branch: { merge: branch, run: 'echo $FLOW_RUN > x; git add x; echo $$ >> \"$PIDS\"' }\n  \
    patch: { merge: patch, run: 'echo $FLOW_RUN > a.txt; echo $$ >> \"$PIDS\"' }\n  \
    apply: { merge: apply, run: 'echo apply > applied-$FLOW_RUN; echo $$ >> \"$PIDS\"' }\n  \
    squash: { merge: squash, run: 'echo squash > squashed-$FLOW_RUN; echo $$ >> \"$PIDS\"' }\n";

fn twenty() -> Flow {
    let flow = Flow::new();
    let pids = flow.home().join("pids").display().to_string();
    flow.env("PIDS", &pids).plan(FOUR).file(".gitignore", "plan.yaml\n").git()
}

/// Holds locks of git's as another program does that works in the repository: until engines need them, and for
/// two seconds more.
struct Holder(Running);

impl Holder {
    fn start(flow: &Flow, locks: &[&str]) -> Self {
        let script = "set -eC; for lock; do : > .git/$lock; done; : > \"$HOME/held\"; \
                      for n in {1..1000}; do [ ! -e \"$HOME/needed\" ] || break; sleep 0.02; done; \
                      sleep 2; for lock; do rm .git/$lock; done";
        let args = [&["-c", script, "holder"], locks].concat();
        let holder = flow.spawn(flow.command_in(&flow.dir(), "bash", &args));
        assert!(wait_until(Duration::from_secs(20), || flow.home().join("held").exists()));
        Holder(holder)
    }

    /// Lets go when three tasks are about to move the branch of the checkout.
    fn release(self, flow: &Flow) {
        let needed = "\"ev\":\"merge_started\",\"task\":\"squash\"";
        let some = || {
            let runs = std::fs::read_dir(flow.path(".flow/runs")).into_iter().flatten().flatten();
            let journals = runs.map(|run| std::fs::read_to_string(run.path().join("events.jsonl")));
            journals.flatten().filter(|journal| journal.contains(needed)).count() >= 3
        };
        assert!(wait_until(Duration::from_secs(30), some));
        assert_eq!(git(&flow.dir(), &["rev-list", "main"]).lines().count(), 1, "nothing has moved it yet");
        std::fs::write(flow.home().join("needed"), "").unwrap();
        self.0.wait().exits(0);
    }
}

/// Every file and folder below, but for those of the objects.
fn below(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        found.push(path.display().to_string());
        if path.is_dir() && !path.ends_with("objects") {
            below(&path, found);
        }
    }
}

/// Twenty engines at once.
fn start_twenty(flow: &Flow) -> Vec<Running> {
    (0..20).map(|_| flow.start(&["run", "plan.yaml", "-o", "plain"])).collect()
}

/// All of them succeed, and then nothing is there but what was asked for.
fn succeed_and_leave_nothing(flow: &Flow, engines: Vec<Running>) {
    for engine in engines {
        engine.wait().exits(0);
    }
    let runs: BTreeSet<String> = std::fs::read_dir(flow.path(".flow/runs"))
        .unwrap()
        .map(|run| run.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(runs.len(), 20);
    let each = |name: &dyn Fn(&str) -> String| runs.iter().map(|run| name(run)).collect::<Vec<_>>();
    let lines = |args: &[&str]| git(&flow.dir(), args).lines().map(str::to_owned).collect::<Vec<_>>();

    assert_eq!(
        lines(&["for-each-ref", "--format=%(refname)"]),
        [each(&|run| format!("refs/heads/flow/{run}/branch.1")), vec!["refs/heads/main".to_owned()]].concat()
    );
    assert_eq!(lines(&["ls-files", "squashed-*"]), each(&|run| format!("squashed-{run}")));
    assert_eq!(lines(&["rev-list", "main"]).len(), 21, "one commit a run on top of the first");
    assert_eq!(lines(&["status", "--porcelain"]), each(&|run| format!("?? applied-{run}")));
    for run in &runs {
        let patch = flow.path(&format!(".flow/runs/{run}/tasks/patch/1.patch"));
        assert!(std::fs::read_to_string(patch).unwrap().contains(&format!("+{run}")));
    }
    assert_eq!(git(&flow.dir(), &["fsck", "--strict", "--no-dangling"]), "");

    assert_eq!(lines(&["worktree", "list"]).len(), 1);
    let (mut ours, mut gits) = (Vec::new(), Vec::new());
    below(&flow.home().join("state/flow/worktrees"), &mut ours);
    let home = ours[0].clone();
    let left: Vec<_> = ours.iter().map(|path| path.trim_start_matches(&home)).collect();
    let expected = ["", "/.landing", "/.lock", "/.merge-lock"];
    assert!(left.iter().all(|path| expected.contains(path)), "{left:?}");
    below(&flow.path(".git"), &mut gits);
    gits.retain(|path| path.ends_with(".lock") || path.contains("/worktrees"));
    assert_eq!(gits, [""; 0]);
    let pids = std::fs::read_to_string(flow.home().join("pids")).unwrap();
    assert_eq!((pids.lines().count(), pids.lines().find(|pid| alive(pid))), (80, None));
    assert_eq!(std::fs::read_dir(flow.tmp()).unwrap().count(), 0);
}

#[test]
fn r20_twenty_engines_with_four_trees_each_succeed_and_leave_nothing_behind() {
    let flow = twenty();
    succeed_and_leave_nothing(&flow, start_twenty(&flow));
}

fn beside_a_holder_of(locks: &[&str]) {
    let flow = twenty();
    let holder = Holder::start(&flow, locks);
    let engines = start_twenty(&flow);
    holder.release(&flow);
    succeed_and_leave_nothing(&flow, engines);
}

#[test]
fn r21_the_same_while_another_program_holds_the_index() {
    beside_a_holder_of(&["index.lock"]);
}

#[test]
fn r21_the_same_while_another_program_holds_references_and_configuration() {
    beside_a_holder_of(&["packed-refs.lock", "config.lock", "HEAD.lock", "refs/heads/main.lock"]);
}

#[test]
fn a_dir_that_leads_out_is_found_by_check_wherever_the_project_stands_in_its_repository() {
    let plan = |dir: &str| {
        format!("flow: 1\ntasks:\n  t: {{ isolation: worktree, dir: {dir}, run: 'cat a.txt' }}\n")
    };
    let flow = Flow::new().plan("").file("flow.toml", "").file("sub/flow.toml", "").git();
    flow.write("plan.yaml", &plan(".."));
    let found = flow.run(&["check", "plan.yaml"]).exits(3);
    found.says(&["plan.yaml:3:34", "`dir: ..` leads out of the tree that `t` has of its own", "help:"]);
    // One folder further down it is the top of the repository.
    flow.write("sub/plan.yaml", &plan(".."));
    flow.run(&["-C", "sub", "run", "plan.yaml"]).exits(0);
    flow.write("sub/plan.yaml", &plan("../.."));
    flow.run(&["-C", "sub", "run", "plan.yaml"]).exits(3);
    // What only the run knows is refused there.
    flow.write("plan.yaml", &plan("\"${{ '..' }}\""));
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["leads out of the task's own tree"]);
}

#[test]
fn what_happened_to_a_tree_stands_before_where_it_was() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  gone: { isolation: worktree, merge: branch, run: 'rm -rf \"$PWD\"' }\n  \
             changed: { isolation: worktree, merge: branch, run: 'echo x > x; echo \"gitdir: /x\" > .git' }\n  \
             copy: { isolation: copy, merge: apply, run: 'rm -rf \"$PWD\"' }\n",
        )
        .git();
    let ran = flow.run(&["run", "plan.yaml"]).exits(1);
    for (task, reason, message) in [
        ("gone", "workspace_lost", "the task's tree is gone: `"),
        (
            "changed",
            "tampered",
            "the git files of the worktree were changed: `.git` is no longer the same; the work is kept in `",
        ),
        ("copy", "workspace_lost", "the task's tree is gone: `"),
    ] {
        let found = flow.task(task);
        assert_eq!(found["reason"], reason, "{found:#}");
        let said = found["message"].as_str().unwrap();
        assert!(said.starts_with(message), "{said}");
        assert_eq!(said.matches("/worktrees/").count(), 1, "{said}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

/// The lines of `a.txt`, of which the task changes the second.
const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

/// A task whose `merge: apply` meets what the person did meanwhile; then the command that the run names, as it stands there.
fn taken_by_hand(task: &str, person: impl Fn(&Flow)) -> (Flow, Ran) {
    let wait = "touch \"$HOME/up\"; until [ -e \"$HOME/go\" ]; do sleep 0.02; done";
    let flow = Flow::new()
        .plan(&format!("tasks:\n  t:\n    isolation: worktree\n    merge: apply\n    run: |\n      {task}\n      {wait}\n"))
        .file("b c.txt", LINES)
        .git();
    let engine = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(20), || flow.home().join("up").exists()));
    person(&flow);
    std::fs::write(flow.home().join("go"), "").unwrap();
    engine.wait().exits(1).says(&["merge_conflict", "is not what the task began with"]);
    let message = flow.task("t")["message"].as_str().unwrap().to_owned();
    let (_, command) = message.split_once("take it by hand: `").unwrap();
    let command = command.split('`').next().unwrap();
    let report = flow.run(&["report"]).exits(0).stdout;
    assert!(report.contains(command), "{report}");
    let ran = flow.shell(command);
    (flow, ran)
}

#[test]
fn a_refused_apply_names_a_command_that_joins_changes_of_different_lines() {
    let (flow, ran) = taken_by_hand("sed -i s/two/2/ 'b c.txt'; echo new > new.txt", |flow| {
        flow.write("b c.txt", &LINES.replace("seven", "7"));
    });
    ran.exits(0);
    assert_eq!(flow.read("b c.txt"), LINES.replace("two", "2").replace("seven", "7"));
    assert_eq!(flow.read("new.txt"), "new\n");
}

#[test]
fn a_refused_apply_names_a_command_that_marks_what_both_changed() {
    let (flow, ran) = taken_by_hand("sed -i s/two/2/ 'b c.txt'; echo task > new.txt", |flow| {
        flow.write("b c.txt", &LINES.replace("two", "II"));
        flow.write("new.txt", "person\n");
    });
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let marked = flow.read("b c.txt");
    assert!(marked.contains("<<<<<<<") && marked.contains("II\n") && marked.contains("2\n"), "{marked}");
    assert!(flow.read("new.txt").contains("person\n") && flow.read("new.txt").contains("task\n"));
}

#[test]
fn a_task_that_does_not_listen_is_stopped_at_once_and_the_others_go_on() {
    let deaf =
        "trap true TERM INT HUP; echo work > new.txt; touch \"$HOME/up\"; while :; do sleep 0.05; done";
    let flow = Flow::new()
        .plan(&format!(
            "tasks:\n  deaf: {{ isolation: worktree, timeout: {{ run: 5m, grace: 1h }}, run: '{deaf}' }}\n  \
             other: {{ run: 'until [ -e \"$HOME/go\" ]; do sleep 0.02; done' }}\n"
        ))
        .git();
    let engine = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(20), || flow.home().join("up").exists()));
    flow.run(&["stop", "latest", "deaf", "--now"]).exits(0).says(&["`deaf` ended: killed"]);
    std::fs::write(flow.home().join("go"), "").unwrap();
    engine.wait();
    assert_eq!(
        (&flow.task("deaf")["state"], &flow.task("other")["state"]),
        (&"killed".into(), &"completed".into())
    );
    let branch = flow.task("deaf")["worktree"]["branch"].as_str().unwrap().to_owned();
    assert_eq!(git(&flow.dir(), &["show", &format!("{branch}:new.txt")]), "work\n", "its work is kept");
}

#[test]
fn a_tree_whose_folder_others_read_lives_until_they_have_and_goes_then() {
    for (isolation, merge, branches) in [
        ("worktree", "branch", 1),
        ("worktree", "patch", 0),
        ("worktree", "apply", 0),
        ("worktree", "squash", 0),
        ("copy", "patch", 0),
        ("copy", "apply", 0),
    ] {
        let flow = Flow::new()
            .plan(&format!(
                "concurrency: 1
tasks:
  change: {{ isolation: {isolation}, merge: {merge}, run: 'echo x > x.txt' }}
  clean: {{ isolation: {isolation}, run: 'true' }}
  read: {{ run: 'cat ${{{{ tasks.change.dir }}}}/x.txt; test -f ${{{{ tasks.clean.dir }}}}/a.txt' }}
  later: {{ needs: [read], run: 'ls ${{{{ tasks.change.dir }}}}' }}
outputs: {{ read: '${{{{ tasks.read.output }}}}' }}
"
            ))
            .git();
        let ran = flow.run(&["run", "plan.yaml"]).exits(0);
        assert_eq!(ran.json(), json!({ "read": "x" }), "{isolation} {merge}");
        let tree = flow.task("change")["dir"].as_str().unwrap().to_owned();
        assert!(!Path::new(&tree).exists(), "{isolation} {merge}: {tree}");
        assert_eq!(git(&flow.dir(), &["worktree", "list"]).lines().count(), 1);
        let kept = git(&flow.dir(), &["for-each-ref", "--format=%(refname)", "refs/heads/flow/"]);
        assert_eq!(kept.lines().count(), branches, "{isolation} {merge}: {kept}");
        let ended = flow.events().iter().filter(|event| event["ev"] == "worktree_ended").count();
        assert_eq!(ended, 2);
    }
}

#[test]
fn what_a_reader_writes_into_the_tree_of_another_task_is_kept_and_said() {
    for isolation in ["worktree", "copy"] {
        let flow = Flow::new()
            .plan(&format!(
                "tasks:
  change: {{ isolation: {isolation}, merge: patch, run: 'echo x > x.txt' }}
  write: {{ run: 'echo y > ${{{{ tasks.change.dir }}}}/y.txt' }}
"
            ))
            .git();
        let ran = flow.run(&["run", "plan.yaml"]).exits(0);
        let tree = flow.task("change")["dir"].as_str().unwrap().to_owned();
        assert!(Path::new(&tree).join("y.txt").exists(), "{isolation}");
        assert!(ran.stderr.contains("was changed by others") && ran.stderr.contains(&tree), "{}", ran.stderr);
    }
}

#[test]
fn a_run_that_is_gone_on_with_finds_the_trees_that_are_still_to_be_read() {
    for isolation in ["worktree", "copy"] {
        let flow = Flow::new()
            .plan(&format!(
                "tasks:
  change: {{ isolation: {isolation}, merge: patch, run: 'echo x > x.txt' }}
  read: {{ run: 'cat ${{{{ tasks.change.dir }}}}/x.txt; test -e \"$HOME/go\"' }}
  done: {{ needs: [change], run: 'ls ${{{{ tasks.change.dir }}}}' }}
"
            ))
            .git();
        let ran = flow.run(&["run", "plan.yaml"]).exits(1);
        assert!(ran.stderr.contains("stays for those that read it"), "{}", ran.stderr);
        std::fs::write(flow.home().join("go"), "").unwrap();
        flow.run(&["resume", "latest"]).exits(0);
        assert_eq!(flow.task("read")["state"], "completed", "{isolation}");
    }
}
