//! From text to the declared form of an output.

use serde_json::Value;

use super::pairs::pairs;
use crate::converse::violations;
use crate::plan::Output;
use crate::text::parse_json;

/// An output that fits its form. `None`: it is the text itself.
pub type Settled = Option<Value>;

/// Reads standard output, for `pairs` the file that stands for it, as the task's `output` says. The error says what doesn't fit, for people.
pub fn settle_output(form: &Output, text: &str) -> Result<Settled, String> {
    match form {
        Output::Text => Ok(None),
        Output::Lines => Ok(Some(text.lines().map(Value::from).collect())),
        Output::Pairs => pairs(text).map(Some),
        Output::Json => parse(text).map(Some),
        Output::Schema(schema) => {
            let value = parse(text)?;
            let found = match jsonschema::validator_for(schema) {
                Ok(validator) => violations(&validator, &value),
                Err(error) => vec![format!("bug: the schema was accepted and is none: {error}")],
            };
            match found.as_slice() {
                [] => Ok(Some(value)),
                found => Err(format!("the output does not fit its schema: {}", found.join("; "))),
            }
        }
    }
}

fn parse(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Err("the output is empty where one JSON value was declared".to_owned());
    }
    parse_json(text).map_err(|error| format!("the output is not one JSON value: {error}"))
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
