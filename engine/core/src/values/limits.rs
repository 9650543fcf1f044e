//! What the environment of a command can hold. The system refuses more only when the program starts, and names nothing.

use indexmap::IndexMap;

use super::launch::failure;
use crate::model::Outcome;

/// The longest value; the kernel refuses one past 128 KiB.
const MOST_IN_ONE: usize = 120 << 10;

/// All of them together.
const MOST_IN_ALL: usize = 1 << 20;

/// Refuses a declared variable that no environment can hold.
pub(super) fn check_variable(name: &str, value: &str) -> Result<(), Box<Outcome>> {
    let what = format!("env.{name}");
    if value.contains('\0') {
        let why = "the value has a NUL byte, which no variable can hold; write `| file` to get a path";
        return Err(failure(&what, why));
    }
    if value.len() > MOST_IN_ONE {
        let bytes = value.len();
        let why = format!(
            "the value has {bytes} bytes, more than a variable can hold ({MOST_IN_ONE}); write `| file` to get a path"
        );
        return Err(failure(&what, &why));
    }
    Ok(())
}

/// Refuses variables that are too much together; `declared` are those that a person knows by name.
pub(super) fn check_all(env: &IndexMap<String, String>, declared: usize) -> Result<(), Box<Outcome>> {
    let all: usize = env.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    if all <= MOST_IN_ALL {
        return Ok(());
    }
    let largest = env.iter().take(declared).max_by_key(|(_, value)| value.len());
    let largest = largest.map(|(name, value)| format!("; the largest is `{name}` with {}", value.len()));
    let why = format!(
        "the variables have {all} bytes together, more than {MOST_IN_ALL}{}; write `| file` to get a path",
        largest.unwrap_or_default()
    );
    Err(failure("env", &why))
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
