//! Which entries of `exclude` and `include` agree with a combination, without trying each: entries that name the same axes
//! are looked up together, by the values that the combination has there.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::Value;

/// Entries by the axes that they name and their values there.
pub(super) struct Rules {
    /// For each axis the number of each value; equal ones have one number.
    numbers: Vec<HashMap<String, usize>>,
    /// By the axes: the entries by the numbers of their values there.
    groups: IndexMap<Vec<usize>, HashMap<Vec<usize>, Vec<usize>>>,
}

impl Rules {
    /// `strict`: an entry with a name that is no axis agrees with nothing; else such names don't count.
    pub(super) fn new(
        axes: &[(String, Vec<Value>)],
        entries: &[IndexMap<String, Value>],
        strict: bool,
    ) -> Self {
        let numbers = axes.iter().map(|(_, values)| {
            let mut numbers = HashMap::new();
            for (number, value) in values.iter().enumerate() {
                numbers.entry(value.to_string()).or_insert(number);
            }
            numbers
        });
        let mut rules = Rules { numbers: numbers.collect(), groups: IndexMap::new() };
        for (at, entry) in entries.iter().enumerate() {
            let named = |name: &String| axes.iter().position(|(axis, _)| axis == name);
            if strict && entry.keys().any(|name| named(name).is_none()) {
                continue;
            }
            let mut places: Vec<(usize, Option<usize>)> = entry
                .iter()
                .filter_map(|(name, value)| Some((named(name)?, value)))
                .map(|(axis, value)| (axis, rules.numbers[axis].get(&value.to_string()).copied()))
                .collect();
            places.sort_unstable();
            let (axes, values): (Vec<usize>, Vec<Option<usize>>) = places.into_iter().unzip();
            // A value that its axis doesn't have agrees with nothing.
            let Some(values) = values.into_iter().collect::<Option<Vec<usize>>>() else { continue };
            rules.groups.entry(axes).or_default().entry(values).or_default().push(at);
        }
        rules
    }

    /// The number of each value of a combination, for [`Rules::agreeing`].
    pub(super) fn numbers(&self, chosen: &[(&String, &Value)]) -> Vec<usize> {
        let number = |(axis, (_, value)): (usize, &(&String, &Value))| {
            self.numbers[axis].get(&value.to_string()).copied().unwrap_or(usize::MAX)
        };
        if self.groups.is_empty() { Vec::new() } else { chosen.iter().enumerate().map(number).collect() }
    }

    /// The entries that agree with a combination, in order.
    pub(super) fn agreeing(&self, numbers: &[usize]) -> Vec<usize> {
        let mut found = Vec::new();
        for (axes, entries) in &self.groups {
            let values: Vec<usize> = axes.iter().map(|axis| numbers[*axis]).collect();
            found.extend(entries.get(&values).into_iter().flatten().copied());
        }
        found.sort_unstable();
        found
    }
}
