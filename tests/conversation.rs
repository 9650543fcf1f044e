//! What is kept of a conversation while it goes on, and how it goes on after it was cut off.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::model_server::{Answer, ModelServer, anthropic_call, anthropic_calls, anthropic_text};
use crate::support::{Flow, signal, wait_until};

const SETTINGS: &str =
    "[models]\ndefault = \"lab/test-model\"\n\n[providers.lab]\nkind = \"anthropic\"\nallow_local = true\n";

/// A project whose model is behind a server that says this, request by request.
fn project(plan: &str, answers: Vec<Answer>) -> (Flow, ModelServer) {
    let server = ModelServer::start(answers);
    let settings = format!("{SETTINGS}base_url = \"{}\"\n", server.url);
    (Flow::new().plan(plan).file("a.txt", "forty-two\n").file("flow.toml", &settings), server)
}

/// Lines of the log of a task's conversation.
fn log(flow: &Flow, task: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(flow.newest_run().join(format!("tasks/{task}/wire.jsonl"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

const WAIT: &str = "echo once >> ran; test -e go || sleep 100";

#[test]
fn an_agent_that_was_stopped_goes_on_as_itself_and_is_counted_once() {
    let plan = "tasks:\n  t: { agent: worker, prompt: Work., tools: [Read, Bash] }\n";
    let answers = [
        anthropic_call("call_1", "Read", &json!({ "file_path": "a.txt" })),
        anthropic_calls(&[
            ("call_2", "Bash", bash(WAIT)),
            ("call_3", "Write", json!({ "file_path": "x", "content": "" })),
        ]),
        anthropic_text("It is done."),
    ];
    let (flow, server) = project(plan, answers.map(Answer::stream).to_vec());
    flow.write("agents/worker.md", "---\nname: worker\ndescription: d\n---\nWork well.\n");
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(30), || flow.exists("ran")));
    flow.run(&["stop", "latest"]).exits(0);
    running.wait();
    let stopped = flow.task("t");
    assert_eq!((&stopped["usage"]["turns"], &stopped["usage"]["input_tokens"]), (&2.into(), &50.into()));
    assert_eq!(stopped["denials"].as_array().unwrap().len(), 1, "{stopped:#}");
    flow.write("go", "");
    flow.write("agents/worker.md", "---\nname: worker\ndescription: d\n---\nWork badly.\n");
    flow.run(&["resume", "latest"]).exits(0);

    let task = flow.task("t");
    let attempts = task["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0]["agent_id"], attempts[1]["agent_id"]);
    assert_eq!(task["usage"]["turns"], 3);
    assert_eq!(task["denials"].as_array().unwrap().len(), 1, "a refusal is told once: {task:#}");
    let log = log(&flow, "t");
    let sent = log.iter().filter_map(|line| line["usage"]["input_tokens"].as_u64()).sum::<u64>();
    assert_eq!((task["usage"]["input_tokens"].as_u64(), sent), (Some(75), 75));
    let asked = server.asked();
    assert_eq!((&asked[0].body["system"], asked.len()), (&asked[2].body["system"], 3));
    let stored = std::fs::read_to_string(flow.newest_run().join("tasks/t/system.md")).unwrap();
    assert_eq!(asked[2].body["system"][0]["text"], *stored, "the prompt that was stored, byte for byte");
    let ids: Vec<_> = log.iter().filter_map(|line| line["agent_id"].as_str()).collect();
    assert_eq!(ids, [attempts[0]["agent_id"].as_str().unwrap(); 2]);
}

#[test]
fn a_result_that_had_come_back_when_the_engine_died_is_in_the_next_request() {
    let plan = "tasks:\n  t: { prompt: Work., tools: [Bash], idempotent: true }\n";
    let calls = [("call_1", "Bash", bash("echo one-of-two")), ("call_2", "Bash", bash(WAIT))];
    let answers = vec![Answer::stream(anthropic_calls(&calls)), Answer::stream(anthropic_text("Done."))];
    let (flow, server) = project(plan, answers);
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(Duration::from_secs(30), || flow.exists("ran")));
    signal(running.id(), "KILL");
    running.wait();
    flow.run(&["resume", "latest"]).exits(0);

    let asked = server.asked();
    let results = asked[1].body["messages"][2]["content"].as_array().unwrap();
    let result = |at: usize| (results[at]["tool_use_id"].as_str().unwrap(), results[at].to_string());
    assert!(result(0).0 == "call_1" && result(0).1.contains("one-of-two"), "{results:#?}");
    assert!(result(1).0 == "call_2" && result(1).1.contains("the engine stopped"), "{results:#?}");
    assert_eq!(flow.read("ran"), "once\n", "the call that was open is not made again");
    let task = flow.task("t");
    let attempts = task["attempts"].as_array().unwrap();
    assert_eq!(attempts[0]["agent_id"], attempts[1]["agent_id"]);
    assert_eq!(
        (&task["usage"]["turns"], &task["usage"]["input_tokens"]),
        (&2.into(), &50.into()),
        "what the lost attempt used is not lost"
    );
}

#[test]
fn the_log_of_a_conversation_says_what_happened_in_order() {
    let plan = "tasks:\n  t: { prompt: Look., tools: [Read], checks: ['test -e a.txt'] }\n";
    let calls = [("call_1", "Read", json!({ "file_path": "a.txt" })), ("call_2", "Bash", bash("make"))];
    let answers = vec![
        Answer::refusal(529, "Overloaded").header("retry-after", "0"),
        Answer::stream(anthropic_calls(&calls)),
        Answer::stream(anthropic_text("It says\nforty-two.")),
    ];
    let (flow, _server) = project(plan, answers);
    flow.run(&["run", "plan.yaml"]).exits(0);
    let log = log(&flow, "t");
    let kinds: Vec<_> = log.iter().map(|line| line["ev"].as_str().unwrap()).collect();
    let request = ["request_began", "request_ended"];
    assert_eq!(
        kinds,
        [
            &["began", "prompt"][..],
            &request,
            &request,
            &["tool_refused", "tool_called", "tool_ended"],
            &["request_began", "text", "text", "request_ended", "checked", "ended"],
        ]
        .concat()
    );
    let of = |ev: &str| log.iter().find(|line| line["ev"] == ev).unwrap();
    assert_eq!(of("prompt")["text"], "Look.");
    assert_eq!(
        (&of("request_ended")["status"], &of("request_ended")["error"]),
        (&529.into(), &"Overloaded".into())
    );
    assert_eq!(
        (&of("tool_refused")["call"], &of("tool_refused")["reason"]),
        (&"make".into(), &"not_available".into())
    );
    assert_eq!(of("tool_called")["input"], json!({ "file_path": "a.txt" }));
    assert!(of("tool_ended")["text"].as_str().unwrap().contains("forty-two"));
    assert_eq!((&of("text")["text"], &of("ended")["end"]), (&"It says\n".into(), &"completed".into()));
}

const SAID: &str = "The first line is whole.\nThe second line of it is cut.\n";

/// What arrives of `SAID` when it breaks off: its first half.
fn half() -> &'static str {
    SAID.split_at(SAID.len() / 2).0
}

#[test]
fn what_an_agent_had_said_when_it_was_ended_is_its_text() {
    for (limit, reason) in [("1s", "timeout"), ("1h", "cancelled")] {
        let plan = format!("tasks:\n  t: {{ prompt: Say., timeout: {limit} }}\n");
        let held = Answer::stream(anthropic_text(SAID)).held_after("The first line");
        let (flow, _server) = project(&plan, vec![held]);
        let running = flow.start(&["run", "plan.yaml"]);
        if reason == "cancelled" {
            let wire =
                |run: std::fs::DirEntry| std::fs::read_to_string(run.path().join("tasks/t/wire.jsonl"));
            let runs = || std::fs::read_dir(flow.path(".flow/runs")).into_iter().flatten().flatten();
            let said = || runs().any(|run| wire(run).is_ok_and(|log| log.contains("The first line")));
            assert!(wait_until(Duration::from_secs(30), said));
            flow.run(&["stop", "latest"]).exits(0);
        }
        running.wait();
        let task = flow.task("t");
        assert_eq!(task["reason"], reason, "{task:#}");
        let slice = &task["attempts"][0]["text"];
        let text = std::fs::read_to_string(flow.newest_run().join(slice["file"].as_str().unwrap())).unwrap();
        assert_eq!(text, half());
        let texts: Vec<_> = log(&flow, "t").into_iter().filter(|line| line["ev"] == "text").collect();
        assert_eq!(texts.len(), 2, "{texts:#?}");
        assert_eq!(
            (&texts[0]["text"], &texts[0]["partial"]),
            (&"The first line is whole.\n".into(), &Value::Null)
        );
        assert_eq!(texts[1]["partial"], true);
    }
}

#[test]
fn a_text_that_broke_off_and_was_asked_for_again_stays_in_the_log() {
    let plan = "tasks:\n  t: { prompt: Say. }\noutputs: { t: '${{ tasks.t.output }}' }\n";
    let broken = Answer::stream(anthropic_text(SAID)).cut_after("The first line");
    let (flow, _server) = project(plan, vec![broken, Answer::stream(anthropic_text("All of it."))]);
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.json(), json!({ "t": "All of it." }));
    let log = log(&flow, "t");
    let texts: Vec<_> = log
        .iter()
        .filter(|line| line["ev"] == "text")
        .map(|line| (line["text"].as_str().unwrap(), line["partial"] == true))
        .collect();
    let (whole, cut) = half().split_at(half().find('\n').unwrap() + 1);
    assert_eq!(texts, [(whole, false), (cut, true), ("All of it.", false)]);
    let ended: Vec<_> = log.iter().filter(|line| line["ev"] == "request_ended").collect();
    assert!(ended[0]["error"].is_string() && ended[1]["error"].is_null(), "{ended:#?}");
    assert_eq!(flow.task("t")["usage"]["turns"], 1);
}
