//! What the environment of a command can hold. The system refuses more only when the program starts, and names nothing.

use indexmap::IndexMap;

use super::render::failure;
use crate::model::Outcome;
use crate::text::{LARGEST_ENVIRONMENT, LONGEST_ARGUMENT};

/// Refuses a declared variable that no environment can hold.
pub(super) fn check_variable(name: &str, value: &str) -> Result<(), Box<Outcome>> {
    let what = format!("env.{name}");
    if value.contains('\0') {
        let why = "the value has a NUL byte, which no variable can hold; write `| file` to get a path";
        return Err(failure(&what, why));
    }
    if value.len() > LONGEST_ARGUMENT {
        let bytes = value.len();
        let why = format!(
            "the value has {bytes} bytes, more than a variable can hold ({LONGEST_ARGUMENT}); write `| file` to get a path"
        );
        return Err(failure(&what, &why));
    }
    Ok(())
}

/// Refuses variables that are too much together: the declared ones, which a person knows by name, and those of a script.
pub(super) fn check_all(
    declared: &IndexMap<String, String>,
    of_script: &[(String, String)],
) -> Result<(), Box<Outcome>> {
    let of_script = of_script.iter().map(|(name, value)| (name, value));
    let all: usize = declared.iter().chain(of_script).map(|(name, value)| name.len() + value.len() + 2).sum();
    if all <= LARGEST_ENVIRONMENT {
        return Ok(());
    }
    let largest = declared.iter().max_by_key(|(_, value)| value.len());
    let largest = largest.map(|(name, value)| format!("; the largest is `{name}` with {}", value.len()));
    let why = format!(
        "the variables have {all} bytes together, more than {LARGEST_ENVIRONMENT}{}; write `| file` to get a path",
        largest.unwrap_or_default()
    );
    Err(failure("env", &why))
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
