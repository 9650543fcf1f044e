//! `flow logs`: what tasks printed, and what agents said and did.

use std::time::Duration;

use serde_json::json;

use crate::support::model_server::{Answer, ModelServer, anthropic_calls, anthropic_text};
use crate::support::{Flow, wait_until};

/// A project whose model is behind a server that says this, request by request.
fn project(plan: &str, answers: Vec<Answer>) -> (Flow, ModelServer) {
    let server = ModelServer::start(answers);
    let settings = format!(
        "[models]\ndefault = \"lab/m\"\n\n[providers.lab]\nkind = \"anthropic\"\nallow_local = true\nbase_url = \"{}\"\n",
        server.url
    );
    (Flow::new().plan(plan).file("a.txt", "forty-two\n").file("flow.toml", &settings), server)
}

fn scripted(plan: &str, model: &str) -> Flow {
    let flow = Flow::new().plan(plan).model(model).file("a.txt", "forty-two\n");
    flow.write("flow.toml", "[models]\ndefault = { provider = \"script\", file = \"model.yaml\" }\n");
    flow
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("lacks {part:?} in its place:\n{text}") };
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn the_conversation_of_an_agent_is_shown_and_a_commands_output_stays_as_it_is() {
    let plan = "tasks:
  sh: { run: \"printf 'a\\\\033[1mb\\\\r\\\\nlast'\" }
  t: { needs: [sh], prompt: Look at a.txt., tools: [Read] }
";
    let calls = [
        ("call_1", "Read", json!({ "file_path": "a.txt" })),
        ("call_2", "Bash", json!({ "command": "make all" })),
    ];
    let answers = vec![
        Answer::refusal(529, "Overloaded").header("retry-after", "0"),
        Answer::stream(anthropic_calls(&calls)),
        Answer::stream(anthropic_text("It says\nforty-two.")),
    ];
    let (flow, _server) = project(plan, answers);
    flow.run(&["run", "plan.yaml"]).exits(0);
    let shown = flow.run(&["logs"]).exits(0).stdout;
    contains(
        &shown,
        &[
            "==> sh <==\na\u{1b}[1mb\r\nlast\n==> t <==\nagent   general-purpose (lab/m)\nprompt  Look at a.txt.\n",
            "model   answered 529: Overloaded\n",
            "denied  Bash make all: this agent doesn't have the tool `Bash`",
            "call    Read a.txt\nresult       1\tforty-two\nsays    It says\n        forty-two.\nend     completed\n",
        ],
    );
    assert_eq!(flow.run(&["logs", "latest", "sh"]).exits(0).stdout, "a\u{1b}[1mb\r\nlast");
    assert_eq!(flow.run(&["logs", "latest", "t", "--raw"]).exits(0).stdout, "It says\nforty-two.");
    assert_eq!(flow.run(&["logs", "t", "--raw"]).exits(0).stdout, "It says\nforty-two.");
    assert!(flow.run(&["logs", "t"]).exits(0).stdout.starts_with("agent   general-purpose"));
    // A refusal is worth a look though the task completed.
    let failed = flow.run(&["logs", "--failed"]).exits(0).stdout;
    contains(&failed, &["==> t <==\ndenied  Bash make all: ", "end     completed\n"]);
    assert!(!failed.contains("==> sh <=="), "{failed}");
    assert!(flow.run(&["events"]).exits(0).stdout.contains("run ended"));
    flow.run(&["logs", "nothing"]).exits(3);
}

#[test]
fn the_last_words_and_calls_of_all_that_failed_are_shown_with_the_reason() {
    let plan = "concurrency: 1
tasks:
  good: { prompt: p }
  turns: { prompt: p, tools: [Read], max_turns: 2, continue_on_error: true }
  late: { prompt: p, timeout: 1s, tools: [Bash], continue_on_error: true }
  refused: { prompt: p, tools: [Read], expect: { denied: false }, continue_on_error: true }
  empty: { prompt: p, continue_on_error: true }
  many: { for_each: [x, y], prompt: '${{ item }}', continue_on_error: true }
  sh: { run: 'seq 1 50; exit 3', continue_on_error: true }
  after: { needs: { turns: success }, run: echo }
";
    let model = "good: [{ say: All well. }]
turns: [{ say: I look once more., call: Read, with: { file_path: a.txt }, repeat: 5 }]
late: [{ say: This takes a while., call: Bash, with: { command: 'echo begun; sleep 100' } }]
refused: [{ call: Write, with: { file_path: b.txt, content: b } }, { say: I could not write. }]
empty: [{ say: '' }]
'many[x]': [{ say: fine }]
'many[y]': [{ fail: { status: 401, message: who are you } }]
";
    let flow = scripted(plan, model);
    flow.run(&["run", "plan.yaml"]);
    let shown = flow.run(&["logs", "latest", "--failed"]).exits(0).stdout;
    for parts in [
        &[
            "==> turns <==\nsays    I look once more.\ncall    Read a.txt\nresult       1\tforty-two\nsays    I look once more.\n",
            "end     failed (max_turns): the limit of 2 turns is reached",
        ][..],
        &[
            "==> late <==\nsays    This takes a while.\ncall    Bash echo begun; sleep 100\n",
            "end     failed (timeout): ran longer than 1.0s",
        ],
        &[
            "==> refused <==\ndenied  Write b.txt: ",
            "says    I could not write.\nend     failed (permission_denied)",
        ],
        &["==> empty <==\nend     failed (no_output): the agent ended without a text\n"],
        &["==> many[y] <==\nend     failed (provider): the model `default` answered 401: who are you"],
        &["==> sh <==\n31\n32\n", "\n50\nend     failed (exit_code): exit code 3\n"],
    ] {
        contains(&shown, parts);
    }
    for absent in ["==> good <==", "==> many <==", "==> many[x] <==", "==> after <=="] {
        assert!(!shown.contains(absent), "{absent}: {shown}");
    }
}

#[test]
fn a_live_conversation_is_followed_and_a_stopped_one_shows_its_last_words() {
    let plan = "tasks:\n  t: { prompt: Say it., tools: [Bash] }\n";
    let said = "The first line is whole.\nThe second one breaks off there.";
    let wait = json!({ "command": "echo begun; until test -e go; do sleep 0.05; done" });
    let answers = vec![
        Answer::stream(anthropic_calls(&[("call_1", "Bash", wait)])),
        Answer::stream(anthropic_text(said)).held_after("The first line"),
    ];
    let (flow, _server) = project(plan, answers);
    let id = flow.run(&["run", "plan.yaml", "--detach"]).exits(0).stdout.trim().to_owned();
    let following = flow.start(&["logs", "latest", "t", "-f"]);
    let shown = || flow.run(&["logs", &id, "t"]).exits(0).stdout;
    assert!(wait_until(Duration::from_secs(30), || shown().contains("call    Bash echo begun")));
    flow.write("go", "");
    assert!(wait_until(Duration::from_secs(30), || shown().contains("says    The first line is whole.")));
    flow.run(&["stop", &id]).exits(0);
    let followed = following.wait().exits(0).stdout;
    contains(
        &followed,
        &[
            "prompt  Say it.\ncall    Bash echo begun",
            "result  begun\n",
            "says    The first line is whole.\n        The\n        (broke off here)\n",
            "model   had not answered yet\nend     stopped (cancelled)",
        ],
    );
    assert_eq!(followed, shown(), "what is followed is what is shown afterwards");
    let failed = flow.run(&["logs", "--failed"]).exits(0).stdout;
    contains(
        &failed,
        &[
            "==> t <==\ncall    Bash",
            "says    The first line is whole.\n",
            "(broke off here)",
            "end     stopped (cancelled)",
        ],
    );
}

#[test]
fn a_live_run_shows_turn_tokens_and_tool_and_its_events_have_the_calls() {
    let plan = "tasks:\n  t: { prompt: Say it., tools: [Read, Bash] }\n";
    let wait = json!({ "command": "until test -e go; do sleep 0.05; done" });
    let answers = vec![
        Answer::stream(anthropic_calls(&[
            ("call_1", "Read", json!({ "file_path": "a.txt" })),
            ("call_2", "Write", json!({ "file_path": "b.txt", "content": "b" })),
        ])),
        Answer::stream(anthropic_calls(&[("call_3", "Bash", wait)])),
        Answer::stream(anthropic_text("Done.")),
    ];
    let (flow, _server) = project(plan, answers);
    let id = flow.run(&["run", "plan.yaml", "--detach"]).exits(0).stdout.trim().to_owned();
    let status = || flow.run(&["status", "-o", "json"]).exits(0).json()["tasks"][0].clone();
    assert!(wait_until(Duration::from_secs(30), || {
        status()["activity"].as_str().is_some_and(|activity| activity.starts_with("Bash until test"))
    }));
    let task = status();
    assert_eq!((&task["turn"], &task["tokens"]), (&2.into(), &80.into()), "{task:#}");
    let page = flow.run(&["status"]).exits(0).stdout;
    contains(&page, &["; 80 tokens", "t ", " running ", " 80 ", " turn 2: Bash until test"]);
    flow.write("go", "");
    assert!(wait_until(Duration::from_secs(30), || status()["state"] == "completed"));
    assert_eq!((&status()["activity"], &status()["tokens"]), (&serde_json::Value::Null, &120.into()));

    let lines = |text: String| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let kinds = |events: &[serde_json::Value]| -> Vec<String> {
        let about_t = events.iter().filter(|event| event["task"] == "t");
        about_t.map(|event| event["ev"].as_str().unwrap().to_owned()).collect()
    };
    let expected = [
        "task_ready",
        "attempt_starting",
        "attempt_running",
        "tool_refused",
        "tool_called",
        "tool_ended",
        "tool_called",
        "tool_ended",
        "attempt_ended",
        "task_ended",
    ];
    let events = lines(flow.run(&["events", &id, "-o", "json"]).exits(0).stdout);
    assert_eq!(kinds(&events), expected);
    let called = events.iter().find(|event| event["ev"] == "tool_called").unwrap();
    assert_eq!(
        (&called["v"], &called["tool"], &called["call"]),
        (&1.into(), &"Read".into(), &"a.txt".into())
    );
    let journal = std::fs::read_to_string(flow.newest_run().join("events.jsonl")).unwrap();
    assert!(!journal.contains("tool_called"), "the journal stays small");
    contains(
        &flow.run(&["events"]).exits(0).stdout,
        &["tool refused     t", "Write b.txt", "tool called      t", "Read a.txt", "tool ended       t"],
    );

    // The same of a run that is watched from its own terminal.
    let script = "t: [{ call: Read, with: { file_path: a.txt } }, { call: Bash, with: { command: 'exit 3' } }, { say: ok }]";
    let flow = scripted(plan, script);
    let events = lines(flow.run(&["run", "plan.yaml", "-o", "json"]).exits(0).stdout);
    let called = ["tool_called", "tool_ended"];
    let calls = [&expected[..3], &called, &called, &expected[8..]].concat();
    assert_eq!(kinds(&events), calls);
    assert_eq!(events.iter().filter(|event| event["is_error"] == true).count(), 1);
}
