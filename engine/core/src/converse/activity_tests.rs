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
