//! From lists to instances: combinations of a matrix, default keys, limits. The compiler asks this of what is written
//! out, the driver of what is known at run time; both get the same answer.

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

use super::expand_rules::Rules;

/// The most instances of one expansion.
pub const MOST_INSTANCES: usize = 100_000;

/// An instance to be: its default key, and its item or its object of axis values.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The key that it has unless the task says `key`.
    pub key: String,
    /// The item, or for a matrix the object of axis values.
    pub item: Value,
}

/// Why an expansion is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// More than `MOST_INSTANCES`.
    #[error("the expansion has {count} instances, more than {MOST_INSTANCES}")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// Two instances of one key.
    #[error("instances {first} and {second} have the same key `{key}`")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The position of the first, from 1.
        first: usize,
        /// The position of the second, from 1.
        second: usize,
    },
}

/// The instances of a list: the key is the scalar itself, else the index.
pub fn list_rows(items: Vec<Value>) -> Result<Vec<Combination>, ExpandError> {
    within_limit(items.len())?;
    let row = |(index, item): (usize, Value)| {
        let key = scalar(&item).unwrap_or_else(|| index.to_string());
        Combination { key, item }
    };
    Ok(items.into_iter().enumerate().map(row).collect())
}

/// The instances of a matrix, the last axis changing fastest: every combination that no `exclude` covers. An entry of
/// `include` adds its names to each combination whose axes it agrees with, a later one over an earlier; one that agrees
/// with none is a combination of its own. Every item has all names, null where nobody says.
pub fn combinations(
    axes: &[(String, Vec<Value>)],
    include: &[IndexMap<String, Value>],
    exclude: &[IndexMap<String, Value>],
) -> Result<Vec<Combination>, ExpandError> {
    let product = axes
        .iter()
        .fold(usize::from(!axes.is_empty()), |product, (_, values)| product.saturating_mul(values.len()));
    within_limit(product.saturating_add(include.len()))?;
    // Each once: many entries name the same few.
    let all: IndexSet<&String> =
        axes.iter().map(|(name, _)| name).chain(include.iter().flat_map(IndexMap::keys)).collect();
    let names = || all.iter().copied();
    let is_axis = |name: &String| axes.iter().any(|(axis, _)| axis == name);
    let (excluded, included) = (Rules::new(axes, exclude, true), Rules::new(axes, include, false));
    let mut fits = vec![false; include.len()];
    let mut rows = Vec::with_capacity(product + include.len());
    for number in 0..product {
        let mut rest = number;
        let mut chosen: Vec<(&String, &Value)> = Vec::with_capacity(axes.len());
        for (name, values) in axes.iter().rev() {
            chosen.push((name, &values[rest % values.len()]));
            rest /= values.len();
        }
        chosen.reverse();
        if !excluded.agreeing(&excluded.numbers(&chosen)).is_empty() {
            continue;
        }
        let adding = included.agreeing(&included.numbers(&chosen));
        let mut made = row(names(), chosen);
        for at in adding {
            fits[at] = true;
            if let Value::Object(item) = &mut made.item {
                let more = include[at].iter().filter(|(name, _)| !is_axis(name));
                item.extend(more.map(|(name, value)| (name.clone(), value.clone())));
            }
        }
        rows.push(made);
    }
    let alone = include.iter().zip(fits).filter(|(_, fits)| !fits);
    rows.extend(alone.map(|(entry, _)| row(names(), entry.iter().collect())));
    Ok(rows)
}

/// Checks that no two instances share a key.
pub fn unique_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> Result<(), ExpandError> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, key) in keys.into_iter().enumerate() {
        if let Some(first) = seen.insert(key, index) {
            return Err(ExpandError::DuplicateKey {
                key: key.to_owned(),
                first: first + 1,
                second: index + 1,
            });
        }
    }
    Ok(())
}

fn within_limit(count: usize) -> Result<(), ExpandError> {
    if count > MOST_INSTANCES { Err(ExpandError::TooMany { count }) } else { Ok(()) }
}

fn row<'n>(names: impl Iterator<Item = &'n String>, chosen: Vec<(&String, &Value)>) -> Combination {
    let text = |value: &Value| scalar(value).unwrap_or_else(|| value.to_string());
    let key = chosen.iter().map(|(_, value)| text(value)).collect::<Vec<_>>().join(",");
    let mut item: Map<String, Value> = names.map(|name| (name.clone(), Value::Null)).collect();
    for (name, value) in chosen {
        item.insert(name.clone(), value.clone());
    }
    Combination { key, item: Value::Object(item) }
}

/// The text of a value that can be a key by itself.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
