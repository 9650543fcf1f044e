use serde_json::json;

use super::*;

fn read(text: &str) -> Result<Vec<GivenInput>, Vec<Diagnostic>> {
    inputs_file(&Arc::new(SourceFile::new("inputs.yaml", text)))
}

#[test]
fn yaml_and_json_give_typed_values() {
    let given = |text: &str| -> Vec<(String, GivenValue)> {
        let inputs = read(text).expect("a file of inputs").into_iter();
        inputs.map(|input| (input.name, input.value)).collect()
    };
    let json = |name: &str, value| (name.to_owned(), GivenValue::Json(value));
    assert_eq!(given("a: 1\nb: [x, true]\n"), [json("a", json!(1)), json("b", json!(["x", true]))]);
    assert_eq!(given("{\"a\": \"1\"}"), [json("a", json!("1"))]);
    assert_eq!(given(""), []);
}

#[test]
fn a_file_that_maps_nothing_is_refused_with_its_place() {
    let found = read("- a\n").unwrap_err();
    assert_eq!((found.len(), found[0].code), (1, Code::WrongType));
    assert!(read("a: [\n").is_err());
}
