//! Errors with what caused them.

use std::error::Error;

/// The error and everything that caused it, on one line. A cause that the one before it quotes is not said again.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    chain_in_words(error, |error| error.to_string())
}

/// The same, with words of one's own for each error.
pub fn chain_in_words(
    error: &(dyn Error + 'static),
    words: impl Fn(&(dyn Error + 'static)) -> String,
) -> String {
    let mut last = words(error);
    let mut line = last.clone();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = words(cause);
        if !last.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
            last = text;
        }
        source = cause.source();
    }
    line
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
