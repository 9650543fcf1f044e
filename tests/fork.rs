//! Tasks that go on with another task's conversation, and agents that begin with what the run knows.

use serde_json::{Value, json};

use crate::support::Flow;
use crate::support::model_server::{Answer, ModelServer, anthropic_call, anthropic_text};

const SETTINGS: &str =
    "[models]\ndefault = \"lab/test-model\"\n\n[providers.lab]\nkind = \"anthropic\"\nallow_local = true\n";

/// A project whose model is behind a server that says this, call by call.
fn project(plan: &str, answers: Vec<String>) -> (Flow, ModelServer) {
    let server = ModelServer::start(answers.into_iter().map(Answer::stream).collect());
    let settings = format!("{SETTINGS}base_url = \"{}\"\n", server.url);
    let flow = Flow::new().plan(plan).file("a.txt", "forty-two\n").file("flow.toml", &settings).git();
    (flow, server)
}

fn read() -> String {
    anthropic_call("call_1", "Read", &json!({ "file_path": "a.txt" }))
}

/// A request without what marks the provider's cache, which moves from turn to turn.
fn plain(body: &Value) -> Value {
    match body {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != "cache_control")
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect(),
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

#[test]
fn s38_a_fork_sends_what_its_parent_sent_byte_for_byte_and_then_its_directive() {
    let plan = "concurrency: 1
tasks:
  plan: { prompt: Read a.txt and plan., tools: [Read] }
  one: { fork: plan, prompt: What did you leave out? }
  two: { needs: [one], fork: plan, prompt: And why? }
outputs: { one: '${{ tasks.one.output }}', two: '${{ tasks.two.output }}' }
";
    let texts =
        ["The plan is made.", "I left out the tests.", "There was no time for them."].map(anthropic_text);
    let (flow, server) = project(plan, [vec![read()], texts.to_vec()].concat());
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.json(), json!({ "one": "I left out the tests.", "two": "There was no time for them." }));
    let asked: Vec<Value> = server.asked().iter().map(|asked| plain(&asked.body)).collect();
    let [_, parent, one, two] = asked.as_slice() else { panic!("{} requests", asked.len()) };
    for (fork, directive) in [(one, "What did you leave out?"), (two, "And why?")] {
        assert_eq!(
            (&fork["system"], &fork["tools"], &fork["model"]),
            (&parent["system"], &parent["tools"], &parent["model"])
        );
        let (before, after) = (parent["messages"].as_array().unwrap(), fork["messages"].as_array().unwrap());
        assert_eq!(before[..], after[..before.len()], "what the parent was asked stands first");
        assert_eq!(after.len(), before.len() + 2);
        assert_eq!(after[before.len()]["role"], "assistant");
        let said = &after[before.len() + 1]["content"];
        assert_eq!(said.as_array().map_or(said, |blocks| &blocks[0]["text"]), directive);
    }
    let told = flow.run(&["report", "latest", "--format", "json"]).exits(0).json();
    let one = told["tasks"].as_array().unwrap().iter().find(|task| task["address"] == "one").unwrap();
    assert_eq!(one["agent"]["fork"], "plan", "{one}");
    assert_eq!(one["usage"]["turns"], 1, "what the parent used is not counted again");
}

#[test]
fn s39_a_fork_in_the_background_has_the_same_tools_and_what_is_forbidden_is_refused_at_the_call() {
    let plan = "tasks:
  plan: { prompt: Plan., tools: [Read, Bash] }
  later: { fork: plan, prompt: Go on., background: true, disallowed_tools: [Bash] }
";
    let bash = anthropic_call("call_2", "Bash", &json!({ "command": "touch ran" }));
    let answers = vec![anthropic_text("The plan is made."), bash, anthropic_text("Then without it.")];
    let (flow, server) = project(plan, answers);
    flow.run(&["run", "plan.yaml"]).exits(0);
    let asked = server.asked();
    assert_eq!(asked[0].body["tools"], asked[1].body["tools"]);
    assert!(!flow.exists("ran"));
    assert_eq!(flow.task("later")["denials"][0]["tool"], "Bash");
}

#[test]
fn s41_a_fork_with_a_tree_of_its_own_is_told_where_it_works_behind_what_was_said() {
    let plan = "tasks:
  plan: { prompt: Plan., tools: [Read, Write] }
  change: { fork: plan, prompt: Write b.txt., isolation: worktree, merge: branch }
";
    let write = anthropic_call("call_2", "Write", &json!({ "file_path": "b.txt", "content": "b\n" }));
    let answers = vec![anthropic_text("The plan is made."), write, anthropic_text("It is written.")];
    let (flow, server) = project(plan, answers);
    flow.run(&["run", "plan.yaml"]).exits(0);
    let asked: Vec<Value> = server.asked().iter().map(|asked| plain(&asked.body)).collect();
    assert_eq!(
        (&asked[0]["system"], &asked[0]["messages"][0]),
        (&asked[1]["system"], &asked[1]["messages"][0])
    );
    let told = asked[1]["messages"][2].to_string();
    let (tree, branch) =
        (flow.task("change")["dir"].clone(), flow.task("change")["worktree"]["branch"].clone());
    for said in [tree.as_str().unwrap(), branch.as_str().unwrap(), "Write b.txt."] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(!flow.exists("b.txt"), "the checkout is untouched");
    assert_eq!(
        crate::support::git(&flow.dir(), &["show", &format!("{}:b.txt", branch.as_str().unwrap())]),
        "b\n"
    );
}

#[test]
fn an_agent_can_begin_with_the_briefing_and_the_notifications_of_what_it_needs() {
    let plan = "briefing: Small steps.
tasks:
  good: { run: echo fine }
  bad: { run: 'echo broken >&2; exit 3' }
  each: { for_each: [x, y], run: 'echo ${{ item }}' }
  tell: { needs: { good: success, bad: done, each: success }, isolation: fork, prompt: What happened? }
";
    let (flow, server) = project(plan, vec![anthropic_text("One of them failed.")]);
    flow.run(&["run", "plan.yaml"]).exits(1);
    let first = plain(&server.asked()[0].body)["messages"][0]["content"].to_string();
    let at = |text: &str| first.find(text).unwrap_or_else(|| panic!("{text}: {first}"));
    assert_eq!(first.matches("<task-notification>").count(), 4);
    assert!(at("Small steps.") < at("<task-notification>") && at("broken") < at("What happened?"));
}

/// What an agent's calls got, in their order.
fn results(flow: &Flow, task: &str) -> Vec<String> {
    let context =
        std::fs::read_to_string(flow.newest_run().join(format!("tasks/{task}/context.jsonl"))).unwrap();
    let items = context.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let blocks = items.flat_map(|item| item["message"]["content"].as_array().cloned().unwrap_or_default());
    blocks.filter_map(|block| Some(block["content"].as_str()?.to_owned())).collect()
}

#[test]
fn an_agent_reads_the_output_that_it_is_told_of_and_nothing_else_of_the_run() {
    let plan = "concurrency: 1
secrets: [TOKEN]
tasks:
  first: { run: 'echo first $TOKEN', env: { TOKEN: '${{ secrets.TOKEN }}' } }
  second: { needs: [first], run: 'echo second; ln -s \"$PWD\"/.flow/runs/* run' }
  third: { needs: [second], run: echo third }
  both: { needs: [first, second], isolation: fork, tools: [Read, Write, Grep], prompt: What happened? }
  one: { needs: [third, both], tools: [Read], prompt: 'Look: ${{ tasks.third.notification }}' }
";
    let read = |path: &str| format!("  - {{ call: Read, with: {{ file_path: run/{path} }} }}\n");
    let both =
        ["tasks/first/output.1", "tasks/second/output.1", "out/0.out", "events.jsonl"].map(read).concat();
    let one = ["tasks/third/output.1", "tasks/first/output.1"].map(read).concat();
    let more = "  - { call: Write, with: { file_path: run/tasks/first/output.1, content: x } }
  - { call: Grep, with: { pattern: first, path: run/tasks/first/output.1 } }\n";
    let model = format!("both:\n{both}{more}  - say: ok\none:\n{one}  - say: ok\n");
    let flow = Flow::new().plan(plan).env("TOKEN", "hidden-0123456789").model(&model);
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    let run = flow.newest_run();
    let said = results(&flow, "both");
    assert_eq!(said[..2], ["     1\tfirst ***\n", "     1\tsecond\n"]);
    assert!(said[2..].iter().all(|result| result.contains("closed to tools")) && said.len() == 6, "{said:?}");
    let said = results(&flow, "one");
    assert_eq!(said[0], "     1\tthird\n");
    assert!(said[1].contains("closed to tools"), "{said:?}");
    let told = std::fs::read_to_string(run.join("tasks/both/prompt.md")).unwrap();
    for task in ["first", "second"] {
        let file = run.join(format!("tasks/{task}/output.1"));
        assert!(told.contains(&format!("<output_file>{}</output_file>", file.display())), "{told}");
    }
    // Who looks at the report finds all of them where they were written.
    let report = flow.run(&["report", "latest", "--format", "notifications"]).exits(0).stdout;
    assert_eq!(report.matches("/out/0.out</output_file>").count(), 3, "{report}");
}

#[test]
fn an_output_that_nobody_is_told_of_is_copied_nowhere() {
    let plan = "tasks:
  quiet: { run: echo quiet }
  tell: { needs: [quiet], prompt: 'It said ${{ tasks.quiet.output }}.' }
";
    let flow = Flow::new().plan(plan).model("tell: [{ say: ok }]\n");
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    assert!(flow.newest_run().join("tasks/tell").exists());
    assert!(!flow.newest_run().join("tasks/quiet").exists());
}

#[test]
fn a_fork_of_a_task_that_said_nothing_fails_with_the_reason() {
    let plan = "tasks:
  plan: { prompt: Plan. }
  why: { needs: { plan: done }, fork: plan, prompt: Why? }
";
    let flow = Flow::new().plan(plan).model("plan: []\nwhy: [{ say: never asked }]\n");
    flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(1);
    let why = flow.task("why");
    assert_eq!((&why["reason"], &why["attempts"][0]["reason"]), (&"upstream".into(), &"upstream".into()));
    assert!(why.to_string().contains("`plan` has said nothing"), "{why}");
}

#[test]
fn a_fork_that_was_killed_goes_on_where_it_was_and_begins_with_the_same_conversation() {
    let plan = "tasks:
  plan: { prompt: Plan. }
  more: { fork: plan, prompt: Wait., permissions: { allow: [Bash] }, on_lost: retry }
";
    let model = "plan: [{ say: The plan is made. }]
more:
  - call: Bash
    with: { command: 'echo once >> ran; test -e go || sleep 100' }
  - say: It is done.
";
    let flow = Flow::new().plan(plan).model(model);
    let running = flow.start(&["run", "plan.yaml", "--model-script", "model.yaml"]);
    assert!(crate::support::wait_until(std::time::Duration::from_secs(30), || flow.exists("ran")));
    crate::support::signal(running.id(), "KILL");
    running.wait();
    flow.write("go", "");
    flow.run(&["resume", "latest"]).exits(0);
    let context = std::fs::read_to_string(flow.newest_run().join("tasks/more/context.jsonl")).unwrap();
    let context: Vec<Value> = context.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(context.iter().filter(|item| item["item"] == "forked").count(), 1, "{context:?}");
    assert!(context[0]["messages"].to_string().contains("The plan is made."));
    assert_eq!(flow.task("more")["state"], "completed");
}

#[test]
fn plan_and_graph_say_whose_conversation_goes_on() {
    let flow =
        Flow::new().plan("tasks:\n  plan: { prompt: Plan. }\n  more: { fork: plan, prompt: Go on. }\n");
    let shown = flow.run(&["plan", "plan.yaml"]).exits(0).stdout;
    assert!(shown.contains("goes on with the conversation of `plan`"), "{shown}");
    let graph = flow.run(&["graph", "plan.yaml"]).exits(0).stdout;
    assert!(graph.contains("more (fork of plan)"), "{graph}");
}
