//! One task becomes many: lists evaluated, keys rendered. Combinations and limits are the plan's.

use serde_json::{Map, Value};

use super::context::Scope;
use crate::event::Instance;
use crate::model::TaskState;
use crate::plan::{Combination, Expansion, Item, Items, Over, combinations, list_rows, unique_keys};
use crate::report::TaskReport;
use crate::template::{Segment, Template};

/// The longest key; a longer one would make addresses that nobody can read.
const LONGEST_KEY: usize = 200;

/// The instances of an expansion in item order. The error says what is wrong with the values, for people.
pub fn instances(expansion: &Expansion, scope: &Scope<'_>) -> Result<Vec<Instance>, String> {
    let rows = match &expansion.over {
        Over::ForEach { items, .. } => list_rows(list("for_each", items, scope)?),
        Over::Matrix { axes, include, exclude } => {
            let mut values = Vec::with_capacity(axes.len());
            for (name, items) in axes {
                values.push((name.clone(), list(&format!("matrix.{name}"), items, scope)?));
            }
            combinations(&values, include, exclude)
        }
    };
    let rows = rows.map_err(|error| error.to_string())?;
    let mut instances = Vec::with_capacity(rows.len());
    for (index, Combination { key, item }) in rows.into_iter().enumerate() {
        let key = match &expansion.key {
            Some(template) => rendered_key(template, &item, index, scope)?,
            None if key.is_empty() || key.len() > LONGEST_KEY || key.contains(['\n', '\r']) => {
                index.to_string()
            }
            None => key,
        };
        instances.push(Instance { key, item });
    }
    unique_keys(instances.iter().map(|instance| instance.key.as_str()))
        .map_err(|error| format!("{error}; give them different ones with `key`"))?;
    Ok(instances)
}

fn list(what: &str, items: &Items, scope: &Scope<'_>) -> Result<Vec<Value>, String> {
    match items {
        Items::List(items) => items.iter().map(|item| value(what, item, scope)).collect(),
        Items::Expression(template) => match evaluate(what, template, scope)? {
            Value::Array(items) => Ok(items),
            // There is nothing to do where what would have said what was not to run.
            Value::Null if sources(template, scope).any(|task| task.state == TaskState::Skipped) => {
                Ok(Vec::new())
            }
            other => {
                let why = match &other {
                    Value::Null => sources(template, scope)
                        .find(|task| task.state != TaskState::Completed)
                        .map(|task| format!(": `{}` {}", task.address, ended(task.state)))
                        .unwrap_or_default(),
                    Value::String(_) => {
                        "; `output: lines` or `output: json` makes one of what a task prints".to_owned()
                    }
                    _ => String::new(),
                };
                Err(format!("`{what}` must be a list, and is {}{why}", kind(&other)))
            }
        },
    }
}

/// The tasks of which an expression speaks.
fn sources<'a>(template: &'a Template, scope: &'a Scope<'_>) -> impl Iterator<Item = &'a TaskReport> {
    template.references.iter().filter_map(|reference| match reference.path.as_slice() {
        [Segment::Name(root), Segment::Name(id), ..] if root == "tasks" => {
            scope.run.task(&id.as_str().into())
        }
        _ => None,
    })
}

fn ended(state: TaskState) -> &'static str {
    match state {
        TaskState::Blocked => "was blocked",
        TaskState::Killed => "was stopped",
        TaskState::Lost => "was lost",
        TaskState::Failed => "failed",
        TaskState::Skipped => "was skipped",
        TaskState::Created | TaskState::Starting | TaskState::Running | TaskState::Completed => "gave none",
    }
}

fn value(what: &str, item: &Item, scope: &Scope<'_>) -> Result<Value, String> {
    match item {
        Item::Value(value) => Ok(value.clone()),
        Item::Text(template) => evaluate(what, template, scope),
        Item::List(items) => items.iter().map(|item| value(what, item, scope)).collect(),
        Item::Object(entries) => {
            let entry = |(name, item): &(String, Item)| Ok((name.clone(), value(what, item, scope)?));
            entries.iter().map(entry).collect::<Result<Map<_, _>, String>>().map(Value::Object)
        }
    }
}

fn evaluate(what: &str, template: &Template, scope: &Scope<'_>) -> Result<Value, String> {
    template.value(&scope.context(&template.references)).map_err(|error| format!("`{what}`: {error}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn rendered_key(
    template: &Template,
    item: &Value,
    index: usize,
    scope: &Scope<'_>,
) -> Result<String, String> {
    let instance = Instance { key: index.to_string(), item: item.clone() };
    let inner = Scope { instance: Some(&instance), env: scope.env.clone(), ..*scope };
    match template.render(&inner.context(&template.references)) {
        Ok(key) if key.is_empty() => Err(format!("`key` is empty for item {index}")),
        Ok(key) if key.len() > LONGEST_KEY || key.contains(['\n', '\r']) => {
            Err(format!("`key` of item {index} is longer than {LONGEST_KEY} bytes or has several lines"))
        }
        Ok(key) => Ok(key),
        Err(error) => Err(format!("`key` of item {index}: {error}")),
    }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
