//! What expressions take for granted, held against what is known of their values: comparisons that come out one way
//! whatever happens, texts that stand as conditions.

use serde_json::Value;

use super::fields::path_text;
use super::findings::{Findings, Written};
use super::inputs::InputKind;
use super::scope::{Scope, Spot};
use super::types::Type;
use crate::diagnostic::Code;
use crate::template::{Comparison, Operand, Reference, Relation, Segment, Template};

/// How many values are listed that something can have.
const LISTED: usize = 8;

impl<'a> Scope<'_, 'a> {
    /// Reports what a template takes for granted and can't be. `offset`: where it begins in what was written.
    pub(super) fn judge(
        &mut self,
        findings: &mut Findings,
        spot: Spot,
        written: Written<'a>,
        template: &Template,
        offset: usize,
    ) {
        for comparison in &template.claims.comparisons {
            if let Some((message, help)) = self.misfit(findings, comparison) {
                let at = comparison.at.start + offset..comparison.at.end + offset;
                let mark = findings.mark(written, at);
                findings.push(findings.at_mark(Code::NeverTrue, mark, message).help(help));
            }
        }
        for measured in &template.claims.measured {
            let what = match self.type_of(&measured.path) {
                Some(Type::Boolean) => "`true` or `false`",
                Some(Type::Number) => "a number",
                Some(Type::Text | Type::List | Type::Object | Type::OneOf(_)) | None => continue,
            };
            let mark = findings.mark(written, measured.at.start + offset..measured.at.end + offset);
            let message = format!("`{}` is {what} and has no length", path_text(&measured.path));
            findings.push(findings.at_mark(Code::WrongType, mark, message));
        }
        if !spot.is_condition() {
            return;
        }
        for condition in &template.claims.conditions {
            self.text_as_condition(findings, written, condition);
        }
    }

    /// A text as a condition: `false` is a text as any other.
    fn text_as_condition(&self, findings: &mut Findings, written: Written<'a>, operand: &Operand) {
        let (shown, at, help) = match operand {
            Operand::Reference(reference) => {
                let is_text = match self.type_of(&reference.path) {
                    Some(Type::Text) => true,
                    Some(Type::OneOf(values)) => values.iter().any(Value::is_string),
                    Some(Type::Number | Type::Boolean | Type::List | Type::Object) | None => false,
                };
                if !is_text {
                    return;
                }
                let path = path_text(&reference.path);
                let typed = self.typed(reference).map(|typed| format!(", or {typed}")).unwrap_or_default();
                let help =
                    format!("write `{path} == \"true\"`, or `{path} != \"\"` where any text will do{typed}");
                (path, reference.at.clone(), help)
            }
            Operand::Literal(Value::String(text), at) if !text.is_empty() => {
                (written.text[at.clone()].to_owned(), at.clone(), "take the quotes away".to_owned())
            }
            Operand::Literal(..) | Operand::Computed => return,
        };
        let mark = findings.mark(written, at);
        let message =
            format!("`{shown}` is text here, and every text but the empty one counts as true, `false` too");
        findings.push(findings.at_mark(Code::Suspicious, mark, message).help(help));
    }

    /// Why a comparison comes out one way whatever happens, and what to write.
    fn misfit(&self, findings: &mut Findings, comparison: &Comparison) -> Option<(String, String)> {
        use Operand::{Literal, Reference};
        match (&comparison.left, &comparison.right, comparison.relation) {
            (Reference(reference), Literal(Value::Array(values), _), Relation::Among) => values
                .iter()
                .find_map(|value| self.beside_literal(findings, reference, value, Relation::Among)),
            (_, _, Relation::Among) => None,
            (Reference(reference), Literal(value, _), relation)
            | (Literal(value, _), Reference(reference), relation) => {
                self.beside_literal(findings, reference, value, relation)
            }
            (Reference(left), Reference(right), relation) => {
                let (one, other) = (self.type_of(&left.path)?, self.type_of(&right.path)?);
                let (text, number) = match (is_text(&one), is_text(&other)) {
                    (true, false) if other == Type::Number => (left, right),
                    (false, true) if one == Type::Number => (right, left),
                    _ => return None,
                };
                let what = format!("`{}` a number", path_text(&number.path));
                Some((mixed(text, &what, relation), self.as_number(text)))
            }
            _ => None,
        }
    }

    /// A reference beside a value that is written out.
    fn beside_literal(
        &self,
        findings: &mut Findings,
        reference: &Reference,
        value: &Value,
        relation: Relation,
    ) -> Option<(String, String)> {
        let path = path_text(&reference.path);
        let never = |shown: &str| format!("`{path}` is never {shown}");
        match (self.type_of(&reference.path)?, value) {
            (Type::OneOf(values), _) if relation != Relation::Order => {
                if value.is_null() || values.contains(value) || values.is_empty() {
                    return None;
                }
                // A number that is spelt otherwise is equal all the same.
                if value.is_number()
                    && values.iter().any(|one| one.as_f64().is_some() && one.as_f64() == value.as_f64())
                {
                    return None;
                }
                Some((never(&shown(value)), one_of(findings, &path, value, &values)))
            }
            (kind, Value::Number(_)) if is_text(&kind) => {
                let what = format!("`{value}` a number");
                Some((mixed(reference, &what, relation), self.as_number(reference)))
            }
            (Type::Number, Value::String(text)) => {
                let help = match text.trim().parse::<f64>() {
                    Ok(_) => format!("`{path}` is a number: write `{}` without quotes", text.trim()),
                    Err(_) => format!("`{path}` is a number"),
                };
                Some((never(&format!("the text {}", shown(value))), help))
            }
            (Type::Boolean, Value::String(text)) => {
                let help = match text.as_str() {
                    "false" => format!("it is a boolean: write `not {path}`"),
                    _ => format!("it is a boolean: write `{path}`"),
                };
                Some((never(&format!("the text {}", shown(value))), help))
            }
            (Type::Boolean, Value::Number(_)) | (Type::Text, Value::Bool(_)) => {
                let help = match value {
                    Value::Bool(value) => format!("it is text: write `{path} == \"{value}\"`"),
                    _ => format!("it is a boolean: write `{path}`"),
                };
                Some((never(&shown(value)), help))
            }
            _ => None,
        }
    }

    /// How to compare a text as the number that it spells.
    fn as_number(&self, text: &Reference) -> String {
        let path = path_text(&text.path);
        let typed = self.typed(text).map(|typed| format!(", or {typed}")).unwrap_or_default();
        format!("write `{path} | int`{typed}")
    }

    /// How to give a value another type where it is made.
    fn typed(&self, reference: &Reference) -> Option<String> {
        match reference.path.as_slice() {
            [Segment::Name(root), Segment::Name(task), Segment::Name(field)]
                if root == "tasks" && field == "output" =>
            {
                Some(format!("give `{task}` an `output: json`"))
            }
            [Segment::Name(root), Segment::Name(name)] if root == "inputs" => {
                let input = self.world.inputs.get(name.as_str())?;
                let is_text = matches!(input.kind, InputKind::String | InputKind::Path);
                is_text.then(|| format!("give the input `{name}` another `type`"))
            }
            _ => None,
        }
    }
}

fn is_text(kind: &Type) -> bool {
    match kind {
        Type::Text => true,
        Type::OneOf(values) => !values.is_empty() && values.iter().all(Value::is_string),
        Type::Number | Type::Boolean | Type::List | Type::Object => false,
    }
}

fn mixed(text: &Reference, number: &str, relation: Relation) -> String {
    let so = match relation {
        Relation::Order => "neither is more than the other",
        Relation::Equal | Relation::Among => "they are never equal",
    };
    format!("`{}` is text and {number}: {so}", path_text(&text.path))
}

/// What a value can be that it was compared with in vain.
fn one_of(findings: &mut Findings, path: &str, value: &Value, values: &[Value]) -> String {
    let given = value.as_str().unwrap_or_default();
    let known = || values.iter().filter_map(Value::as_str);
    let meant = foreign_word(path, given).filter(|meant| known().any(|one| one == *meant));
    let near = meant.or_else(|| findings.near(given, known()));
    // The same number in quotes, or the same text without.
    let number = given.parse::<f64>().ok();
    let spelt = values.iter().find(|one| number.is_some() && one.as_f64() == number);
    let list = values.iter().take(LISTED).map(shown).collect::<Vec<_>>().join(", ");
    let more = values.len().saturating_sub(LISTED);
    let list = if more > 0 { format!("{list} and {more} more") } else { list };
    match (spelt, near) {
        (Some(spelt), _) => format!("it is a number: write `{spelt}` without quotes"),
        (None, Some(near)) => format!("did you mean `{near}`? it is one of {list}"),
        (None, None) => format!("it is one of {list}"),
    }
}

/// Words of other systems for the states of a task.
fn foreign_word(path: &str, given: &str) -> Option<&'static str> {
    if !path.ends_with(".status") {
        return None;
    }
    match given.to_lowercase().as_str() {
        "success" | "succeeded" | "successful" | "passed" | "ok" | "done" | "finished" => Some("completed"),
        "failure" | "error" | "errored" => Some("failed"),
        "cancelled" | "canceled" | "timeout" | "timed_out" | "aborted" | "stopped" => Some("killed"),
        _ => None,
    }
}

/// A value as it is written in an expression.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
