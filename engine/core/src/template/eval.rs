//! Evaluation: the tree that [`super::walk`] builds, run by minijinja within limits.

use std::ops::Range;
use std::sync::OnceLock;

use minijinja::machinery::{CodeGenerator, ast, eval, make_string_output};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde_json::Value as Json;

use super::context::Context;
use super::error::EvalError;
use super::text::{Form, Template};
use super::values::{MOST_TEXT, json_of, write};
use super::walk::Walk;
use super::{arithmetic, filters, lookup, parse};

/// Work that one evaluation may do: about thirty steps for each of a hundred thousand items, or 192 MB of text.
const FUEL: u64 = 3_000_000;

/// Blocks and macros inside each other; each takes a piece of the stack.
const MOST_NESTED: usize = 64;

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment.set_syntax(parse::syntax());
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // Debug information shows values.
        environment.set_debug(false);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(MOST_NESTED);
        environment.set_formatter(write);
        lookup::add_to(&mut environment);
        arithmetic::add_to(&mut environment);
        filters::add_to(&mut environment);
        environment
    })
}

/// Renders text with holes.
pub(super) fn text(template: &Template, context: &Context) -> Result<String, EvalError> {
    let source = &*template.source;
    let tree = parse::template(source).map_err(was_checked)?;
    let tree = Walk::new(source).stmt(&tree);
    let mut generator = CodeGenerator::new("template", source);
    generator.compile_stmt(&tree);
    let (out, _) = run(generator, template, context)?;
    if template.grows && out.len() > MOST_TEXT {
        return Err(EvalError::new("the text grows past 1 MiB; hand it on as a file: `| file`"));
    }
    Ok(out)
}

/// Evaluates one hole or a bare expression.
pub(super) fn value(template: &Template, context: &Context) -> Result<Json, EvalError> {
    let source = &*template.source;
    let mut walk = Walk::new(source);
    let expr = match template.form {
        Form::Expression => walk.expr(&parse::expression(source).map_err(was_checked)?),
        Form::Hole | Form::Text | Form::Literal => match parse::template(source).map_err(was_checked)? {
            ast::Stmt::Template(node) => match node.children.as_slice() {
                [ast::Stmt::EmitExpr(hole)] => walk.expr(&hole.expr),
                _ => return Err(EvalError::new("bug: more than one hole")),
            },
            _ => return Err(EvalError::new("bug: no template")),
        },
    };
    let mut generator = CodeGenerator::new("template", source);
    generator.compile_expr(&expr);
    let (_, value) = run(generator, template, context)?;
    json_of(&value).map_err(|error| fault(&error, source))
}

fn run(
    generator: CodeGenerator<'_>,
    template: &Template,
    context: &Context,
) -> Result<(String, Value), EvalError> {
    if let Some(message) = context.fault() {
        return Err(EvalError { message: message.to_owned(), at: None, unreadable: true });
    }
    let source = &*template.source;
    let (instructions, blocks) = generator.finish();
    let root = Value::from_object(context.root(template.grows));
    let mut text = String::new();
    let mut out = make_string_output(&mut text);
    let result = eval(environment(), &instructions, root, &blocks, &mut out, AutoEscape::None);
    let (value, mut state) = result.map_err(|error| fault(&error, source))?;
    if let Some(value) = &value
        && value.is_undefined()
    {
        // Only the empty branch of `a if b` passes, as null.
        state.format(value.clone()).map_err(|error| fault(&error, source))?;
    }
    drop(state);
    Ok((text, value.unwrap_or_default()))
}

fn was_checked(error: super::error::TemplateError) -> EvalError {
    EvalError { message: error.message, at: Some(error.at), unreadable: false }
}

fn fault(error: &Error, source: &str) -> EvalError {
    let at = error.range().filter(|range| source.get(range.clone()).is_some());
    let here =
        || at.clone().and_then(|range: Range<usize>| source.get(range)).filter(|text| text.len() <= 80);
    let message = match (error.kind(), error.detail(), here()) {
        (ErrorKind::OutOfFuel, _, _) => "the template does more work than is allowed".to_owned(),
        (ErrorKind::UndefinedError, None, Some(text)) => format!("`{text}` has no value"),
        (ErrorKind::UndefinedError, None, None) => "a value is missing".to_owned(),
        (kind, None, Some(text)) => format!("`{text}`: {kind}"),
        (kind, None, None) => kind.to_string(),
        (_, Some(detail), _) => detail.to_owned(),
    };
    EvalError { message, at, unreadable: false }
}

#[cfg(test)]
#[path = "eval_tests.rs"]
mod tests;
