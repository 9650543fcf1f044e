//! Values that are written out: as JSON, and as items that may hold templates.

use serde_json::{Map, Number, Value};

use super::findings::{Findings, Written};
use super::words::literal;
use crate::diagnostic::{Code, Span};
use crate::syntax::{Node, NodeKind};

/// The JSON of a tree. A number that JSON can't carry (`.inf`, `.nan`) is null.
pub(super) fn json(node: &Node) -> Value {
    match &node.kind {
        NodeKind::Null => Value::Null,
        NodeKind::Bool(value) => Value::Bool(*value),
        NodeKind::Int(value) => Value::from(*value),
        NodeKind::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        NodeKind::Text { value, .. } => Value::String(value.to_string()),
        NodeKind::List(nodes) => Value::Array(nodes.iter().map(json).collect()),
        NodeKind::Map(entries) => {
            let pairs = entries.iter().map(|entry| (entry.key.to_string(), json(&entry.value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
    }
}

/// The JSON of a tree that must hold no templates; reports each that it holds.
pub(super) fn literal_json(findings: &mut Findings, key: &str, node: &Node) -> Value {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match &node.kind {
            NodeKind::Text { value, .. } => {
                literal(findings, key, Written { text: value, span: node.span, file: None });
            }
            NodeKind::List(nodes) => open.extend(nodes),
            NodeKind::Map(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {}
        }
    }
    json(node)
}

/// Warns of numbers that come out otherwise than they are written: the version `3.10` is the number 3.1, `010` is 10.
/// One finding for all of one list.
pub(super) fn warn_of_spelling<'n>(findings: &mut Findings, nodes: impl IntoIterator<Item = &'n Node>) {
    let mut open: Vec<&Node> = nodes.into_iter().collect();
    open.reverse();
    let mut changed: Vec<(Span, String)> = Vec::new();
    while let Some(node) = open.pop() {
        match &node.kind {
            NodeKind::Int(_) | NodeKind::Float(_) => {
                let value = json(node).to_string();
                if findings.written(node.span) != value {
                    changed.push((node.span, value));
                }
            }
            NodeKind::List(nodes) => open.extend(nodes.iter().rev()),
            NodeKind::Map(entries) => open.extend(entries.iter().rev().map(|entry| &entry.value)),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Text { .. } => {}
        }
    }
    let Some((span, value)) = changed.first() else { return };
    let written = findings.written(*span).to_owned();
    let message = format!("`{written}` is the number {value} here");
    let more = match changed.len() - 1 {
        0 => String::new(),
        more => format!(", and likewise {more} more in this list"),
    };
    let help = format!("quote it to keep it as it is written: `\"{written}\"`{more}");
    findings.push(findings.at(Code::Suspicious, *span, message).help(help));
}

/// The text of a node that is one.
pub(super) fn text_of(node: &Node) -> Option<Written<'_>> {
    match &node.kind {
        NodeKind::Text { value, .. } => Some(Written { text: value, span: node.span, file: None }),
        NodeKind::Null
        | NodeKind::Bool(_)
        | NodeKind::Int(_)
        | NodeKind::Float(_)
        | NodeKind::List(_)
        | NodeKind::Map(_) => None,
    }
}

/// What a value is, for messages: "a list".
pub(super) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "an integer",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
