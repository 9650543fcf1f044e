//! For tests: what the pages of `engine/docs` say in tables and lists, so that they can't fall behind the program.

use std::collections::BTreeSet;

/// The reference of the language.
pub(crate) const LANGUAGE: &str = include_str!("../../docs/language.md");
/// Agent files.
pub(crate) const AGENTS: &str = include_str!("../../docs/agents.md");
/// What agents may do.
pub(crate) const PERMISSIONS: &str = include_str!("../../docs/permissions.md");
/// flow.toml.
pub(crate) const SETTINGS: &str = include_str!("../../docs/settings.md");
/// Providers and models.
pub(crate) const MODELS: &str = include_str!("../../docs/models.md");
/// The folder of a run.
pub(crate) const RUN_FOLDER: &str = include_str!("../../docs/run-folder.md");
/// CI.
pub(crate) const CI: &str = include_str!("../../docs/ci.md");

/// The cells of the tables under a heading, a table after the other; rows of words between bars.
pub(crate) fn tables(page: &str, heading: &str) -> Vec<Vec<Vec<String>>> {
    let depth = heading.bytes().take_while(|byte| *byte == b'#').count();
    let level = |line: &str| line.starts_with('#').then(|| line.bytes().take_while(|b| *b == b'#').count());
    // A `#` in an example is no heading.
    let prose = page.split("```").step_by(2).collect::<Vec<_>>().concat();
    let mut lines = prose.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "the page has no heading `{heading}`");
    let section = lines.take_while(|line| level(line).is_none_or(|found| found > depth));
    let (mut tables, mut inside) = (Vec::new(), false);
    for line in section {
        let Some(row) = line.strip_prefix('|') else {
            inside = false;
            continue;
        };
        if !inside {
            tables.push(Vec::new());
            inside = true;
        }
        let cells = row.trim_end().trim_end_matches('|').split(" |").map(|cell| cell.trim().to_owned());
        let table: &mut Vec<Vec<String>> = tables.last_mut().unwrap();
        table.push(cells.collect());
    }
    // The names of the columns and the line below them.
    tables.iter_mut().for_each(|table| drop(table.drain(..2)));
    tables
}

/// What stands in backquotes in the first column of the tables under a heading.
pub(crate) fn keys(page: &str, heading: &str) -> Vec<String> {
    tables(page, heading).concat().iter().flat_map(|row| quoted(&row[0])).collect()
}

/// What stands in backquotes in the paragraph that begins so, behind its beginning.
pub(crate) fn listed(page: &str, beginning: &str) -> Vec<String> {
    let start = page.find(&format!("\n{beginning}")).expect("a paragraph that begins so");
    let text = &page[start + 1 + beginning.len()..];
    quoted(text.split("\n\n").next().unwrap_or_default())
}

fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Demands that a page names exactly what the program knows.
#[track_caller]
pub(crate) fn same<'k>(documented: Vec<String>, known: impl IntoIterator<Item = &'k str>) {
    let page: BTreeSet<&str> = documented.iter().map(String::as_str).collect();
    let known: BTreeSet<&str> = known.into_iter().collect();
    let lacking: Vec<_> = known.difference(&page).collect();
    let stale: Vec<_> = page.difference(&known).collect();
    assert!(
        lacking.is_empty() && stale.is_empty(),
        "a page of engine/docs lacks {lacking:?} (add a row) and has {stale:?} too many"
    );
    assert_eq!(documented.len(), page.len(), "engine/docs names something twice: {documented:?}");
}

/// The words that a reader of JSON or YAML lists when it meets an unknown one.
pub(crate) fn expected(error: &str) -> Vec<String> {
    quoted(error.split("expected").nth(1).expect("a list of what was expected"))
}
