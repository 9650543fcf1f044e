use super::FORMATS;
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

#[test]
fn every_event_and_its_fields_have_a_row() {
    let error = serde_json::from_str::<Event>("{\"ev\":\"?\"}").unwrap_err().to_string();
    let known = expected(&error);
    same(keys(RUN_FOLDER, "## Events"), known.iter().map(String::as_str));
    let source = include_str!("../event.rs");
    for row in tables(RUN_FOLDER, "## Events").concat() {
        let documented = row[2].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        same(documented, fields(source, &format!("    {}", camel(row[0].trim_matches('`')))));
    }
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
        ("agent", include_str!("../event.rs"), "pub struct LaunchAgent"),
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
