//! What people do out of habit, with repositories, agents and plans of their own.

use std::time::Duration;

use crate::support::{Flow, signal, wait_until};

/// Writes a file, is cut off in its second turn by a signal to the engine, and goes on, or not, with the third.
fn cut_off(isolation: &str, how: &str) -> Flow {
    let model = "work:
  - call: Write
    with: { file_path: w.txt, content: \"w\\n\" }
  - call: Bash
    with: { command: 'touch ROOT/began; test -e ROOT/go || sleep 100' }
  - call: Write
    with: { file_path: x.txt, content: \"x\\n\" }
  - say: It is written.
";
    let plan = format!(
        "tasks:\n  work: {{ prompt: Work., isolation: {isolation}, merge: apply, tools: [Write, Bash], idempotent: true }}\n"
    );
    let flow = Flow::new().plan(&plan).git();
    let root = flow.dir().display().to_string();
    flow.write("model.yaml", &model.replace("ROOT", &root));
    let running = flow.start(&["run", "plan.yaml", "--model-script", "model.yaml"]);
    assert!(wait_until(Duration::from_secs(30), || flow.exists("began")));
    signal(running.id(), how);
    running.wait();
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0);
    flow
}

fn transcript(flow: &Flow) -> String {
    std::fs::read_to_string(flow.newest_run().join("tasks/work/context.jsonl")).unwrap()
}

#[test]
fn an_agent_that_was_cut_off_goes_on_with_its_files_and_its_conversation() {
    for how in ["KILL", "INT"] {
        check_goes_on(&cut_off("worktree", how));
    }
}

fn check_goes_on(flow: &Flow) {
    assert_eq!(flow.read("w.txt") + &flow.read("x.txt"), "w\nx\n");
    assert!(transcript(flow).contains("the engine stopped"), "{}", transcript(flow));
    // It went on in the tree that it had, and nothing is left of that.
    let of = |kind: &str| -> Vec<_> { flow.events().into_iter().filter(|one| one["ev"] == kind).collect() };
    let made = of("worktree_made");
    assert_eq!(made.len(), 2);
    for field in ["path", "branch", "base"] {
        assert_eq!(made[0][field], made[1][field], "{field}");
    }
    let kept: Vec<_> = of("worktree_ended").iter().map(|one| one["kept"].clone()).collect();
    assert_eq!(kept, [true, false]);
    assert!(!std::path::Path::new(made[0]["path"].as_str().unwrap()).exists());
    assert_eq!(flow.shell("git branch --format='%(refname:short)'").stdout, "main\n");
    let ids: Vec<_> = of("attempt_running").iter().map(|one| one["launch"]["agent"]["id"].clone()).collect();
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn an_agent_that_was_cut_off_does_not_believe_in_what_its_new_tree_lacks() {
    let flow = cut_off("copy", "KILL");
    assert!(!flow.exists("w.txt"));
    assert_eq!(flow.read("x.txt"), "x\n");
    assert!(!transcript(&flow).contains("the engine stopped"), "{}", transcript(&flow));
}

#[test]
fn a_resume_says_that_a_change_to_the_plan_does_not_count() {
    let plan =
        "tasks:\n  one: { run: test -e go }\n  say: { needs: { one: done }, prompt: { file: say.md } }\n";
    let flow = Flow::new()
        .plan(plan)
        .file("say.md", "Hello.\n")
        .model(&format!("default:\n{}", "  - say: ok\n".repeat(5)));
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
    let same = flow.run(&["resume", "latest"]).exits(1);
    assert!(!same.stderr.contains("changed since"), "{}", same.stderr);
    flow.write("plan.yaml", &format!("flow: 1\n{}", plan.replace("test -e go", "true")));
    flow.write("say.md", "Hello, you.\n");
    let told = "changed since the run began: `plan.yaml`, `say.md`; this run goes on with what it began with";
    flow.run(&["resume", "latest"]).exits(1).says(&[told, "`flow run` takes the change"]);
    flow.run(&["retry", "latest", "one"]).exits(1).says(&[told]);
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0);
}

#[test]
fn a_model_without_a_key_is_said_before_the_first_task_and_once_for_all_that_want_it() {
    let agent = |name: &str, model: &str| {
        (
            format!("agents/{name}.md"),
            format!("---\nname: {name}\ndescription: d\nmodel: {model}\n---\nWork.\n"),
        )
    };
    let (one, one_text) = agent("one", "sonnet");
    let (other, other_text) = agent("other", "openai/gpt-5-mini");
    let plan = "tasks:
  work: { run: touch ran }
  a: { needs: [work], agent: one, prompt: p, tools: [Read] }
  b: { needs: [a], for_each: [x, y], agent: one, prompt: p, tools: [Read] }
  c: { needs: [a], agent: other, prompt: p, tools: [Read] }
  d: { needs: { c: failure }, agent: other, prompt: p, tools: [Read] }
  e: { if: run.ci, prompt: p, tools: [Read] }
";
    let flow = Flow::new().plan(plan).file(&one, &one_text).file(&other, &other_text);
    let refused = flow.run(&["run", "plan.yaml"]).exits(3).says(&[
        "`a`, `b` would not start: `ANTHROPIC_API_KEY` is not set, so the model `sonnet` can't be used",
        "`c` would not start: `OPENAI_API_KEY` is not set",
        "help: set `OPENAI_API_KEY`",
    ]);
    assert!(!flow.exists("ran") && refused.stdout.is_empty(), "{refused:?}");
    // Any key would do for both, so it is one thing to do.
    let tour =
        Flow::new().run(&["run", "tour"]).exits(3).says(&["`explore`, `tour` would not start: no model"]);
    assert_eq!(tour.stderr.lines().count(), 2, "{}", tour.stderr);
    // Who is never asked needs no key.
    flow.run(&["run", "plan.yaml", "--only", "work,e"]).exits(4);
    flow.run(&["run", "plan.yaml", "--only", "work", "--only", "e"]).exits(0);
    let mends =
        "tasks:\n  work: { run: 'true' }\n  mend: { needs: { work: failure }, prompt: p, tools: [Read] }\n";
    Flow::new().plan(mends).run(&["run", "plan.yaml"]).exits(0);
}

#[test]
fn a_patch_and_a_folder_are_given_as_a_command_can_use_them() {
    let plan = "tasks:
  change: { isolation: worktree, merge: patch, run: echo more >> a.txt }
  each: { for_each: [x], isolation: copy, merge: patch, run: 'echo ${{ item }} > x.txt' }
  look: { isolation: worktree, run: pwd }
  use:
    run: |
      git apply --stat -- ${{ tasks.change.patch }}
      git apply ${{ tasks.each.results | map(attribute=\"patch\") }}
      test -f x.txt
outputs: { dir: '${{ tasks.look.dir }}', pwd: '${{ tasks.look.output }}' }
";
    let flow = Flow::new().plan(plan).git();
    let ran = flow.run(&["run", "plan.yaml"]).exits(0).json();
    assert_eq!(ran["dir"], ran["pwd"], "no slash at its end");
}

#[test]
fn work_that_cannot_come_home_is_said_to_be_kept_once_and_after_why() {
    let flow = Flow::new()
        .plan("tasks:\n  t: { isolation: worktree, merge: squash, run: 'echo b > new.txt' }\n")
        .git();
    // Nothing of the person's was changed meanwhile: it was there, and in no commit.
    flow.write("new.txt", "mine\n");
    let ran = flow.run(&["run", "plan.yaml"]).exits(1).says(&["`new.txt` is not what the task began with"]);
    assert_eq!(ran.stderr.matches("is kept").count(), 1, "{}", ran.stderr);
    let plan = "flow: 1\ntasks:\n  t: { isolation: worktree, merge: apply, run: 'echo b > new.txt; echo \"gitdir: /else\" > .git' }\n";
    flow.write("apply.yaml", plan);
    let ran = flow.run(&["run", "apply.yaml"]).exits(1);
    let said = ran.stderr.lines().find(|line| line.starts_with("FAILED")).unwrap();
    assert_eq!(said.matches("kept in").count(), 1, "{said}");
    let (why, kept) = (said.find("were changed").unwrap(), said.find("kept in").unwrap());
    assert!(why < kept, "{said}");
}

#[test]
fn tasks_that_were_not_selected_are_counted_and_not_listed() {
    let plan = "tasks:\n  a: { run: 'true' }\n  b: { run: 'true' }\n  c: { needs: [a], run: 'true' }\n";
    let flow = Flow::new().plan(plan);
    let ran = flow.run(&["run", "plan.yaml", "--only", "b"]).exits(0).says(&["1 completed, 2 skipped"]);
    assert!(!ran.stderr.contains("not_selected"), "{}", ran.stderr);
    assert_eq!(flow.task("a")["reason"], "not_selected");
}

#[test]
fn what_status_prints_fits_the_terminal() {
    let long = "echo a command that is much longer than what is left of a line of eighty columns for it";
    let plan = format!(
        "tasks:\n  a: {{ run: '{long}' }}\n  b: {{ run: '{long}; exit 1', expect: {{ files: [none] }} }}\n  \
         c: {{ run: '{long}', artifacts: [none] }}\n"
    );
    let flow = Flow::new().plan(&plan);
    flow.run(&["run", "plan.yaml"]).exits(1);
    let seen = flow.shell("script -qec 'stty rows 24 cols 80; flow status latest' /dev/null").stdout;
    let rows: Vec<&str> = seen.lines().map(str::trim_end).collect();
    assert!(rows.iter().all(|row| row.chars().count() <= 80), "{seen}");
    let column = rows.iter().find_map(|row| row.find("WHAT")).unwrap();
    let whats: Vec<_> =
        rows.iter().filter_map(|row| row.get(column..)).skip_while(|what| *what != "WHAT").collect();
    // What failed says with its last line why.
    let begins: Vec<_> = whats.iter().filter_map(|what| what.get(..6)).collect();
    assert_eq!(begins, ["echo a", "a comm", "artifa"], "{seen}");
}

#[test]
fn a_closed_pipe_is_told_from_a_failure_of_the_command() {
    let flow = Flow::new().plan("tasks:\n  t: { run: 'yes | head -1' }\n");
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["exit code 141: a program wrote into a pipe", "|| true"]);
}

#[test]
fn a_lost_agent_says_why_it_does_not_run_again_by_itself() {
    let model = "work:\n  - call: Bash\n    with: { command: 'touch began; sleep 100' }\n  - say: done\n";
    let flow = Flow::new().plan("tasks:\n  work: { prompt: Work., tools: [Bash] }\n").model(model);
    let running = flow.start(&["run", "plan.yaml", "--model-script", "model.yaml"]);
    assert!(wait_until(Duration::from_secs(30), || flow.exists("began")));
    signal(running.id(), "KILL");
    running.wait();
    let status = flow.run(&["status", "latest"]).exits(0).stdout;
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let row = status.lines().find(|line| line.starts_with("work")).map(words).unwrap();
    assert_eq!(row, ["work", "lost", "its", "engine", "died"], "why, and nobody knows how long it ran");
    // As a word: a run that lived for 10ms is no fault.
    assert!(!words(&status).iter().any(|word| word == "0ms"), "nobody knows how long it ran: {status}");
    let why = "the engine died while it ran, and it must not run twice";
    flow.run(&["resume", "latest"]).exits(1).says(&[why, "Try again: flow retry"]);
    assert!(flow.task("work")["message"].as_str().unwrap().contains(why));
}

#[test]
fn github_reads_each_failure_as_a_line_and_as_an_annotation() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  a: { run: 'true', artifacts: [none.a] }\n  b: { run: 'true', artifacts: [none.b] }\n",
        )
        .env("GITHUB_ACTIONS", "true");
    let ran = flow.run(&["run", "plan.yaml"]).exits(1).says(&["::error"]);
    // The machine of the job is gone when somebody reads this.
    assert!(!ran.stderr.contains("flow logs") && !ran.stderr.contains("flow resume"), "{}", ran.stderr);
    for missing in ["artifact `none.a`", "artifact `none.b`"] {
        assert_eq!(ran.stderr.matches(missing).count(), 2, "{}", ran.stderr);
    }
}

#[test]
fn init_in_a_folder_of_a_repository_keeps_the_agents_of_the_whole_and_says_whose_settings_are_left_out() {
    let agent = "---\nname: own\ndescription: d\ntools: Read\n---\nWork.\n";
    let flow = Flow::new()
        .file(".claude/agents/own.md", agent)
        .file("flow.toml", "concurrency = 2\n")
        .file("apps/one/x.txt", "")
        .git();
    let said = flow.run(&["-C", "apps/one", "init"]).exits(0);
    let said = said.says(&["the settings of `../../flow.toml` don't count in it"]);
    assert!(!said.stderr.contains("--agents"), "{}", said.stderr);
    flow.write("apps/one/plan.yaml", "flow: 1\ntasks:\n  a: { agent: own, prompt: p }\n");
    flow.run(&["-C", "apps/one", "run", "plan.yaml"]).exits(1).says(&["../../.claude/agents/own.md"]);
    // Nothing says that what lies above a folder without a repository belongs to it.
    let alone = Flow::new().file(".claude/agents/own.md", agent).file("flow.toml", "").file("one/x.txt", "");
    alone.run(&["-C", "one", "init"]).exits(0).says(&["count in it with `--agents ../.claude/agents` only"]);
    alone.run(&["-C", "one", "--agents", "../.claude/agents", "agents", "show", "own"]).exits(0);
}

#[test]
fn a_place_of_agents_that_has_none_is_an_error_that_names_where_they_are() {
    let agent = "---\nname: own\ndescription: d\n---\nWork.\n";
    let flow = Flow::new().file("packs/README.md", "# Packs\n").file("packs/web/agents/own.md", agent);
    for command in [["agents", "list"], ["agents", "check"], ["check", "plan.yaml"]] {
        flow.write("plan.yaml", "flow: 1\ntasks:\n  a: { run: 'true' }\n");
        let said = ["`--agents packs`: the folder defines no agent", "below it there are `packs/web/agents`"];
        flow.run(&["--agents", "packs", command[0], command[1]]).exits(3).says(&said);
    }
    flow.run(&["--agents", "packs/README.md", "agents", "list"])
        .exits(3)
        .says(&["the file defines no agent"]);
    flow.run(&["--agents", "packs/web/agents", "agents", "show", "own"]).exits(0);
}

#[test]
fn the_end_of_a_run_says_where_the_work_is_that_did_not_come_home() {
    let plan = "concurrency: 1
tasks:
  lasting: { isolation: worktree, merge: branch, run: echo b > b.txt }
  patched: { isolation: worktree, merge: patch, run: echo p > p.txt }
  home: { isolation: worktree, merge: apply, run: echo h > h.txt }
  idle: { isolation: worktree, merge: branch, run: 'true' }
  copied: { isolation: copy, run: echo c > c.txt }
";
    let flow = Flow::new().plan(plan).git();
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    let run = flow.newest_run();
    let id = run.file_name().unwrap().to_str().unwrap();
    let kept: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("kept: ")).collect();
    let folder = flow.task("copied")["worktree"]["path"].clone();
    assert_eq!(
        kept,
        [
            format!("kept: branch flow/{id}/lasting.1 (lasting: 1 file)"),
            format!("kept: patch .flow/runs/{id}/tasks/patched/1.patch (patched: 1 file)"),
            format!("kept: folder {} (copied: 1 file)", folder.as_str().unwrap()),
        ]
    );
    // What the report says to do with a copy can be done.
    let report = flow.run(&["report", "latest"]).exits(0).stdout;
    let command = report.lines().find(|line| line.starts_with("diff ")).unwrap();
    let shown = flow.shell(command).exits(1).stdout;
    assert!(shown.contains("+c\n"), "{shown}");
}

#[test]
fn a_plan_can_be_checked_and_drawn_without_what_a_run_has_to_be_given() {
    let plan = "secrets: [SOME_TOKEN]
inputs: { who: { type: string } }
tasks:
  a: { run: 'echo ${{ inputs.who }}', env: { T: '${{ secrets.SOME_TOKEN }}' } }
";
    let flow = Flow::new().plan(plan).file("workflows/other.yaml", &format!("flow: 1\n{plan}"));
    flow.run(&["check"]).exits(0).says(&["2 tasks fine"]);
    flow.run(&["check", "plan.yaml", "-i", "whom=x"]).exits(3).says(&["did you mean `who`?"]);
    assert!(flow.run(&["graph", "plan.yaml"]).exits(0).stdout.contains('a'));
    let missing = ["input `who` is missing", "secret `SOME_TOKEN` is not set", "2 errors; nothing was run"];
    flow.run(&["run", "plan.yaml"]).exits(3).says(&missing);
    flow.run(&["run", "-n", "plan.yaml"]).exits(3).says(&missing);
}

#[test]
fn one_piece_of_advice_is_given_once_and_every_place_is_shown() {
    let task = |name: &str| format!("  {name}: {{ agent: general-purpose, prompt: p }}\n");
    let agents = format!("tasks:\n{}{}{}", task("a"), task("b"), task("c"));
    let flow = Flow::new().plan(&agents);
    let ran =
        flow.run(&["check", "plan.yaml"]).exits(0).says(&["plan.yaml:3:", "plan.yaml:4:", "plan.yaml:5:"]);
    let told = |text: &str| ran.stderr.matches(text).count();
    assert_eq!((told("warning[W0503]"), told("help: grant what it needs")), (3, 1), "{}", ran.stderr);
    // Who reads one line at a time reads it with each.
    let json = flow.run(&["check", "plan.yaml", "-o", "json"]).exits(0).json();
    assert!(json.as_array().unwrap().iter().all(|found| found["help"].is_string()));
}

#[test]
fn a_report_names_the_branch_of_refused_work_in_full() {
    let name = "a_name_as_long_as_people_like_them_when_they_say_what_it_does";
    let plan =
        format!("tasks:\n  {name}: {{ isolation: worktree, merge: squash, run: 'echo b > new.txt' }}\n");
    let flow = Flow::new().plan(&plan).git();
    flow.write("new.txt", "mine\n");
    flow.run(&["run", "plan.yaml"]).exits(1);
    let branch = flow.task(name)["worktree"]["branch"].as_str().unwrap().to_owned();
    let report = flow.run(&["report", "latest"]).exits(0).stdout;
    let message = report.lines().find(|line| line.contains("the work is kept on branch")).unwrap();
    assert!(message.contains(&branch), "{message}");
}

#[test]
fn a_report_on_standard_output_stands_there_alone() {
    let flow = Flow::new().plan("tasks:\n  a: { run: echo hi }\noutputs: { a: '${{ tasks.a.output }}' }\n");
    for format in ["junit", "md", "json", "notifications"] {
        let alone = flow.run(&["run", "plan.yaml", "--report", &format!("{format}=-")]).exits(0).stdout;
        assert_eq!(alone, flow.run(&["report", "latest", "--format", format]).exits(0).stdout, "{format}");
    }
    let beside = flow.run(&["run", "plan.yaml", "--report", "junit=junit.xml"]).exits(0);
    assert_eq!(beside.json()["a"], "hi");
    assert!(flow.read("junit.xml").ends_with("</testsuites>\n"));
}

#[test]
fn a_guard_in_an_agent_file_that_does_not_stand_is_said_before_the_agent_runs() {
    let agent = "---\nname: own\ndescription: d\ntools: Read\nhooks:\n  PreToolUse: [{ matcher: Bash }]\nmcpServers:\n  \
                 docs: { command: docs }\n---\nWork.\n";
    let flow = Flow::new()
        .plan("tasks:\n  a: { agent: own, prompt: p }\n")
        .file("agents/own.md", agent)
        .file("agents/bare.md", "---\nname: bare\ndescription: d\nhooks:\nmcpServers:\n---\nWork.\n")
        .model("default: [{ say: ok }]\n");
    let told = ["`hooks` has no effect yet", "`disallowedTools`", "`mcpServers` has no effect yet"];
    flow.run(&["check"]).exits(0).says(&told);
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0).says(&told);
    let found = flow.run(&["agents", "check"]).exits(0).stdout;
    assert_eq!(found.lines().count(), 2, "what says nothing earns nothing: {found}");
}

#[test]
fn a_model_that_a_resume_lacks_is_said_before_anything_runs_and_costs_nothing() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  done: { prompt: x }\n  one: { run: test -e go }\n  say: { needs: [one], prompt: y }\n  other: { run: test -e go }\n",
        )
        .model("default:\n  - say: fine\n");
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
    flow.write("go", "");
    let events = flow.events().len();
    let told = flow.run(&["resume", "latest", "--model", "nosuch/model"]).exits(3);
    assert!(
        told.stderr.contains("`say` would not start") && !told.stderr.contains("`done`"),
        "{}",
        told.stderr
    );
    assert_eq!(flow.events().len(), events);
    flow.run(&["retry", "latest", "other", "--model", "nosuch/model"]).exits(1);
    flow.run(&["resume", "latest"]).exits(0);
}

#[test]
fn in_a_bare_repository_work_comes_home_to_branches_and_a_checkout_is_missed_before_the_run() {
    let flow = Flow::new().git();
    crate::support::git(&flow.dir(), &["clone", "-q", "--bare", ".", "../bare.git"]);
    let plan = |merge: &str| {
        format!(
            "flow: 1\ntasks:\n  t: {{ isolation: worktree, merge: {merge}, run: 'echo {merge} > x.txt' }}\n"
        )
    };
    flow.write("../bare.git/plan.yaml", &plan("apply"));
    flow.run(&["-C", "../bare.git", "run", "plan.yaml"]).exits(3).says(&["this repository is bare"]);
    for merge in ["squash", "branch", "patch"] {
        flow.write("../bare.git/plan.yaml", &plan(merge));
        flow.run(&["-C", "../bare.git", "run", "plan.yaml"]).exits(0);
    }
    let bare = flow.path("../bare.git");
    assert_eq!(crate::support::git(&bare, &["show", "main:x.txt"]), "squash\n");
    assert_eq!(crate::support::git(&bare, &["for-each-ref", "refs/heads/flow"]).lines().count(), 1);
}
