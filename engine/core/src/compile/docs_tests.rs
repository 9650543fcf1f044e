use super::fields::{OF_INSTANCE, OF_SELF};
use super::references::{GIT, RUN, RUN_STATUS};
use super::words::{EDGES, ISOLATIONS, MERGES, ON_LOST};
use super::{inputs, schema, settings};
use crate::model::{OF_SERVER, PermissionMode, Reason, TOOLS, TaskState, offered_tools, tool};
use crate::plan::{FACTS, FactInfo, FactOf, Kind, OfMany, USAGE};
use crate::syntax::fields::Field;
use crate::testing::{AGENTS, LANGUAGE, PERMISSIONS, SETTINGS, keys, listed, same, tables};
use crate::wire::APIS;

fn words<T>(table: &'static [(&'static str, T)]) -> impl Iterator<Item = &'static str> {
    table.iter().map(|(word, _)| *word)
}

/// The words in a cell of a row: the column is 1 for what a key takes, or what a name holds.
fn in_row(heading: &str, key: &str, column: usize) -> Vec<String> {
    let rows = tables(LANGUAGE, heading).concat();
    let row = rows.into_iter().find(|row| row[0] == format!("`{key}`")).unwrap();
    row[column].split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_word_that_a_key_takes_is_named() {
    same(keys(LANGUAGE, "## Edges"), words(EDGES));
    same(keys(LANGUAGE, "## Forms of `output`"), words(schema::FORMS));
    same(in_row("## Task keys", "output", 1)[..4].to_vec(), words(schema::FORMS));
    same(in_row("## Task keys", "isolation", 1), words(ISOLATIONS));
    same(in_row("## Task keys", "merge", 1), words(MERGES));
    same(in_row("## Task keys", "on_lost", 1), words(ON_LOST));
    same(listed(LANGUAGE, "Input types:"), words(inputs::KINDS));
}

#[test]
fn every_state_and_reason_is_explained() {
    same(keys(LANGUAGE, "## States"), TaskState::ENDS.iter().map(|state| state.as_str()));
    same(keys(LANGUAGE, "## Reasons"), Reason::ALL.iter().map(|reason| reason.as_str()));
}

#[test]
fn every_field_of_a_task_has_a_row() {
    let tables = tables(LANGUAGE, "## Fields of a task");
    let first = |table: usize| -> Vec<String> {
        tables[table].iter().map(|row| row[0].trim_matches('`').to_owned()).collect()
    };
    let names = |of: &dyn Fn(&FactInfo) -> bool| -> Vec<&str> {
        FACTS.iter().filter(|row| of(row)).map(|row| row.name).collect()
    };
    same(first(0), names(&|row| row.of != FactOf::Many));
    for row in &tables[0] {
        let field = FactInfo::of_name(row[0].trim_matches('`')).unwrap();
        let of = match field.of {
            FactOf::Kinds(Kind::ALL) => "all",
            FactOf::Kinds([Kind::Shell]) => "commands",
            FactOf::Kinds([Kind::Agent]) => "agents",
            FactOf::Kinds(_) => panic!("say how the page names these kinds"),
            FactOf::PrivateTree | FactOf::Many => continue,
        };
        assert_eq!(row[2], of, "{}", field.name);
    }
    same(first(1), names(&|row| row.of_many != OfMany::Nothing));
    let beginning =
        "An attempt that has just ended, as `task` in `expect.that` and `retry.if`, has of these:";
    same(listed(LANGUAGE, beginning), names(&|row| row.of_attempt));
    same(in_row("## Fields of a task", "results", 1), OF_INSTANCE.iter().copied());
    same(listed(LANGUAGE, "Fields of `usage`:"), USAGE.iter().map(|(name, _)| *name));
}

#[test]
fn every_field_of_a_name_is_listed() {
    same(in_row("## Names", "git", 1), GIT.iter().copied());
    same(in_row("## Names", "task", 1), OF_SELF.iter().copied());
    let mut run = in_row("## Names", "run", 1);
    let without = |words: &mut Vec<String>, word: &str| words.retain(|found| found != word);
    ["if", "outputs", "lock"].into_iter().for_each(|place| without(&mut run, place));
    run.pop();
    same(run, RUN.iter().chain(RUN_STATUS).copied());
}

#[test]
fn every_setting_has_a_row() {
    fn under<T>(before: &str, fields: &[Field<T>]) -> Vec<String> {
        fields.iter().map(|field| format!("{before}.{}", field.name)).collect()
    }
    let known: Vec<String> = settings::KEYS
        .iter()
        .flat_map(|key| match *key {
            "models" => vec!["models.NAME".to_owned()],
            "providers" => under("providers.NAME", settings::PROVIDER),
            "agents" => under("agents", settings::AGENTS),
            "permissions" => under("permissions", settings::PERMISSIONS),
            "worktrees" => under("worktrees", settings::WORKTREES),
            key => vec![key.to_owned()],
        })
        .collect();
    let rows = tables(SETTINGS, "# flow.toml").swap_remove(0);
    let documented = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    same(documented, known.iter().map(String::as_str));
    let kinds: String = APIS.iter().map(|api| format!("`{}`", api.kind.0)).collect::<Vec<_>>().join(" or ");
    assert!(SETTINGS.contains(&kinds), "{kinds}");
}

#[test]
fn every_tool_and_mode_is_explained() {
    let first = |table: &[Vec<String>]| -> Vec<String> {
        table.iter().map(|row| row[0].trim_matches('`').to_owned()).collect()
    };
    same(first(&tables(PERMISSIONS, "# What agents may do")[0]), offered_tools().map(|tool| tool.name));
    same(keys(PERMISSIONS, "## Modes"), words(PermissionMode::WORDS));
    let trees = tables(PERMISSIONS, "## A tree of its own");
    same(first(&trees[0]), words(ISOLATIONS));
    same(first(&trees[1]), words(MERGES));
    let later = listed(AGENTS, "These names are known and grant nothing:");
    let known = TOOLS.iter().map(|tool| tool.name).filter(|name| tool(name).is_none());
    same(later, known.chain([OF_SERVER]));
}
