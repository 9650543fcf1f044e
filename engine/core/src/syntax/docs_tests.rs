use super::task::{KEYS, OWN};
use super::task_values::{EXPECT, MERGE, PERMISSIONS, PROMPT, RETRY, TIMEOUT};
use super::workflow;
use crate::syntax::fields::Field;
use crate::testing::{LANGUAGE, keys, listed, same};

fn names<T>(fields: &[Field<T>], before: &str) -> Vec<String> {
    fields.iter().map(|field| format!("{before}{}", field.name)).collect()
}

fn documented(heading: &str, known: Vec<String>) {
    same(keys(LANGUAGE, heading), known.iter().map(String::as_str));
}

#[test]
fn every_key_of_a_plan_has_a_row() {
    documented("## Plan keys", names(workflow::KEYS, ""));
    documented("## Input keys", names(workflow::INPUT, ""));
}

#[test]
fn every_key_of_a_task_has_a_row() {
    let mut known = names(KEYS, "");
    known.extend(names(PROMPT, "prompt."));
    known.extend(names(RETRY, "retry."));
    known.extend(names(TIMEOUT, "timeout."));
    known.extend(names(EXPECT, "expect."));
    known.extend(names(MERGE, "merge."));
    known.extend(names(PERMISSIONS, "permissions."));
    documented("## Task keys", known);
}

#[test]
fn what_defaults_do_not_take_is_listed() {
    same(listed(LANGUAGE, "Not in `defaults`:"), OWN.iter().copied());
}

#[test]
fn every_key_stands_in_an_example() {
    let examples: Vec<&str> =
        LANGUAGE.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let begins = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    for key in names(KEYS, "").into_iter().chain(names(workflow::KEYS, "")).chain(names(workflow::INPUT, ""))
    {
        let written = format!("{key}:");
        let shown =
            examples.iter().any(|text| text.split(begins).any(|word| word == key) && text.contains(&written));
        assert!(shown, "engine/docs/language.md has no example of `{key}`");
    }
}
