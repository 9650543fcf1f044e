//! `for_each` and `matrix`: from what is written to what a task ranges over.

use indexmap::IndexMap;
use serde_json::Value;

use super::findings::{Findings, Written};
use super::literal::{json, kind_name, literal_json, text_of, warn_of_spelling};
use super::matrix_rules::check_rules;
use super::scope::{Scope, Spot};
use super::shape::{Keys, Names};
use super::templates;
use super::words::at_least_one;
use crate::diagnostic::{Code, Span};
use crate::plan::{
    Combination, ExpandError, Expansion, Item, Items, Over, combinations, list_rows, unique_keys,
};
use crate::syntax::{MatrixFile, Node, NodeKind, Text};
use crate::template::{Context, Template};

/// From here on a large expansion is probably a mistake.
const MANY_INSTANCES: usize = 1_000;
/// Up to so many instances have their keys rendered before the run.
const MOST_RENDERED: usize = 10_000;

/// Names that an item can't have: they mean something already.
const TAKEN: &[&str] = &[
    "inputs", "env", "secrets", "tasks", "matrix", "key", "round", "run", "git", "task", "attempt", "loop",
    "self", "true", "false", "none", "null", "and", "or", "not", "in", "is", "if", "else",
];

/// The names that an expansion gives to the templates of its task.
pub(super) fn names<'a>(findings: &mut Findings, keys: Keys<'a>) -> Names<'a> {
    match (&keys.own.for_each, &keys.own.matrix) {
        (Some(_), _) => match &keys.own.item_name {
            Some(name) => {
                item_name(findings, name);
                Names::Item(&name.value)
            }
            None => Names::Item("item"),
        },
        (None, Some(matrix)) => {
            let mut axes: Vec<&str> = matrix.value.axes.iter().map(|(name, _)| name.value.as_str()).collect();
            for entry in &matrix.value.include {
                for name in entry_names(entry) {
                    if !axes.contains(&name) {
                        axes.push(name);
                    }
                }
            }
            Names::Matrix(axes)
        }
        (None, None) => Names::None,
    }
}

/// Reports a name that means something already. That it is a name at all the reader of the file has checked.
fn item_name(findings: &mut Findings, name: &Text) {
    if TAKEN.contains(&name.value.as_str()) {
        let message = format!("`as` can't be `{}`: the name means something else in templates", name.value);
        let finding = findings.at(Code::BadName, name.span, message);
        findings.push(finding.help("choose a name that says what one item is"));
    }
}

/// Builds the expansion of a task that has one.
pub(super) fn expansion<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    keys: Keys<'a>,
    names: &Names<'a>,
) -> Option<Expansion> {
    let (over, span) = match (&keys.own.for_each, &keys.own.matrix, names) {
        (Some(node), _, Names::Item(name)) => {
            let items = items(findings, scope, "for_each", node);
            (items.map(|items| Over::ForEach { items, name: (*name).to_owned() }), node.span)
        }
        (None, Some(matrix), _) => (over_matrix(findings, scope, &matrix.value), matrix.span),
        _ => return None,
    };
    let key = match &keys.own.key {
        Some(key) => Some(templates::text(findings, scope, Spot::Key, key)?),
        None => None,
    };
    let max_parallel = keys.get(|keys| &keys.max_parallel);
    let max_parallel = max_parallel.and_then(|most| at_least_one(findings, "max_parallel", most));
    let over = over?;
    check_instances(findings, &over, key.as_ref().zip(keys.own.key.as_ref()), span);
    Some(Expansion { over, key, max_parallel, fail_fast: keys.is_on(|keys| &keys.fail_fast) })
}

fn over_matrix<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    matrix: &'a MatrixFile,
) -> Option<Over> {
    let mut axes = Vec::with_capacity(matrix.axes.len());
    for (name, node) in &matrix.axes {
        let key = format!("matrix.{}", name.value);
        if let Some(items) = items(findings, scope, &key, node) {
            axes.push((name.value.clone(), items));
        }
    }
    let include = entries(findings, "include", &matrix.include);
    warn_of_spelling(findings, &matrix.include);
    let exclude = entries(findings, "exclude", &matrix.exclude);
    check_rules(findings, matrix);
    if matrix.axes.is_empty() && matrix.include.is_empty() {
        return None;
    }
    (axes.len() == matrix.axes.len()).then_some(Over::Matrix { axes, include, exclude })
}

fn entries(findings: &mut Findings, key: &str, nodes: &[Node]) -> Vec<IndexMap<String, Value>> {
    let mut rows = Vec::with_capacity(nodes.len());
    for node in nodes {
        match literal_json(findings, key, node) {
            Value::Object(pairs) => rows.push(pairs.into_iter().collect()),
            other => {
                let message =
                    format!("an entry of `{key}` maps axes to values; this is {}", kind_name(&other));
                let finding = findings.at(Code::WrongType, node.span, message);
                findings.push(finding.help("write for example `{ os: linux, profile: release }`"));
            }
        }
    }
    rows
}

fn entry_names(entry: &Node) -> Vec<&str> {
    match &entry.kind {
        NodeKind::Map(pairs) => pairs.iter().map(|pair| pair.key.as_str()).collect(),
        NodeKind::Null
        | NodeKind::Bool(_)
        | NodeKind::Int(_)
        | NodeKind::Float(_)
        | NodeKind::Text { .. }
        | NodeKind::List(_) => Vec::new(),
    }
}

/// Reads a list that is written out, or one expression.
fn items<'a>(findings: &mut Findings, scope: &mut Scope<'_, 'a>, key: &str, node: &'a Node) -> Option<Items> {
    if let NodeKind::List(nodes) = &node.kind {
        warn_of_spelling(findings, nodes);
        // All of them are read before one that is faulty takes the list away.
        let read: Vec<Option<Item>> = nodes.iter().map(|node| item(findings, scope, node)).collect();
        return read.into_iter().collect::<Option<Vec<_>>>().map(Items::List);
    }
    let takes = format!("`{key}` takes a list, or one `${{{{ expression }}}}` that gives one");
    let Some(written) = text_of(node) else {
        findings.push(findings.at(Code::WrongType, node.span, takes));
        return None;
    };
    let template = templates::text(findings, scope, Spot::Items, written)?;
    if template.single_expression() {
        return Some(Items::Expression(template));
    }
    let finding = findings.at(Code::WrongType, node.span, takes);
    // `for_each: tasks.plan.output`: an expression without its braces.
    let text = written.text.trim();
    let known = |root: &str| scope.roots(Spot::Items).contains(&root);
    let bare = !text.contains("${")
        && Template::expression(text).is_ok_and(|bare| bare.references.iter().any(|one| known(one.root())));
    let help = match (bare, text.contains(',')) {
        (true, _) => Some(format!("write `{key}: ${{{{ {text} }}}}`")),
        (false, true) => Some(format!("write `{key}: [{text}]`")),
        (false, false) => None,
    };
    findings.push(finding.maybe_help(help));
    None
}

fn item<'a>(findings: &mut Findings, scope: &mut Scope<'_, 'a>, node: &'a Node) -> Option<Item> {
    match &node.kind {
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Float(_) => {
            Some(Item::Value(json(node)))
        }
        NodeKind::Text { value, .. } => {
            let written = Written { text: value, span: node.span, file: None };
            let template = templates::text(findings, scope, Spot::Items, written)?;
            Some(if template.is_literal() { Item::Value(json(node)) } else { Item::Text(template) })
        }
        NodeKind::List(nodes) => {
            let read: Vec<Option<Item>> = nodes.iter().map(|node| item(findings, scope, node)).collect();
            let read = read.into_iter().collect::<Option<Vec<_>>>()?;
            let literal = read.iter().all(|item| matches!(item, Item::Value(_)));
            Some(if literal { Item::Value(json(node)) } else { Item::List(read) })
        }
        NodeKind::Map(pairs) => {
            let read = pairs.iter().map(|pair| (pair.key.to_string(), item(findings, scope, &pair.value)));
            let read: Vec<(String, Option<Item>)> = read.collect();
            let read = read.into_iter().map(|(key, item)| Some((key, item?))).collect::<Option<Vec<_>>>()?;
            let literal = read.iter().all(|(_, item)| matches!(item, Item::Value(_)));
            Some(if literal { Item::Value(json(node)) } else { Item::Object(read) })
        }
    }
}

/// Counts and compares the instances of an expansion that is all written out.
fn check_instances(findings: &mut Findings, over: &Over, key: Option<(&Template, &Text)>, span: Span) {
    let rows = match over {
        Over::ForEach { items, .. } => values(items).map(list_rows),
        Over::Matrix { axes, include, exclude } => {
            let known = axes.iter().map(|(name, items)| Some((name.clone(), values(items)?)));
            known.collect::<Option<Vec<_>>>().map(|axes| combinations(&axes, include, exclude))
        }
    };
    let Some(rows) = rows else { return };
    let checked = rows.and_then(|rows: Vec<Combination>| {
        if key.is_none() {
            unique_keys(rows.iter().map(|row| row.key.as_str()))?;
        }
        Ok(rows)
    });
    match checked {
        Ok(rows) => {
            if rows.len() >= MANY_INSTANCES {
                let message = format!("this expansion makes {} instances", rows.len());
                findings.push(findings.at(Code::Suspicious, span, message));
            }
            if rows.is_empty() && matches!(over, Over::Matrix { exclude, .. } if !exclude.is_empty()) {
                let message = "`exclude` leaves no combination of this matrix";
                findings.push(findings.at(Code::Suspicious, span, message));
            }
            if let Some((template, written)) = key {
                check_keys(findings, over, (template, written), &rows);
            }
        }
        Err(error @ ExpandError::TooMany { .. }) => {
            findings.push(findings.at(Code::Expansion, span, error.to_string()));
        }
        Err(error @ ExpandError::DuplicateKey { .. }) => {
            let finding = findings.at(Code::Expansion, span, error.to_string());
            findings.push(finding.help("each instance needs a name of its own: leave one out, or say `key`"));
        }
    }
}

/// Renders the `key` of each instance, where it speaks of nothing but the instance.
fn check_keys(findings: &mut Findings, over: &Over, key: (&Template, &Text), rows: &[Combination]) {
    let (template, written) = key;
    let own = match over {
        Over::ForEach { name, .. } => name.as_str(),
        Over::Matrix { .. } => "matrix",
    };
    let known = template.references.iter().all(|reference| reference.root() == own);
    if !known || template.asks_status() || rows.len() > MOST_RENDERED {
        return;
    }
    let mut keys = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let mut context = Context::new();
        context.set(own, row.item.clone());
        let why = match template.render(&context) {
            Ok(key) if key.is_empty() => "it is empty".to_owned(),
            Ok(key) => {
                keys.push(key);
                continue;
            }
            Err(error) => error.to_string(),
        };
        let message = format!("`key` of instance {}: {why}", index + 1);
        findings.push(findings.at(Code::Expansion, written.span, message));
        return;
    }
    if let Err(error) = unique_keys(keys.iter().map(String::as_str)) {
        let finding = findings.at(Code::Expansion, written.span, error.to_string());
        findings.push(
            finding
                .help(format!("make it differ: name what differs in it, as in `key: ${{{{ {own}.id }}}}`")),
        );
    }
}

fn values(items: &Items) -> Option<Vec<Value>> {
    let Items::List(items) = items else { return None };
    let value = |item: &Item| match item {
        Item::Value(value) => Some(value.clone()),
        Item::Text(_) | Item::List(_) | Item::Object(_) => None,
    };
    items.iter().map(value).collect()
}

#[cfg(test)]
#[path = "expansion_tests.rs"]
mod tests;
