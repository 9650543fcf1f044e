//! `~`, `*` and `+` where they could build more than fits: checked before anything is allocated.

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
