//! `exclude` and `include` of a matrix against its axes, as far as both are written out: rules that leave nothing out,
//! names that some rows lack.

use std::collections::HashMap;

use serde_json::Value;

use super::findings::Findings;
use super::literal::json;
use crate::diagnostic::Code;
use crate::plan::combinations;
use crate::syntax::{Entry, MatrixFile, Node, NodeKind};
use crate::text::list_some;

/// How many values of an axis are listed.
const LISTED: usize = 8;

/// The values of an axis, unless templates make some of them.
fn literal_values(node: &Node) -> Option<Vec<Value>> {
    let NodeKind::List(nodes) = &node.kind else { return None };
    let mut open: Vec<&Node> = nodes.iter().collect();
    while let Some(node) = open.pop() {
        match &node.kind {
            NodeKind::Text { value, .. } if value.contains("${") => return None,
            NodeKind::List(nodes) => open.extend(nodes),
            NodeKind::Map(entries) => open.extend(entries.iter().map(|entry| &entry.value)),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::Text { .. } => {}
        }
    }
    Some(nodes.iter().map(json).collect())
}

/// Reports what the rules name and the axes lack.
pub(super) fn check_rules(findings: &mut Findings, matrix: &MatrixFile) {
    let axes = || matrix.axes.iter().map(|(name, _)| name.value.as_str());
    // By their text: a long axis is asked for by each of many rules.
    let known: HashMap<&str, HashMap<String, Value>> = matrix
        .axes
        .iter()
        .filter_map(|(name, node)| {
            let values = literal_values(node)?.into_iter().map(|value| (value.to_string(), value));
            Some((name.value.as_str(), values.collect()))
        })
        .collect();
    for pair in matrix.exclude.iter().flat_map(Node::entries) {
        if axes().all(|axis| pair.key != axis) {
            let help = findings.instead(&pair.key, axes());
            let message = format!("the matrix has no axis `{}`", pair.key);
            findings.push(findings.at(Code::UnknownReference, pair.key_span, message).maybe_help(help));
            continue;
        }
        let Some(values) = known.get(pair.key.as_str()) else { continue };
        let value = json(&pair.value);
        if values.contains_key(&value.to_string()) {
            continue;
        }
        let mut listed: Vec<&str> = values.keys().map(String::as_str).collect();
        listed.sort_unstable();
        let same = values.values().find(|one| as_text(one) == as_text(&value));
        let help = match (same, &value) {
            (Some(_), Value::String(text)) => format!("take the quotes away: `{text}`"),
            (Some(_), other) => format!("quote it as the axis does: `\"{other}\"`"),
            (None, _) => format!("it is one of {}", list_some(listed, LISTED)),
        };
        let message = format!("this `exclude` leaves nothing out: `{}` is never {value}", pair.key);
        findings.push(findings.at(Code::Suspicious, pair.value.span, message).help(help));
    }
    for pair in matrix.include.iter().flat_map(Node::entries) {
        let begins = |axis: &str| axis.starts_with(pair.key.as_str()) || pair.key.starts_with(axis);
        let near = match axes().any(|axis| pair.key == axis) {
            true => None,
            false => findings.near(&pair.key, axes().filter(|axis| !begins(axis))),
        };
        if let Some(near) = near {
            let message = format!("`{}` is no axis of this matrix: this row makes it one", pair.key);
            let finding = findings.at(Code::Suspicious, pair.key_span, message);
            findings.push(finding.help(format!("did you mean `{near}`?")));
        }
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The names that only some rows have, each with the key of a row that lacks it.
pub(super) fn lacking(matrix: &MatrixFile) -> Vec<(String, String)> {
    let is_axis = |name: &str| matrix.axes.iter().any(|(axis, _)| axis.value == name);
    let mut names: Vec<&str> = Vec::new();
    for pair in matrix.include.iter().flat_map(Node::entries) {
        if !is_axis(&pair.key) && !names.contains(&pair.key.as_str()) {
            names.push(&pair.key);
        }
    }
    // Of an axis it is a row of `include` that can lack it.
    let skips =
        |axis: &str| matrix.include.iter().any(|rule| rule.entries().iter().all(|pair| pair.key != axis));
    names.extend(matrix.axes.iter().map(|(name, _)| name.value.as_str()).filter(|axis| skips(axis)));
    if names.is_empty() {
        return Vec::new();
    }
    let axes = matrix.axes.iter().map(|(name, node)| Some((name.value.clone(), literal_values(node)?)));
    let Some(axes) = axes.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let rules = |nodes: &[Node]| nodes.iter().map(|rule| named(rule.entries())).collect::<Vec<_>>();
    let Ok(rows) = combinations(&axes, &rules(&matrix.include), &rules(&matrix.exclude)) else {
        return Vec::new();
    };
    let lacks = |name: &&str| {
        let row = rows.iter().find(|row| row.item.get(*name).is_none_or(Value::is_null))?;
        Some(((*name).to_owned(), row.key.clone()))
    };
    names.iter().filter_map(lacks).collect()
}

fn named(pairs: &[Entry]) -> indexmap::IndexMap<String, Value> {
    pairs.iter().map(|pair| (pair.key.to_string(), json(&pair.value))).collect()
}

#[cfg(test)]
#[path = "matrix_rules_tests.rs"]
mod tests;
