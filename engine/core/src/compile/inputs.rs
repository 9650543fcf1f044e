//! Inputs: what is declared, what was given, and the values of this run.

use indexmap::IndexMap;
use serde_json::{Number, Value};

use super::findings::Findings;
use super::input::{GivenInput, GivenValue, Purpose};
use super::literal::{kind_name, literal_json, warn_of_spelling};
use super::words::{literal, word};
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::{InputFile, Node, NodeKind};
use crate::text::{check_numbers, one_line, parse_json, without_mark};

/// The type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputKind {
    String,
    Integer,
    Number,
    Boolean,
    Path,
    List,
    Object,
    Enum,
}

pub(super) const KINDS: &[(&str, InputKind)] = &[
    ("string", InputKind::String),
    ("integer", InputKind::Integer),
    ("number", InputKind::Number),
    ("boolean", InputKind::Boolean),
    ("path", InputKind::Path),
    ("list", InputKind::List),
    ("object", InputKind::Object),
    ("enum", InputKind::Enum),
];

impl InputKind {
    /// "an integer", for messages.
    pub(super) fn described(self) -> &'static str {
        match self {
            InputKind::String => "text",
            InputKind::Integer => "an integer",
            InputKind::Number => "a number",
            InputKind::Boolean => "`true` or `false`",
            InputKind::Path => "a path",
            InputKind::List => "a list",
            InputKind::Object => "an object",
            InputKind::Enum => "one of its `enum`",
        }
    }

    /// Whether `inputs.x.field` or `inputs.x[0]` can exist.
    pub(super) fn has_parts(self) -> bool {
        match self {
            InputKind::List | InputKind::Object | InputKind::Enum => true,
            InputKind::String
            | InputKind::Integer
            | InputKind::Number
            | InputKind::Boolean
            | InputKind::Path => false,
        }
    }
}

/// What an input accepts.
struct Rules {
    kind: InputKind,
    choices: Option<Vec<Value>>,
    minimum: Option<f64>,
    maximum: Option<f64>,
}

/// A declared input, as its readers see it.
pub(super) struct Input {
    pub kind: InputKind,
    /// The values that it can have at all.
    pub choices: Option<Vec<Value>>,
}

/// Declared inputs: their types, and their values where they have a good one.
#[derive(Default)]
pub(super) struct Inputs<'a> {
    pub declared: IndexMap<&'a str, Input>,
    pub values: IndexMap<String, Value>,
}

/// Checks declarations and given values; every input that may be absent gets null.
pub(super) fn resolve<'a>(
    findings: &mut Findings,
    declared: &'a [InputFile],
    given: &[GivenInput],
    purpose: Purpose,
) -> Inputs<'a> {
    let mut inputs = Inputs::default();
    for input in declared {
        let rules = rules(findings, input);
        let default = input.default.as_ref().and_then(|node| {
            let value = literal_json(findings, "default", node);
            let checked = rules.check(value);
            // Of what is declared a number only the number counts.
            if checked.is_ok() && rules.kind != InputKind::Number {
                warn_of_spelling(findings, [node]);
            }
            if let Err(why) = &checked {
                let message = format!("the default of input `{}` must be {why}", input.name.value);
                findings.push(
                    findings.at(Code::WrongType, node.span, message).maybe_help(quote_help(&rules, node)),
                );
            }
            checked.ok()
        });
        let value = match given.iter().rev().find(|given| given.name == input.name.value) {
            Some(given) => given_value(findings, input, &rules, given),
            None => absent_value(findings, input, default, purpose),
        };
        inputs.values.insert(input.name.value.clone(), value);
        inputs.declared.insert(&input.name.value, Input { kind: rules.kind, choices: rules.choices });
    }
    for given in given.iter().filter(|given| !inputs.declared.contains_key(given.name.as_str())) {
        let help = findings.instead(&given.name, inputs.declared.keys().copied());
        let help = help.unwrap_or_else(|| "this plan takes no inputs".to_owned());
        let message = format!("this plan has no input `{}`", given.name);
        let finding = match &given.place {
            Some((file, span)) => Diagnostic::new(Code::BadInput, file, *span, message),
            None => Diagnostic::at_no_place(Code::BadInput, message),
        };
        findings.push(finding.help(help));
    }
    inputs
}

fn absent_value(
    findings: &mut Findings,
    input: &InputFile,
    default: Option<Value>,
    purpose: Purpose,
) -> Value {
    if input.default.is_none() && purpose != Purpose::Look && !is_optional(input) {
        let name = &input.name.value;
        let message = format!("input `{name}` is missing");
        let help = format!("give it with `-i {name}=VALUE`, or write a `default`");
        findings.push(findings.at(Code::BadInput, input.name.span, message).help(help));
    }
    default.unwrap_or(Value::Null)
}

/// Whether it may be null.
fn is_optional(input: &InputFile) -> bool {
    input.required.as_ref().is_some_and(|required| !required.value)
}

fn given_value(findings: &mut Findings, input: &InputFile, rules: &Rules, given: &GivenInput) -> Value {
    let (checked, shown) = match &given.value {
        // What it is without a value; a run that goes on gives back what it began with.
        GivenValue::Json(Value::Null) if is_optional(input) => return Value::Null,
        GivenValue::Text(text) => (rules.read(text), format!("{}={text}", given.name)),
        GivenValue::Json(value) => (rules.check(value.clone()), format!("{}:={value}", given.name)),
    };
    checked.unwrap_or_else(|why| {
        let message = format!("input `{}` must be {why}", given.name);
        let finding = match &given.place {
            Some((file, span)) => {
                let finding = Diagnostic::new(Code::BadInput, file, *span, message);
                findings.related(finding, input.name.span, "declared here")
            }
            None => {
                let finding = findings.at(Code::BadInput, input.name.span, message);
                finding.help(match (rules.kind, &given.value) {
                    (InputKind::List, GivenValue::Text(text)) => {
                        let items: Vec<&str> = text.split(',').map(str::trim).collect();
                        format!("write `-i '{}:={}'`", given.name, Value::from(items))
                    }
                    (InputKind::Object, GivenValue::Text(_)) => {
                        format!("write `-i '{}:={{\"key\": \"value\"}}'`", given.name)
                    }
                    _ => format!("it was given as `{}`", one_line(&shown, 80)),
                })
            }
        };
        findings.push(finding);
        Value::Null
    })
}

fn rules(findings: &mut Findings, input: &InputFile) -> Rules {
    let written = input.kind.as_ref().map(|kind| match foreign_kind(&kind.value) {
        Some(meant) => {
            let message = format!("`type` can't be `{}`", kind.value);
            findings.push(findings.at(Code::BadValue, kind.span, message).help(format!("write `{meant}`")));
            None
        }
        None => word(findings, "type", kind, KINDS),
    });
    let kind = written.flatten().unwrap_or(match (&input.choices, written) {
        // Choices need not be texts; without a type they say themselves what they are. Of a type that nobody knows no value
        // is wrong.
        (Some(_), _) | (_, Some(None)) => InputKind::Enum,
        (None, _) => InputKind::String,
    });
    if let Some(description) = &input.description {
        literal(findings, "description", description);
    }
    let mut rules = Rules { kind, choices: None, minimum: None, maximum: None };
    for (key, node) in [("minimum", &input.minimum), ("maximum", &input.maximum)] {
        let Some(node) = node else { continue };
        let bound = literal_json(findings, key, node).as_f64();
        let finding = match (kind, bound) {
            (InputKind::Integer | InputKind::Number, Some(_)) => None,
            (InputKind::Integer | InputKind::Number, None) => {
                Some(findings.at(Code::WrongType, node.span, format!("`{key}` must be a number")))
            }
            (other, _) => {
                let message =
                    format!("`{key}` is for integers and numbers; this input is {}", other.described());
                Some(findings.at(Code::KeyConflict, node.span, message))
            }
        };
        findings.extend(finding);
        match key {
            "minimum" => rules.minimum = bound,
            _ => rules.maximum = bound,
        }
    }
    match &input.choices {
        Some(choices) => {
            let mut values = Vec::with_capacity(choices.value.len());
            if kind == InputKind::Enum {
                warn_of_spelling(findings, &choices.value);
            }
            for node in &choices.value {
                let value = literal_json(findings, "enum", node);
                match rules.check(value) {
                    Ok(value) => values.push(value),
                    Err(why) => {
                        let message = format!("a choice of input `{}` must be {why}", input.name.value);
                        let finding = findings.at(Code::WrongType, node.span, message);
                        findings.push(finding.maybe_help(quote_help(&rules, node)));
                    }
                }
            }
            if choices.value.is_empty() {
                findings.push(findings.at(Code::BadValue, choices.span, "`enum` has no choices"));
            }
            // A list without a single good choice would refuse every value with a second finding.
            rules.choices = Some(values).filter(|values| !values.is_empty());
        }
        None if written.flatten() == Some(InputKind::Enum) => {
            let message = format!("input `{}` has type `enum` and no choices", input.name.value);
            let finding = findings.at(Code::MissingKey, input.name.span, message);
            findings.push(finding.help("list them: `enum: [low, high]`"));
        }
        None => {}
    }
    rules
}

/// What the types of other systems are called here.
fn foreign_kind(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" | "long" => "type: integer",
        "bool" | "flag" => "type: boolean",
        "str" | "text" | "environment" => "type: string",
        "float" | "double" | "decimal" => "type: number",
        "array" | "stringlist" => "type: list",
        "dict" | "map" | "mapping" | "json" => "type: object",
        "choice" | "select" => "enum: [low, high]",
        "file" | "dir" | "directory" | "folder" => "type: path",
        _ => return None,
    })
}

/// What to do about a number where text belongs, and about text where something else does.
fn quote_help(rules: &Rules, node: &Node) -> Option<String> {
    if let NodeKind::Text { value, .. } = &node.kind {
        return rules.read(value).is_ok().then(|| format!("take the quotes away: `{value}`"));
    }
    let wants_text = matches!(rules.kind, InputKind::String | InputKind::Path);
    let is_scalar = matches!(node.kind, NodeKind::Int(_) | NodeKind::Float(_) | NodeKind::Bool(_));
    (wants_text && is_scalar).then(|| "put it in quotes to make it text".to_owned())
}

impl Rules {
    /// Reads a text as the type says. The error fits after "must be".
    fn read(&self, text: &str) -> Result<Value, String> {
        let not = |kind: InputKind| format!("{}, not `{}`", kind.described(), one_line(text, 40));
        let value = match self.kind {
            InputKind::String | InputKind::Path => Value::String(text.to_owned()),
            InputKind::Integer => Value::Number(whole(text).ok_or_else(|| not(InputKind::Integer))?),
            InputKind::Number => {
                let number = text.trim().parse::<f64>().ok().and_then(Number::from_f64);
                // A whole number stays one, so that it is shown as it was given, and is never rounded.
                let number = match text.trim().bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
                    true => number,
                    false => whole(text),
                };
                Value::Number(number.ok_or_else(|| not(InputKind::Number))?)
            }
            InputKind::Boolean => match text.trim() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => return Err(not(InputKind::Boolean)),
            },
            InputKind::List | InputKind::Object => {
                let not = || format!("{} in JSON, not `{}`", self.kind.described(), one_line(text, 40));
                let text = without_mark(text);
                let value = serde_json::from_str(text).map_err(|_| not())?;
                check_numbers(text).map_err(|why| format!("{}: {why}", not()))?;
                value
            }
            InputKind::Enum => {
                let same = |choice: &&Value| match choice {
                    Value::String(choice) => choice == text,
                    other => parse_json(text).is_ok_and(|given| given == **other),
                };
                let choice = self.choices.iter().flatten().find(same);
                choice.cloned().unwrap_or_else(|| Value::String(text.to_owned()))
            }
        };
        self.check(value)
    }

    /// Checks a value that has a type. The error fits after "must be".
    fn check(&self, value: Value) -> Result<Value, String> {
        let fits = match self.kind {
            InputKind::String | InputKind::Path => value.is_string(),
            InputKind::Integer => value.is_i64() || value.is_u64(),
            InputKind::Number => value.is_number(),
            InputKind::Boolean => value.is_boolean(),
            InputKind::List => value.is_array(),
            InputKind::Object => value.is_object(),
            InputKind::Enum => !value.is_null(),
        };
        if !fits {
            let what = match &value {
                Value::String(_) => shown(&value),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    kind_name(&value).to_owned()
                }
            };
            return Err(format!("{}, not {what}", self.kind.described()));
        }
        if let Some(choices) = self.choices.as_ref().filter(|choices| !choices.contains(&value)) {
            let list = choices.iter().map(shown).collect::<Vec<_>>().join(", ");
            return Err(format!("one of {list}, not {}", shown(&value)));
        }
        let number = value.as_f64();
        if let (Some(number), Some(least)) = (number, self.minimum)
            && number < least
        {
            return Err(format!("{least} or more, not {value}"));
        }
        if let (Some(number), Some(most)) = (number, self.maximum)
            && number > most
        {
            return Err(format!("{most} or less, not {value}"));
        }
        Ok(value)
    }
}

/// A whole number of 64 bits.
fn whole(text: &str) -> Option<Number> {
    let text = text.trim();
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

/// A value for a message, on one short line.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", one_line(text, 40)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("`{}`", one_line(&value.to_string(), 40))
        }
    }
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
