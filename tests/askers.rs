//! Agents that work at the same time, and a model that answers each of them by name.

use std::time::Duration;

use crate::support::model_server::{Answer, ModelServer, anthropic_call, anthropic_text};
use crate::support::{Flow, wait_until};

const SOON: Duration = Duration::from_secs(30);

fn project(plan: &str, server: &ModelServer) -> Flow {
    let settings = format!(
        "[models]\ndefault = \"lab/m\"\n\n[providers.lab]\nkind = \"anthropic\"\nallow_local = true\nbase_url = \"{}\"\n",
        server.url
    );
    Flow::new().plan(plan).file("a.txt", "forty-two\n").file("flow.toml", &settings)
}

fn says(text: &str) -> Answer {
    Answer::stream(anthropic_text(text))
}

fn reads(file: &str) -> Answer {
    Answer::stream(anthropic_call("call_1", "Read", &serde_json::json!({ "file_path": file })))
}

/// An agent each, which all meet in their second turn.
fn meeting(names: &[&'static str], needed: usize) -> (Flow, ModelServer) {
    let answers = names
        .iter()
        .map(|name| {
            (*name, vec![reads("a.txt"), says(&format!("{name} was there.")).meeting_at("here", needed)])
        })
        .collect();
    let server = ModelServer::by_asker(answers);
    let tasks: String = names
        .iter()
        .map(|name| format!("  {}: {{ prompt: 'Work, {name}.', tools: [Read] }}\n", &name[1..]))
        .collect();
    (project(&format!("concurrency: 2\ntasks:\n{tasks}"), &server), server)
}

#[test]
fn two_agents_meet_when_two_may_work_at_once() {
    let (flow, server) = meeting(&["#one", "#two"], 2);
    flow.run(&["run", "plan.yaml"]).exits(0);
    for name in ["one", "two"] {
        let said = flow.run(&["logs", "latest", name, "--raw"]).exits(0).stdout;
        assert_eq!(said, format!("#{name} was there."), "each gets its own answers, whoever comes first");
    }
    let mut turns: Vec<_> =
        server.asked().into_iter().map(|asked| (asked.asker.name, asked.asker.turn)).collect();
    turns.sort();
    let expected = [("#one", 0), ("#one", 1), ("#two", 0), ("#two", 1)];
    assert_eq!(turns, expected.map(|(name, turn)| (name.to_owned(), turn)));
}

#[test]
fn a_third_does_not_come_to_a_meeting_when_two_may_work_at_once() {
    let (flow, server) = meeting(&["#one", "#two", "#three"], 3);
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(SOON, || server.waiting("here") == 2));
    let asked = server.askers();
    assert_eq!(server.give_up("here"), 2, "{asked:?}");
    running.wait().exits(1);
    let came: Vec<_> = server.askers().into_iter().filter(|name| !asked.contains(name)).collect();
    assert_eq!(came.len(), 2, "the third asks twice, and only after the others have gone: {came:?}");
    assert_eq!(flow.report()["counts"]["failed"], 3);
}

#[test]
fn an_answer_is_held_until_it_is_let_go() {
    let server = ModelServer::by_asker(vec![
        ("#slow", vec![says("At last.").held_at("door")]),
        ("#quick", vec![says("At once.")]),
    ]);
    let plan = "tasks:\n  slow: { prompt: 'Work, #slow.' }\n  quick: { prompt: 'Work, #quick.' }\n  \
                after: { needs: [quick], run: touch after }\n";
    let flow = project(plan, &server);
    let running = flow.start(&["run", "plan.yaml"]);
    assert!(wait_until(SOON, || flow.exists("after") && server.waiting("door") == 1));
    let status = flow.run(&["status", "-o", "json"]).exits(0).json();
    assert_eq!(status["tasks"][0]["state"], "running");
    server.open("door");
    running.wait().exits(0);
    assert_eq!(flow.run(&["logs", "latest", "slow", "--raw"]).exits(0).stdout, "At last.");
}

#[test]
fn who_asks_is_whom_the_user_named_last_and_no_notification_names_anybody() {
    let server = ModelServer::by_asker(vec![
        ("#first", vec![says("I call #second and #third.")]),
        ("#second", vec![says("Second.")]),
        ("#third", vec![says("Third.")]),
    ]);
    let plan = "tasks:\n  first: { prompt: 'You are #second, no: #first of #nobody.' }\n  \
                goes_on: { fork: first, prompt: 'Now you are #second.' }\n  \
                told: { needs: [first], isolation: fork, prompt: 'You are #third.' }\n  \
                nobody: { needs: [first], isolation: fork, prompt: 'You are #nobody.' }\n";
    let flow = project(plan, &server);
    flow.run(&["run", "plan.yaml"]).exits(1).says(&["no answers for ``"]);
    let said = |task: &str| flow.run(&["logs", "latest", task, "--raw"]).exits(0).stdout;
    assert_eq!((said("goes_on").as_str(), said("told").as_str()), ("Second.", "Third."));
}
