//! Filters, tests and functions of flow's own, and those of minijinja that work by flow's rules here.

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};

use super::context::Status;
use super::files::file;
use super::lookup::root;
use super::names::{REMOVED_FILTERS, REMOVED_TESTS};
use super::values::{json_of, text_of, value_of};
use crate::text::{check_numbers, head_lines, tail_lines, without_mark};

/// The most that `join` may build.
const MOST_JOINED: usize = 16 << 20;

/// Adds and removes until the environment has what [`super::names`] lists.
pub(super) fn add_to(environment: &mut Environment<'static>) {
    for name in REMOVED_FILTERS {
        environment.remove_filter(name);
    }
    for name in REMOVED_TESTS {
        environment.remove_test(name);
    }
    environment.remove_global("debug");

    environment.add_filter("default", default);
    environment.add_filter("d", default);
    environment.add_filter("string", text_of);
    environment.add_filter("join", join);
    environment.add_filter("tojson", tojson);
    environment.add_filter("fromjson", fromjson);
    environment.add_filter("flatten", flatten);
    environment.add_filter("notifications", notifications);
    environment.add_filter("file", file);
    environment.add_filter("head", |text: &str, count: usize| head_lines(text, count).to_owned());
    environment.add_filter("tail", |text: &str, count: usize| tail_lines(text, count).to_owned());
    environment.add_test("null", |value: &Value| value.is_none());

    environment.add_function("success", |state: &State<'_, '_>| {
        status(state).map(|status| !status.failed && !status.cancelled)
    });
    environment.add_function("failure", |state: &State<'_, '_>| status(state).map(|status| status.failed));
    environment
        .add_function("cancelled", |state: &State<'_, '_>| status(state).map(|status| status.cancelled));
    environment.add_function("always", || true);
}

fn status(state: &State<'_, '_>) -> Result<Status, Error> {
    Ok(root(state)?.shared.status)
}

/// `value | default(other)`: what is undefined or null becomes `other`; with a second argument that is true, what is
/// false or empty too.
fn default(value: &Value, args: Rest<Value>) -> Result<Value, Error> {
    if args.len() > 2 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let empty_too = args.get(1).is_some_and(Value::is_true);
    let absent = value.is_undefined() || value.is_none() || (empty_too && !value.is_true());
    Ok(if absent { args.first().cloned().unwrap_or_else(|| Value::from("")) } else { value.clone() })
}

/// `list | join(", ")`: every item as text.
fn join(
    state: &mut State<'_, '_>,
    value: &Value,
    between: Option<&str>,
    attribute: Option<&str>,
    kwargs: Kwargs,
) -> Result<String, Error> {
    let named: Option<String> = kwargs.get("attribute")?;
    kwargs.assert_all_used()?;
    let attribute = attribute.map(str::to_owned).or(named);
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_none() {
        return Ok(String::new());
    }
    let mut out = String::new();
    for (position, item) in value.try_iter()?.enumerate() {
        state.consume_fuel(1)?;
        if position > 0 {
            out.push_str(between.unwrap_or_default());
        }
        let item = match &attribute {
            Some(path) => attribute_of(item, path)?,
            None => item,
        };
        out.push_str(&text_of(state, &item)?);
        if out.len() > MOST_JOINED {
            return Err(Error::new(ErrorKind::InvalidOperation, "the joined text grows past 16 MiB"));
        }
    }
    Ok(out)
}

fn attribute_of(item: Value, path: &str) -> Result<Value, Error> {
    path.split('.').try_fold(item, |value, name| value.get_attr(name))
}

/// `value | tojson`: compact JSON; `tojson(2)` indents by two blanks.
fn tojson(value: &Value, indent: Option<Value>, kwargs: Kwargs) -> Result<String, Error> {
    let named: Option<Value> = kwargs.get("indent")?;
    kwargs.assert_all_used()?;
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let json = json_of(value)?;
    let width = match indent.or(named) {
        Some(value) if value.kind() == ValueKind::Bool => 2 * usize::from(value.is_true()),
        Some(value) => usize::try_from(value)?.min(16),
        None => 0,
    };
    if width == 0 {
        return Ok(json.to_string());
    }
    let blanks = vec![b' '; width];
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(&blanks);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, format);
    serde::Serialize::serialize(&json, &mut serializer)
        .map_err(|_| Error::new(ErrorKind::BadSerialization, "what was computed here is no value"))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// `text | fromjson`.
fn fromjson(state: &mut State<'_, '_>, value: &Value) -> Result<Value, Error> {
    let text = text_of(state, value)?;
    let text = without_mark(&text);
    // The reader's own words could quote the text.
    let json: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        let message = format!("the text is not JSON: line {}, column {}", error.line(), error.column());
        Error::new(ErrorKind::InvalidOperation, message)
    })?;
    check_numbers(text).map_err(|_| {
        Error::new(ErrorKind::InvalidOperation, "the text holds a number that can't be kept exactly")
    })?;
    Ok(value_of(&json))
}

/// `lists | flatten`: one list of the items of the lists; items that are no lists stay.
fn flatten(state: &State<'_, '_>, value: &Value) -> Result<Vec<Value>, Error> {
    let mut out = Vec::new();
    for item in value.try_iter()? {
        state.consume_fuel(1)?;
        match item.kind() {
            ValueKind::Seq | ValueKind::Iterable => {
                for inner in item.try_iter()? {
                    state.consume_fuel(1)?;
                    out.push(inner);
                }
            }
            _ => out.push(item),
        }
    }
    Ok(out)
}

/// `tasks.x | notifications`: the notification of a task, or those of a list of instances, one after another.
fn notifications(state: &mut State<'_, '_>, value: &Value) -> Result<String, Error> {
    let items: Vec<Value> = match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.collect(),
        _ => vec![value.clone()],
    };
    let mut parts = Vec::with_capacity(items.len());
    for item in items {
        let one = if item.kind() == ValueKind::Map { item.get_attr("notification")? } else { item };
        parts.push(text_of(state, &one)?);
    }
    Ok(parts.join("\n"))
}
