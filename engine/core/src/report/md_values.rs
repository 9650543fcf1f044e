//! Values in the report for people: a text as text, a list as a list, a list of objects as a table.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::format::Texts;
use super::markdown::{fenced, plain};
use super::markdown_quote;
use super::run_report::{RunReport, TaskReport};
use crate::ids::Address;
use crate::model::TaskState;
use crate::text::{escape_xml, head_bytes};

/// The longest text that stands beside its name, in characters.
const SHORT: usize = 200;

/// The longest text of a cell, in characters.
const CELL: usize = 400;

/// The longest text that is shown, in bytes; nobody reads more in a report.
const LONG: usize = 64 << 10;

/// The rows of a table, and the elements of a list.
const ROWS: usize = 100;

/// Elements that get lines of their own where they fit no table.
const EACH: usize = 20;

/// The columns of a table; what has more is shown as JSON.
const COLUMNS: usize = 6;

/// Objects in objects that get lines of their own.
const DEPTH: usize = 3;

/// Results of a plan without outputs.
const RESULTS: usize = 5;

/// Answers of other agents that are shown, and how much of each.
const ANSWERS: usize = 30;
const ANSWER: usize = 4 << 10;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

/// The outputs of the plan.
pub(super) fn outputs(out: &mut String, report: &RunReport) {
    let Some(outputs) = &report.outputs else { return };
    // Of a run that did not get so far every one is null.
    let nothing = |value: &Value| value.is_null();
    match outputs {
        Value::Object(all) if all.values().all(nothing) => {}
        Value::Object(all) => all.iter().for_each(|(name, value)| named(out, &plain(name), value, 0)),
        value => named(out, "outputs", value, 0),
    }
}

/// What the plan came to where it declares no outputs: what the agents said whom no other task needs.
pub(super) fn results(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    for task in last_agents(report).into_iter().take(RESULTS) {
        if let Some(text) = answer(task, report, (texts, LONG)) {
            let _ = writeln!(out, "\n**{}**\n\n{text}", plain(task.address.as_str()));
        }
    }
}

/// What the other agents said, folded.
pub(super) fn answers(out: &mut String, report: &RunReport, texts: &dyn Texts) {
    let last: Vec<&Address> =
        last_agents(report).into_iter().take(RESULTS).map(|task| &task.address).collect();
    let others = report.tasks.iter().filter(|task| has_answered(task) && !last.contains(&&task.address));
    let (mut shown, mut more) = (0, 0);
    for task in others {
        if shown == ANSWERS {
            more += 1;
            continue;
        }
        let Some(text) = answer(task, report, (texts, ANSWER)) else { continue };
        let name = escape_xml(task.address.as_str());
        let _ = writeln!(out, "\n<details><summary><code>{name}</code></summary>\n\n{text}\n\n</details>");
        shown += 1;
    }
    if more > 0 {
        let _ = writeln!(out, "\nand {more} more");
    }
}

/// The agents whose answers nobody reads but the person. Where the plan declares outputs they are what it is for.
fn last_agents(report: &RunReport) -> Vec<&TaskReport> {
    if report.outputs.as_ref().is_some_and(|outputs| *outputs != Value::Object(Map::new())) {
        return Vec::new();
    }
    let read: HashSet<&Address> =
        report.tasks.iter().flat_map(|task| &task.needs).map(|need| &need.task).collect();
    let is_last =
        |task: &&TaskReport| has_answered(task) && task.parent.is_none() && !read.contains(&task.address);
    report.tasks.iter().filter(is_last).collect()
}

fn has_answered(task: &TaskReport) -> bool {
    task.state == TaskState::Completed && task.agent.is_some()
}

/// What an agent said, unless the outputs say the same.
fn answer(task: &TaskReport, report: &RunReport, (texts, most): (&dyn Texts, usize)) -> Option<String> {
    let mut outputs = report.outputs.iter().filter_map(Value::as_object).flat_map(Map::values);
    if let Some(value) = &task.output {
        if outputs.any(|output| output == value) {
            return None;
        }
        let mut out = String::new();
        named(&mut out, "", value, 0);
        return Some(out.trim_matches('\n').to_owned());
    }
    let slice = task.attempts.last()?.text.as_ref().filter(|slice| slice.len > 0)?;
    let (text, all) = texts.text(slice, most);
    let said = outputs.any(|output| output.as_str().is_some_and(|one| one.trim() == text.trim()));
    (!said && !text.trim().is_empty()).then(|| long_text(&text, all))
}

/// A text in full, or its beginning with how much there is.
fn long_text(text: &str, all: u64) -> String {
    let block = match text.contains('\n') || text.chars().count() > SHORT {
        true => markdown_quote::block(text),
        false => plain(text),
    };
    let shown = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if shown < all { format!("{block}\n\n({} bytes more)", all - shown) } else { block }
}

/// A value with its name before it, or above it where it takes more than a line.
fn named(out: &mut String, name: &str, value: &Value, depth: usize) {
    let lead = if name.is_empty() { String::new() } else { format!("**{name}**") };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => beside(out, &lead, &scalar(value)),
        Value::String(text) if text.contains('\n') || text.chars().count() > SHORT => {
            let shown = head_bytes(text, LONG);
            below(out, &lead, &long_text(shown, u64::try_from(text.len()).unwrap_or(u64::MAX)));
        }
        Value::String(_) => beside(out, &lead, &scalar(value)),
        Value::Array(list) => elements(out, name, list, depth),
        Value::Object(all) if all.is_empty() => beside(out, &lead, "*empty*"),
        Value::Object(all) if depth == DEPTH => below(out, &lead, &json(&Value::Object(all.clone()))),
        Value::Object(all) => {
            let (flat, deep): (Vec<_>, Vec<_>) = all.iter().partition(|(_, value)| is_flat(value));
            if !flat.is_empty() {
                let lines: Vec<String> =
                    flat.iter().map(|(key, value)| format!("- {}: {}", plain(key), scalar(value))).collect();
                below(out, &lead, &lines.join("\n"));
            }
            for (key, value) in deep {
                let name = if name.is_empty() { plain(key) } else { format!("{name}.{}", plain(key)) };
                named(out, &name, value, depth + 1);
            }
        }
    }
}

fn elements(out: &mut String, name: &str, list: &[Value], depth: usize) {
    let lead = if name.is_empty() { String::new() } else { format!("**{name}**") };
    if list.is_empty() {
        return beside(out, &lead, "*empty*");
    }
    let rows: Vec<&Map<String, Value>> =
        list.iter().filter_map(Value::as_object).filter(|row| row.values().all(is_flat)).collect();
    let columns = columns(&rows);
    let shown = if list.iter().all(is_flat) {
        let all: Vec<String> = list.iter().take(ROWS).map(scalar).collect();
        let line = all.join(", ");
        if list.len() <= ROWS && line.chars().count() <= SHORT {
            return beside(out, &lead, &line);
        }
        all.iter().map(|one| format!("- {one}\n")).collect()
    } else if rows.len() == list.len() && (1..=COLUMNS).contains(&columns.len()) {
        table(&columns, &rows)
    } else if list.len() <= EACH && depth < DEPTH {
        for (at, element) in list.iter().enumerate() {
            named(out, &format!("{name}\\[{at}]"), element, depth + 1);
        }
        return;
    } else {
        match json(&Value::Array(list.iter().take(ROWS).cloned().collect())) {
            text if text.len() <= LONG => text,
            text => format!("{} elements, {} bytes as JSON", list.len(), text.len()),
        }
    };
    let more = list.len().saturating_sub(ROWS);
    let more = if more > 0 { format!("\n\nand {more} more") } else { String::new() };
    below(out, &lead, &format!("{}{more}", shown.trim_end()));
}

/// Every key of the rows, in the order of their first appearance.
fn columns<'a>(rows: &[&'a Map<String, Value>]) -> Vec<&'a str> {
    let mut columns: Vec<&str> = Vec::new();
    for key in rows.iter().flat_map(|row| row.keys()) {
        if columns.len() <= COLUMNS && !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    columns
}

fn table(columns: &[&str], rows: &[&Map<String, Value>]) -> String {
    let names: Vec<String> = columns.iter().map(|name| plain(name)).collect();
    let rules: Vec<&str> = columns
        .iter()
        .map(|name| match rows.iter().all(|row| row.get(*name).is_none_or(Value::is_number)) {
            true => "---:",
            false => "---",
        })
        .collect();
    let mut text = format!("| {} |\n|{}|\n", names.join(" | "), rules.join("|"));
    for row in rows.iter().take(ROWS) {
        let cells: Vec<String> =
            columns.iter().map(|name| row.get(*name).map(scalar).unwrap_or_default()).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Whether a value stands in one cell.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.chars().count() <= CELL,
        Value::Array(list) => list.is_empty(),
        Value::Object(all) => all.is_empty(),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "*none*".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.is_empty() => "*empty*".to_owned(),
        Value::String(text) => plain(text),
        Value::Array(_) | Value::Object(_) => "*empty*".to_owned(),
    }
}

fn beside(out: &mut String, lead: &str, text: &str) {
    let _ = match lead {
        "" => writeln!(out, "\n{text}"),
        lead => writeln!(out, "\n{lead}: {text}"),
    };
}

fn below(out: &mut String, lead: &str, text: &str) {
    let _ = match lead {
        "" => writeln!(out, "\n{text}"),
        lead => writeln!(out, "\n{lead}\n\n{text}"),
    };
}

fn json(value: &Value) -> String {
    fenced(&serde_json::to_string_pretty(value).unwrap_or_default(), "json")
}

#[cfg(test)]
#[path = "md_values_tests.rs"]
mod tests;
