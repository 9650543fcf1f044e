//! What a plain scalar means: the core schema of YAML 1.2, and no more.

use std::borrow::Cow;

use super::node::NodeKind;

/// The value of a scalar that was written without quotes.
pub(crate) fn plain_scalar(text: Cow<'_, str>) -> NodeKind {
    // Nearly every scalar is a word, and its first letter already says that it's no number.
    let special = match text.as_bytes().first() {
        None => Some(NodeKind::Null),
        Some(b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F') => word(&text),
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => number(&text),
        Some(_) => None,
    };
    special.unwrap_or_else(|| NodeKind::Text { value: text.into(), plain: true })
}

fn word(text: &str) -> Option<NodeKind> {
    match text {
        "~" | "null" | "Null" | "NULL" => Some(NodeKind::Null),
        "true" | "True" | "TRUE" => Some(NodeKind::Bool(true)),
        "false" | "False" | "FALSE" => Some(NodeKind::Bool(false)),
        _ => None,
    }
}

fn number(text: &str) -> Option<NodeKind> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let all_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            // A number that no `i64` holds is no number anybody means; it stays text.
            return all_digits.then(|| i64::from_str_radix(digits, radix).ok().map(NodeKind::Int)).flatten();
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            let negative = text.starts_with('-');
            return Some(NodeKind::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => return Some(NodeKind::Float(f64::NAN)),
        _ => {}
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        // As above: no fraction stands in for a whole number.
        return text.parse().ok().map(NodeKind::Int);
    }
    // What no `f64` holds stays text too, rather than to become infinite.
    let float = is_float(unsigned).then(|| text.parse::<f64>().ok()).flatten();
    float.filter(|number| number.is_finite()).map(NodeKind::Float)
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(unsigned: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let mantissa_ok = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_ok && exponent_ok && (mantissa.contains('.') || !whole.is_empty())
}

#[cfg(test)]
#[path = "yaml_scalar_tests.rs"]
mod tests;
