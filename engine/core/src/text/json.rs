//! JSON from outside. A number is read as the number that was written, or not at all: a reader that rounds a 30-digit id
//! hands on another one.

use std::ops::Range;

use serde_json::Value;

use super::{one_line, visible};

/// How much of a text that is no JSON is shown.
const SHOWN: usize = 40;

/// Reads a text that is one JSON value. The error is a fragment that fits after "the text is no JSON value: ".
pub fn parse_json(text: &str) -> Result<Value, String> {
    let text = without_mark(text);
    let value = serde_json::from_str(text).map_err(|error| no_json(text, &error))?;
    check_numbers(text)?;
    Ok(value)
}

/// A text without the byte order mark that some programs put before it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// What a parser says of a text, and what the text begins with.
fn no_json(text: &str, error: &serde_json::Error) -> String {
    let begins = one_line(text.trim_start(), SHOWN);
    let begins = visible(&begins);
    let begins = match begins.is_empty() {
        true => "it is empty".to_owned(),
        false => format!("{error}; it begins with `{begins}`"),
    };
    match text.contains('\u{1b}') {
        true => format!("{begins} and holds escape sequences, as of colours: let the program print none"),
        false => begins,
    }
}

/// Refuses numbers that no reader keeps: whole ones past 64 bits, and fractions so small that they become 0. The text is
/// well-formed.
pub fn check_numbers(text: &str) -> Result<(), String> {
    for at in numbers(text) {
        let number = &text[at.clone()];
        let whole = !number.contains(['.', 'e', 'E']);
        let kept = match whole {
            // Few digits always fit, and nearly every number has few.
            true => number.len() < 19 || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok(),
            false => number.parse::<f64>().is_ok_and(|value| value != 0.0 || is_zero(number)),
        };
        if !kept {
            let line = text[..at.start].matches('\n').count() + 1;
            let number = one_line(number, SHOWN);
            return Err(format!(
                "the number `{number}` in line {line} can't be kept exactly; write it as text, in quotes"
            ));
        }
    }
    Ok(())
}

/// Whether a number is 0 as it is written.
fn is_zero(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    !mantissa.contains(|digit: char| ('1'..='9').contains(&digit))
}

/// Where the numbers of a well-formed text stand.
fn numbers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = string_end(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                    let found = at..at + length;
                    at = found.end;
                    return Some(found);
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// The position after the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
