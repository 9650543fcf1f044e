//! How references find their values. [`super::walk`] turns `tasks.a.output.b` into a call of one of these functions.

use std::fmt::Write;
use std::sync::Arc;

use minijinja::value::Rest;
use minijinja::{Environment, Error, ErrorKind, State, Value};
use serde_json::Value as Json;

use super::context::{ROOT, Root};
use super::values::value_of;
use crate::text::{did_you_mean, list_some};

/// Adds the functions.
pub(super) fn add_to(environment: &mut Environment<'static>) {
    environment.add_function("%get", |state: &State<'_, '_>, keys: Rest<Value>| get(state, &keys));
    environment.add_function("%find", |state: &State<'_, '_>, keys: Rest<Value>| find(get(state, &keys)));
    environment.add_function("%get_of", |keys: Rest<Value>| get_of(&keys));
    environment.add_function("%find_of", |keys: Rest<Value>| find(get_of(&keys)));
}

/// The context of the evaluation at hand.
pub(super) fn root(state: &State<'_, '_>) -> Result<Arc<Root>, Error> {
    let root = state.lookup(ROOT).and_then(|value| value.downcast_object::<Root>());
    root.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "bug: an evaluation without a context"))
}

/// The value of a name of the run, and of its fields.
fn get(state: &State<'_, '_>, keys: &[Value]) -> Result<Value, Error> {
    let root = root(state)?;
    let (name, keys) =
        keys.split_first().map(|(name, keys)| (name.as_str().unwrap_or_default(), keys)).unzip();
    let (name, keys) = (name.unwrap_or_default(), keys.unwrap_or_default());
    match root.shared.values.get(name) {
        Some(json) => descend(Place::Json(json), name, keys),
        None => Err(Error::new(ErrorKind::UndefinedError, format!("`{name}` has no value here"))),
    }
}

/// The value of fields of a value that the template computed.
fn get_of(keys: &[Value]) -> Result<Value, Error> {
    match keys.split_first() {
        Some((base, keys)) if !base.is_undefined() => descend(Place::Value(base.clone()), "", keys),
        _ => Err(Error::from(ErrorKind::UndefinedError)),
    }
}

/// Makes absence undefined, for those that cope with it.
fn find(found: Result<Value, Error>) -> Result<Value, Error> {
    match found {
        Err(error) if error.kind() == ErrorKind::UndefinedError => Ok(Value::UNDEFINED),
        other => other,
    }
}

/// A value on the way down. JSON stays JSON as long as possible, so that only what is used is converted.
enum Place<'a> {
    Json(&'a Json),
    Value(Value),
}

impl Place<'_> {
    fn is_null(&self) -> bool {
        match self {
            Place::Json(json) => json.is_null(),
            Place::Value(value) => value.is_none(),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Place::Json(json) => value_of(json),
            Place::Value(value) => value,
        }
    }

    fn step(&self, key: &Value) -> Option<Self> {
        match self {
            Place::Json(Json::Object(map)) => map.get(key.as_str()?).map(Place::Json),
            Place::Json(Json::Array(list)) => {
                let index = key.as_i64()?;
                let index = if index < 0 { index.checked_add_unsigned(list.len() as u64)? } else { index };
                list.get(usize::try_from(index).ok()?).map(Place::Json)
            }
            Place::Json(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => None,
            Place::Value(value) => {
                let item = value.get_item(key).ok().filter(|item| !item.is_undefined());
                item.map(Place::Value)
            }
        }
    }
}

/// Follows the keys. The output of a task that did not complete is null, and null through every field.
fn descend(from: Place<'_>, name: &str, keys: &[Value]) -> Result<Value, Error> {
    let mut here = from;
    for (depth, key) in keys.iter().enumerate() {
        let of_an_output = depth > 0 && keys[depth - 1].as_str() == Some("output");
        if of_an_output && here.is_null() {
            return Ok(Value::from(()));
        }
        here = match here.step(key) {
            Some(next) => next,
            None => return Err(missing(&here, &path(name, &keys[..depth]), key)),
        };
    }
    Ok(here.into_value())
}

fn missing(here: &Place<'_>, path: &str, key: &Value) -> Error {
    let key = key.as_str().map_or_else(|| format!("item {}", shown(key)), |name| format!("field `{name}`"));
    let owner = if path.is_empty() { "the value".to_owned() } else { format!("`{path}`") };
    let message = match here {
        Place::Json(Json::Object(_)) if path == "env" => {
            format!("the environment has no variable {}", key.trim_start_matches("field "))
        }
        Place::Json(Json::Object(map)) => {
            let wanted = key.trim_start_matches("field `").trim_end_matches('`');
            let names = || map.keys().map(String::as_str);
            match did_you_mean(wanted, names()) {
                Some(near) => format!("{owner} has no {key}; did you mean `{near}`?"),
                None if map.is_empty() => format!("{owner} has no {key}: it is empty"),
                None => format!("{owner} has no {key}; it has {}", list_some(names(), 8)),
            }
        }
        Place::Json(Json::Array(list)) => format!("{owner} has no {key}: it is a list of {}", list.len()),
        Place::Json(Json::String(_)) => format!("{owner} is text and has no {key}"),
        Place::Json(Json::Number(_)) => format!("{owner} is a number and has no {key}"),
        Place::Json(Json::Bool(_)) => format!("{owner} is true or false and has no {key}"),
        Place::Json(Json::Null) => format!("{owner} is null and has no {key}"),
        Place::Value(value) => format!("{owner} has no {key}: it is a {}", value.kind()),
    };
    Error::new(ErrorKind::UndefinedError, message)
}

fn path(name: &str, keys: &[Value]) -> String {
    let mut path = name.to_owned();
    for key in keys {
        // Writing to a string can't fail.
        let _ = match key.as_str() {
            Some(name) if path.is_empty() => write!(path, "{name}"),
            Some(name) => write!(path, ".{name}"),
            None => write!(path, "[{}]", shown(key)),
        };
    }
    path
}

fn shown(key: &Value) -> String {
    key.as_i64().map_or_else(|| format!("of kind {}", key.kind()), |index| index.to_string())
}
