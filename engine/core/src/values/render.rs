//! The templates of an attempt, rendered; one that can't be is the attempt's outcome.

use std::sync::Arc;

use super::context::Scope;
use super::work::ShellScript;
use crate::model::{Outcome, Reason};
use crate::template::{EvalError, RenderedScript, Script, Template};

/// Renders the template of a key.
pub(super) fn render(scope: &Scope<'_>, what: &str, template: &Template) -> Result<String, Box<Outcome>> {
    if template.is_literal() {
        return Ok(template.source.to_string());
    }
    let context = scope.context(&template.references);
    template.render(&context).map_err(|error| unevaluated(what, &error))
}

/// Renders the template of a key that need not be there.
pub(super) fn render_given(
    scope: &Scope<'_>,
    what: &str,
    template: Option<&Template>,
) -> Result<Option<String>, Box<Outcome>> {
    template.map(|template| render(scope, what, template)).transpose()
}

/// Renders a script for a shell.
pub(super) fn shell_script(
    scope: &Scope<'_>,
    what: &str,
    shell: &Arc<[String]>,
    script: &Script,
) -> Result<ShellScript, Box<Outcome>> {
    let RenderedScript { text, env } = match script.literal() {
        // Everything that templates can see takes longer to put together than most scripts to start.
        Some(text) => RenderedScript { text: text.to_owned(), env: Vec::new() },
        None => {
            let context = scope.context(script.holes().flat_map(|hole| &hole.template.references));
            script.render(&context).map_err(|error| unevaluated(what, &error))?
        }
    };
    Ok(ShellScript { shell: Arc::clone(shell), text, env })
}

/// A template that could not be evaluated. One that reads what is lost is right in itself.
pub(super) fn unevaluated(what: &str, error: &EvalError) -> Box<Outcome> {
    let mut outcome = failure(what, &error.message);
    if error.unreadable {
        outcome.reason = Some(Reason::Resource);
    }
    outcome
}

/// What is wrong with the value of a key.
pub(super) fn failure(what: &str, error: &str) -> Box<Outcome> {
    Box::new(Outcome::failed(Reason::Expression, format!("`{what}`: {error}")))
}
