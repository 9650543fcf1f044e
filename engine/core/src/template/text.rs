//! A template or a bare expression.

use std::sync::Arc;

use serde_json::Value;

use super::claims::Claims;
use super::context::Context;
use super::error::{EvalError, TemplateError, TemplateErrorKind};
use super::reference::Reference;
use super::scan::{Marker, extent, has_markers, next_marker};
use super::values::json_text;
use super::walk::{StatusCall, Walk};
use super::{eval, parse};
use minijinja::machinery::ast;

/// Text with `${{ }}` holes, or a bare expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The text as written.
    pub source: Arc<str>,
    /// Every reference to a value, in order.
    pub references: Vec<Reference>,
    pub(super) form: Form,
    /// What it takes for granted of the values that it names.
    pub claims: Claims,
    /// Where it asks how the run stands.
    pub status_calls: Vec<StatusCall>,
    pub(super) grows: bool,
}

/// What a template's source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Text that is itself.
    Literal,
    /// Text with holes or blocks.
    Text,
    /// Text that is one hole and nothing else.
    Hole,
    /// An expression without delimiters.
    Expression,
}

impl Template {
    /// Reads text with holes and blocks.
    pub fn text(source: &str) -> Result<Template, Vec<TemplateError>> {
        if !has_markers(source) {
            let references = Vec::new();
            let form = Form::Literal;
            return Ok(Template {
                source: source.into(),
                references,
                form,
                claims: Claims::default(),
                status_calls: Vec::new(),
                grows: false,
            });
        }
        let tree = parse::template(source).map_err(|error| vec![error])?;
        let form = if is_one_hole(source, &tree) { Form::Hole } else { Form::Text };
        let mut walk = Walk::new(source);
        walk.stmt(&tree);
        Template::checked(source, form, walk)
    }

    /// Reads text in which holes may stand, and blocks may not.
    pub fn text_without_blocks(source: &str) -> Result<Template, Vec<TemplateError>> {
        let blocks = blocks(source);
        match Template::text(source) {
            Ok(template) if blocks.is_empty() => Ok(template),
            Ok(_) => Err(blocks),
            Err(errors) => Err(blocks.into_iter().chain(errors).collect()),
        }
    }

    /// Reads a bare expression.
    pub fn expression(source: &str) -> Result<Template, Vec<TemplateError>> {
        let tree = parse::expression(source).map_err(|error| match next_marker(source, 0) {
            Some((start, marker)) => vec![not_bare(source, start, marker)],
            None => vec![error],
        })?;
        let mut walk = Walk::new(source);
        walk.expr(&tree);
        walk.condition(&tree);
        Template::checked(source, Form::Expression, walk)
    }

    fn checked(source: &str, form: Form, walk: Walk<'_>) -> Result<Template, Vec<TemplateError>> {
        if !walk.errors.is_empty() {
            return Err(walk.errors);
        }
        let Walk { references, claims, status_calls, grows, .. } = walk;
        Ok(Template { source: source.into(), references, form, claims, status_calls, grows })
    }

    /// Whether it is plain text that renders as itself.
    pub fn is_literal(&self) -> bool {
        self.form == Form::Literal
    }

    /// Whether it is exactly one hole, or a bare expression: its value keeps its JSON type.
    pub fn single_expression(&self) -> bool {
        matches!(self.form, Form::Hole | Form::Expression)
    }

    /// Whether `failure()`, `always()` or `cancelled()` stands in it: it is asked however the tasks before ended.
    pub fn asks_status(&self) -> bool {
        self.status_calls.iter().any(|call| call.name != "success")
    }

    /// Renders it as text.
    pub fn render(&self, context: &Context) -> Result<String, EvalError> {
        match self.form {
            Form::Literal => Ok(self.source.to_string()),
            Form::Text | Form::Hole => eval::text(self, context),
            Form::Expression => eval::value(self, context).map(|value| json_text(&value)),
        }
    }

    /// Evaluates it: one hole or an expression keeps its JSON type, anything else is text.
    pub fn value(&self, context: &Context) -> Result<Value, EvalError> {
        match self.form {
            Form::Literal | Form::Text => self.render(context).map(Value::String),
            Form::Hole | Form::Expression => eval::value(self, context),
        }
    }

    /// Evaluates it as a condition: null, false, zero and everything empty is false. A text that says no is an error: it
    /// would count as true.
    pub fn truth(&self, context: &Context) -> Result<bool, EvalError> {
        Ok(match self.value(context)? {
            Value::Null => false,
            Value::Bool(value) => value,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) if says_no(&text) => {
                let message = "it is a text that says no, and every text but the empty one counts as true; \
                               compare it, as in `value == \"true\"`";
                return Err(EvalError::new(message));
            }
            Value::String(text) => !text.is_empty(),
            Value::Array(list) => !list.is_empty(),
            Value::Object(map) => !map.is_empty(),
        })
    }
}

/// Words by which people and programs say no.
fn says_no(text: &str) -> bool {
    const NO: &[&str] = &["0", "false", "n", "no", "none", "null", "off"];
    let text = text.trim();
    text.len() <= 5 && NO.contains(&text.to_ascii_lowercase().as_str())
}

fn is_one_hole(source: &str, tree: &ast::Stmt<'_>) -> bool {
    let single = match tree {
        ast::Stmt::Template(node) => matches!(node.children.as_slice(), [ast::Stmt::EmitExpr(_)]),
        _ => false,
    };
    single
        && extent(source, 0, Marker::Hole).is_some_and(|range| range.end == source.len())
        && next_marker(source, 0) == Some((0, Marker::Hole))
}

fn blocks(source: &str) -> Vec<TemplateError> {
    let mut errors = Vec::new();
    let mut from = 0;
    while let Some((start, marker)) = next_marker(source, from) {
        let range = extent(source, start, marker).unwrap_or(start..source.len());
        from = range.end;
        if marker == Marker::Block {
            let error = TemplateError::new(TemplateErrorKind::Place, range, "a block can't stand here");
            errors.push(error.help("only `${{ … }}` can; compute the rest in a task"));
        }
    }
    errors
}

/// A hole where the whole text is an expression already.
fn not_bare(source: &str, start: usize, marker: Marker) -> TemplateError {
    let range = extent(source, start, marker).unwrap_or(start..source.len());
    let error = TemplateError::new(TemplateErrorKind::Place, range.clone(), "this is an expression already");
    let inner = source[range.clone()].trim_start_matches("${{").trim_end_matches("}}").trim();
    match marker {
        Marker::Hole if source[range].len() == source.trim().len() => {
            error.help(format!("write it bare: `{inner}`"))
        }
        Marker::Hole | Marker::Block | Marker::Comment => error.help("write it without `${{ }}`"),
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
