use std::sync::Arc;

use flow_core::diagnostic::{Code, SourceFile, Span};

use super::*;

#[test]
fn warnings_of_one_kind_are_said_once_with_their_first_place_and_what_shows_them_all() {
    let file =
        Arc::new(SourceFile::new("plan.yaml", "flow: 1\ntasks:\n  a: { prompt: p }\n  b: { prompt: p }\n"));
    let at = |start, name: &str| {
        let message = format!("agent `{name}` has `Write`, and there is nobody to ask");
        Diagnostic::new(Code::AlwaysDenied, &file, Span::new(start, start + 1), message).help("grant it")
    };
    let unplaced = |message| Diagnostic::at_no_place(Code::OtherModel, message).help("say what it means");
    let all = [at(17, "x"), unplaced("the default answers"), at(36, "y"), unplaced("another answers")];
    let lines = brief_lines(&all, "flow check plan.yaml");
    let plain: Vec<String> =
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
    assert_eq!(
        plain,
        [
            "warning[W0503]: agent `x` has `Write`, and there is nobody to ask",
            "  --> plan.yaml:3:3 and 1 more like it: flow check plan.yaml",
            "  help: grant it",
            "warning[W0506]: the default answers",
            "  help: say what it means",
            "warning[W0506]: another answers",
            "  help: say what it means",
        ]
    );
}

#[test]
fn of_very_many_findings_the_foremost_are_shown_errors_first() {
    let made = |code, count: usize| (0..count).map(move |n| Diagnostic::at_no_place(code, format!("{n}")));
    let count = |all: &[Diagnostic]| {
        let shown = foremost(all);
        (shown.len(), shown.iter().filter(|finding| finding.is_error()).count())
    };
    let few: Vec<_> = made(Code::Suspicious, 20).chain(made(Code::UnknownTask, 30)).collect();
    assert_eq!(count(&few), (50, 30));
    let many: Vec<_> = made(Code::Suspicious, 60).chain(made(Code::UnknownTask, 45)).collect();
    assert_eq!(count(&many), (50, 45));
    assert_eq!(count(&made(Code::UnknownTask, 3_000).collect::<Vec<_>>()), (50, 50));
}
