use super::*;

/// What has been shown after each piece, and at the end.
fn shown(pieces: &[&str]) -> Vec<Option<String>> {
    let mut lines = Lines::default();
    let mut last = None;
    let mut seen = Vec::new();
    let mut take = |whole: Option<String>| {
        if let Some(line) = whole.as_deref().and_then(last_line) {
            last = Some(line);
        }
        seen.push(last.clone());
    };
    pieces.iter().for_each(|piece| take(lines.take(piece)));
    take(lines.end());
    seen
}

#[test]
fn a_line_is_shown_once_it_is_whole() {
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        shown(&["The na", "me shows", " up.\nIt", " is", "\n\n", "read in"]),
        [
            None,
            None,
            some("The name shows up."),
            some("The name shows up."),
            some("It is"),
            some("It is"),
            some("read in")
        ]
    );
    assert_eq!(shown(&["a\nb\nc"]), [some("b"), some("c")]);
    assert_eq!(shown(&[]), [None]);
}

#[test]
fn nothing_of_a_text_gets_lost_or_stands_twice() {
    let text = "one\n\n```\ntwo\r\n```\nthree";
    for size in 1..text.len() {
        let mut lines = Lines::default();
        let mut whole = String::new();
        for piece in text.as_bytes().chunks(size) {
            whole.extend(lines.take(std::str::from_utf8(piece).unwrap()));
        }
        assert!(whole.ends_with('\n') && !whole.contains("three"));
        whole.extend(lines.end());
        assert_eq!(whole, text);
        assert_eq!(lines.end(), None);
    }
}

#[test]
fn fences_and_rules_say_nothing() {
    assert_eq!(last_line("It is so.\n```\n---\n"), Some("It is so.".to_owned()));
    assert_eq!(last_line("```\n\n"), None);
}

#[test]
fn an_activity_is_the_turn_the_tokens_and_the_last_line_or_call() {
    let log = |text: &str| -> Vec<LogLine> {
        text.lines().map(|line| super::super::Logged::read(line).unwrap().line).collect()
    };
    let lines = log(r#"{"at":1,"ev":"request_began","turn":9}
{"at":1,"ev":"began","agent_id":"a0","agent":"x","model":"p/m","attempt":2}
{"at":1,"ev":"prompt","text":"go"}
{"at":1,"ev":"request_began","turn":1}
{"at":1,"ev":"request_ended","turn":1,"status":529,"ms":1,"error":"Overloaded"}
{"at":1,"ev":"text","turn":1,"text":"I look\nat it\n"}
{"at":1,"ev":"request_ended","turn":1,"status":200,"ms":1,"usage":{"turns":0,"tool_uses":0,"input_tokens":5,"output_tokens":2,"cache_read_tokens":1,"cache_write_tokens":0}}
{"at":1,"ev":"tool_called","id":"a","tool":"Read","call":"a.txt","input":{}}
{"at":1,"ev":"tool_ended","id":"a","tool":"Read","call":"a.txt","text":"x","bytes":1}
{"at":1,"ev":"request_began","turn":2}"#);
    let after = |count: usize| {
        let mut activity = Activity::default();
        lines[..count].iter().for_each(|line| activity.take(line));
        (activity.turn, activity.usage.total_tokens(), activity.doing)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(after(3), (0, 0, None));
    assert_eq!(after(5), (1, 0, some("the model: Overloaded")));
    assert_eq!(after(6), (1, 0, some("writes: at it")));
    assert_eq!(after(10), (2, 8, some("Read a.txt")));
}
