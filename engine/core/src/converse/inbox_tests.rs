use serde_json::json;

use super::super::testing::{call, reply, say, spec};
use super::super::{CallResult, CheckFault, Converse, Effect, Input};
use super::*;
use crate::wire::{Reply, Request, StopReason};

/// A loop, everything that it recorded, and what it asked last.
struct Played {
    machine: Converse,
    items: Vec<Item>,
    asked: Option<Request>,
}

impl Played {
    fn new() -> Self {
        Played { machine: Converse::new(spec()), items: Vec::new(), asked: None }
    }

    fn begun() -> Self {
        Played::new().feed(Input::Begin("go".to_owned()))
    }

    /// The same loop after a crash.
    fn restored(&self) -> Self {
        let machine = Converse::restore(spec(), self.items.clone());
        Played { machine, items: self.items.clone(), asked: None }
    }

    fn feed(mut self, input: Input) -> Self {
        for effect in self.machine.handle(input) {
            match effect {
                Effect::Record(item) => self.items.push(item),
                Effect::Ask(request) => self.asked = Some(request),
                Effect::Call(_) | Effect::Check | Effect::Denied(_) | Effect::Finish(_) => {}
            }
        }
        self
    }

    fn offer(self, keys: &[&str]) -> Self {
        self.feed(Input::Offered(letters(keys)))
    }

    fn reads(self, id: &str) -> Self {
        self.feed(Input::Replied(reply(vec![call(id, "Read", json!({ "file_path": "a" }))])))
    }

    fn returns(self, id: &str) -> Self {
        let result = CallResult { content: format!("result of {id}"), is_error: false };
        self.feed(Input::Returned { id: id.to_owned(), result, refused: None })
    }

    /// What stands in the last message that was asked about: texts and results.
    #[track_caller]
    fn told(&self) -> Vec<&str> {
        let last = self.asked.as_ref().unwrap().messages.last().unwrap();
        assert_eq!(last.role, Role::User);
        let told = last.content.iter().map(|block| match block {
            Block::Text { text } => text.as_str(),
            Block::ToolResult { content, .. } => content.as_str(),
            other => panic!("{other:?}"),
        });
        told.collect()
    }
}

fn letters(keys: &[&str]) -> Vec<Letter> {
    keys.iter()
        .map(|key| Letter { key: LetterKey((*key).to_owned()), text: format!("letter {key}") })
        .collect()
}

#[test]
fn a_letter_is_read_behind_the_results_of_the_turn() {
    let asked = Played::begun().offer(&["a"]);
    assert_eq!(asked.told(), ["go"], "what is asked already is not changed");
    let called = asked.reads("x").offer(&["b"]);
    let next = called.returns("x");
    assert_eq!(next.told(), ["result of x", "letter a", "letter b"]);
    assert_eq!(next.reads("y").returns("y").told(), ["result of y"], "it is read once");
}

#[test]
fn letters_that_come_before_the_beginning_stand_behind_the_prompt() {
    let begun = Played::new().offer(&["a"]).feed(Input::Begin("go".to_owned()));
    assert_eq!(begun.told(), ["go", "letter a"]);
    assert_eq!(begun.asked.unwrap().messages.len(), 1);
}

#[test]
fn a_letter_is_read_once_however_often_it_is_offered() {
    let next = Played::begun().offer(&["a", "a"]).offer(&["a"]).reads("x").returns("x");
    assert_eq!(next.told(), ["result of x", "letter a"]);
    let next = next.offer(&["a", "b"]).reads("y").returns("y");
    assert_eq!(next.told(), ["result of y", "letter b"]);
}

#[test]
fn after_a_crash_what_was_read_is_dropped_and_what_was_not_is_read() {
    let next = Played::begun().offer(&["a"]).reads("x").returns("x").offer(&["b"]);
    let again = next.restored().offer(&["a", "b"]).feed(Input::Continue);
    assert_eq!(again.told(), ["result of x", "letter a", "letter b"]);
    // The line that says what was read was lost.
    let mut cut = next;
    assert!(matches!(cut.items.pop(), Some(Item::Delivered { .. })));
    let again = cut.restored().offer(&["a"]).feed(Input::Continue);
    assert_eq!(again.told(), ["result of x", "letter a"]);
}

#[test]
fn a_letter_does_not_part_an_answer_that_goes_on() {
    let half = Reply { stop: StopReason::MaxTokens, ..say("the first half") };
    let on = Played::begun().offer(&["a"]).feed(Input::Replied(half));
    assert!(on.told()[0].starts_with("Your answer was cut"), "{:?}", on.told());
    assert_eq!(on.told().len(), 1);
    let next = on.reads("x").returns("x");
    assert_eq!(next.told(), ["result of x", "letter a"]);
}

#[test]
fn a_letter_that_comes_during_a_check_is_read_when_there_is_a_further_turn() {
    let spec = super::super::AgentSpec { checked: true, ..spec() };
    let played = Played { machine: Converse::new(spec), items: Vec::new(), asked: None };
    let checking = played.feed(Input::Begin("go".to_owned())).feed(Input::Replied(say("done")));
    let fault = CheckFault { message: "check `x` failed".to_owned(), output: String::new() };
    let next = checking.offer(&["a"]).feed(Input::Checked(Err(fault)));
    assert_eq!(next.told().len(), 2);
    assert_eq!(next.told()[1], "letter a");
}

#[test]
fn a_letter_that_no_turn_follows_is_not_taken() {
    let ended = Played::begun().offer(&["a"]).feed(Input::Replied(say("done"))).offer(&["b"]);
    assert!(!ended.items.iter().any(|item| matches!(item, Item::Delivered { .. })));
    assert!(ended.machine.text() == "done");
}

#[test]
fn what_was_read_is_one_line_with_the_keys_and_the_text() {
    let next = Played::begun().offer(&["a"]).reads("x").returns("x");
    let line = serde_json::to_string(next.items.last().unwrap()).unwrap();
    let expected = r#"{"item":"delivered","keys":["a"],"message":{"role":"user","content":[{"type":"text","text":"letter a"}]}}"#;
    assert_eq!(line, expected);
    assert_eq!(serde_json::from_str::<Item>(&line).unwrap(), *next.items.last().unwrap());
}
