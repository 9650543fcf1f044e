//! Text that was probably meant as a value: holes of other systems, and references without a hole.

use std::ops::Range;

use super::findings::{Findings, Written};
use super::scope::{Scope, Spot};
use crate::diagnostic::Code;
use crate::template::{Segment, Template};

/// Warns of the first place of a text that looks like a value and is none.
pub(super) fn warn_of_bare_values(
    findings: &mut Findings,
    scope: &Scope<'_, '_>,
    spot: Spot,
    written: Written<'_>,
) {
    let found = double_braces(scope, spot, written.text)
        .or_else(|| block(scope, written.text))
        .or_else(|| shell_form(scope, written.text))
        .or_else(|| whole_text(scope, spot, written.text));
    if let Some((at, meant)) = found {
        let shown = written.text[at.clone()].to_owned();
        let mark = findings.mark(written, at);
        let finding =
            findings.at_mark(Code::Suspicious, mark, format!("`{shown}` is text here, not a value"));
        findings.push(finding.help(format!("write `{meant}`")));
    }
}

/// `{{ inputs.x }}` is a value in other systems and text here. Braces around anything but our own names are left alone:
/// `docker --format`, `gh --template`, awk and others have a use for them.
fn double_braces(scope: &Scope<'_, '_>, spot: Spot, text: &str) -> Option<(Range<usize>, String)> {
    for (start, _) in text.match_indices("{{") {
        let before = &text[..start];
        let in_hole = before.rfind("${{").is_some_and(|hole| !before[hole..].contains("}}"));
        let skipped = in_hole || before.ends_with(['$', '{']);
        let Some(end) = text[start..].find("}}").filter(|_| !skipped) else { continue };
        let inside = text[start + 2..start + end].trim();
        let name = inside.split(|c: char| !is_word(c)).next().unwrap_or_default();
        let follows = inside[name.len()..].trim_start().chars().next();
        if !matches!(follows, None | Some('.' | '[' | '|')) {
            continue;
        }
        let at = start..start + end + 2;
        if scope.roots(spot).contains(&name) {
            return Some((at, format!("${{{{ {inside} }}}}")));
        }
        if !name.is_empty() && scope.world.inputs.contains_key(name) {
            return Some((at, format!("${{{{ inputs.{inside} }}}}")));
        }
    }
    None
}

/// `{% if inputs.x %}`: a block of other systems.
fn block(scope: &Scope<'_, '_>, text: &str) -> Option<(Range<usize>, String)> {
    text.match_indices("{%").find_map(|(start, _)| {
        let end = text[start..].find("%}").filter(|_| !text[..start].ends_with('$'))?;
        let at = start..start + end + 2;
        let names_ours = words(&text[at.clone()]).any(|path| is_known(scope, path));
        names_ours.then(|| (at.clone(), format!("${}", &text[at])))
    })
}

/// `${inputs.x}` and `$(inputs.x)`.
fn shell_form(scope: &Scope<'_, '_>, text: &str) -> Option<(Range<usize>, String)> {
    ["${", "$("].into_iter().find_map(|sign| {
        text.match_indices(sign).find_map(|(start, _)| {
            let inside = &text[start + 2..];
            let path = &inside[..inside.find(['}', ')'])?];
            let at = start..start + 2 + path.len() + 1;
            is_known(scope, path.trim()).then(|| (at, format!("${{{{ {} }}}}", path.trim())))
        })
    })
}

/// `X: tasks.a.output` in `env` and `outputs`: in `if` a reference stands alone, so people write it alone here too.
fn whole_text(scope: &Scope<'_, '_>, spot: Spot, text: &str) -> Option<(Range<usize>, String)> {
    if !matches!(spot, Spot::Env | Spot::PlanEnv(_) | Spot::PlanOutputs) {
        return None;
    }
    let path = text.trim();
    is_known(scope, path).then(|| (0..text.len(), format!("${{{{ {path} }}}}")))
}

/// Whether a text is a path that leads to an input, a task or an axis that there is.
fn is_known(scope: &Scope<'_, '_>, path: &str) -> bool {
    let starts = ["inputs.", "tasks.", "matrix."].iter().any(|root| path.starts_with(root));
    if !starts || !path.chars().all(|c| is_word(c) || matches!(c, '.' | '[' | ']' | '"' | '\'')) {
        return false;
    }
    let Ok(template) = Template::expression(path) else { return false };
    let [reference] = template.references.as_slice() else { return false };
    let [Segment::Name(root), Segment::Name(name), ..] = reference.path.as_slice() else { return false };
    match root.as_str() {
        "inputs" => scope.world.inputs.contains_key(name.as_str()),
        "tasks" => scope.world.ids.contains_key(name.as_str()) && reference.path.len() > 2,
        "matrix" => scope.axes().is_some_and(|axes| axes.contains(&name.as_str())),
        _ => false,
    }
}

/// What could be paths in the text of a block.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c) && c != '.').filter(|word| word.contains('.'))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
#[path = "bare_tests.rs"]
mod tests;
