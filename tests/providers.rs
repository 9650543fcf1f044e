//! The same agents against servers on loopback that stream as the real APIs do.

use serde_json::json;

use crate::support::Flow;
use crate::support::model_server::{
    Answer, ModelServer, anthropic_call, anthropic_text, openai_call, openai_text,
};

/// A project whose only model is behind a server.
fn project(kind: &str, server: &ModelServer) -> Flow {
    let settings = format!(
        "[models]\ndefault = \"lab/test-model\"\n\n[providers.lab]\nkind = \"{kind}\"\nbase_url = \"{}\"\nallow_local = true\n",
        server.url
    );
    Flow::new()
        .plan("tasks:\n  t: { prompt: Read a.txt and say what is in it., tools: [Read] }\noutputs: { said: \"${{ tasks.t.output }}\" }\n")
        .file("a.txt", "forty-two\n")
        .file("flow.toml", &settings)
}

fn call(kind: &str) -> String {
    let input = json!({ "file_path": "a.txt" });
    if kind == "anthropic" {
        anthropic_call("call_1", "Read", &input)
    } else {
        openai_call("call_1", "Read", &input)
    }
}

fn text(kind: &str, text: &str) -> String {
    if kind == "anthropic" { anthropic_text(text) } else { openai_text(text) }
}

#[test]
fn a_tool_call_then_a_text_on_both_apis() {
    for kind in ["anthropic", "openai"] {
        let answers =
            vec![Answer::stream(call(kind)), Answer::stream(text(kind, "It says forty-two, größer als 41."))];
        let server = ModelServer::start(answers);
        let flow = project(kind, &server);
        let ran = flow.run(&["run", "plan.yaml"]).exits(0);
        assert_eq!(ran.json(), json!({ "said": "It says forty-two, größer als 41." }), "{kind}");
        let usage = flow.task("t")["usage"].clone();
        assert_eq!((&usage["turns"], &usage["tool_uses"]), (&2.into(), &1.into()), "{kind}");
        assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&50.into(), &30.into()), "{kind}");
        let asked = server.asked();
        assert_eq!(asked.len(), 2);
        let sent = asked[1].body.to_string();
        assert!(
            sent.contains("forty-two") && sent.contains("call_1"),
            "the result goes back under its id: {sent}"
        );
    }
}

#[test]
fn a_429_with_retry_after_is_waited_for_and_is_no_attempt() {
    for kind in ["anthropic", "openai"] {
        let busy = || Answer::refusal(429, "slow down").header("retry-after", "1");
        let server =
            ModelServer::start(vec![busy(), busy(), Answer::stream(text(kind, "At last, an answer."))]);
        let flow = project(kind, &server);
        let ran = flow.run(&["run", "plan.yaml"]).exits(0).says(&["slow down"]);
        assert!(ran.took.as_millis() >= 2000, "{:?}", ran.took);
        let task = flow.task("t");
        assert_eq!(task["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(task["usage"]["turns"], 1);
        assert_eq!(server.asked().len(), 3);
        assert_eq!(flow.events().iter().filter(|event| event["ev"] == "provider_parked").count(), 2);
    }
}

#[test]
fn a_cut_stream_is_asked_again_and_its_calls_are_never_made() {
    for kind in ["anthropic", "openai"] {
        let cut = Answer::stream(call(kind)).cut_at(call(kind).len() * 2 / 3);
        let server = ModelServer::start(vec![cut, Answer::stream(text(kind, "Done without reading it."))]);
        let flow = project(kind, &server);
        flow.run(&["run", "plan.yaml"]).exits(0);
        let usage = flow.task("t")["usage"].clone();
        assert_eq!((&usage["turns"], &usage["tool_uses"]), (&1.into(), &0.into()), "{kind}");
        assert_eq!(server.asked().len(), 2);
    }
}

#[test]
fn a_stream_in_pieces_of_any_size_says_the_same() {
    for kind in ["anthropic", "openai"] {
        for size in [1, 2, 3, 7, 64] {
            let pieces = |body: String| Answer::stream(body).in_pieces(size);
            let server = ModelServer::start(vec![
                pieces(call(kind)),
                pieces(text(kind, "Größe: vierzig–zwei. Ünïcode!")),
            ]);
            let ran = project(kind, &server).run(&["run", "plan.yaml"]).exits(0);
            assert_eq!(
                ran.json(),
                json!({ "said": "Größe: vierzig–zwei. Ünïcode!" }),
                "{kind}, {size} bytes a piece"
            );
        }
    }
}

#[test]
fn a_key_never_goes_to_a_host_that_a_repository_names() {
    let server = ModelServer::start(vec![Answer::stream(text("anthropic", "No key needed, none was sent."))]);
    let settings = format!(
        "[models]\ndefault = \"lab/m\"\n\n[providers.lab]\nkind = \"anthropic\"\nbase_url = \"{}\"\napi_key_env = \"LAB_KEY\"\nallow_local = true\n",
        server.url
    );
    let flow = project("anthropic", &server)
        .file("flow.toml", &settings)
        .env("LAB_KEY", "sk-very-secret")
        .env("ANTHROPIC_API_KEY", "sk-other");
    flow.run(&["run", "plan.yaml"]).exits(0);
    for asked in server.asked() {
        let sent = format!("{:?}{}", asked.headers, asked.body);
        assert!(!sent.contains("sk-very-secret") && !sent.contains("sk-other"), "{sent}");
    }
}

#[test]
fn a_refusal_fails_the_task_at_once_with_its_status() {
    let server = ModelServer::start(vec![Answer::refusal(401, "invalid key"); 3]);
    let flow = project("openai", &server);
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["401", "invalid key"]);
    assert_eq!(flow.task("t")["reason"], "provider");
    assert_eq!(server.asked().len(), 1, "nothing is gained by asking again");
}

#[test]
fn an_answer_that_is_cut_goes_on_and_one_that_stays_cut_is_no_success() {
    for (kind, whole, cut) in [("anthropic", "end_turn", "max_tokens"), ("openai", "\"stop\"", "\"length\"")]
    {
        let part = |said: &str| Answer::stream(text(kind, said).replace(whole, cut));
        let server =
            ModelServer::start(vec![part("It says "), part("forty-"), Answer::stream(text(kind, "two."))]);
        let flow = project(kind, &server);
        let ran = flow.run(&["run", "plan.yaml"]).exits(0);
        assert_eq!(ran.json(), json!({ "said": "It says forty-two." }), "{kind}");
        let sent = server.asked()[1].body.to_string();
        assert!(sent.contains("It says ") && sent.contains("Go on exactly where it ends"), "{sent}");
        let server = ModelServer::start((0..4).map(|_| part("more ")).collect());
        let flow = project(kind, &server);
        flow.run(&["run", "plan.yaml"]).exits(1).says(&["truncated", "4 answers in a row were cut"]);
        assert_eq!((&flow.task("t")["reason"], server.asked().len()), (&"truncated".into(), 4));
    }
}

#[test]
fn a_paused_answer_goes_on() {
    let paused = Answer::stream(anthropic_text("I look. ").replace("end_turn", "pause_turn"));
    let server = ModelServer::start(vec![paused, Answer::stream(anthropic_text("Done."))]);
    let flow = project("anthropic", &server);
    let ran = flow.run(&["run", "plan.yaml"]).exits(0);
    assert_eq!(ran.json(), json!({ "said": "I look. Done." }));
}
