//! `output: pairs`: `name=value` lines and `name<<END` blocks, the form in which shells hand values over most easily.

use serde_json::{Map, Value};

use crate::text::one_line;

/// Reads pairs into an object of texts; of one name the last. The error says what doesn't fit, for people.
pub(super) fn pairs(text: &str) -> Result<Value, String> {
    let mut found = Map::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let number = at + 1;
        // Whichever comes first decides: a value may hold the other.
        let (name, value) = match (line.split_once('='), line.split_once("<<")) {
            (Some((name, value)), block) if block.is_none_or(|(before, _)| name.len() < before.len()) => {
                (name, value.to_owned())
            }
            (_, Some((name, end))) => {
                let end = end.trim();
                if end.is_empty() {
                    return Err(fault(number, line, "names no end of its block; write `name<<END`"));
                }
                let mut block = Vec::new();
                let closed = lines.by_ref().map(|(_, line)| line).any(|line| {
                    let is_end = line == end;
                    if !is_end {
                        block.push(line);
                    }
                    is_end
                });
                if !closed {
                    return Err(fault(number, line, &format!("opens a block, and no line is `{end}`")));
                }
                (name, block.join("\n"))
            }
            (_, None) => return Err(fault(number, line, "is neither `name=value` nor `name<<END`")),
        };
        if !is_name(name) {
            return Err(fault(number, line, "has no good name: letters, digits, `_` and `-`"));
        }
        found.insert(name.to_owned(), value.into());
    }
    Ok(Value::Object(found))
}

fn is_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().all(word)
        && name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
}

fn fault(number: usize, line: &str, why: &str) -> String {
    format!("line {number} of `$FLOW_OUTPUT` (`{}`) {why}", one_line(line, 60))
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
