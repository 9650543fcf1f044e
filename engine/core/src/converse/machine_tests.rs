use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use super::super::record::calls_of;
use super::super::testing::{call, reply, say, shape, spec};
use super::super::{CallResult, OutputForm, Spoil};
use super::*;
use crate::model::DenialReason;
use crate::wire::Reply;

/// A loop with everything that it recorded.
struct Played {
    machine: Converse,
    items: Vec<Item>,
    effects: Vec<Effect>,
}

/// Begins and gives these answers one after the other; every call returns at once with its own id as text.
fn play(spec: AgentSpec, replies: Vec<Reply>) -> Played {
    let mut played = Played { machine: Converse::new(spec), items: Vec::new(), effects: Vec::new() };
    played.feed(Input::Begin("go".to_owned()));
    for reply in replies {
        played.feed(Input::Replied(reply));
        played.return_all();
    }
    played
}

impl Played {
    fn feed(&mut self, input: Input) {
        let effects = self.machine.handle(input);
        for effect in &effects {
            if let Effect::Record(item) = effect {
                self.items.push(item.clone());
            }
        }
        self.effects = effects;
    }

    /// Gives every open call its result until there is none.
    fn return_all(&mut self) {
        loop {
            let open: Vec<String> = self.calls();
            if open.is_empty() {
                return;
            }
            let mut all = Vec::new();
            for id in open {
                let result = CallResult { content: format!("result of {id}"), is_error: false };
                self.feed(Input::Returned { id, result, refused: None });
                all.append(&mut self.effects);
            }
            self.effects = all;
        }
    }

    fn calls(&self) -> Vec<String> {
        let calls = self.effects.iter().filter_map(|effect| match effect {
            Effect::Call(call) => Some(call.id.clone()),
            _ => None,
        });
        calls.collect()
    }

    #[track_caller]
    fn end(&self) -> &AgentEnd {
        match self.effects.last() {
            Some(Effect::Finish(end)) => end,
            other => panic!("not at its end: {other:?}"),
        }
    }

    #[track_caller]
    fn request(&self) -> &Request {
        match self.effects.last() {
            Some(Effect::Ask(request)) => request,
            other => panic!("nothing is asked: {other:?}"),
        }
    }

    /// The results in the last message that is asked about: id, text, whether an error.
    #[track_caller]
    fn results(&self) -> Vec<(String, String, bool)> {
        let last = self.request().messages.last().unwrap();
        let results = last.content.iter().filter_map(|block| match block {
            Block::ToolResult { tool_use_id, content, is_error } => {
                Some((tool_use_id.clone(), content.clone(), *is_error))
            }
            _ => None,
        });
        results.collect()
    }
}

fn read(id: &str) -> Block {
    call(id, "Read", json!({ "file_path": "a" }))
}

fn with_output(output: OutputForm) -> AgentSpec {
    AgentSpec { output, ..spec() }
}

fn verdict() -> OutputForm {
    OutputForm::Schema(Arc::new(json!({
        "type": "object", "required": ["verdict"], "properties": { "verdict": { "enum": ["pass", "fail"] } },
    })))
}

#[test]
fn a_prompt_is_asked_and_a_text_ends_the_agent() {
    let begun = play(spec(), vec![]);
    let request = begun.request();
    assert_eq!(request.messages, [Message::user("go")]);
    assert_eq!((request.model.as_str(), &*request.system, request.max_tokens), ("model-1", "be good", 1000));
    assert_eq!(request.tools.len(), 4);
    let ended = play(spec(), vec![say("done")]);
    let end = ended.end();
    assert_eq!((end.reason, end.text.as_str(), &end.output, end.usage.turns), (None, "done", &None, 1));
}

#[test]
fn results_go_back_in_the_order_of_the_calls() {
    let mut played = play(spec(), vec![]);
    played.feed(Input::Replied(reply(vec![
        read("a"),
        call("b", "Bash", json!({ "command": "ok 1" })),
        read("c"),
    ])));
    assert_eq!(shape(&played.effects), "call a");
    played.return_all();
    let ids: Vec<String> = played.results().into_iter().map(|(id, _, _)| id).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    played.feed(Input::Replied(say("done")));
    let usage = &played.end().usage;
    assert_eq!((usage.turns, usage.tool_uses, usage.input_tokens, usage.output_tokens), (2, 3, 2, 2));
}

#[test]
fn a_call_that_cannot_or_may_not_be_made_has_an_error_result() {
    for (name, input, text, denied) in [
        ("Raed", json!({ "file_path": "a" }), "did you mean `Read`?", Some(DenialReason::UnknownTool)),
        ("run_shell_command", json!({}), "the tools are `Read`", Some(DenialReason::UnknownTool)),
        ("Write", json!({}), "this agent doesn't have the tool `Write`", Some(DenialReason::NotAvailable)),
        ("Read", json!("{bad"), "not a JSON object: {bad", None),
        ("Read", json!({}), "\"file_path\" is a required property", None),
        ("Read", json!({ "file_path": 7 }), "at `/file_path`", None),
        (
            "Read",
            json!({ "file_path": "/etc/hostname" }),
            "nobody can be asked",
            Some(DenialReason::NobodyToAsk),
        ),
        ("Bash", json!({ "command": "rm x" }), "the rule `Bash(rm *)` denies", Some(DenialReason::Rule)),
    ] {
        let mut played = play(spec(), vec![]);
        played.feed(Input::Replied(reply(vec![call("x", name, input)])));
        let shown = denied.map_or("ask".to_owned(), |_| format!("denied {name}, ask"));
        assert_eq!(shape(&played.effects), shown, "{name}");
        let results = played.results();
        assert!(results[0].2 && results[0].1.contains(text), "{results:?}");
        let reasons: Vec<_> = played.machine.denials().iter().map(|denial| denial.reason).collect();
        assert_eq!(reasons, Vec::from_iter(denied));
        played.feed(Input::Replied(say("done")));
        assert_eq!((played.end().reason, played.end().denials.len()), (None, reasons.len()));
    }
}

#[test]
fn a_denial_shows_the_call_on_one_line() {
    let played = play(spec(), vec![reply(vec![call("x", "Bash", json!({ "command": "rm a\n  b" }))])]);
    assert_eq!(played.machine.denials()[0].call, "rm a b");
}

#[test]
fn the_turn_limit_ends_the_agent_before_its_pending_calls() {
    let spec = AgentSpec { max_turns: 3, ..spec() };
    let turn = |id: &str| reply(vec![Block::Text { text: format!("partial {id}") }, read(id)]);
    let played = play(spec.clone(), vec![turn("a"), turn("b"), turn("c")]);
    let end = played.end();
    assert_eq!((end.reason, end.text.as_str(), end.usage.turns), (Some(Reason::MaxTurns), "partial c", 3));
    assert!(end.message.as_deref().unwrap().contains("split the work"));
    assert_eq!(shape(&played.effects), "finish max_turns");
    let played = play(spec, vec![turn("a"), turn("b"), say("done")]);
    assert_eq!(played.end().reason, None);
}

#[test]
fn five_spoiled_turns_in_a_row_end_the_agent() {
    let bad = |n: usize| reply(vec![call(&n.to_string(), "Nope", json!({})), call("y", "Read", json!("x"))]);
    let played = play(spec(), (0..5).map(bad).collect());
    assert_eq!(played.end().reason, Some(Reason::InvalidOutput));
    let mut mended: Vec<Reply> = (0..4).map(bad).collect();
    mended.push(reply(vec![call("z", "Nope", json!({})), read("ok")]));
    mended.extend((5..9).map(bad));
    let played = play(spec(), mended);
    assert_eq!(shape(&played.effects[played.effects.len() - 1..]), "ask");
    let refused = |n: usize| reply(vec![call(&n.to_string(), "Bash", json!({ "command": "rm x" }))]);
    let played = play(spec(), (0..8).map(refused).collect());
    played.request();
}

#[test]
fn an_answer_without_text_and_calls_is_no_output() {
    for content in [vec![], vec![Block::Text { text: " \n".to_owned() }]] {
        assert_eq!(play(spec(), vec![reply(content)]).end().reason, Some(Reason::NoOutput));
    }
    let thinking = Block::Thinking { thinking: "hm".to_owned(), signature: String::new() };
    assert_eq!(play(spec(), vec![reply(vec![thinking])]).end().reason, Some(Reason::NoOutput));
}

#[test]
fn calls_cut_by_the_limit_of_tokens_are_never_made() {
    let cut = |id: &str| Reply { stop: StopReason::MaxTokens, ..reply(vec![read(id)]) };
    let played = play(spec(), vec![cut("a")]);
    assert_eq!(shape(&played.effects), "ask");
    assert!(played.results()[0].1.contains("limit of tokens"));
    assert_eq!(play(spec(), vec![cut("a"), cut("b")]).end().reason, Some(Reason::Truncated));
    let mut played = play(spec(), vec![cut("a"), reply(vec![read("b")]), cut("c")]);
    played.feed(Input::Replied(say("done")));
    assert_eq!(played.end().reason, None);
}

/// An answer that is not whole, and why.
fn part(text: &str, stop: StopReason) -> Reply {
    Reply { stop, ..say(text) }
}

#[test]
fn a_text_that_is_cut_goes_on_in_one_conversation_and_is_joined() {
    let cut = |text: &str| part(text, StopReason::MaxTokens);
    let mut played = play(spec(), vec![cut("one th"), cut("ree ")]);
    let Some(Effect::Ask(request)) = played.effects.last() else { panic!("{:?}", played.effects) };
    let told = request.messages.last().unwrap();
    assert_eq!((request.messages.len(), told.role), (5, Role::User));
    assert!(told.text().contains("Go on exactly where it ends"));
    played.feed(Input::Replied(say("five")));
    assert_eq!((played.end().reason, played.end().text.as_str()), (None, "one three five"));
    assert_eq!(played.end().usage.turns, 3);
    // What it does before it answers is no part of the answer.
    let calls = reply(vec![Block::Text { text: "now ".to_owned() }, read("a")]);
    let played = play(spec(), vec![cut("half "), calls, say("whole")]);
    assert_eq!(played.end().text, "whole");
    let json = with_output(OutputForm::Json);
    assert_eq!(play(json, vec![cut("{\"a\""), say(": 1}")]).end().output, Some(json!({ "a": 1 })));
}

#[test]
fn an_answer_that_is_cut_again_and_again_has_failed_with_what_it_said() {
    let cut = |text: &str| part(text, StopReason::MaxTokens);
    let played = play(spec(), vec![cut("a"), cut("b"), cut("c"), cut("d")]);
    assert_eq!((played.end().reason, played.end().text.as_str()), (Some(Reason::Truncated), "abcd"));
    let short = AgentSpec { max_turns: 1, ..spec() };
    let played = play(short, vec![cut("half")]);
    assert_eq!((played.end().reason, played.end().text.as_str()), (Some(Reason::Truncated), "half"));
    assert_eq!(play(spec(), vec![cut("")]).end().reason, Some(Reason::NoOutput));
    let full = play(spec(), vec![part("half", StopReason::WindowFull)]);
    assert_eq!((full.end().reason, full.end().text.as_str()), (Some(Reason::ContextOverflow), "half"));
}

#[test]
fn a_paused_answer_goes_on_and_so_does_one_whose_engine_died() {
    let paused = || part("I look ", StopReason::Paused);
    let played = play(spec(), vec![paused(), say("done")]);
    assert_eq!((played.end().reason, played.end().text.as_str()), (None, "I look done"));
    let empty = play(spec(), vec![Reply { stop: StopReason::Paused, ..reply(vec![]) }, say("done")]);
    assert_eq!(empty.end().text, "done");
    // Recorded and not yet acted on: the rest is asked for all the same.
    let items = play(spec(), vec![paused()]).items;
    let until_answer = items.iter().position(|item| matches!(item, Item::Message { usage: Some(_), .. }));
    let mut restored = Converse::restore(spec(), items[..=until_answer.unwrap()].to_vec());
    let effects = restored.handle(Input::Continue);
    assert!(matches!(effects.last(), Some(Effect::Ask(_))), "{effects:?}");
    let effects = restored.handle(Input::Replied(say("done")));
    let Some(Effect::Finish(end)) = effects.last() else { panic!("{effects:?}") };
    assert_eq!((end.reason, end.text.as_str()), (None, "I look done"));
}

#[test]
fn a_refusal_is_a_failure_of_the_provider() {
    let refused = Reply { stop: StopReason::Refusal, ..say("I can't") };
    let played = play(spec(), vec![refused]);
    assert_eq!((played.end().reason, played.end().text.as_str()), (Some(Reason::Provider), "I can't"));
}

#[test]
fn a_model_that_fails_ends_the_agent_with_the_reason_of_its_kind() {
    for (kind, status, reason, message) in [
        (ModelErrorKind::RateLimit, Some(429), Reason::RateLimit, "the model `model-1` answered 429: no"),
        (ModelErrorKind::Overloaded, Some(529), Reason::Overloaded, "the model `model-1` answered 529: no"),
        (ModelErrorKind::Refused, Some(404), Reason::Provider, "the model `model-1` answered 404: no"),
        (
            ModelErrorKind::ContextOverflow,
            Some(400),
            Reason::ContextOverflow,
            "the model `model-1` answered 400: no",
        ),
        (ModelErrorKind::Broken, None, Reason::Provider, "the model `model-1` gave no answer: no"),
        (ModelErrorKind::ScriptEnded, None, Reason::Provider, "the model `model-1` gave no answer: no"),
    ] {
        let mut played =
            play(spec(), vec![reply(vec![Block::Text { text: "so far".to_owned() }, read("a")])]);
        let retry_after = Some(Duration::from_secs(1));
        played.feed(Input::ModelFailed(ModelError { kind, status, message: "no".to_owned(), retry_after }));
        let end = played.end();
        assert_eq!(
            (end.reason, end.message.as_deref(), end.text.as_str()),
            (Some(reason), Some(message), "so far")
        );
    }
}

#[test]
fn a_final_text_of_the_declared_form_becomes_the_output() {
    for (form, text, output) in [
        (OutputForm::Lines, "a\nb\n", json!(["a", "b"])),
        (OutputForm::Json, "```json\n[1]\n```", json!([1])),
        (verdict(), "{\"verdict\": \"pass\"}", json!({ "verdict": "pass" })),
    ] {
        let played = play(with_output(form), vec![say(text)]);
        assert_eq!((played.end().reason, &played.end().output), (None, &Some(output)));
        assert_eq!(played.end().text, text);
    }
}

#[test]
fn a_text_that_does_not_fit_is_asked_for_again_and_then_fails() {
    let spec = AgentSpec { repair: 2, ..with_output(verdict()) };
    let played = play(spec.clone(), vec![say("it passes")]);
    let last = played.request().messages.last().unwrap();
    let Block::Text { text } = &last.content[0] else { panic!("{last:?}") };
    assert!(text.contains("no JSON value") && text.contains("`StructuredOutput`"), "{text}");
    let played = play(spec.clone(), vec![say("no"), say("{}"), say("{\"verdict\": \"pass\"}")]);
    assert_eq!(played.end().reason, None);
    let played = play(spec, vec![say("no"), say("{}"), say("raw")]);
    let end = played.end();
    assert_eq!((end.reason, end.text.as_str(), &end.output), (Some(Reason::InvalidOutput), "raw", &None));
    let last_turn = AgentSpec { max_turns: 1, ..with_output(verdict()) };
    assert_eq!(play(last_turn, vec![say("no")]).end().reason, Some(Reason::InvalidOutput));
}

#[test]
fn an_answer_by_the_tool_ends_the_agent_and_drops_the_other_calls() {
    let spec = with_output(verdict());
    assert_eq!(play(spec.clone(), vec![]).request().tools.last().unwrap().name, "StructuredOutput");
    let answer = |id: &str, word: &str| call(id, "StructuredOutput", json!({ "verdict": word }));
    let played =
        play(AgentSpec { max_turns: 1, ..spec.clone() }, vec![reply(vec![read("a"), answer("b", "pass")])]);
    assert_eq!(shape(&played.effects), "finish completed");
    assert_eq!(played.end().output, Some(json!({ "verdict": "pass" })));
    assert_eq!(played.end().text, "{\"verdict\":\"pass\"}");
    let Some(Item::Message { message, .. }) = played.items.last() else { panic!() };
    assert_eq!(message.content.len(), 2);
    let played = play(spec.clone(), vec![reply(vec![answer("a", "maybe"), read("b")])]);
    let results = played.results();
    assert!(results[0].2 && results[0].1.contains("does not fit"), "{results:?}");
    assert_eq!(results[1].1, "result of b");
    let played = play(spec, vec![reply(vec![answer("a", "maybe")]), reply(vec![answer("b", "perhaps")])]);
    let end = played.end();
    assert_eq!((end.reason, end.text.as_str()), (Some(Reason::InvalidOutput), "{\"verdict\":\"perhaps\"}"));
}

#[test]
fn without_a_schema_there_is_no_such_tool() {
    let played = play(spec(), vec![reply(vec![call("a", "StructuredOutput", json!({}))])]);
    assert!(played.results()[0].1.contains("no tool is called `StructuredOutput`"));
}

#[test]
fn a_schema_that_cannot_be_used_ends_the_agent_before_it_asks() {
    let outside = OutputForm::Schema(Arc::new(json!({ "$ref": "https://example.com/x.json" })));
    assert_eq!(play(with_output(outside), vec![]).end().reason, Some(Reason::InvalidOutput));
}

#[test]
fn ids_that_stand_twice_are_told_apart() {
    let calls = || reply(vec![read("a"), read("a"), read(""), read("")]);
    let mut played = play(spec(), vec![calls(), calls()]);
    let mut ids = Vec::new();
    for message in &played.request().messages {
        ids.extend(calls_of(message).map(|(id, _, _)| id.to_owned()));
    }
    assert_eq!(ids.len(), 8);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 8, "{ids:?}");
    played.feed(Input::Replied(say("done")));
    assert_eq!(played.end().usage.tool_uses, 8);
}

#[test]
fn calls_that_were_open_when_the_engine_stopped_are_closed_with_an_error() {
    let mut first = play(spec(), vec![]);
    first.feed(Input::Replied(reply(vec![read("a"), read("b")])));
    let mut played =
        Played { machine: Converse::restore(spec(), first.items), items: Vec::new(), effects: Vec::new() };
    played.feed(Input::Continue);
    let results = played.results();
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|(_, text, is_error)| *is_error && text.contains("engine stopped")));
    assert_eq!(played.machine.usage().turns, 1);
}

#[test]
fn results_that_had_come_back_when_the_engine_stopped_are_kept() {
    let ok = |id: &str| call(id, "Bash", json!({ "command": "ok" }));
    let no = call("no", "Bash", json!({ "command": "rm x" }));
    let mut first = play(spec(), vec![]);
    first.feed(Input::Replied(reply(vec![ok("a"), no, ok("b"), ok("c")])));
    let done = CallResult { content: "done once".to_owned(), is_error: false };
    first.feed(Input::Returned { id: "a".to_owned(), result: done, refused: None });
    assert_eq!(shape(&first.effects), "call b");
    let mut played =
        Played { machine: Converse::restore(spec(), first.items), items: Vec::new(), effects: Vec::new() };
    assert_eq!((played.machine.usage().turns, played.machine.denials().len()), (1, 1));
    played.feed(Input::Continue);
    let results = played.results();
    let ids: Vec<&str> = results.iter().map(|(id, _, _)| id.as_str()).collect();
    assert_eq!(ids, ["a", "no", "b", "c"]);
    assert_eq!((results[0].1.as_str(), results[0].2), ("done once", false));
    assert!(results[1].1.contains("the rule `Bash(rm *)` denies"), "{results:?}");
    assert!(results[2..].iter().all(|(_, text, _)| text.contains("engine stopped")), "{results:?}");
    assert_eq!(played.machine.denials().len(), 1);
}

#[test]
fn a_request_without_an_answer_counts_as_a_turn_and_takes_none_from_the_limit() {
    let two = AgentSpec { max_turns: 2, ..spec() };
    let mut played = play(two.clone(), vec![reply(vec![read("a")])]);
    played.feed(Input::Unanswered("half of".to_owned()));
    assert_eq!((played.machine.usage().turns, played.machine.text()), (2, "half of"));
    let mut restored = Converse::restore(two, played.items);
    assert_eq!(shape(&restored.handle(Input::Continue)), "ask");
    let effects = restored.handle(Input::Replied(say("whole")));
    assert_eq!(shape(&effects), "finish completed");
    assert_eq!((restored.usage().turns, restored.text()), (3, "whole"));
}

#[test]
fn a_restored_loop_goes_on_from_a_text_or_fails_without_a_conversation() {
    let begun = play(with_output(OutputForm::Json), vec![]);
    let mut items = begun.items;
    items.push(Item::said(Message { role: Role::Assistant, content: say("[1]").content }));
    items.push(Item::Turn { usage: Usage { turns: 1, ..Usage::default() }, stop: None });
    let effects = Converse::restore(with_output(OutputForm::Json), items).handle(Input::Continue);
    assert_eq!(shape(&effects), "finish completed");
    let effects = Converse::restore(spec(), Vec::new()).handle(Input::Continue);
    assert_eq!(shape(&effects), "finish internal");
}

#[test]
fn what_does_not_fit_the_state_is_ignored() {
    let nothing = |played: &mut Played, input: Input| {
        played.feed(input);
        assert_eq!(played.effects, []);
    };
    let result = || CallResult { content: String::new(), is_error: false };
    let mut played = play(spec(), vec![]);
    nothing(&mut played, Input::Begin("again".to_owned()));
    nothing(&mut played, Input::Continue);
    nothing(&mut played, Input::Returned { id: "x".to_owned(), result: result(), refused: None });
    played.feed(Input::Replied(reply(vec![read("a")])));
    nothing(&mut played, Input::Replied(say("too early")));
    nothing(&mut played, Input::Returned { id: "x".to_owned(), result: result(), refused: None });
    played.feed(Input::Returned { id: "a".to_owned(), result: result(), refused: None });
    played.feed(Input::Replied(say("done")));
    nothing(&mut played, Input::Replied(say("more")));
    nothing(&mut played, Input::Begin("again".to_owned()));
}

#[test]
fn every_item_survives_its_line_of_the_log() {
    let mut replies =
        vec![reply(vec![read("a"), call("b", "Nope", json!({}))]), reply(vec![call("c", "Nope", json!({}))])];
    replies.push(say("not json"));
    let played = play(with_output(OutputForm::Json), replies);
    for item in &played.items {
        let line = serde_json::to_string(item).unwrap();
        assert_eq!(serde_json::from_str::<Item>(&line).unwrap(), *item, "{line}");
    }
    assert!(played.items.contains(&Item::Repair));
    assert!(played.items.contains(&Item::Spoiled { by: Spoil::BadCalls }));
}

fn fault(message: &str) -> Input {
    Input::Checked(Err(CheckFault { message: message.to_owned(), output: "line 1\nline 2\n".to_owned() }))
}

#[test]
fn a_failed_check_goes_back_to_the_agent_once() {
    let checked = AgentSpec { checked: true, ..spec() };
    let mut played = play(checked.clone(), vec![say("done")]);
    assert_eq!(shape(&played.effects), "check");
    played.feed(fault("check `make test` failed: exit code 2"));
    let Some(Effect::Ask(request)) = played.effects.last() else { panic!("{:?}", played.effects) };
    let told = request.messages.last().unwrap().text();
    assert!(
        told.contains("check `make test` failed: exit code 2") && told.contains("line 1\nline 2"),
        "{told}"
    );
    // A loop that is restored here knows that the chance is used up.
    let mut restored = Converse::restore(checked, played.items.clone());
    restored.handle(Input::Continue);
    restored.handle(Input::Replied(say("done again")));
    for machine in [&mut restored, {
        played.feed(Input::Replied(say("done again")));
        &mut played.machine
    }] {
        let effects = machine.handle(fault("check `make test` failed: exit code 3"));
        let [Effect::Finish(end)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((end.reason, end.text.as_str()), (Some(Reason::CheckFailed), "done again"));
        assert_eq!(end.message.as_deref(), Some("check `make test` failed: exit code 3"));
    }
}

#[test]
fn a_check_that_passes_lets_the_answer_stand_and_a_failed_agent_is_not_checked() {
    let checked = AgentSpec { checked: true, ..with_output(OutputForm::Json) };
    let mut played = play(checked.clone(), vec![say("[1]")]);
    played.feed(Input::Checked(Ok(())));
    let [Effect::Finish(end)] = played.effects.as_slice() else { panic!("{:?}", played.effects) };
    assert_eq!((end.reason, &end.output), (None, &Some(json!([1]))));
    let played = play(checked, vec![say("no"), say("no")]);
    assert_eq!(shape(&played.effects), "finish invalid_output");
}

#[test]
fn an_agent_in_the_background_asks_nobody() {
    let asks = vec![reply(vec![call("a", "Bash", json!({ "command": "make" }))])];
    for (background, reason) in [(false, DenialReason::NobodyToAsk), (true, DenialReason::AsyncAgent)] {
        let played = play(AgentSpec { background, ..spec() }, asks.clone());
        assert_eq!(played.machine.denials()[0].reason, reason);
    }
}
