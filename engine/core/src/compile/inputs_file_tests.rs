use serde_json::json;

use super::*;

fn read(text: &str) -> Result<Vec<GivenInput>, Vec<Diagnostic>> {
    inputs_file(&Arc::new(SourceFile::new("inputs.yaml", text)))
}

#[test]
fn yaml_and_json_give_typed_values() {
    let given = |name: &str, value| GivenInput { name: name.to_owned(), value: GivenValue::Json(value) };
    assert_eq!(read("a: 1\nb: [x, true]\n"), Ok(vec![given("a", json!(1)), given("b", json!(["x", true]))]));
    assert_eq!(read("{\"a\": \"1\"}"), Ok(vec![given("a", json!("1"))]));
    assert_eq!(read(""), Ok(Vec::new()));
}

#[test]
fn a_file_that_maps_nothing_is_refused_with_its_place() {
    let found = read("- a\n").unwrap_err();
    assert_eq!((found.len(), found[0].code), (1, Code::WrongType));
    assert!(read("a: [\n").is_err());
}
