use serde_json::json;

use super::super::testing::{call, reply};
use super::*;

fn asked(blocks: Vec<Block>) -> Item {
    Item::said(Message { role: Role::Assistant, content: reply(blocks).content })
}

fn result(id: &str, content: &str, denial: Option<Denial>) -> Item {
    let block = Block::ToolResult {
        tool_use_id: id.to_owned(),
        content: content.to_owned(),
        is_error: denial.is_some(),
    };
    let message = Message { role: Role::User, content: vec![block] };
    Item::Message { message, usage: None, stop: None, denial }
}

#[test]
fn every_line_is_read_as_it_was_written() {
    let text = |text: &str| text.to_owned();
    let lines = [
        LogLine::Began {
            agent_id: text("a0"),
            agent: text("Explore"),
            model: text("p/m"),
            attempt: Attempt(2),
            continued: true,
        },
        LogLine::Prompt { text: text("go") },
        LogLine::RequestBegan { turn: 1 },
        LogLine::RequestEnded {
            turn: 1,
            status: Answered::Http(529),
            ms: 3,
            usage: Some(Usage::default()),
            error: Some(text("full")),
        },
        LogLine::RequestEnded {
            turn: 1,
            status: Answered::No(NoAnswer::Stopped),
            ms: 3,
            usage: None,
            error: None,
        },
        LogLine::Text { turn: 1, text: text("so\n"), partial: true },
        called(&Call { id: text("x"), tool: text("Bash"), input: json!({ "command": "ls" }) }),
        LogLine::ToolRefused {
            id: text("x"),
            tool: text("Bash"),
            call: text("ls"),
            reason: DenialReason::Rule,
            text: text("no"),
        },
        LogLine::Checked { message: Some(text("check `x` failed")) },
        LogLine::Ended { end: AttemptEnd::Failed, reason: Some(Reason::Timeout), message: None },
    ];
    for line in lines {
        let logged = Logged { at: Millis(7), line };
        let written = serde_json::to_string(&logged).unwrap();
        assert!(written.starts_with("{\"at\":7,\"ev\":\""), "{written}");
        assert_eq!(Logged::read(&written), Some(logged), "{written}");
    }
}

#[test]
fn lines_of_earlier_versions_are_read_and_of_later_ones_passed_over() {
    let read = |line| Logged::read(line).map(|logged| logged.line);
    let old = r#"{"at":5,"turn":2,"status":"no_answer","ms":9,"error":"gone"}"#;
    let status = Answered::No(NoAnswer::NoAnswer);
    let ended = LogLine::RequestEnded { turn: 2, status, ms: 9, usage: None, error: Some("gone".to_owned()) };
    assert_eq!(read(old), Some(ended));
    assert_eq!(read(r#"{"at":5,"ev":"dreamt","of":"sheep"}"#), None);
    assert_eq!(read(r#"{"at":5,"ev":"pro"#), None);
}

#[test]
fn results_know_their_calls_and_refusals_their_reason() {
    let calls = asked(vec![
        call("a", "Read", json!({ "file_path": "a.txt" })),
        call("b", "Bash", json!({ "command": "rm x" })),
    ]);
    let refusal = Denial {
        tool: "Bash".to_owned(),
        call: "rm x".to_owned(),
        reason: DenialReason::NobodyToAsk,
        why: None,
    };
    let mut book = Logbook::after(&[Item::said(Message::user("go"))]);
    assert_eq!(book.item(&calls), []);
    let told = [book.item(&result("b", "no", Some(refusal))), book.item(&result("a", "text", None))].concat();
    let refused = LogLine::ToolRefused {
        id: "b".to_owned(),
        tool: "Bash".to_owned(),
        call: "rm x".to_owned(),
        reason: DenialReason::NobodyToAsk,
        text: "no".to_owned(),
    };
    let ended = |text: &str, bytes| LogLine::ToolEnded {
        id: "a".to_owned(),
        tool: "Read".to_owned(),
        call: "a.txt".to_owned(),
        text: text.to_owned(),
        bytes,
        is_error: false,
    };
    assert_eq!(told, [refused, ended("text", 4)]);
    let long = "é".repeat(RESULT);
    assert_eq!(
        Logbook::after(&[calls]).item(&result("a", &long, None)),
        [ended(&format!("{}…", "é".repeat(RESULT / 2)), 2 * RESULT as u64)]
    );
}

#[test]
fn long_arguments_are_kept_in_short() {
    let input = json!({ "file_path": "a", "content": "x".repeat(ARGUMENT + 1), "list": [1, 2], "n": 3 });
    let LogLine::ToolCalled { call, input, .. } =
        called(&Call { id: "a".to_owned(), tool: "Write".to_owned(), input })
    else {
        panic!("a call")
    };
    let content = format!("{}…", "x".repeat(ARGUMENT));
    assert_eq!(call, "a");
    assert_eq!(input, json!({ "file_path": "a", "content": content, "list": [1, 2], "n": 3 }));
}

#[test]
fn a_call_is_an_event_of_its_run_and_a_text_is_none() {
    let task = Address::from("look[a]");
    let at = |line| Logged { at: Millis(7), line };
    let line =
        called(&Call { id: "a".to_owned(), tool: "Bash".to_owned(), input: json!({ "command": "ls" }) });
    let event = tool_event(&task, &at(line)).unwrap().to_string();
    assert_eq!(
        event,
        r#"{"v":1,"at":7,"ev":"tool_called","task":"look[a]","id":"a","tool":"Bash","call":"ls","input":{"command":"ls"}}"#
    );
    assert_eq!(tool_event(&task, &at(LogLine::RequestBegan { turn: 1 })), None);
}
