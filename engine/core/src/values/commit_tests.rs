use super::*;

fn run() -> RunId {
    RunId::parse("r1").unwrap()
}

#[test]
fn a_message_is_what_is_written_else_a_line_about_the_task() {
    let check = |written: Option<&str>, described, prompt, expected| {
        assert_eq!(CommitMessage::of(written.map(str::to_owned), described, prompt), expected);
    };
    let titled = |title: &str| CommitMessage::Titled(title.to_owned());
    check(Some("fix(a): b"), Some("d"), Some("p"), CommitMessage::Written("fix(a): b".to_owned()));
    check(Some(" \n"), Some("Describes  it"), Some("p"), titled("Describes it"));
    check(None, None, Some("\n## Fix the TODO in a.rs\n\nMore."), titled("Fix the TODO in a.rs"));
    check(None, Some(""), None, CommitMessage::Nameless);
    let long = "word ".repeat(30);
    let CommitMessage::Titled(cut) = CommitMessage::of(None, None, Some(&long)) else { panic!() };
    assert!(cut.chars().count() <= SUBJECT && cut.ends_with('…'), "{cut}");
}

#[test]
fn a_written_message_stands_alone_and_a_title_has_its_origin_below() {
    let written = CommitMessage::Written("\nfix(a): b\n\nWhy.\n\n".to_owned());
    let subjects = ["half".to_owned(), "Fix a".to_owned()];
    assert_eq!(written.of_rest("a.1", &run()), "fix(a): b\n\nWhy.\n");
    assert_eq!(written.of_all("a.1", &run(), &subjects), "fix(a): b\n\nWhy.\n");
    let titled = CommitMessage::Titled("Fix a".to_owned());
    assert_eq!(
        titled.of_rest("a.1", &run()),
        "Fix a\n\nWork of a.1 in run r1.\nCommitted by flow at the end of the task.\n"
    );
    assert_eq!(titled.of_all("a.1", &run(), &subjects), "Fix a\n\n- half\n\nWork of a.1 in run r1.\n");
    assert_eq!(titled.of_all("a.1", &run(), &subjects[1..]), "Fix a\n\nWork of a.1 in run r1.\n");
    let nameless = CommitMessage::Nameless;
    assert_eq!(nameless.of_all("a.1", &run(), &subjects[..1]), "Work of a.1 in run r1\n\n- half\n");
    assert_eq!(nameless.of_all("a.1", &run(), &[]), "Work of a.1 in run r1\n");
}
