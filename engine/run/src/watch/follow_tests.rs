use std::fs::File;
use std::io::Write;

use flow_core::converse::Logged;
use flow_core::event::{Launch, LaunchAgent};
use flow_core::ids::{Attempt, Millis};
use flow_core::model::{AttemptEnd, Outcome, Usage};
use serde_json::json;

use super::*;
use crate::store::StateDir;

fn learn(follower: &mut Follower, task: &str, agent: bool) {
    let agent = agent.then(|| LaunchAgent {
        id: String::new(),
        name: String::new(),
        source: String::new(),
        path: String::new(),
        hash: String::new(),
        version: None,
        model: String::new(),
        at_once: None,
        written: None,
        fork: None,
    });
    let (kind, description, dir) = (String::new(), String::new(), String::new());
    let launch = Launch { kind, description, dir, background: false, agent };
    follower.learn(&Event::AttemptRunning { task: task.into(), attempt: Attempt(1), launch });
}

fn said(follower: &mut Follower) -> Vec<Progress> {
    let progress = |update| match update {
        Update::Progress(_, progress) => progress,
        Update::Event(_) | Update::Output { .. } | Update::Note(_) => panic!("{update:?}"),
    };
    follower.progress().into_iter().map(progress).collect()
}

#[test]
fn the_log_of_an_agent_says_what_its_own_process_would_tell() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join("state")).unwrap();
    let folder = Arc::new(RunFolder::create(&state, Millis(0)).unwrap());
    let log = folder.make_task(&"t".into()).unwrap().join("wire.jsonl");
    let write = |text: &str| {
        let file = File::options().create(true).append(true).open(&log);
        file.and_then(|mut file| file.write_all(text.as_bytes())).unwrap();
    };
    let line = |line: LogLine| serde_json::to_string(&Logged { at: Millis(1), line }).unwrap() + "\n";
    let usage = |input_tokens, cache_read_tokens| {
        Some(Usage { input_tokens, cache_read_tokens, turns: 1, ..Usage::default() })
    };
    let answered = |usage| LogLine::RequestEnded {
        turn: 1,
        status: flow_core::converse::Answered::Http(200),
        ms: 1,
        usage,
        error: None,
    };
    let mut follower = Follower::new(Arc::clone(&folder));
    learn(&mut follower, "t", true);
    learn(&mut follower, "shell", false);
    assert_eq!(said(&mut follower), [], "there is no log yet");
    let began = LogLine::Began {
        agent_id: "a".to_owned(),
        agent: "x".to_owned(),
        model: "p/m".to_owned(),
        attempt: Attempt(1),
        continued: false,
    };
    write(&line(began.clone()));
    assert_eq!(said(&mut follower), [Progress::Waiting(true)]);
    write(&line(LogLine::RequestBegan { turn: 1 }));
    let text = line(LogLine::Text { turn: 1, text: "First.\nThen this.\n".to_owned(), partial: false });
    write(&text[..12]);
    assert_eq!(said(&mut follower), [Progress::Waiting(false), Progress::Turn(1)]);
    write(&text[12..]);
    write(&line(answered(usage(100, 40))));
    let input = json!({});
    let (id, tool, call) = ("i".to_owned(), "Read".to_owned(), "a.txt".to_owned());
    let called = LogLine::ToolCalled { id: id.clone(), tool: tool.clone(), call: call.clone(), input };
    let logged = |line: &LogLine| Progress::Logged(Box::new(Logged { at: Millis(1), line: line.clone() }));
    write(&line(called.clone()));
    assert_eq!(
        said(&mut follower),
        [
            Progress::Text("Then this.".to_owned()),
            Progress::Tokens { fresh: 100, cached: 40 },
            logged(&called),
            Progress::Tool("Read".to_owned(), "a.txt".to_owned())
        ]
    );
    let (text, bytes, is_error) = (String::new(), 0, false);
    write(&line(LogLine::ToolEnded { id, tool, call, text, bytes, is_error }));
    write(&line(LogLine::RequestBegan { turn: 2 }));
    write(&line(answered(usage(10, 90))));
    let told = said(&mut follower);
    assert_eq!(told.last(), Some(&Progress::Tokens { fresh: 110, cached: 130 }));
    // Another attempt from nothing counts anew.
    write(&line(began));
    write(&line(answered(usage(7, 0))));
    assert_eq!(said(&mut follower).last(), Some(&Progress::Tokens { fresh: 7, cached: 0 }));
    write(&line(called.clone()));
    let outcome = Box::new(Outcome::bare(AttemptEnd::Completed, None, None));
    follower.learn(&Event::AttemptEnded { task: "t".into(), attempt: Attempt(1), outcome });
    write(&line(LogLine::RequestBegan { turn: 3 }));
    assert_eq!(said(&mut follower), [logged(&called)], "no call gets lost, and nothing follows");
}
