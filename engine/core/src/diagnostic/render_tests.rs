use std::sync::Arc;

use super::*;
use crate::diagnostic::{Code, SourceFile, Span};

fn source(name: &str, text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile::new(name, text))
}

/// A finding at the only place of `part`.
fn at(file: &Arc<SourceFile>, part: &str) -> Span {
    let start = file.text.find(part).unwrap_or_else(|| panic!("no {part:?} in {:?}", file.text));
    Span::new(start, start + part.len())
}

macro_rules! check {
    ($diagnostic:expr, @$expected:literal) => {
        insta::assert_snapshot!(render(&$diagnostic, false), @$expected)
    };
}

#[test]
fn a_finding_shows_its_place_with_a_caret_and_what_to_do() {
    let file = source("plan.yaml", "flow: 1\ntasks:\n  a:\n    need: [b]\n");
    let finding = Diagnostic::new(Code::UnknownKey, &file, at(&file, "need"), "unknown key `need` in a task");
    check!(finding.help("did you mean `needs`?"), @r"
    error[F0201]: unknown key `need` in a task
     --> plan.yaml:4:5
      |
    4 |     need: [b]
      |     ^^^^
      |
      = help: did you mean `needs`?
    ");
}

#[test]
fn carets_stand_under_wide_and_composed_characters() {
    let file = source("p.yaml", "名前: 审查 🔍 bad\né: x\n");
    check!(Diagnostic::new(Code::BadValue, &file, at(&file, "bad"), "no"), @r"
    error[F0203]: no
     --> p.yaml:1:10
      |
    1 | 名前: 审查 🔍 bad
      |               ^^^
    ");
    check!(Diagnostic::new(Code::BadValue, &file, at(&file, "🔍"), "no"), @r"
    error[F0203]: no
     --> p.yaml:1:8
      |
    1 | 名前: 审查 🔍 bad
      |            ^^
    ");
}

#[test]
fn two_places_of_one_file_are_one_snippet() {
    let text = format!("a: 1\n{}a: 2\n", "x: 1\n".repeat(30));
    let file = source("p.yaml", &text);
    let second = text.rfind("a: 2").unwrap();
    let finding =
        Diagnostic::new(Code::DuplicateKey, &file, Span::new(second, second + 1), "`a` is written twice")
            .label(&file, Span::new(0, 1), "first here");
    check!(finding, @r"
    error[F0107]: `a` is written twice
      --> p.yaml:32:1
       |
     1 | a: 1
       | - first here
    ...
    32 | a: 2
       | ^
    ");
}

#[test]
fn two_files_are_two_snippets() {
    let (one, two) = (source("agents/a.md", "---\nname: x\n"), source("agents/b.md", "---\nname: x\n"));
    let finding = Diagnostic::new(Code::DuplicateAgent, &one, at(&one, "x"), "agent `x` is defined twice")
        .label(&two, at(&two, "x"), "and here");
    check!(finding, @r"
    error[F0502]: agent `x` is defined twice
     --> agents/a.md:2:7
      |
    2 | name: x
      |       ^
      |
     ::: agents/b.md:2:7
      |
    2 | name: x
      |       - and here
    ");
}

#[test]
fn a_finding_without_a_place_is_its_message() {
    let finding =
        Diagnostic { code: Code::BadPlace, message: "no git".into(), labels: Vec::new(), help: None };
    check!(finding.clone(), @"error[F0603]: no git");
    check!(finding.help("run `git init`"), @r"
    error[F0603]: no git
     |
     = help: run `git init`
    ");
}

#[test]
fn empty_files_and_places_past_the_end_still_have_a_place() {
    let file = source("p.yaml", "");
    check!(Diagnostic::new(Code::NoTasks, &file, Span::default(), "plan has no tasks"), @r"
    error[F0108]: plan has no tasks
     --> p.yaml:1:1
      |
    1 |
      | ^
    ");
    let file = source("p.yaml", "a: 1\n");
    check!(Diagnostic::new(Code::NoTasks, &file, Span::new(5, 5), "at the end"), @r"
    error[F0108]: at the end
     --> p.yaml:1:5
      |
    1 | a: 1
      |     ^
    ");
    check!(Diagnostic::new(Code::NoTasks, &file, Span::new(90, 99), "past the end"), @r"
    error[F0108]: past the end
     --> p.yaml:1:5
      |
    1 | a: 1
      |     ^
    ");
    check!(Diagnostic::new(Code::NoTasks, &file, Span::new(3, 1), "turned around"), @r"
    error[F0108]: turned around
     --> p.yaml:1:2
      |
    1 | a: 1
      |  ^
    ");
}

#[test]
fn a_place_inside_a_character_takes_the_whole_of_it() {
    let file = source("p.yaml", "é: 1\n");
    check!(Diagnostic::new(Code::BadValue, &file, Span::new(1, 2), "inside"), @r"
    error[F0203]: inside
     --> p.yaml:1:1
      |
    1 | é: 1
      | ^
    ");
}

#[test]
fn line_ends_of_other_systems_and_tabs_keep_the_caret_in_place() {
    let file = source("p.yaml", "a: 1\r\n\tb: bad\r\nc: 2\r\n");
    check!(Diagnostic::new(Code::BadValue, &file, at(&file, "bad"), "no"), @r"
    error[F0203]: no
     --> p.yaml:2:5
      |
    2 |     b: bad
      |        ^^^
    ");
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let file = source("p.yaml", &format!("a: {} bad {}\n", "x".repeat(3_000), "y".repeat(3_000)));
    check!(Diagnostic::new(Code::BadValue, &file, at(&file, "bad"), "no"), @r"
    error[F0203]: no
     --> p.yaml:1:3005
      |
    1 | ...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx bad yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...
      |                                                                   ^^^
    ");
}

#[test]
fn a_long_place_is_shown_by_its_ends() {
    let text = format!("a:\n{}b: 1\n", "  x: 1\n".repeat(40));
    let file = source("p.yaml", &text);
    check!(Diagnostic::new(Code::BadValue, &file, Span::new(0, text.len() - 6), "all of it"), @r"
    error[F0203]: all of it
      --> p.yaml:1:1
       |
     1 | / a:
     2 | |   x: 1
     3 | |   x: 1
     4 | |   x: 1
    ...  |
    40 | |   x: 1
    41 | |   x: 1
       | |______^
    ");
}

#[test]
fn what_a_terminal_obeys_is_written_out() {
    let file = source("p\u{1b}[2J.yaml", "a: \u{1b}]52;c;x\u{7} \u{202e}bad\n");
    let finding = Diagnostic::new(Code::BadValue, &file, at(&file, "bad"), "no \u{1b}[31m")
        .label(&file, Span::new(0, 1), "the \u{9b}key")
        .help("write \u{200b}nothing");
    let shown = render(&finding, false);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    check!(finding, @r"
    error[F0203]: no \u{1b}[31m
     --> p\u{1b}[2J.yaml:1:15
      |
    1 | a: ␛]52;c;x␇ �bad
      | -             ^^^
      | |
      | the \u{9b}key
      |
      = help: write \u{200b}nothing
    ");
}

#[test]
fn styles_are_added_on_demand() {
    let file = source("p.yaml", "a: 1\n");
    let finding = Diagnostic::new(Code::BadValue, &file, at(&file, "1"), "no");
    assert!(render(&finding, true).contains("\u{1b}["));
}
