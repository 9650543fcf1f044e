//! A `run` that is a list: one argument an element, which no shell reads.

use serde_json::Value;

use super::context::Scope;
use super::render::{failure, unevaluated};
use crate::model::Outcome;
use crate::template::{Template, json_text};
use crate::text::LONGEST_ARGUMENT;

/// Renders the words of a command. An element that is one expression with a list as its value makes as many arguments.
/// A value that begins with `-` would be an option of the program: it is refused unless a `--` stands before it.
pub(super) fn argv(scope: &Scope<'_>, words: &[Template]) -> Result<Vec<String>, Box<Outcome>> {
    let mut argv = Vec::with_capacity(words.len());
    let mut options_ended = false;
    for (at, word) in words.iter().enumerate() {
        argv.extend(arguments(scope, at, word, options_ended)?);
        options_ended |= is_end_of_options(word);
    }
    match argv.first() {
        Some(program) if !program.is_empty() => Ok(argv),
        Some(_) | None => Err(failure("run", "the program's name is empty")),
    }
}

/// Renders one word.
pub(super) fn arguments(
    scope: &Scope<'_>,
    at: usize,
    word: &Template,
    options_ended: bool,
) -> Result<Vec<String>, Box<Outcome>> {
    if word.is_literal() {
        return Ok(vec![word.source.to_string()]);
    }
    let what = format!("run[{at}]");
    let context = scope.context(&word.references);
    let value = word.value(&context).map_err(|error| unevaluated(&what, &error))?;
    let values = match value {
        Value::Array(items) if word.single_expression() => items,
        value => vec![value],
    };
    let decides = word.source.starts_with("${{");
    let texts = values.iter().map(|value| {
        let text = json_text(value);
        check(&text, decides && !options_ended).map_err(|why| failure(&what, &why))?;
        Ok(text)
    });
    texts.collect()
}

/// Whether no word after this one can be an option.
pub(super) fn is_end_of_options(word: &Template) -> bool {
    word.is_literal() && &*word.source == "--"
}

fn check(text: &str, may_be_option: bool) -> Result<(), String> {
    if text.contains('\0') {
        return Err(
            "the value has a NUL byte, which no argument can hold; write `| file` to get a path".to_owned()
        );
    }
    if text.len() > LONGEST_ARGUMENT {
        let bytes = text.len();
        return Err(format!(
            "the value has {bytes} bytes, more than an argument can hold; write `| file` to get a path"
        ));
    }
    if may_be_option && text.starts_with('-') {
        return Err("the value begins with `-` and would be an option; put `--` before it".to_owned());
    }
    Ok(())
}
