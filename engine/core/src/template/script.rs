//! A shell script whose holes have become references to environment variables.

use std::collections::HashMap;

use serde_json::Value;

use super::context::Context;
use super::error::{EvalError, TemplateError, TemplateErrorKind};
use super::reference::Reference;
use super::scan::has_markers;
use super::shell::{Piece, Quoting, Rule, ShellFamily, Units, Use, lex, runs_its_arguments};
use super::text::Template;
use super::values::json_text;
use crate::text::{LARGEST_ENVIRONMENT, LONGEST_ARGUMENT};

/// A script with holes.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Text and holes in order.
    pub parts: Vec<ScriptPart>,
    /// What the names of its variables begin with; nothing in its text does.
    prefix: Box<str>,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptPart {
    /// Shell text as written.
    Text(Box<str>),
    /// A hole. Boxed: most scripts have none.
    Hole(Box<ScriptHole>),
}

/// A hole of a script: a value that reaches it through the environment.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptHole {
    /// What it holds.
    pub template: Template,
    /// Where it begins in the script.
    pub at: usize,
    how: Use,
}

/// A script that is ready to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedScript {
    /// The shell text. No value is in it.
    pub text: String,
    /// The variables that it reads.
    pub env: Vec<(String, String)>,
}

impl Script {
    /// Makes every hole of a script a reference that the shell can't take for anything else, or says why not. The
    /// second list of the result is warnings.
    pub fn lower(
        source: &str,
        family: ShellFamily,
    ) -> Result<(Script, Vec<TemplateError>), Vec<TemplateError>> {
        if !has_markers(source) {
            return Ok((Script::plain(source), Vec::new()));
        }
        let units = Units::cut(source);
        let found = lex(&units, family);
        let mut errors = found.errors;
        let mut parts = Parts::default();
        let mut missed = Vec::new();
        for piece in &units.pieces {
            match piece {
                Piece::Plain(range) => parts.text(&source[range.clone()]),
                Piece::Hole(number) => {
                    let hole = &units.holes[*number];
                    let text = &source[hole.at.clone()];
                    match (found.uses[*number], &hole.fault) {
                        // A newline in a comment's hole would end the comment.
                        (Some(how), _) if how.quoting == Quoting::Comment => {
                            parts.text(&text.replace('\n', " "))
                        }
                        (_, Some(fault)) => errors.push(fault.clone()),
                        (how, None) => match Template::text(text) {
                            Ok(template) => match how {
                                Some(how) => parts.hole(template, hole.at.start, how),
                                None => missed.push(hole.at.clone()),
                            },
                            Err(faults) => {
                                errors.extend(faults.into_iter().map(|fault| fault.moved(hole.at.start)))
                            }
                        },
                    }
                }
            }
        }
        if errors.is_empty() {
            let missed = missed.into_iter().map(|at| {
                let message = "bug: the shell text around this hole was not read";
                TemplateError::new(TemplateErrorKind::UnsafeHole, at, message)
                    .help("use `env:` and read the variable")
            });
            errors.extend(missed);
        }
        if !errors.is_empty() {
            errors.sort_by_key(|error| error.at.start);
            return Err(errors);
        }
        Ok((Script { parts: parts.done(), prefix: free_prefix(source) }, found.warnings))
    }

    /// A script without holes.
    #[must_use]
    pub fn plain(source: &str) -> Script {
        Script { parts: vec![ScriptPart::Text(source.into())], prefix: Box::default() }
    }

    /// Its text where it has no holes, so that it is rendered as it is.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [ScriptPart::Text(text)] => Some(text),
            [..] => None,
        }
    }

    /// Every reference in its holes, with places in the script.
    #[must_use]
    pub fn references(&self) -> Vec<Reference> {
        let moved = |hole: &ScriptHole| {
            let at = hole.at;
            let moved = move |reference: &Reference| {
                let mut reference = reference.clone();
                reference.at = reference.at.start + at..reference.at.end + at;
                reference
            };
            hole.template.references.iter().map(moved).collect::<Vec<_>>()
        };
        self.holes().flat_map(moved).collect()
    }

    /// The script as it was written.
    pub fn source(&self) -> String {
        let part = |part: &ScriptPart| match part {
            ScriptPart::Text(text) => text.to_string(),
            ScriptPart::Hole(hole) => hole.template.source.to_string(),
        };
        self.parts.iter().map(part).collect()
    }

    /// Its holes in order.
    pub fn holes(&self) -> impl Iterator<Item = &ScriptHole> {
        self.parts.iter().filter_map(|part| match part {
            ScriptPart::Text(_) => None,
            ScriptPart::Hole(hole) => Some(&**hole),
        })
    }

    /// The text to run, and the variables with the values. Places of errors are those of the script.
    pub fn render(&self, context: &Context) -> Result<RenderedScript, EvalError> {
        let mut rendered = RenderedScript::default();
        let mut variables =
            Variables { prefix: &self.prefix, env: Vec::new(), known: HashMap::new(), bytes: 0 };
        for part in &self.parts {
            match part {
                ScriptPart::Text(text) => rendered.text.push_str(text),
                ScriptPart::Hole(hole) => {
                    hole.render(context, &mut variables, &mut rendered.text)
                        .map_err(|error| hole.place(error))?;
                }
            }
        }
        rendered.env = variables.env;
        Ok(rendered)
    }
}

impl ScriptHole {
    fn render<'a>(
        &'a self,
        context: &Context,
        variables: &mut Variables<'a>,
        out: &mut String,
    ) -> Result<(), EvalError> {
        let value = match self.template.value(context)? {
            Value::Array(list) if self.how.spreads => {
                let mut names = Vec::with_capacity(list.len());
                for (position, item) in list.iter().enumerate() {
                    self.check(item, position == 0)?;
                    names.push(format!("\"${{{}}}\"", variables.add(json_text(item))?));
                }
                out.push_str(&names.join(" "));
                return Ok(());
            }
            value => value,
        };
        self.check(&value, true)?;
        let name = variables.shared(&self.template.source, json_text(&value))?;
        if self.how.rule == Rule::Integer && self.how.quoting == Quoting::Double && is_negative(&value) {
            // `x-${V}` must not become a decrement.
            out.push(' ');
        }
        match self.how.quoting {
            Quoting::Bare => out.extend(["\"${", &name, "}\""]),
            Quoting::Double | Quoting::Comment => out.extend(["${", &name, "}"]),
            Quoting::Single => out.extend(["'\"${", &name, "}\"'"]),
            Quoting::Ansi => out.extend(["'\"${", &name, "}\"$'"]),
        }
        Ok(())
    }

    /// Checks a value against the place it goes to.
    fn check(&self, value: &Value, is_first: bool) -> Result<(), EvalError> {
        let shown =
            || self.template.source.trim_start_matches("${{").trim_end_matches("}}").trim().to_owned();
        let text = json_text(value);
        match self.how.rule {
            Rule::Any => Ok(()),
            Rule::Integer if value.as_i64().is_some() => Ok(()),
            Rule::Integer => {
                let shown = shown();
                Err(EvalError::new(format!(
                    "`{shown}` stands in arithmetic and is no integer; write `{shown} | int`"
                )))
            }
            Rule::CommandName if is_first && runs_its_arguments(&text) => Err(EvalError::new(format!(
                "`{}` names a command that runs its arguments as shell text",
                shown()
            ))),
            Rule::NoOption if text.starts_with(['-', '+']) => {
                Err(EvalError::new(format!("`{}` would be an option of the shell before it", shown())))
            }
            Rule::CommandName | Rule::NoOption => Ok(()),
        }
    }

    fn place(&self, error: EvalError) -> EvalError {
        let range = error.at.clone().unwrap_or(0..self.template.source.len());
        EvalError { at: Some(range.start + self.at..range.end + self.at), ..error }
    }
}

fn is_negative(value: &Value) -> bool {
    value.as_i64().is_some_and(|number| number < 0)
}

/// The variables of one rendering.
struct Variables<'a> {
    prefix: &'a str,
    env: Vec<(String, String)>,
    /// The variable of a hole's source: the same hole twice is one variable.
    known: HashMap<&'a str, String>,
    bytes: usize,
}

impl<'a> Variables<'a> {
    fn shared(&mut self, source: &'a str, value: String) -> Result<String, EvalError> {
        if let Some(name) = self.known.get(source) {
            return Ok(name.clone());
        }
        let name = self.add(value)?;
        self.known.insert(source, name.clone());
        Ok(name)
    }

    fn add(&mut self, value: String) -> Result<String, EvalError> {
        if value.contains('\0') {
            return Err(EvalError::new(
                "the value has a NUL byte, which no variable can hold; write `| file` to get a path",
            ));
        }
        self.bytes += value.len();
        if value.len() > LONGEST_ARGUMENT {
            let message = format!(
                "the value has {} bytes, more than a variable can hold ({LONGEST_ARGUMENT}); write `| file` to get a path",
                value.len()
            );
            return Err(EvalError::new(message));
        }
        if self.bytes > LARGEST_ENVIRONMENT {
            return Err(EvalError::new(
                "the values of this script pass 1 MiB together; write `| file` to get a path",
            ));
        }
        let name = format!("{}{}", self.prefix, self.env.len() + 1);
        self.env.push((name.clone(), value));
        Ok(name)
    }
}

/// Parts in the making: text that stands together is one part.
#[derive(Default)]
struct Parts {
    parts: Vec<ScriptPart>,
    text: String,
}

impl Parts {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn hole(&mut self, template: Template, at: usize, how: Use) {
        self.flush();
        self.parts.push(ScriptPart::Hole(Box::new(ScriptHole { template, at, how })));
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(ScriptPart::Text(std::mem::take(&mut self.text).into()));
        }
    }

    fn done(mut self) -> Vec<ScriptPart> {
        self.flush();
        self.parts
    }
}

/// A prefix for variables that stands nowhere in the script.
fn free_prefix(source: &str) -> Box<str> {
    let mut prefix = "FLOW_".to_owned();
    let taken = |prefix: &str| {
        source
            .match_indices(prefix)
            .any(|(at, _)| source.as_bytes().get(at + prefix.len()).is_some_and(u8::is_ascii_digit))
    };
    while taken(&prefix) {
        prefix.push_str("V_");
    }
    prefix.into()
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
