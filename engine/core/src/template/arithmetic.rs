//! Operators by flow's rules: `~`, `*` and `+` are checked before more is allocated than fits, and a comparison of text with
//! a number is an error where it could only mislead.

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, State, Value};

use super::values::{MOST_TEXT, text_of, too_long};

/// The longest list that `+` may build.
const MOST_ITEMS: usize = 1_000_000;

/// Adds the functions that [`super::walk`] puts in the place of the operators.
pub(super) fn add_to(environment: &mut Environment<'static>) {
    environment.add_function("%concat", concat);
    environment.add_function("%times", times);
    environment.add_function("%bounded", bounded);
    environment.add_function("%eq", |left: &Value, right: &Value| equal(left, right));
    environment.add_function("%ne", |left: &Value, right: &Value| equal(left, right).map(|equal| !equal));
    environment
        .add_function("%lt", |left: &Value, right: &Value| ordered(left, right).map(|()| left < right));
    environment
        .add_function("%le", |left: &Value, right: &Value| ordered(left, right).map(|()| left <= right));
    environment
        .add_function("%gt", |left: &Value, right: &Value| ordered(left, right).map(|()| left > right));
    environment
        .add_function("%ge", |left: &Value, right: &Value| ordered(left, right).map(|()| left >= right));
}

/// Whether two values are the same. A text that is spelt like a number is no number, which surprises whoever compares it
/// with one.
fn equal(left: &Value, right: &Value) -> Result<bool, Error> {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    match text_beside_number(left, right) {
        Some(text) if is_number(text) => Err(mixed("is never equal to it")),
        Some(_) | None => Ok(left == right),
    }
}

/// Checks that one of two values can be the larger one.
fn ordered(left: &Value, right: &Value) -> Result<(), Error> {
    match text_beside_number(left, right) {
        Some(_) => Err(mixed("is neither less nor more")),
        None => Ok(()),
    }
}

/// The text, where the other is a number.
fn text_beside_number<'v>(left: &'v Value, right: &'v Value) -> Option<&'v str> {
    match (left.as_str(), right.as_str()) {
        (Some(text), None) if right.kind() == ValueKind::Number => Some(text),
        (None, Some(text)) if left.kind() == ValueKind::Number => Some(text),
        _ => None,
    }
}

fn mixed(what: &str) -> Error {
    let message =
        format!("text is compared with a number and {what}; write `| int` or `| float` after the text");
    Error::new(ErrorKind::InvalidOperation, message)
}

fn concat(state: &mut State<'_, '_>, left: &Value, right: &Value) -> Result<String, Error> {
    let mut text = text_of(state, left)?;
    let right = text_of(state, right)?;
    if text.len() + right.len() > MOST_TEXT {
        return Err(too_long());
    }
    text.push_str(&right);
    Ok(text)
}

fn times(left: &Value, right: &Value) -> Result<Value, Error> {
    match (left.as_str(), right.as_str()) {
        (Some(text), None) => repeat(text, right),
        (None, Some(text)) => repeat(text, left),
        _ => product(left, right),
    }
}

fn repeat(text: &str, times: &Value) -> Result<Value, Error> {
    let times = times.as_i64().ok_or_else(|| unfit(&Value::from(text), times))?;
    let times = usize::try_from(times.max(0)).unwrap_or(usize::MAX);
    if text.len().saturating_mul(times) > MOST_TEXT {
        return Err(too_long());
    }
    Ok(Value::from(text.repeat(times)))
}

fn product(left: &Value, right: &Value) -> Result<Value, Error> {
    if left.kind() != ValueKind::Number || right.kind() != ValueKind::Number {
        return Err(unfit(left, right));
    }
    if left.is_integer() && right.is_integer() {
        let product = i128::try_from(left.clone())?.checked_mul(i128::try_from(right.clone())?);
        return match product.map(|product| (product, i64::try_from(product))) {
            Some((_, Ok(small))) => Ok(Value::from(small)),
            Some((large, Err(_))) => Ok(Value::from(large)),
            None => Err(Error::new(ErrorKind::InvalidOperation, "the product is too large")),
        };
    }
    Ok(Value::from(f64::try_from(left.clone())? * f64::try_from(right.clone())?))
}

fn unfit(left: &Value, right: &Value) -> Error {
    let message = format!("a {} and a {} can't be multiplied", left.kind(), right.kind());
    Error::new(ErrorKind::InvalidOperation, message)
}

fn bounded(value: &Value) -> Result<Value, Error> {
    match value.as_str() {
        Some(text) if text.len() > MOST_TEXT => Err(too_long()),
        None if value.len().is_some_and(|items| items > MOST_ITEMS) => {
            Err(Error::new(ErrorKind::InvalidOperation, "the list grows past a million items"))
        }
        _ => Ok(value.clone()),
    }
}
