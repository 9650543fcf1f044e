//! Who asks a model, read off the request: agents that work at the same time have no order, but each has a name.

use serde_json::Value;

/// What stands in a user's message and is not what the user asks.
const NOTICES: &[(&str, &str)] = &[("<task-notification>", "</task-notification>")];

/// Who asks, and how often they have been answered since they got that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The last `#name` in what a user says, else in the system prompt; empty when there is none.
    pub name: String,
    /// Answers so far, from 0.
    pub turn: usize,
}

impl Asker {
    /// Reads a request of either API. Other names than these are words like others.
    pub fn of(body: &Value, names: &[&str]) -> Self {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let mut name = texts(&body["system"]).find_map(|text| last_name(text, names));
        let mut since = 0;
        for (at, message) in messages.iter().enumerate().filter(|(_, message)| message["role"] == "user") {
            let asked =
                texts(&message["content"]).filter_map(|text| last_name(&without_notices(text), names));
            if let Some(last) = asked.last() {
                (name, since) = (Some(last), at);
            }
        }
        let turn = messages[since..].iter().filter(|message| message["role"] == "assistant").count();
        Asker { name: name.unwrap_or_default(), turn }
    }
}

/// A text, or the texts among blocks.
fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    content.as_str().into_iter().chain(blocks.iter().filter_map(|block| block["text"].as_str()))
}

fn last_name(text: &str, names: &[&str]) -> Option<String> {
    let words = text.split('#').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        format!("#{}", &rest[..end])
    });
    words.filter(|word| names.contains(&word.as_str())).last()
}

fn without_notices(text: &str) -> String {
    let mut text = text.to_owned();
    for (begin, end) in NOTICES {
        while let Some((before, rest)) = text.split_once(begin) {
            let after = rest.split_once(end).map_or("", |(_, after)| after);
            text = format!("{before}{after}");
        }
    }
    text
}
