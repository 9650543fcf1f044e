//! The loop in random worlds: any answers, results in any order, letters at any moment.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{collection, prop_assert, prop_assert_eq};
use serde_json::json;

use super::record::{calls_of, result_id};
use super::testing::{call, reply, say, spec};
use super::{
    AgentSpec, Call, CallResult, CheckFault, Converse, Effect, Input, Item, Letter, LetterKey, OutputForm,
};
use crate::model::{ToolClass, tool};
use crate::wire::{Block, Message, ModelError, ModelErrorKind, Reply, Request, Role, StopReason};

/// Decisions of a world, one after the other; zeros when they are used up.
struct World {
    bytes: Vec<u8>,
    at: usize,
    mood: Mood,
}

/// What a model tends to do; without it few worlds would reach the ends of patience.
#[derive(Clone, Copy)]
enum Mood {
    Mixed,
    BadCalls,
    BadTexts,
    Cut,
}

impl World {
    fn below(&mut self, most: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % most
    }

    fn input(&mut self) -> Input {
        if self.below(40) == 39 {
            let error = ModelError {
                kind: ModelErrorKind::Broken,
                status: None,
                message: "x".to_owned(),
                retry_after: None,
            };
            return Input::ModelFailed(error);
        }
        Input::Replied(self.reply())
    }

    fn reply(&mut self) -> Reply {
        let moody = self.below(4) > 0;
        match self.mood {
            Mood::BadCalls if moody => return reply(vec![call("id", "Nope", json!({}))]),
            Mood::BadTexts if moody => return say("text"),
            Mood::Cut if moody => {
                let cut = reply(vec![call("id", "Read", json!({ "file_path": "a" }))]);
                return Reply { stop: StopReason::MaxTokens, ..cut };
            }
            Mood::Mixed | Mood::BadCalls | Mood::BadTexts | Mood::Cut => {}
        }
        let mut content = Vec::new();
        for _ in 0..self.below(6) {
            content.push(self.block());
        }
        match self.below(12) {
            0 => say("[1]"),
            1 => say("text"),
            2 => Reply { stop: StopReason::MaxTokens, ..reply(content) },
            3 => Reply { stop: StopReason::Paused, ..reply(content) },
            4 => Reply { stop: StopReason::MaxTokens, ..say("half") },
            _ => reply(content),
        }
    }

    fn block(&mut self) -> Block {
        let id = format!("id{}", self.below(4));
        let path = json!({ "file_path": "a" });
        match self.below(11) {
            0 => Block::Text { text: "t".to_owned() },
            1 => Block::Thinking { thinking: "hm".to_owned(), signature: "s".to_owned() },
            2 | 3 => call(&id, "Read", path),
            4 => call(&id, "Grep", json!({ "pattern": "x" })),
            5 => call(&id, "Edit", path),
            6 => call(&id, "Bash", json!({ "command": "ok" })),
            7 => call(&id, "Bash", json!({ "command": "rm x" })),
            8 => call(&id, "Nope", json!({})),
            9 => call(&id, "Read", json!("{bad")),
            _ => call(
                &id,
                "StructuredOutput",
                json!({ "value": if self.below(2) == 0 { json!([1]) } else { json!(1) } }),
            ),
        }
    }
}

/// What a run has shown so far.
#[derive(Default)]
struct Seen {
    running: Vec<Call>,
    made: HashMap<String, usize>,
    items: Vec<Item>,
    request: Option<Request>,
    /// Letters that were sent, each once.
    sent: Vec<Letter>,
    /// How many were when the model was asked last.
    sent_before_asking: usize,
    read: HashSet<LetterKey>,
    finished: bool,
    checking: bool,
    checks: u32,
}

impl Seen {
    fn take(&mut self, effects: Vec<Effect>) -> Result<(), TestCaseError> {
        prop_assert!(!self.finished || effects.is_empty(), "nothing follows the end");
        let mut delivered = false;
        for effect in effects {
            prop_assert!(!self.finished, "the end is the last effect");
            let begins = matches!(effect, Effect::Ask(_));
            prop_assert!(!std::mem::take(&mut delivered) || begins, "letters are read as a turn begins");
            match effect {
                Effect::Record(item) => {
                    delivered = matches!(item, Item::Delivered { .. });
                    self.record(item)?;
                }
                Effect::Ask(request) => {
                    prop_assert!(self.running.is_empty(), "asked while calls run");
                    let lost = self.sent.iter().find(|letter| !self.read.contains(&letter.key));
                    prop_assert!(lost.is_none() || self.goes_on(), "not read: {:?}", lost);
                    self.sent_before_asking = self.sent.len();
                    prop_assert_eq!(&request.messages, &messages(&self.items), "what is asked is the fold");
                    check_pairs(&request.messages)?;
                    self.request = Some(request);
                }
                Effect::Call(call) => {
                    *self.made.entry(call.id.clone()).or_default() += 1;
                    self.running.push(call);
                    self.check_running()?;
                }
                Effect::Denied(_) => {}
                Effect::Check => {
                    prop_assert!(
                        self.running.is_empty() && self.request.is_none(),
                        "checked before it is done"
                    );
                    self.checks += 1;
                    self.checking = true;
                }
                Effect::Finish(_) => self.finished = true,
            }
        }
        Ok(())
    }

    fn record(&mut self, item: Item) -> Result<(), TestCaseError> {
        if let Item::Delivered { keys, message } = &item {
            prop_assert!(!self.goes_on(), "a letter parts an answer");
            for (key, block) in keys.iter().zip(&message.content) {
                prop_assert!(self.read.insert(key.clone()), "read twice: {:?}", key);
                let text = Block::Text { text: format!("letter {}", key.0) };
                prop_assert_eq!(block, &text);
            }
        }
        self.items.push(item);
        Ok(())
    }

    /// Whether the last answer is to go on in a further turn.
    fn goes_on(&self) -> bool {
        let cut = |stop: Option<StopReason>| matches!(stop, Some(StopReason::MaxTokens | StopReason::Paused));
        let answer = self.items.iter().rev().find_map(|item| match item {
            Item::Turn { stop, .. } => Some(cut(*stop)),
            Item::Message { message, stop, .. } if message.role == Role::Assistant => {
                Some(cut(*stop) && calls_of(message).next().is_none())
            }
            _ => None,
        });
        answer.unwrap_or(false)
    }

    /// Letters that are sent now: a new one, and whatever may be sent again.
    fn send(&mut self, world: &mut World) -> Vec<Letter> {
        let key = LetterKey(self.sent.len().to_string());
        self.sent.push(Letter { text: format!("letter {}", key.0), key });
        self.sent
            .iter()
            .filter(|letter| !self.read.contains(&letter.key) || world.below(3) == 0)
            .cloned()
            .collect()
    }

    fn check_running(&self) -> Result<(), TestCaseError> {
        let writer = |call: &Call| tool(&call.tool).is_none_or(|tool| tool.class() == ToolClass::Writer);
        let alone = self.running.len() == 1;
        prop_assert!(alone || !self.running.iter().any(writer), "a writer is not alone: {:?}", self.running);
        prop_assert!(self.running.len() <= 3, "more readers than allowed: {:?}", self.running);
        Ok(())
    }
}

/// The messages, read anew: results of a turn are one message, in the order of its calls.
fn messages(items: &[Item]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for item in items {
        let (message, more) = match item {
            Item::Message { message, .. } => {
                (message, matches!(message.content[..], [Block::ToolResult { .. }, ..]))
            }
            Item::Delivered { message, .. } => (message, true),
            _ => continue,
        };
        match messages.last_mut() {
            Some(last) if more && last.role == Role::User => last.content.extend(message.content.clone()),
            _ => messages.push(message.clone()),
        }
    }
    for at in 1..messages.len() {
        let order: Vec<String> = calls_of(&messages[at - 1]).map(|(id, _, _)| id.to_owned()).collect();
        let place =
            |block: &Block| order.iter().position(|id| result_id(block) == Some(id)).unwrap_or(order.len());
        messages[at].content.sort_by_key(place);
    }
    messages
}

/// What is asked of a conversation that is cut after any of its newest items, restored and sent all its letters once more: the
/// same, but for the results of calls that were open.
fn check_cuts(spec: &AgentSpec, seen: &Seen, newest: usize, asked: &Request) -> Result<(), TestCaseError> {
    let items = &seen.items;
    let letters = &seen.sent[..seen.sent_before_asking];
    for length in items.len() - newest + 1..=items.len() {
        let kept = &items[..length];
        let mut restored = Converse::restore(spec.clone(), kept.to_vec());
        let whole = Converse::restore(spec.clone(), items.to_vec());
        prop_assert_eq!(restored.usage(), whole.usage(), "a turn is recorded whole or not at all");
        prop_assert_eq!(restored.handle(Input::Offered(letters.to_vec())), []);
        let effects = restored.handle(Input::Continue);
        let request = effects.iter().find_map(|effect| match effect {
            Effect::Ask(request) => Some(request),
            _ => None,
        });
        let Some(request) = request else {
            prop_assert!(matches!(effects.last(), Some(Effect::Check)), "nothing is asked: {:?}", effects);
            continue;
        };
        let known: HashSet<String> = messages(kept)
            .iter()
            .flat_map(|message| &message.content)
            .filter_map(result_id)
            .map(str::to_owned)
            .collect();
        let but_open = |messages: &[Message]| {
            let mut messages = messages.to_vec();
            for block in messages.iter_mut().flat_map(|message| &mut message.content) {
                if let Block::ToolResult { tool_use_id, content, is_error } = block
                    && !known.contains(tool_use_id)
                {
                    (*content, *is_error) = (String::new(), true);
                }
            }
            messages
        };
        prop_assert_eq!(but_open(&request.messages), but_open(&asked.messages), "cut after {}", length);
    }
    Ok(())
}

/// Every call has exactly one result in the message that follows, in order, and no id stands twice.
fn check_pairs(messages: &[Message]) -> Result<(), TestCaseError> {
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        prop_assert!(!message.content.is_empty(), "an empty message");
        let mut results = Vec::new();
        let mut calls = Vec::new();
        for block in &message.content {
            match block {
                Block::ToolUse { id, .. } => {
                    prop_assert!(ids.insert(id), "the id {} stands twice", id);
                    calls.push(id.as_str());
                }
                Block::ToolResult { tool_use_id, .. } => results.push(tool_use_id.as_str()),
                Block::Text { .. } | Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
            }
        }
        prop_assert_eq!(&results, &open, "results don't answer the calls before them");
        prop_assert!(calls.is_empty() || message.role == Role::Assistant);
        open = calls;
    }
    prop_assert!(open.is_empty(), "asked with open calls");
    Ok(())
}

fn agent(world: &mut World) -> AgentSpec {
    let output = match world.below(3) {
        0 => OutputForm::Text,
        1 => OutputForm::Json,
        _ => OutputForm::Schema(Arc::new(json!({ "type": "array" }))),
    };
    let checked = world.below(2) == 1;
    AgentSpec { output, repair: 2, max_turns: 12, checked, ..spec() }
}

/// The loop, and the one that was restored last: they have to do the same from then on.
struct Twins {
    first: Converse,
    restored: Option<Converse>,
}

impl Twins {
    fn handle(&mut self, input: Input) -> Result<Vec<Effect>, TestCaseError> {
        let effects = self.first.handle(input.clone());
        if let Some(restored) = &mut self.restored {
            prop_assert_eq!(&restored.handle(input), &effects, "the restored loop goes on otherwise");
        }
        Ok(effects)
    }
}

fn run(bytes: Vec<u8>) -> Result<(), TestCaseError> {
    let mut world = World { bytes, at: 0, mood: Mood::Mixed };
    world.mood = [Mood::Mixed, Mood::BadCalls, Mood::BadTexts, Mood::Cut][world.below(4)];
    let spec = agent(&mut world);
    let mut twins = Twins { first: Converse::new(spec.clone()), restored: None };
    let mut seen = Seen::default();
    seen.take(twins.handle(Input::Begin("go".to_owned()))?)?;
    let mut asked_at = 0;
    for _ in 0..500 {
        if seen.finished {
            break;
        }
        if world.below(4) == 3 {
            let letters = seen.send(&mut world);
            prop_assert_eq!(twins.handle(Input::Offered(letters))?, [], "letters are only kept");
        }
        if !seen.running.is_empty() {
            let at = world.below(seen.running.len());
            let call = seen.running.remove(at);
            let result = CallResult { content: call.id.clone(), is_error: world.below(2) == 1 };
            seen.take(twins.handle(Input::Returned { id: call.id, result, refused: None })?)?;
            continue;
        }
        if std::mem::take(&mut seen.checking) {
            let fault = || CheckFault { message: "check `x` failed".to_owned(), output: String::new() };
            let found = if world.below(2) == 0 { Ok(()) } else { Err(fault()) };
            seen.take(twins.handle(Input::Checked(found))?)?;
            continue;
        }
        let request = seen.request.take();
        prop_assert!(request.is_some(), "neither asks nor calls nor ends");
        if let Some(request) = &request {
            check_cuts(&spec, &seen, seen.items.len() - asked_at, request)?;
        }
        if world.below(4) == 0 {
            let mut restored = Converse::restore(spec.clone(), seen.items.clone());
            let asked = restored.handle(Input::Continue);
            prop_assert_eq!(asked, request.map(Effect::Ask).into_iter().collect::<Vec<_>>());
            prop_assert_eq!(restored.handle(Input::Offered(seen.sent.clone())), []);
            twins.restored = Some(restored);
        }
        asked_at = seen.items.len();
        seen.take(twins.handle(world.input())?)?;
    }
    prop_assert!(seen.finished, "the turn limit ends every run");
    prop_assert!(seen.made.values().all(|times| *times == 1), "a call was made twice");
    prop_assert!(seen.checks <= 2, "the agent has one chance to mend its work");
    prop_assert!(twins.first.usage().turns <= 12);
    Ok(())
}

#[test]
fn every_invariant_holds_in_random_worlds() {
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 300, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let worlds = collection::vec(any::<u8>(), 0..500);
    runner.run(&worlds, run).unwrap();
}
