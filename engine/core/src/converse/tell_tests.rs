use serde_json::json;

use super::super::testing::{call, reply};
use super::*;
use crate::ids::Attempt;
use crate::model::{DenialReason, Usage};
use crate::wire::{Block, Message};

fn tell(lines: &[LogLine]) -> String {
    let mut teller = Teller::default();
    lines.iter().map(|line| teller.line(line)).collect()
}

fn say(text: &str) -> LogLine {
    LogLine::Text { turn: 1, text: text.to_owned(), partial: false }
}

fn broken(text: &str) -> LogLine {
    LogLine::Text { turn: 1, text: text.to_owned(), partial: true }
}

fn made(id: &str, tool: &str, input: Value) -> LogLine {
    called(&Call { id: id.to_owned(), tool: tool.to_owned(), input })
}

fn result(id: &str, text: &str, is_error: bool) -> LogLine {
    LogLine::ToolEnded {
        id: id.to_owned(),
        tool: "Read".to_owned(),
        call: "a.txt".to_owned(),
        text: text.to_owned(),
        bytes: text.len() as u64,
        is_error,
    }
}

fn request(status: Answered, error: Option<&str>) -> LogLine {
    let usage = status.is_ok().then(Usage::default);
    LogLine::RequestEnded { turn: 1, status, ms: 1, usage, error: error.map(str::to_owned) }
}

fn end(reason: Reason, message: &str) -> LogLine {
    LogLine::Ended { end: AttemptEnd::Failed, reason: Some(reason), message: Some(message.to_owned()) }
}

#[test]
fn a_conversation_is_told_with_a_word_for_each_thing() {
    let began = LogLine::Began {
        agent_id: "a0".to_owned(),
        agent: "Explore".to_owned(),
        model: "p/m".to_owned(),
        attempt: Attempt(2),
        continued: true,
    };
    let refused = LogLine::ToolRefused {
        id: "c".to_owned(),
        tool: "Bash".to_owned(),
        call: "rm x".to_owned(),
        reason: DenialReason::Rule,
        text: "the rule `Bash(rm *)` denies this call".to_owned(),
    };
    let text = tell(&[
        began,
        LogLine::Prompt { text: "Look.\n  Then say.\n".to_owned() },
        LogLine::RequestBegan { turn: 1 },
        request(Answered::Http(529), Some("Overloaded")),
        say("\nI look\n"),
        say("\n  at it.\u{1b}[2J\n"),
        request(Answered::Http(200), None),
        made("a", "Grep", json!({ "pattern": "TODO", "path": "src", "multiline": true })),
        result("a", "1\n2\n3\n4\n5", false),
        made("b", "Bash", json!({ "command": "make" })),
        made("d", "Read", json!({ "file_path": "a.txt" })),
        result("b", "exit code 2", true),
        refused,
        broken("half"),
        request(Answered::No(NoAnswer::NoAnswer), Some("the stream broke off")),
        LogLine::Checked { message: None },
        end(Reason::Timeout, "ran for longer than 1s"),
    ]);
    assert_eq!(
        text,
        r"agent   Explore (p/m); attempt 2, goes on where it was cut off
prompt  Look.
          Then say.
model   answered 529: Overloaded
says    I look

          at it.\u{1b}[2J
call    Grep TODO  path=src  multiline=true
result  1
        2
        3
        … 2 more lines
call    Bash make
call    Read a.txt
error   of Read a.txt
        exit code 2
denied  Bash rm x: the rule `Bash(rm *)` denies this call
says    half
        (broke off here)
model   gave no answer: the stream broke off
check   passed
end     failed (timeout): ran for longer than 1s
"
    );
}

#[test]
fn the_last_words_are_there_however_long_ago_they_were() {
    let mut lines = vec![LogLine::Prompt { text: "go".to_owned() }, say("one\n"), say("two\n")];
    for at in 0..20 {
        lines.push(made(&at.to_string(), "Read", json!({ "file_path": format!("{at}.txt") })));
        lines.push(request(Answered::Http(200), None));
        lines.push(result(&at.to_string(), "x", false));
    }
    lines.push(end(Reason::MaxTurns, "the limit"));
    let last = last_words(&lines);
    assert_eq!(last[0], say("one\ntwo\n"));
    assert_eq!((last.len(), last.last()), (LAST + 1, lines.last()));
    assert!(tell(&last).contains("call    Read 19.txt\nresult  x\nend     failed (max_turns): the limit\n"));
    // What came before the last attempt is another story.
    let began = LogLine::Began {
        agent_id: "a0".to_owned(),
        agent: "x".to_owned(),
        model: "m".to_owned(),
        attempt: Attempt(2),
        continued: false,
    };
    lines.extend([began, request(Answered::Http(401), Some("who are you")), end(Reason::Provider, "401")]);
    assert_eq!(
        tell(&last_words(&lines)),
        "model   answered 401: who are you\nend     failed (provider): 401\n"
    );
}

#[test]
fn of_long_last_words_the_end_is_shown() {
    let long: String = (1..=30).map(|n| format!("{n}\n")).collect();
    let last = tell(&last_words(&[say(&long), broken("31")]));
    assert!(last.starts_with("says    … 11 lines before …\n        12\n"), "{last}");
    assert!(last.ends_with("        31\n        (broke off here)\n"), "{last}");
}

#[test]
fn a_transcript_without_a_log_is_told_too() {
    let blocks =
        vec![Block::Text { text: "I look.".to_owned() }, call("a", "Read", json!({ "file_path": "a.txt" }))];
    let answer =
        Block::ToolResult { tool_use_id: "a".to_owned(), content: "alpha".to_owned(), is_error: false };
    let items = [
        Item::said(Message::user("go")),
        Item::said(Message { role: Role::Assistant, content: reply(blocks).content }),
        Item::said(Message { role: Role::User, content: vec![answer] }),
    ];
    assert_eq!(tell(&told_by(&items)), "prompt  go\nsays    I look.\ncall    Read a.txt\nresult  alpha\n");
}
