//! Models that fall silent, servers that end early, hosts without a key.

use std::time::Duration;

use serde_json::json;

use crate::support::Flow;
use crate::support::model_server::{Answer, ModelServer, openai_call, openai_text};

/// Two agents whose model is behind a server that a repository's `flow.toml` names.
fn project(server: &ModelServer) -> Flow {
    let settings = format!(
        "[models]\ndefault = \"lab/m\"\n\n[providers.lab]\nkind = \"openai\"\nbase_url = \"{}\"\n\
         api_key_env = \"LAB_KEY\"\nallow_local = true\n",
        server.url
    );
    Flow::new()
        .plan(
            "tasks:\n  t: { prompt: Say something., tools: [Read] }\n  \
             u: { needs: [t], prompt: And again., tools: [Read] }\n\
             outputs: { said: \"${{ tasks.u.output }}\" }\n",
        )
        .file("flow.toml", &settings)
        .file("a.txt", "forty-two\n")
        .env("LAB_KEY", "sk-very-secret")
}

#[test]
fn that_no_key_is_sent_is_said_once_for_each_model() {
    for how in [&["run", "plan.yaml"][..], &["run", "plan.yaml", "-o", "json"]] {
        let answers = ["One answer of the model.", "Another answer."];
        let server = ModelServer::start(answers.map(|text| Answer::stream(openai_text(text))).into());
        let ran = project(&server).run(how).exits(0);
        let said = ran.stderr.matches("no key is sent to `127.0.0.1`").count();
        assert_eq!(said, 1, "{how:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("`lab/m`"), "{}", ran.stderr);
    }
}

#[test]
fn a_server_that_ends_its_stream_without_a_last_word_is_understood() {
    let bare = |body: String| Answer::stream(body.replace("data: [DONE]\n\n", ""));
    let call = openai_call("call_1", "Read", &json!({ "file_path": "a.txt" }));
    let server = ModelServer::start(vec![
        bare(call),
        bare(openai_text("It says forty-two.")),
        bare(openai_text("Forty-two, as before.")),
    ]);
    let flow = project(&server);
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.json(), json!({ "said": "Forty-two, as before." }));
    assert_eq!(server.asked().len(), 3, "nothing was asked twice");
    assert_eq!(flow.task("t")["usage"]["output_tokens"], 30);
}

#[test]
fn a_stream_that_ends_without_a_finish_reason_is_asked_again() {
    let text = openai_text("Half of an answer, and no more.");
    let half = text.split_inclusive("\n\n").take(3).collect::<String>();
    let server = ModelServer::start(vec![
        Answer::stream(half),
        Answer::stream(openai_text("A whole answer.")),
        Answer::stream(openai_text("The second one.")),
    ]);
    let flow = project(&server);
    flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(server.asked().len(), 3);
    assert_eq!(flow.task("t")["usage"]["turns"], 1);
}

#[test]
fn an_agent_that_falls_silent_is_stopped_and_tried_again() {
    let flow = Flow::new()
        .plan(
            "tasks:\n  t:\n    prompt: p\n    tools: [Read]\n    timeout: { idle: 300ms }\n    \
             retry: { max: 1, delay: 10ms }\n",
        )
        .model("t: [{ hang: true }, { say: At last an answer. }]");
    let ran = flow.run(&["run", "plan.yaml", "--model-script", "model.yaml"]).exits(0);
    assert!(ran.took >= Duration::from_millis(300));
    ran.says(&["stall", "showed no sign of life for 300ms (`timeout.idle`)"]);
    let attempts = flow.task("t")["attempts"].clone();
    let ends: Vec<_> = attempts
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| (attempt["end"].as_str().unwrap(), attempt["reason"].as_str()))
        .collect();
    assert_eq!(ends, [("failed", Some("stall")), ("completed", None)]);
}
