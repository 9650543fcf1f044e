use super::ModelScript;
use crate::testing::{MODELS, expected, keys, same};

#[test]
fn every_key_of_a_written_turn_has_a_row() {
    let error = ModelScript::parse("default: [{ '?': 1 }]").unwrap_err();
    let known = expected(&error);
    same(keys(MODELS, "## Written models"), known.iter().map(String::as_str));
}
