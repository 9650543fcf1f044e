use std::path::Path;
use std::time::Duration;

use flow_core::converse::{LetterKey, OutputForm};
use flow_core::ids::Attempt;
use flow_core::model::{AttemptEnd, ProviderKind, Reason};
use serde_json::{Value, json};

use super::super::files::recorded_calls;
use super::super::launch::new_agent_id;
use super::super::testing::{Bench, CANCEL};
use super::*;
use crate::provider::testing::{
    Answer, End, Server, anthropic_call, anthropic_text, openai_call, openai_text,
};

#[test]
fn an_id_is_an_a_and_sixteen_hex_digits() {
    let id = new_agent_id().unwrap();
    assert!(id.len() == 17 && id.starts_with('a') && id.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    assert_ne!(id, new_agent_id().unwrap());
}

const READ_AND_SAY: &str = "t: [{ call: Read, with: { file_path: a.txt } }, { say: It says alpha. }]";

#[tokio::test]
async fn an_agent_that_reads_and_answers_completes() {
    let ran = Bench::new(READ_AND_SAY).run().await;
    assert_eq!((ran.outcome.end, ran.outcome.reason), (AttemptEnd::Completed, None));
    assert_eq!(ran.text(), "It says alpha.");
    let usage = ran.outcome.usage.as_ref().unwrap();
    assert_eq!((usage.turns, usage.tool_uses, usage.model.as_str()), (2, 1, "test-model"));
    assert_eq!(ran.outcome.agent_id.as_deref(), Some("a0123456789abcdef"));
    assert_eq!((ran.file("prompt.md").as_str(), ran.file("system.md").as_str()), ("Do it.", "You work."));
    assert_eq!(ran.statuses(), [200, 200]);
    ran.check_log();
    assert!(ran.file("context.jsonl").contains("1\\talpha"));
    assert!(ran.progress.contains(&Progress::Tool("Read".to_owned(), "a.txt".to_owned())));
    assert!(ran.progress.contains(&Progress::Turn(2)));
    assert!(ran.progress.contains(&Progress::Text("It says alpha.".to_owned())));
}

#[tokio::test]
async fn what_it_says_is_told_in_whole_lines() {
    let text = anthropic_text("It shows up in one place.\nThat is the second line");
    let server = Server::start(vec![Answer::stream(&text).in_pieces(3)]).await;
    let ran = Bench::with(tempfile::tempdir().unwrap(), server.model(ProviderKind("anthropic"))).run().await;
    assert_eq!(ran.outcome.end, AttemptEnd::Completed, "{:?}", ran.outcome);
    let said = ran.progress.iter().filter_map(|said| match said {
        Progress::Text(line) => Some(line.as_str()),
        _ => None,
    });
    assert_eq!(said.collect::<Vec<_>>(), ["It shows up in one place.", "That is the second line"]);
}

#[tokio::test]
async fn the_turn_limit_is_a_failure_that_keeps_the_last_text() {
    let script = "t: [{ say: partial, call: Read, with: { file_path: a.txt }, repeat: 50 }]";
    let ran = Bench::new(script).set(|launch| launch.spec.max_turns = 3).run().await;
    assert_eq!((ran.outcome.end, ran.outcome.reason), (AttemptEnd::Failed, Some(Reason::MaxTurns)));
    assert_eq!((ran.text().as_str(), ran.turns(), ran.statuses().len()), ("partial", 3, 3));
}

#[tokio::test]
async fn an_empty_answer_is_no_output() {
    let ran = Bench::new("t: [{ say: '' }]").run().await;
    assert_eq!((ran.outcome.reason, ran.outcome.text.as_ref()), (Some(Reason::NoOutput), None));
}

#[tokio::test]
async fn a_model_that_is_not_there_is_asked_once_and_named() {
    let script = "t: [{ fail: { status: 404, message: model not found }, repeat: 9 }]";
    let ran = Bench::new(script).run().await;
    assert_eq!(ran.outcome.reason, Some(Reason::Provider));
    let message = ran.outcome.message.as_ref().unwrap();
    for part in ["404", "model not found", "`test-model`"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(ran.statuses(), [404]);
    ran.check_log();
}

#[tokio::test]
async fn a_call_that_would_ask_is_denied_and_recorded() {
    let script = "t: [{ call: Read, with: { file_path: /etc/hostname } }, { say: could not read }]";
    let ran = Bench::new(script).run().await;
    assert_eq!(ran.outcome.end, AttemptEnd::Completed);
    let denials: Vec<_> =
        ran.outcome.denials.iter().map(|denial| (denial.tool.as_str(), denial.reason)).collect();
    assert_eq!(denials, [("Read", DenialReason::NobodyToAsk)]);
}

#[tokio::test]
async fn a_stop_ends_a_call_of_the_model_and_none_follows() {
    let script =
        "t: [{ say: thinking, call: Read, with: { file_path: a.txt } }, { hang: true }, { say: never }]";
    let ran = Bench::new(script).run_until(|said| *said == Progress::Turn(2), CANCEL).await;
    assert_eq!((ran.outcome.end, ran.outcome.reason), (AttemptEnd::Killed, Some(Reason::Cancelled)));
    assert_eq!(ran.text(), "thinking");
    assert_eq!(ran.statuses(), [json!(200), json!("stopped")]);
    ran.check_log();
}

#[tokio::test]
async fn a_timeout_is_a_failure() {
    let order = StopOrder { reason: Reason::Timeout, force: false };
    let ran = Bench::new("t: [{ hang: true }]").run_until(|said| *said == Progress::Turn(1), order).await;
    assert_eq!((ran.outcome.end, ran.outcome.reason), (AttemptEnd::Failed, Some(Reason::Timeout)));
    ran.check_log();
}

#[tokio::test]
async fn an_agent_that_is_stopped_before_it_begins_asks_nothing() {
    let bench = Bench::new(READ_AND_SAY);
    bench.switch.stop(CANCEL);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.end, AttemptEnd::Killed);
    assert_eq!((ran.turns(), ran.logged("request_began").len()), (0, 0));
}

#[tokio::test]
async fn a_stop_ends_commands_gently_or_at_once() {
    for force in [false, true] {
        let script = "t: [{ call: Bash, with: { command: 'echo $$ > id; sleep 600' } }, { say: never }]";
        let bench = Bench::new(script);
        let id = bench.launch.place.tree.join("id");
        let switch = bench.switch;
        let (sender, _receiver) = mpsc::channel(64);
        let running = tokio::spawn(run_agent(bench.launch, bench.stop, sender));
        while !std::fs::read_to_string(&id).is_ok_and(|text| text.ends_with('\n')) {
            tokio::task::yield_now().await;
        }
        let told = Instant::now();
        switch.stop(StopOrder { reason: Reason::Cancelled, force });
        let outcome = running.await.unwrap();
        // Far below the command's own time limit.
        assert!(told.elapsed() < Duration::from_secs(60));
        assert_eq!((outcome.end, outcome.usage.unwrap().turns), (AttemptEnd::Killed, 1));
        let stat = Path::new("/proc").join(std::fs::read_to_string(&id).unwrap().trim()).join("stat");
        let deadline = Instant::now() + Duration::from_secs(10);
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            assert!(Instant::now() < deadline, "still alive");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_second_attempt_goes_on_in_the_script_and_keeps_the_first_transcript() {
    let script = "t: [{ say: one }, { say: two }]";
    let first = Bench::new(script).run().await;
    let position = recorded_calls(&first.folder()).unwrap();
    assert_eq!((first.text().as_str(), position), ("one", 1));
    let mut again = Bench::new(script).set(|launch| launch.position = position);
    again.launch.folder = first.folder();
    again.launch.attempt = Attempt(2);
    let second = again.run().await;
    let slice = second.outcome.text.unwrap();
    assert_eq!((slice.start, slice.len, first.file("output.txt").as_str()), (3, 3, "onetwo"));
    assert!(first.file("context.1.jsonl").contains("one"));
    assert!(!first.file("context.jsonl").contains("one"));
    assert_eq!(recorded_calls(&first.folder()).unwrap(), 2);
}

#[tokio::test]
async fn an_agent_goes_on_from_its_transcript() {
    let script = "t: [{ call: Read, with: { file_path: a.txt } }, { hang: true }, { say: done }]";
    let first = Bench::new(script).run_until(|said| *said == Progress::Turn(2), CANCEL).await;
    let before = first.file("context.jsonl");
    // The engine died while it wrote.
    let torn = format!("{before}{{\"item\":\"mess");
    std::fs::write(first.folder().join("context.jsonl"), torn).unwrap();
    let mut again = Bench::new(script);
    again.launch.folder = first.folder();
    again.launch.start = AgentStart::Continue;
    again.launch.position = recorded_calls(&first.folder()).unwrap();
    let second = again.run().await;
    assert_eq!(second.outcome.end, AttemptEnd::Completed);
    let after = first.file("context.jsonl");
    assert!(after.starts_with(&before) && after.contains("done"));
    for line in after.lines() {
        serde_json::from_str::<Item>(line).unwrap();
    }
}

#[tokio::test]
async fn continuing_without_a_transcript_is_a_beginning() {
    let ran = Bench::new(READ_AND_SAY).set(|launch| launch.start = AgentStart::Continue).run().await;
    assert_eq!((ran.outcome.end, ran.turns()), (AttemptEnd::Completed, 2));
}

#[tokio::test]
async fn a_large_output_goes_into_a_file() {
    for (count, inline) in [(10, true), (40_000, false)] {
        let list = Value::from((0..count).collect::<Vec<u32>>());
        let script = format!("t: [{{ say: '{list}' }}]");
        let ran = Bench::new(&script).set(|launch| launch.spec.output = OutputForm::Json).run().await;
        assert_eq!(ran.outcome.output.is_some(), inline);
        if let Some(file) = &ran.outcome.output_file {
            assert_eq!(file, "tasks/t/output.1.json");
            assert_eq!(serde_json::from_str::<Value>(&ran.file("output.1.json")).unwrap(), list);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_provider_is_told_and_its_end_too() {
    let script = "t: [{ fail: { status: 429, retry_after: 30, message: slow down } }, { say: done }]";
    let ran = Bench::new(script).run().await;
    assert_eq!(ran.outcome.end, AttemptEnd::Completed);
    let waits: Vec<_> = ran.progress.iter().filter(|said| matches!(said, Progress::Waiting(_))).collect();
    assert_eq!(waits.first(), Some(&&Progress::Waiting(true)));
    assert_eq!(waits.last(), Some(&&Progress::Waiting(false)));
    let parked = |said: &Progress| matches!(said, Progress::Parked { reason, .. } if reason == "slow down");
    assert!(ran.progress.iter().any(parked));
    assert_eq!(ran.statuses(), [429, 200]);
    ran.check_log();
}

fn idle(seconds: u64) -> impl FnOnce(&mut AgentLaunch) {
    move |launch| launch.idle = Some(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_shows_no_sign_of_life_is_stopped_as_stalled() {
    let script = "t: [{ say: looking, call: Read, with: { file_path: a.txt } }, { hang: true }]";
    let ran = Bench::new(script).set(idle(90)).run().await;
    assert_eq!((ran.outcome.end, ran.outcome.reason), (AttemptEnd::Failed, Some(Reason::Stall)));
    let message = ran.outcome.message.as_deref();
    assert_eq!(message, Some("showed no sign of life for 1m30s (`timeout.idle`)"));
    assert_eq!((ran.text().as_str(), ran.turns()), ("looking", 2));
    assert_eq!(ran.statuses(), [json!(200), json!("stopped")]);
    ran.check_log();
}

#[tokio::test(start_paused = true)]
async fn turns_that_each_come_in_time_are_signs_of_life() {
    let script =
        "t: [{ sleep: 80s, call: Read, with: { file_path: a.txt }, repeat: 5 }, { say: done, sleep: 80s }]";
    let ran = Bench::new(script).set(idle(90)).run().await;
    assert_eq!(ran.outcome.end, AttemptEnd::Completed, "{:?}", ran.outcome);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_providers_limit_is_no_stall() {
    let script = "t: [{ fail: { status: 429, retry_after: 30, message: slow down } }, { say: done }]";
    let ran = Bench::new(script).set(idle(5)).run().await;
    assert_eq!(ran.outcome.end, AttemptEnd::Completed, "{:?}", ran.outcome);
}

#[tokio::test]
async fn a_tool_that_runs_in_silence_is_a_sign_of_life() {
    let script = "t: [{ call: Bash, with: { command: 'sleep 0.6' } }, { say: done }]";
    let ran = Bench::new(script).set(|launch| launch.idle = Some(Duration::from_millis(300))).run().await;
    assert_eq!(ran.outcome.end, AttemptEnd::Completed, "{:?}", ran.outcome);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_an_outcome() {
    let bench = Bench::new(READ_AND_SAY);
    std::fs::write(bench.root.path().join("run"), "in the way").unwrap();
    let ran = bench.run().await;
    assert_eq!((ran.outcome.end, ran.outcome.reason), (AttemptEnd::Failed, Some(Reason::Internal)));
    assert!(ran.outcome.message.unwrap().starts_with("can't write `"));
}

#[tokio::test]
async fn over_http_an_agent_calls_a_tool_and_answers() {
    let apis = [
        (ProviderKind("anthropic"), anthropic_call("a.txt"), anthropic_text("It says alpha.")),
        (ProviderKind("openai"), openai_call("a.txt"), openai_text("It says alpha.")),
    ];
    for (kind, call, text) in apis {
        // The second turn is limited once and cut once before it is answered.
        let limited = Answer::status(429, r#"{"error": {"message": "slow"}}"#).header("retry-after: 0");
        let cut = Answer::stream(&text[..text.len() / 2]).end(End::Cut);
        let server =
            Server::start(vec![Answer::stream(&call).in_pieces(3), limited, cut, Answer::stream(&text)])
                .await;
        let bench = Bench::with(tempfile::tempdir().unwrap(), server.model(kind));
        let ran = bench.run().await;
        assert_eq!(ran.outcome.end, AttemptEnd::Completed, "{:?}", ran.outcome);
        assert_eq!((ran.text().as_str(), ran.turns()), ("It says alpha.", 2));
        assert_eq!(ran.statuses(), [json!(200), json!(429), json!("no_answer"), json!(200)]);
        ran.check_log();
        let seen = server.seen();
        assert_eq!(seen.len(), 4);
        assert!(seen[3].body.to_string().contains("1\\talpha"), "{}", seen[3].body);
        assert!(
            !ran.file("context.jsonl").contains("secret-key")
                && !ran.file("wire.jsonl").contains("secret-key")
        );
    }
}

fn letters(keys: &[&str]) -> Vec<Letter> {
    let letter = |key: &&str| Letter { key: LetterKey((*key).to_owned()), text: format!("letter {key}") };
    keys.iter().map(letter).collect()
}

/// What a transcript says, an item a word: who said something, `result`, or the letters that were read.
fn told(ran: &super::super::testing::Ran) -> Vec<String> {
    let word = |line: Value| {
        let content = &line["message"]["content"];
        match (line["item"].as_str().unwrap(), content[0]["type"].as_str()) {
            ("delivered", _) => content
                .as_array()
                .unwrap()
                .iter()
                .map(|block| block["text"].as_str().unwrap())
                .collect::<Vec<_>>()
                .join(", "),
            ("message", Some("tool_result")) => "result".to_owned(),
            ("message", _) => line["message"]["role"].as_str().unwrap().to_owned(),
            (item, _) => item.to_owned(),
        }
    };
    ran.lines("context.jsonl").into_iter().map(word).collect()
}

#[tokio::test(start_paused = true)]
async fn a_letter_that_comes_while_the_model_is_asked_is_read_after_its_answer() {
    let script = "t: [{ sleep: 60s, call: Read, with: { file_path: a.txt } }, { say: done }]";
    let send = |said: &Progress, _: &_, handle: &AgentHandle| {
        if *said == Progress::Turn(1) {
            handle.offer(letters(&["a"]));
            handle.offer(letters(&["a", "b"]));
        }
    };
    let ran = Bench::new(script).run_while(send).await;
    assert_eq!(ran.outcome.end, AttemptEnd::Completed, "{:?}", ran.outcome);
    assert_eq!(told(&ran), ["user", "assistant", "result", "letter a, letter b", "assistant"]);
}

#[tokio::test(start_paused = true)]
async fn a_letter_that_no_turn_follows_stays_its_senders() {
    let send = |said: &Progress, _: &_, handle: &AgentHandle| {
        if *said == Progress::Turn(1) {
            handle.offer(letters(&["a"]));
        }
    };
    let ran = Bench::new("t: [{ sleep: 60s, say: done }]").run_while(send).await;
    assert_eq!((ran.outcome.end, told(&ran).len()), (AttemptEnd::Completed, 2));
}

#[tokio::test(start_paused = true)]
async fn over_a_stop_every_letter_is_read_once() {
    let call = "call: Read, with: { file_path: a.txt }";
    let script = format!("t: [{{ sleep: 60s, {call} }}, {{ hang: true }}, {{ {call} }}, {{ say: done }}]");
    let act = |said: &Progress, switch: &crate::sys::stop::StopSwitch, handle: &AgentHandle| match said {
        Progress::Turn(1) => handle.offer(letters(&["a"])),
        Progress::Turn(2) => {
            handle.offer(letters(&["b"]));
            switch.stop(CANCEL);
        }
        _ => {}
    };
    let first = Bench::new(&script).run_while(act).await;
    assert_eq!(first.outcome.end, AttemptEnd::Killed);
    let mut again = Bench::new(&script);
    again.launch.folder = first.folder();
    again.launch.start = AgentStart::Continue;
    again.launch.position = recorded_calls(&first.folder()).unwrap();
    // Whoever sends doesn't know what was read, so all is sent again.
    let (progress, _receiver) = mpsc::channel(64);
    let (handle, running) = start_agent(again.launch, again.stop, progress);
    handle.offer(letters(&["a", "b", "c"]));
    assert_eq!(running.await.end, AttemptEnd::Completed);
    let expected = "user assistant result letter a unanswered letter b, letter c assistant result assistant";
    assert_eq!(told(&first).join(" "), expected);
}
