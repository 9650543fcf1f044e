use serde::de::DeserializeOwned;
use serde_json::json;

use super::FORMATS;
use crate::converse::{Item, LogLine};
use crate::event::Event;
use crate::testing::{CI, RUN_FOLDER, expected, keys, same, tables};

/// The fields of a struct, or of a variant, in the text of a source file.
fn fields<'s>(source: &'s str, opening: &str) -> Vec<&'s str> {
    let body = source.split(&format!("{opening} {{\n")).nth(1).unwrap();
    let lines = body.lines().take_while(|line| !matches!(line.trim(), "}" | "},"));
    let names = lines.filter_map(|line| line.trim().trim_start_matches("pub ").split_once(": "));
    names.map(|(name, _)| name).filter(|name| name.chars().all(|c| c.is_lowercase() || c == '_')).collect()
}

/// `RunStarted` for `run_started`.
fn camel(word: &str) -> String {
    let big = |part: &str| part[..1].to_uppercase() + &part[1..];
    word.split('_').map(big).collect()
}

/// Demands that a table has a row for each variant, with its fields; `source`: where they are declared.
fn variants<T: DeserializeOwned + std::fmt::Debug>(table: &[Vec<String>], tag: &str, source: &str) {
    let error = serde_json::from_value::<T>(json!({ tag: "?" })).unwrap_err().to_string();
    let known = expected(&error);
    let named = table.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    same(named, known.iter().map(String::as_str));
    for row in table {
        let documented: Vec<_> = row[2].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let variant = camel(row[0].trim_matches('`'));
        let known = match source.contains(&format!("    {variant},\n")) {
            true => Vec::new(),
            false => fields(source, &format!("    {variant}")),
        };
        same(documented, known);
    }
}

#[test]
fn every_event_and_its_fields_have_a_row() {
    variants::<Event>(&tables(RUN_FOLDER, "## Events")[0], "ev", include_str!("../event.rs"));
    variants::<LogLine>(&tables(RUN_FOLDER, "## wire.jsonl")[0], "ev", include_str!("../converse/log.rs"));
    variants::<Item>(&tables(RUN_FOLDER, "## context.jsonl")[0], "item", include_str!("../converse/spec.rs"));
}

#[test]
fn every_field_of_the_report_has_a_row() {
    let tables = tables(RUN_FOLDER, "## report.json");
    let first = |table: usize| -> Vec<String> {
        tables[table].iter().map(|row| row[0].trim_matches('`').to_owned()).collect()
    };
    let source = include_str!("run_report.rs");
    same(first(0), fields(source, "pub struct RunReport"));
    same(first(1), fields(source, "pub struct TaskReport"));
    let outcome = include_str!("../model/outcome.rs");
    let parts = [
        ("denials", outcome, "pub struct Denial"),
        ("artifacts", include_str!("../model/kept.rs"), "pub struct Artifact"),
        ("worktree", outcome, "pub struct WorktreeOutcome"),
        ("agent", include_str!("../event/launch.rs"), "pub struct LaunchAgent"),
    ];
    for (key, source, opening) in parts {
        let row = tables[1].iter().find(|row| row[0] == format!("`{key}`")).unwrap();
        same(row[1].split('`').skip(1).step_by(2).map(str::to_owned).collect(), fields(source, opening));
    }
}

#[test]
fn every_format_of_a_report_has_a_row() {
    same(keys(CI, "## Reports"), FORMATS.iter().map(|format| format.name));
}
