//! Reading templates and scripts where they stand in the manifest: parsed by `template`, resolved by `references`.

use super::bare::warn_of_bare_values;
use super::findings::{Findings, Written};
use super::scope::{Scope, Spot};
use super::words::hole;
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::Text;
use crate::template::{Script, ShellFamily, Template, TemplateError, TemplateErrorKind, in_our_words};

/// Reads text with `${{ }}` holes.
pub(super) fn text<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    spot: Spot,
    written: impl Into<Written<'a>>,
) -> Option<Template> {
    let written = written.into();
    checked(findings, scope, spot, written, Template::text(written.text))
}

/// Checks text with `${{ }}` holes that was parsed already.
pub(super) fn checked<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    spot: Spot,
    written: Written<'a>,
    template: Result<Template, Vec<TemplateError>>,
) -> Option<Template> {
    warn_of_bare_values(findings, scope, spot, written);
    let template = parsed(findings, written, template)?;
    resolve(findings, scope, spot, written, &template);
    refuse_status_calls(findings, written, &template, 0);
    Some(template)
}

/// How the run stands is asked in `if` alone: it is what makes a task wait for all of those before it.
fn refuse_status_calls(findings: &mut Findings, written: Written<'_>, template: &Template, offset: usize) {
    let Some(call) = template.status_calls.first() else { return };
    let mark = findings.mark(written, call.at.start + offset..call.at.end + offset);
    let message = format!("`{}()` has a meaning in `if` only", call.name);
    let finding = findings.at_mark(Code::TemplatePlace, mark, message);
    findings.push(finding.help("read `tasks.NAME.status` instead"));
}

/// Reads a text in which holes may stand and blocks may not: an element of `run`.
pub(super) fn word<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    written: &'a Text,
) -> Option<Template> {
    let whole = Written::from(written);
    warn_of_bare_values(findings, scope, Spot::Attempt, whole);
    let template = parsed(findings, whole, Template::text_without_blocks(whole.text))?;
    resolve(findings, scope, Spot::Attempt, whole, &template);
    refuse_status_calls(findings, whole, &template, 0);
    Some(template)
}

/// Reads a bare expression: `if`, `expect.that`, `retry.if`.
pub(super) fn expression<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    spot: Spot,
    key: &str,
    written: impl Into<Written<'a>>,
) -> Option<Template> {
    let written = written.into();
    if let Some(finding) = dressed_expression(findings, key, written) {
        findings.push(finding);
        return None;
    }
    let template = parsed(findings, written, Template::expression(written.text))?;
    resolve(findings, scope, spot, written, &template);
    if spot != Spot::Condition
        && let Some(call) = template.status_calls.first()
    {
        let message = format!("`{}()` has a meaning in `if`, not in `{key}`", call.name);
        let mark = findings.mark(written, call.at.clone());
        let finding = findings.at_mark(Code::TemplatePlace, mark, message);
        findings.push(finding.help("write `task.status == \"failed\"`"));
    }
    Some(template)
}

/// Reads the script of a shell task.
pub(super) fn script<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    shell: &[String],
    written: impl Into<Written<'a>>,
) -> Option<Script> {
    let written = written.into();
    let Some(family) = ShellFamily::of(shell) else {
        let Some(start) = written.text.find("${{").or_else(|| written.text.find("${%")) else {
            return Some(Script::plain(written.text));
        };
        let program = shell.first().map(String::as_str).unwrap_or_default();
        let message = format!("no value can be put into a script for `{program}`");
        let finding = findings.at_mark(Code::UnsafeHole, hole(findings, written, start), message);
        findings.push(finding.help("hand it over in `env` and let the script read the variable"));
        return None;
    };
    warn_of_bare_values(findings, scope, Spot::Attempt, written);
    match Script::lower(written.text, family) {
        Ok((script, warnings)) => {
            for warning in warnings {
                report(findings, written, warning);
            }
            for reference in script.references() {
                scope.resolve(findings, Spot::Attempt, written, &reference);
            }
            for hole in script.holes() {
                refuse_status_calls(findings, written, &hole.template, hole.at);
                scope.note_dirs(&hole.template);
                scope.judge(findings, Spot::Attempt, written, &hole.template, hole.at);
            }
            Some(script)
        }
        Err(errors) => {
            errors.into_iter().for_each(|error| report(findings, written, error));
            None
        }
    }
}

/// `if: ${{ x }}` is the habit of another system: the same without the braces is shown.
fn dressed_expression(findings: &Findings, key: &str, written: Written<'_>) -> Option<Diagnostic> {
    let start = written.text.find("${{")?;
    let bare = written
        .text
        .trim()
        .strip_prefix("${{")
        .and_then(|rest| rest.strip_suffix("}}"))
        .filter(|inside| !inside.contains("${{"));
    let finding = findings.at_mark(
        Code::TemplatePlace,
        hole(findings, written, start),
        format!("`{key}` is an expression as it stands, without `${{{{ }}}}`"),
    );
    Some(match bare {
        // With the operators of this language, lest the next run finds fault with those.
        Some(bare) => finding.help(format!("write `{key}: {}`", in_our_words(bare.trim()))),
        None => finding.help("write the whole condition as one expression, joined with `and`, `or`, `not`"),
    })
}

fn parsed(
    findings: &mut Findings,
    written: Written<'_>,
    result: Result<Template, Vec<TemplateError>>,
) -> Option<Template> {
    match result {
        Ok(template) => Some(template),
        Err(errors) => {
            errors.into_iter().for_each(|error| report(findings, written, error));
            None
        }
    }
}

fn resolve<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    spot: Spot,
    written: Written<'a>,
    template: &Template,
) {
    for reference in &template.references {
        scope.resolve(findings, spot, written, reference);
    }
    scope.note_dirs(template);
    scope.judge(findings, spot, written, template, 0);
}

fn report(findings: &mut Findings, written: Written<'_>, error: TemplateError) {
    let code = match error.kind {
        TemplateErrorKind::Syntax => Code::TemplateSyntax,
        TemplateErrorKind::Place => Code::TemplatePlace,
        TemplateErrorKind::UnknownFilter => Code::UnknownFilter,
        TemplateErrorKind::UnsafeHole => Code::UnsafeHole,
        TemplateErrorKind::ProgramText => Code::ProgramText,
    };
    let mark = findings.mark(written, error.at);
    findings.push(findings.at_mark(code, mark, error.message).maybe_help(error.help));
}

#[cfg(test)]
#[path = "templates_tests.rs"]
mod tests;
