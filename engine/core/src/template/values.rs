//! Values as text and as JSON: strings as they are, null empty, `true` and `false`, numbers, lists and objects as
//! compact JSON.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Output, State, Value};
use serde_json::Value as Json;

use super::lookup::root;

/// The most that one string may have where strings can double.
pub(super) const MOST_TEXT: usize = 1 << 20;

/// The value as text. Undefined is an error.
pub(super) fn text_of(state: &mut State<'_, '_>, value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => state.format(value.clone()),
    }
}

/// Writes a value into text. minijinja has refused undefined values by now; what is left of them is the empty branch
/// of `a if b`.
pub(super) fn write(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let text = match value.as_str() {
        Some(text) => {
            check_growth(state, text.len())?;
            return out.write_str(text).map_err(Error::from);
        }
        None => plain_text(value)?,
    };
    check_growth(state, text.len())?;
    out.write_str(&text).map_err(Error::from)
}

fn check_growth(state: &State<'_, '_>, length: usize) -> Result<(), Error> {
    match length > MOST_TEXT && root(state)?.grows {
        true => Err(too_long()),
        false => Ok(()),
    }
}

pub(super) fn too_long() -> Error {
    Error::new(ErrorKind::InvalidOperation, "the text grows past 1 MiB; hand it on as a file: `| file`")
}

fn plain_text(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(String::new()),
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        _ => json_of(value).map(|json| json_text(&json)),
    }
}

/// JSON as text: a string is itself, null nothing.
pub(crate) fn json_text(json: &Json) -> String {
    match json {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => json.to_string(),
    }
}

/// The value as JSON.
pub(super) fn json_of(value: &Value) -> Result<Json, Error> {
    let fault = |what: &str| Error::new(ErrorKind::BadSerialization, format!("{what} is no value"));
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Json::Null),
        ValueKind::Plain | ValueKind::Invalid => Err(fault("a function or block")),
        ValueKind::Bytes => {
            Ok(Json::String(String::from_utf8_lossy(value.as_bytes().unwrap_or_default()).into()))
        }
        _ => serde_json::to_value(value).map_err(|_| fault("what was computed here")),
    }
}

/// JSON as a value.
pub(super) fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::from(number),
            (None, Some(number)) => Value::from(number),
            (None, None) => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(list) => Value::from(list.iter().map(value_of).collect::<Vec<_>>()),
        Json::Object(map) => Value::from_pairs(map.iter().map(|(key, json)| (key.as_str(), value_of(json)))),
    }
}
