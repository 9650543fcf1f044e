//! The form of an agent's output: what it is offered, and whether an answer fits.

use std::fmt;

use jsonschema::Validator;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, json};

use super::OutputForm;
use crate::model::{HAND_IN, ToolClass};
use crate::text::{check_numbers, one_line, parse_json, without_mark};
use crate::wire::ToolSpec;

/// The form, ready to check answers.
#[derive(Debug)]
pub(super) enum Form {
    Text,
    Lines,
    Json,
    Schema(Box<Schema>),
}

/// A schema over answers.
#[derive(Debug)]
pub(super) struct Schema {
    schema: Value,
    validator: Validator,
}

/// An answer that fits.
#[derive(Debug, PartialEq)]
pub(super) enum Fit {
    /// Its text is all.
    Text,
    /// A value.
    Value(Value),
}

/// The tool that an output of this form adds to those of its agent.
pub fn hand_in_tool(form: &OutputForm) -> Option<ToolSpec> {
    match form {
        OutputForm::Text | OutputForm::Lines | OutputForm::Json => None,
        OutputForm::Schema(schema) => Some(ToolSpec {
            name: HAND_IN.to_owned(),
            description:
                "Hands in your answer and ends your work. Call it once, when everything else is done; \
                its arguments are the answer."
                    .to_owned(),
            input_schema: for_tool(schema),
            class: ToolClass::Reader,
        }),
    }
}

impl Form {
    /// Reads a form; an error when its schema can't be used.
    pub(super) fn new(form: &OutputForm) -> Result<Self, String> {
        Ok(match form {
            OutputForm::Text => Form::Text,
            OutputForm::Lines => Form::Lines,
            OutputForm::Json => Form::Json,
            OutputForm::Schema(schema) => {
                let validator =
                    jsonschema::options().offline().build(schema).map_err(|error| error.to_string())?;
                Form::Schema(Box::new(Schema { schema: Value::clone(schema), validator }))
            }
        })
    }

    /// Whether a final text fits; the error says what doesn't.
    pub(super) fn read(&self, text: &str) -> Result<Fit, String> {
        match self {
            Form::Text => Ok(Fit::Text),
            Form::Lines => Ok(Fit::Value(text.trim_end_matches('\n').lines().collect())),
            Form::Json => one_value(text).map(Fit::Value),
            Form::Schema(schema) => {
                let value = one_value(text)?;
                schema.check(value).map(Fit::Value)
            }
        }
    }

    /// What an answer has to be, for the request to answer again.
    pub(super) fn wanted(&self, by_tool: bool) -> String {
        match self {
            Form::Text | Form::Lines => "text".to_owned(),
            Form::Json => "one JSON value and nothing else".to_owned(),
            Form::Schema(_) if by_tool => {
                format!("one JSON value that fits the schema, by the tool `{HAND_IN}`")
            }
            Form::Schema(_) => "one JSON value that fits the schema and nothing else".to_owned(),
        }
    }
}

impl Schema {
    /// The answer in the arguments of a call; the error says what doesn't fit.
    pub(super) fn hand_in(&self, input: &Value) -> Result<Value, String> {
        let arguments = match input {
            Value::Object(arguments) => arguments,
            // What couldn't be read came as the text that it was.
            Value::String(text) if let Err(error) = parse_json(text) => {
                return Err(format!("the arguments are not a JSON object: {error}"));
            }
            _ => return Err("the arguments are not a JSON object".to_owned()),
        };
        if is_object(&self.schema) {
            return self.check(input.clone());
        }
        match arguments.get("value") {
            Some(value) if arguments.len() == 1 => self.check(value.clone()),
            _ => Err("the answer has to be the one argument `value`".to_owned()),
        }
    }

    fn check(&self, value: Value) -> Result<Value, String> {
        let found = violations(&self.validator, &value);
        if found.is_empty() { Ok(value) } else { Err(found.join("; ")) }
    }
}

/// Arguments are always an object; another answer becomes their one field. Definitions stay at the top, where references
/// look for them.
fn for_tool(schema: &Value) -> Value {
    if is_object(schema) {
        return schema.clone();
    }
    let mut value = schema.clone();
    let mut wrapped = json!({ "type": "object", "required": ["value"], "additionalProperties": false });
    for key in ["$defs", "definitions"] {
        if let Some(definitions) = value.as_object_mut().and_then(|schema| schema.shift_remove(key)) {
            wrapped[key] = definitions;
        }
    }
    wrapped["properties"] = json!({ "value": value });
    wrapped
}

fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// What of a value doesn't fit a schema, a line each.
pub fn violations(validator: &Validator, value: &Value) -> Vec<String> {
    const MOST: usize = 10;
    let mut found = Vec::new();
    for error in validator.iter_errors(value) {
        if found.len() == MOST {
            found.push("and more".to_owned());
            break;
        }
        let place = error.instance_path().to_string();
        let problem = one_line(&error.to_string(), 200);
        found.push(if place.is_empty() { problem } else { format!("at `{place}`: {problem}") });
    }
    found
}

/// The one JSON value that a text is, or that it fences.
fn one_value(text: &str) -> Result<Value, String> {
    let whole = match strict(text.trim()) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let fenced = fences(text);
    let mut values = Vec::new();
    let mut broken = None;
    for block in &fenced {
        match strict(block) {
            Ok(value) => values.push(value),
            Err(error) => broken = Some(error),
        }
    }
    match (values.len(), broken) {
        (1, _) => Ok(values.remove(0)),
        (0, Some(error)) => Err(format!("the fenced text is no JSON value: {error}")),
        // Prose, of which the parser says what the first letters could have been.
        (0, None)
            if whole.contains("expected ident") || whole.contains("expected value at line 1 column 1") =>
        {
            Err(format!("the text is no JSON value: it begins with `{}`", one_line(text.trim_start(), 40)))
        }
        (0, None) => Err(format!("the text is no JSON value: {whole}")),
        (count, _) => Err(format!("the text fences {count} JSON values instead of one")),
    }
}

/// The insides of fenced blocks. One that is never closed is none.
fn fences(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for line in text.lines() {
        let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
        match &mut open {
            None if ticks >= 3 => open = Some((ticks, String::new())),
            None => {}
            Some((opened, _)) if ticks >= *opened && line.trim().len() == ticks => {
                blocks.extend(open.take().map(|(_, block)| block));
            }
            Some((_, block)) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    blocks
}

/// Reads JSON in which no key stands twice: readers differ on which of the two they take.
fn strict(text: &str) -> Result<Value, String> {
    let text = without_mark(text);
    let value = serde_json::from_str::<Strict>(text).map_err(|error| error.to_string())?.0;
    check_numbers(text)?;
    Ok(value)
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` stands twice")));
            }
            let Strict(value) = map.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
