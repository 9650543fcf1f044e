use serde_json::json;

use super::*;

fn rules(value: Value) -> Vec<IndexMap<String, Value>> {
    serde_json::from_value(value).expect("a list of objects")
}

fn matrix(axes: Value, include: Value, exclude: Value) -> Result<Vec<(String, Value)>, ExpandError> {
    let axes: IndexMap<String, Vec<Value>> = serde_json::from_value(axes).expect("axes");
    let axes: Vec<_> = axes.into_iter().collect();
    let rows = combinations(&axes, &rules(include), &rules(exclude))?;
    Ok(rows.into_iter().map(|row| (row.key, row.item)).collect())
}

fn keys(rows: Result<Vec<(String, Value)>, ExpandError>) -> Vec<String> {
    rows.expect("within the limit").into_iter().map(|(key, _)| key).collect()
}

#[test]
fn the_last_axis_changes_fastest() {
    let rows = matrix(json!({"a": [1, 2], "b": ["x", true]}), json!([]), json!([]));
    assert_eq!(keys(rows), ["1,x", "1,true", "2,x", "2,true"]);
}

#[test]
fn exclude_takes_out_what_agrees_on_every_named_axis() {
    let rows = matrix(json!({"a": [1, 2], "b": [1, 2]}), json!([]), json!([{"a": 1, "b": 2}, {"a": 2}]));
    assert_eq!(keys(rows), ["1,1"]);
}

#[test]
fn include_adds_combinations_and_axes() {
    let rows = matrix(json!({"a": [1]}), json!([{"a": 9, "c": "z"}]), json!([]));
    assert_eq!(
        rows.expect("rows"),
        [("1".to_owned(), json!({"a": 1, "c": null})), ("9,z".to_owned(), json!({"a": 9, "c": "z"}))]
    );
    assert_eq!(keys(matrix(json!({}), json!([{"c": 1}]), json!([]))), ["1"]);
}

#[test]
fn include_adds_names_to_what_it_agrees_with_and_only_what_fits_nowhere_is_a_row() {
    let axes = || json!({"os": ["linux", "mac"], "v": [1, 2]});
    let shown = |include: Value, exclude: Value| {
        let rows = matrix(axes(), include, exclude).expect("rows").into_iter();
        rows.map(|(key, item)| format!("{key}:{}", item["extra"])).collect::<Vec<_>>().join(" ")
    };
    let none = || json!([]);
    assert_eq!(
        shown(json!([{"os": "linux", "extra": "x"}]), none()),
        r#"linux,1:"x" linux,2:"x" mac,1:null mac,2:null"#
    );
    assert_eq!(shown(json!([{"os": "linux"}]), none()), "linux,1:null linux,2:null mac,1:null mac,2:null");
    assert_eq!(
        shown(json!([{"extra": 1}, {"v": 2, "extra": 2}]), none()),
        "linux,1:1 linux,2:2 mac,1:1 mac,2:2"
    );
    assert_eq!(
        shown(json!([{"os": "bsd", "v": 1, "extra": 1}, {"os": "bsd", "v": 2}, {"extra": 7}]), none()),
        "linux,1:7 linux,2:7 mac,1:7 mac,2:7 bsd,1,1:1 bsd,2:null",
        "what came by an entry is no combination that a later one adds to"
    );
    // What was taken out is not there to be added to.
    assert_eq!(
        shown(json!([{"os": "mac", "v": 2, "extra": 1}]), json!([{"os": "mac"}])),
        "linux,1:null linux,2:null mac,2,1:1"
    );
}

#[test]
fn an_empty_axis_makes_no_combination() {
    assert_eq!(keys(matrix(json!({"a": [1, 2], "b": []}), json!([]), json!([]))), Vec::<String>::new());
}

#[test]
fn a_product_past_the_limit_is_refused_before_it_is_made() {
    let axis: Vec<u32> = (0..1000).collect();
    let axes = json!({"a": axis, "b": axis, "c": axis, "d": axis, "e": axis, "f": axis, "g": axis});
    assert!(matches!(matrix(axes, json!([]), json!([])), Err(ExpandError::TooMany { .. })));
}

#[test]
fn items_that_are_no_scalars_have_their_index_as_key() {
    let rows = list_rows(vec![json!("x"), json!({"a": 1}), json!(2.5), json!(null)]).expect("rows");
    assert_eq!(rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), ["x", "1", "2.5", "3"]);
}

#[test]
fn a_key_that_comes_twice_is_named_with_both_positions() {
    let twice = unique_keys(["a", "b", "a"]).expect_err("a duplicate");
    assert_eq!(twice.to_string(), "instances 1 and 3 have the same key `a`");
}

/// Each rule against each combination would be 200 million comparisons.
#[test]
fn many_rules_for_many_combinations_are_looked_up() {
    let axes: Vec<_> = ["a", "b"].map(|name| (name.to_owned(), (0..300).map(Value::from).collect())).into();
    let rule = |n: usize, more: Option<&str>| {
        let mut rule: IndexMap<String, Value> =
            [("a", n % 300), ("b", n / 300)].map(|(name, value)| (name.to_owned(), value.into())).into();
        rule.extend(more.map(|name| (name.to_owned(), Value::from(n))));
        rule
    };
    let exclude: Vec<_> = (0..2_000).map(|n| rule(n, None)).collect();
    let include: Vec<_> = (1_000..3_000).map(|n| rule(n, Some("c"))).collect();
    let rows = combinations(&axes, &include, &exclude).expect("within the limit");
    // What was taken out is not there to be added to: those are rows of their own.
    assert_eq!(rows.len(), 300 * 300 - 2_000 + 1_000);
    assert_eq!(rows.iter().filter(|row| !row.item["c"].is_null()).count(), 2_000);
}
