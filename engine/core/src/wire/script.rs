//! The model script: a written model that answers tasks turn by turn, for tests, examples and rehearsals.
//!
//! A script is YAML: an address, task id, agent name or `default`, and below it the turns in order. A turn that
//! can't be played as written is an error of the text, with its line.

use std::fmt;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{Block, ModelError, ModelErrorKind, Reply, Request, Role, StopReason, failure};
use crate::ids::Address;
use crate::model::{HAND_IN, Usage};
use crate::text::{list_some, parse_duration};

/// A script, read.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelScript {
    entries: IndexMap<String, ScriptTurns>,
}

/// The turns of one entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptTurns {
    turns: Vec<ScriptTurn>,
    /// `ends[i]` is the position after the last repetition of `turns[i]`.
    ends: Vec<u64>,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "TurnText")]
pub struct ScriptTurn {
    /// How long the model takes before anything happens.
    pub sleep: Option<Duration>,
    action: Action,
    expect: Option<Expect>,
    usage: Option<UsageText>,
    repeat: u64,
}

/// What a turn comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Played {
    /// An answer.
    Reply(Reply),
    /// No answer.
    Fail(ModelError),
    /// This text arrives, then the stream breaks off.
    Cut(String),
    /// Nothing ever arrives.
    Hang,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Answer {
        say: Option<String>,
        calls: Vec<(String, Value)>,
    },
    Fail(ModelError),
    Cut(String),
    Hang,
    /// Nothing but time passes, before the turn that follows.
    Sleep,
}

impl ModelScript {
    /// Reads a script. The error is one line that names the place.
    pub fn parse(text: &str) -> Result<Self, String> {
        let script: ScriptText = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        let entries = script.0.into_iter().map(|(key, turns)| (key, ScriptTurns::new(turns))).collect();
        Ok(ModelScript { entries })
    }

    /// The turns of a task: by its address, its address without keys, its own id (the last step of the address), the
    /// agent's name, else `default`.
    pub fn turns_for(&self, address: &Address, agent: &str) -> Option<&ScriptTurns> {
        let without_keys = address.without_keys();
        let id = without_keys.rsplit('/').next().unwrap_or_default();
        [address.as_str(), &without_keys, id, agent, "default"]
            .into_iter()
            .find_map(|key| self.entries.get(key))
    }
}

impl ScriptTurns {
    fn new(turns: Vec<ScriptTurn>) -> Self {
        let mut end = 0u64;
        let mut ends = Vec::with_capacity(turns.len());
        for turn in &turns {
            end = end.saturating_add(turn.repeat);
            ends.push(end);
        }
        ScriptTurns { turns, ends }
    }

    /// The turn at a position from 0, repetitions counted; `None` past the end.
    pub fn turn(&self, position: u32) -> Option<&ScriptTurn> {
        let at = self.ends.partition_point(|end| *end <= u64::from(position));
        self.turns.get(at)
    }
}

/// The failure of a script that has no turn at this position.
pub fn script_ended(position: u32) -> ModelError {
    let message = format!("script ended at turn {}", u64::from(position) + 1);
    ModelError { kind: ModelErrorKind::ScriptEnded, status: None, message, retry_after: None }
}

impl ScriptTurn {
    /// Whether the request is what the turn expects; the error says what is not.
    pub fn check(&self, request: &Request) -> Result<(), String> {
        let Some(expect) = &self.expect else { return Ok(()) };
        if let Some(wanted) = &expect.prompt_contains
            && !user_texts(request).any(|text| text.contains(wanted))
        {
            return Err(format!("the script expects a prompt that contains `{wanted}`"));
        }
        if let Some(wanted) = &expect.tools {
            // The loop adds this one by itself; it is only compared where the script speaks of it.
            let own = |name: &&str| *name != HAND_IN || wanted.iter().any(|tool| tool == name);
            let mut offered: Vec<&str> =
                request.tools.iter().map(|tool| tool.name.as_str()).filter(own).collect();
            let mut expected: Vec<&str> = wanted.iter().map(String::as_str).collect();
            offered.sort_unstable();
            expected.sort_unstable();
            if offered != expected {
                let show = |names: Vec<&str>| {
                    if names.is_empty() { "none".to_owned() } else { list_some(names, 20) }
                };
                return Err(format!(
                    "the script expects the tools {}, offered are {}",
                    show(expected),
                    show(offered)
                ));
            }
        }
        Ok(())
    }

    /// Plays the turn at its position. An unmet `expect` is a failure that no second try mends.
    pub fn play(&self, request: &Request, position: u32) -> Played {
        if let Err(message) = self.check(request) {
            return Played::Fail(ModelError {
                kind: ModelErrorKind::Refused,
                status: None,
                message: format!("turn {}: {message}", u64::from(position) + 1),
                retry_after: None,
            });
        }
        match &self.action {
            Action::Answer { say, calls } => {
                Played::Reply(self.reply(say.as_deref(), calls, request, position))
            }
            Action::Fail(error) => Played::Fail(error.clone()),
            Action::Cut(text) => Played::Cut(text.clone()),
            // One that only sleeps is part of the turn after it.
            Action::Hang | Action::Sleep => Played::Hang,
        }
    }

    fn reply(&self, say: Option<&str>, calls: &[(String, Value)], request: &Request, position: u32) -> Reply {
        let mut content = Vec::new();
        if let Some(text) = say.filter(|text| !text.is_empty()) {
            content.push(Block::Text { text: text.to_owned() });
        }
        for (n, (name, input)) in calls.iter().enumerate() {
            let id = format!("toolu_script_{position}_{n}");
            content.push(Block::ToolUse { id, name: name.clone(), input: input.clone() });
        }
        let stop = if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
        let usage = match &self.usage {
            Some(usage) => Usage {
                input_tokens: usage.input,
                output_tokens: usage.output,
                cache_read_tokens: usage.cache_read,
                cache_write_tokens: usage.cache_write,
                model: request.model.clone(),
                ..Usage::default()
            },
            None => estimate(request, &content),
        };
        Reply { content, stop, usage }
    }
}

fn user_texts(request: &Request) -> impl Iterator<Item = &str> {
    let messages = request.messages.iter().filter(|message| message.role == Role::User);
    messages.flat_map(|message| &message.content).filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        Block::Thinking { .. }
        | Block::RedactedThinking { .. }
        | Block::ToolUse { .. }
        | Block::ToolResult { .. } => None,
    })
}

/// A token for every four bytes, begun ones counted: near enough for budgets and progress, and the same everywhere.
fn estimate(request: &Request, reply: &[Block]) -> Usage {
    let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
    let sent = request.messages.iter().flat_map(|message| &message.content).map(block_bytes).sum::<usize>();
    Usage {
        input_tokens: tokens(request.system.len() + sent),
        output_tokens: tokens(reply.iter().map(block_bytes).sum()),
        model: request.model.clone(),
        ..Usage::default()
    }
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text { text } => text.len(),
        Block::Thinking { thinking, .. } => thinking.len(),
        Block::RedactedThinking { data } => data.len(),
        Block::ToolUse { name, input, .. } => name.len() + input.to_string().len(),
        Block::ToolResult { content, .. } => content.len(),
    }
}

struct ScriptText(IndexMap<String, Vec<ScriptTurn>>);

impl<'de> Deserialize<'de> for ScriptText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = ScriptText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from an address, task id, agent name or `default` to a list of turns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ScriptText, A::Error> {
        let mut entries = IndexMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if entries.contains_key(&key) {
                return Err(A::Error::custom(format_args!("`{key}` stands twice")));
            }
            let turns = late(map.next_value()?).map_err(A::Error::custom)?;
            entries.insert(key, turns);
        }
        Ok(ScriptText(entries))
    }
}

/// Lets a turn that only sleeps make the one after it late.
fn late(turns: Vec<ScriptTurn>) -> Result<Vec<ScriptTurn>, String> {
    let mut kept: Vec<ScriptTurn> = Vec::with_capacity(turns.len());
    let mut waited = Duration::ZERO;
    for mut turn in turns {
        if turn.action == Action::Sleep {
            waited += turn.sleep.unwrap_or_default();
            continue;
        }
        if !waited.is_zero() {
            let first = turn.sleep.unwrap_or_default() + std::mem::take(&mut waited);
            kept.push(ScriptTurn { sleep: Some(first), repeat: 1, ..turn.clone() });
            turn.repeat -= 1;
        }
        if turn.repeat > 0 {
            kept.push(turn);
        }
    }
    if waited.is_zero() { Ok(kept) } else { Err("a `sleep` alone needs a turn after it".to_owned()) }
}

/// A turn as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnText {
    say: Option<String>,
    call: Option<String>,
    with: Option<Map<String, Value>>,
    calls: Option<Vec<CallText>>,
    say_partial: Option<String>,
    fail: Option<FailText>,
    #[serde(default)]
    hang: bool,
    sleep: Option<String>,
    expect: Option<Expect>,
    usage: Option<UsageText>,
    repeat: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallText {
    call: String,
    #[serde(default)]
    with: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailText {
    status: Option<u16>,
    retry_after: Option<f64>,
    message: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    prompt_contains: Option<String>,
    tools: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct UsageText {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
}

impl TryFrom<TurnText> for ScriptTurn {
    type Error = String;

    fn try_from(turn: TurnText) -> Result<Self, String> {
        let answers = turn.say.is_some() || turn.call.is_some() || turn.calls.is_some();
        let kinds = [answers, turn.say_partial.is_some(), turn.fail.is_some(), turn.hang];
        match kinds.iter().filter(|kind| **kind).count() {
            0 if turn.sleep.is_some() && turn.expect.is_none() && turn.repeat.is_none() => {}
            0 => {
                return Err(
                    "a turn needs `say`, `call`, `calls`, `say_partial`, `fail` or `hang: true`".to_owned()
                );
            }
            1 => {}
            _ => {
                return Err("`say` or `call`, `say_partial`, `fail` and `hang` exclude each other".to_owned());
            }
        }
        if turn.usage.is_some() && !answers {
            return Err("`usage` needs `say` or `call`".to_owned());
        }
        let sleep = match turn.sleep {
            Some(text) => Some(parse_duration(&text).map_err(|error| format!("`sleep`: {error}"))?),
            None => None,
        };
        let repeat = u64::from(turn.repeat.unwrap_or(1));
        if repeat == 0 {
            return Err("`repeat` is at least 1".to_owned());
        }
        let calls = match (turn.call, turn.with, turn.calls) {
            (Some(call), with, None) => vec![(call, Value::Object(with.unwrap_or_default()))],
            (None, None, Some(calls)) => {
                calls.into_iter().map(|call| (call.call, Value::Object(call.with))).collect()
            }
            (None, None, None) => Vec::new(),
            (Some(_), _, Some(_)) => return Err("`call` and `calls` exclude each other".to_owned()),
            (None, Some(_), _) => return Err("`with` needs `call`".to_owned()),
        };
        let action = if let Some(text) = turn.say_partial {
            Action::Cut(text)
        } else if let Some(fail) = turn.fail {
            Action::Fail(fail.error()?)
        } else if turn.hang {
            Action::Hang
        } else if !answers {
            Action::Sleep
        } else {
            Action::Answer { say: turn.say, calls }
        };
        Ok(ScriptTurn { sleep, action, expect: turn.expect, usage: turn.usage, repeat })
    }
}

impl FailText {
    /// The error that a provider's answer with this status would be; without a status: no connection.
    fn error(self) -> Result<ModelError, String> {
        let message = self.message.unwrap_or_else(|| "scripted failure".to_owned());
        let mut error = match self.status {
            Some(status @ 400..=599) => failure::by_status(status, "", &message),
            Some(status) => return Err(format!("`fail.status` is from 400 to 599, not {status}")),
            None => ModelError { kind: ModelErrorKind::Connection, status: None, message, retry_after: None },
        };
        if let Some(seconds) = self.retry_after {
            let wait = Duration::try_from_secs_f64(seconds);
            error.retry_after =
                Some(wait.map_err(|_| "`fail.retry_after` is a number of seconds".to_owned())?);
        }
        Ok(error)
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
