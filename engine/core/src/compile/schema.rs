//! `output`: its form, and which paths lead into one.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::findings::Findings;
use super::input::Place;
use super::literal::{literal_json, text_of};
use super::schema_words::{Slip, slips};
use super::words::word;
use crate::diagnostic::{Code, Span};
use crate::plan::Output;
use crate::syntax::{Node, NodeKind, Text};
use crate::template::Segment;
use crate::text::{did_you_mean, one_line, parse_json};

pub(super) const FORMS: &[(&str, Form)] =
    &[("text", Form::Text), ("json", Form::Json), ("lines", Form::Lines), ("pairs", Form::Pairs)];

#[derive(Clone, Copy)]
pub(super) enum Form {
    Text,
    Json,
    Lines,
    Pairs,
}

/// Keywords without which a mapping under `output` is no schema but something that was meant otherwise.
const KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "items",
    "prefixItems",
    "enum",
    "const",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "required",
    "additionalProperties",
    "patternProperties",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "$defs",
    "definitions",
    "contains",
    "$schema",
    "propertyNames",
];

const EXAMPLE: &str = "{ type: object, required: [verdict], properties: { verdict: { type: string } } }";

/// Keywords that make more paths good than `properties` and `items` name.
const OPEN: &[&str] = &[
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "patternProperties",
    "dependentSchemas",
    "$dynamicRef",
    "unevaluatedProperties",
];

/// Reads `output`; a faulty one counts as JSON of unknown shape, so that its readers aren't blamed.
pub(super) fn output(findings: &mut Findings, place: &dyn Place, node: &Node) -> Output {
    if let Some(written) = text_of(node) {
        let text = Text::new(written.text.to_owned(), written.span);
        return match word(findings, "output", &text, FORMS) {
            Some(Form::Text) => Output::Text,
            Some(Form::Lines) => Output::Lines,
            Some(Form::Pairs) => Output::Pairs,
            Some(Form::Json) | None => Output::Json,
        };
    }
    let NodeKind::Map(entries) = &node.kind else {
        let finding = findings.at(Code::WrongType, node.span, "`output` is a word or a JSON Schema");
        findings.push(
            finding.help("write `text`, `json`, `lines`, `pairs`, or a schema such as `{ type: object }`"),
        );
        return Output::Json;
    };
    let schema = match &**entries {
        [only]
            if only.key == "$ref" && text_of(&only.value).is_some_and(|path| !path.text.starts_with('#')) =>
        {
            let path = text_of(&only.value).map(|path| path.text).unwrap_or_default();
            match read_schema(place, path) {
                Ok(schema) => schema,
                Err(why) => {
                    findings.push(findings.at(Code::BadSchema, only.value.span, why));
                    return Output::Json;
                }
            }
        }
        _ => literal_json(findings, "output", node),
    };
    match check_schema(&schema) {
        Ok(()) => match report_slips(findings, node, &schema) {
            false => Output::Schema(Arc::new(schema)),
            true => Output::Json,
        },
        Err(fault) => {
            let whole = entries.first().map_or(node.span, |entry| entry.key_span);
            let span = part(node, &fault.path).filter(|_| !fault.path.is_empty()).unwrap_or(whole);
            let help = if fault.path.ends_with("/type") {
                let types =
                    "a type is one of `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`";
                Some(types.to_owned())
            } else {
                let unknown = entries.iter().filter(|entry| !KEYWORDS.contains(&entry.key.as_str()));
                let mut near = unknown.filter_map(|entry| {
                    let near = did_you_mean(&entry.key, KEYWORDS.iter().copied())?;
                    Some(format!("did you mean `{near}` for `{}`?", entry.key))
                });
                let example = || match (fault.path.is_empty(), entries.is_empty()) {
                    (true, true) => Some(format!(
                        "write `output: json` where any JSON will do, else say what it is: `{EXAMPLE}`"
                    )),
                    (true, false) => Some(format!("a schema looks like `{EXAMPLE}`")),
                    (false, _) => None,
                };
                near.next().or_else(example)
            };
            findings.push(findings.at(Code::BadSchema, span, fault.message).maybe_help(help));
            Output::Json
        }
    }
}

/// Reports what a validator would ignore without a word. True when the schema can't be what was meant.
fn report_slips(findings: &mut Findings, node: &Node, schema: &Value) -> bool {
    let NodeKind::Map(entries) = &node.kind else { return false };
    let file = match &**entries {
        [only] if only.key == "$ref" => text_of(&only.value).filter(|path| !path.text.starts_with('#')),
        _ => None,
    };
    let mut wrong = false;
    for Slip { path, code, message, help } in slips(schema) {
        let (span, message) = match file {
            Some(file) => (file.span, format!("{message} (`{}` at `{path}`)", file.text)),
            None => (key_part(node, &path).unwrap_or(node.span), message),
        };
        let finding = findings.at(code, span, message).help(help);
        wrong |= finding.is_error();
        findings.push(finding);
    }
    wrong
}

/// The place of the value that a JSON pointer names.
fn part(node: &Node, pointer: &str) -> Option<Span> {
    follow_pointer(node, pointer).map(|(_, value)| value)
}

/// The place of the key that a JSON pointer ends with; of an element of a list the element's.
fn key_part(node: &Node, pointer: &str) -> Option<Span> {
    follow_pointer(node, pointer).map(|(key, value)| key.unwrap_or(value))
}

fn follow_pointer(node: &Node, pointer: &str) -> Option<(Option<Span>, Span)> {
    let mut at = node;
    let mut key = None;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        at = match &at.kind {
            NodeKind::Map(entries) => {
                let entry = entries.iter().find(|entry| entry.key == *token)?;
                key = Some(entry.key_span);
                &entry.value
            }
            NodeKind::List(nodes) => {
                key = None;
                nodes.get(token.parse::<usize>().ok()?)?
            }
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Float(_)
            | NodeKind::Text { .. } => {
                return None;
            }
        };
    }
    Some((key, at.span))
}

fn read_schema(place: &dyn Place, path: &str) -> Result<Value, String> {
    let text = place.read(path).map_err(|why| format!("can't read the schema `{path}`: {why}"))?;
    parse_json(&text).map_err(|error| format!("the schema `{path}` is no JSON: {error}"))
}

/// What is wrong with a schema, and the JSON pointer to it.
struct Fault {
    path: String,
    message: String,
}

/// Checks a schema against the meta-schema, and that a validator can be made of it.
fn check_schema(schema: &Value) -> Result<(), Fault> {
    let known = |map: &Map<String, Value>| map.keys().any(|key| KEYWORDS.contains(&key.as_str()));
    if schema.as_object().is_some_and(Map::is_empty) {
        let message = "this schema is empty: it says nothing of the output".to_owned();
        return Err(Fault { path: String::new(), message });
    }
    if !schema.as_object().is_some_and(known) {
        let message = "this is no JSON Schema: none of its keys is one of a schema".to_owned();
        return Err(Fault { path: String::new(), message });
    }
    let fault = |path: String, error: String| {
        let at = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
        let message = format!("this is no good JSON Schema{at}: {}", one_line(&error, 200));
        Fault { path, message }
    };
    if let Err(error) = jsonschema::meta::validate(schema) {
        return Err(fault(error.instance_path().to_string(), error.to_string()));
    }
    jsonschema::validator_for(schema)
        .map(drop)
        .map_err(|error| fault(error.instance_path().to_string(), error.to_string()))
}

/// Why a path can't lead into a value, if it can't.
pub(super) struct DeadEnd<'s> {
    /// How many segments of the path are good.
    pub good: usize,
    /// What is there, for a message: "is text and has no fields".
    pub why: &'static str,
    /// The names that could have followed.
    pub names: Vec<&'s str>,
}

/// Follows a path into an output. `None`: it leads somewhere, or that is known at run time only.
pub(super) fn dead_end<'s>(output: &'s Output, path: &[Segment]) -> Option<DeadEnd<'s>> {
    let first = path.first()?;
    match output {
        Output::Json => None,
        Output::Text => Some(DeadEnd { good: 0, why: "is text and has no fields", names: Vec::new() }),
        Output::Lines => match (first, path.len()) {
            (Segment::Index(_), 1) => None,
            (Segment::Index(_), _) => {
                Some(DeadEnd { good: 1, why: "is a line and has no fields", names: Vec::new() })
            }
            (Segment::Name(_), _) => {
                Some(DeadEnd { good: 0, why: "is a list of lines and has no fields", names: Vec::new() })
            }
        },
        Output::Pairs => match (first, path.len()) {
            (Segment::Name(_), 1) => None,
            (Segment::Name(_), _) => {
                Some(DeadEnd { good: 1, why: "is text and has no fields", names: Vec::new() })
            }
            (Segment::Index(_), _) => {
                Some(DeadEnd { good: 0, why: "is an object of texts, not a list", names: Vec::new() })
            }
        },
        Output::Schema(schema) => follow(schema, path),
    }
}

/// The schema of what a path leads to, where that is told.
pub(super) fn at<'s>(root: &'s Value, path: &[Segment]) -> Option<&'s Map<String, Value>> {
    let mut at = root;
    for segment in path {
        let schema = resolved(root, at)?;
        at = match segment {
            Segment::Name(name) => schema.get("properties")?.get(name)?,
            Segment::Index(_) if schema.contains_key("prefixItems") => return None,
            Segment::Index(_) => schema.get("items")?,
        };
    }
    resolved(root, at)
}

fn follow<'s>(root: &'s Value, path: &[Segment]) -> Option<DeadEnd<'s>> {
    let mut at = root;
    for (good, segment) in path.iter().enumerate() {
        let schema = resolved(root, at)?;
        let stop = |why, names| Some(DeadEnd { good, why, names });
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let may_be = |name: &str| types.is_empty() || types.contains(&name);
        match segment {
            Segment::Name(name) => {
                if !may_be("object") {
                    let why = if may_be("array") { "is a list and has no fields" } else { "has no fields" };
                    return stop(why, Vec::new());
                }
                let properties = schema.get("properties").and_then(Value::as_object);
                match properties.map(|properties| (properties, properties.get(name))) {
                    Some((_, Some(next))) => at = next,
                    Some((properties, None)) => {
                        let open = schema
                            .get("additionalProperties")
                            .is_some_and(|more| *more != Value::Bool(false));
                        let names = properties.keys().map(String::as_str).collect();
                        return if open { None } else { stop("has no such field", names) };
                    }
                    None => return None,
                }
            }
            Segment::Index(_) => {
                if !may_be("array") {
                    return stop("is no list", Vec::new());
                }
                match schema.get("items") {
                    Some(items) if !schema.contains_key("prefixItems") => at = items,
                    _ => return None,
                }
            }
        }
    }
    None
}

/// The schema itself after local references; `None` where its paths can't be told.
fn resolved<'s>(root: &'s Value, mut at: &'s Value) -> Option<&'s Map<String, Value>> {
    const MOST_HOPS: usize = 32;
    for _ in 0..MOST_HOPS {
        let schema = at.as_object()?;
        if OPEN.iter().any(|keyword| schema.contains_key(*keyword)) {
            return None;
        }
        match schema.get("$ref") {
            None => return Some(schema),
            Some(reference) => at = root.pointer(reference.as_str()?.strip_prefix('#')?)?,
        }
    }
    None
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
