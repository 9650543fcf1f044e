//! What is known of a value before the run: the type of a reference, and the values that it can have at all.

use serde_json::Value;

use super::fields;
use super::inputs::{Input, InputKind};
use super::schema;
use super::scope::Scope;
use super::shape::Shape;
use crate::model::{Reason, RunStatus, TaskState};
use crate::plan::{FactInfo, FactType, OfMany, Output};
use crate::template::Segment;

/// A type, as far as it decides how values compare.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Text,
    Number,
    Boolean,
    List,
    Object,
    /// One of these, or null.
    OneOf(Vec<Value>),
}

const RUN_STATES: &[RunStatus] =
    &[RunStatus::Running, RunStatus::Completed, RunStatus::Failed, RunStatus::Killed, RunStatus::Lost];

impl Scope<'_, '_> {
    /// The type of a reference; `None` where only the run knows.
    pub(super) fn type_of(&self, path: &[Segment]) -> Option<Type> {
        let (Segment::Name(root), rest) = path.split_first()? else { return None };
        let name = |at: usize| match rest.get(at) {
            Some(Segment::Name(name)) => Some(name.as_str()),
            Some(Segment::Index(_)) | None => None,
        };
        match (root.as_str(), name(0), rest.len()) {
            ("inputs", Some(input), 1) => of_input(self.world.inputs.get(input)?),
            ("env" | "secrets", Some(_), 1) => Some(Type::Text),
            ("tasks", Some(task), _) => {
                let id = self.world.ids.get(task)?;
                of_task(&self.world.shapes[id.index()], &rest[1..])
            }
            ("task", Some(_), _) if !fields::OF_SELF.contains(&name(0).unwrap_or_default()) => {
                of_single(self.task?, rest)
            }
            ("task", Some("id" | "address" | "key"), 1) => Some(Type::Text),
            ("task", Some("attempt"), 1) | ("attempt", _, 0) => Some(Type::Number),
            ("key", _, 0) => Some(Type::Text),
            ("matrix", Some(axis), 1) => self.task?.axis_values(axis).map(Type::OneOf),
            ("run", Some("failed" | "ci"), 1) | ("git", Some("dirty"), 1) => Some(Type::Boolean),
            ("run", Some("status"), 1) => Some(words(RUN_STATES.iter().map(|status| status.as_str()))),
            ("run" | "git", Some(_), 1) => Some(Type::Text),
            _ => None,
        }
    }
}

fn words<'w>(words: impl Iterator<Item = &'w str>) -> Type {
    Type::OneOf(words.map(Value::from).collect())
}

fn of_input(input: &Input) -> Option<Type> {
    if let Some(choices) = &input.choices {
        return Some(Type::OneOf(choices.clone()));
    }
    match input.kind {
        InputKind::String | InputKind::Path => Some(Type::Text),
        InputKind::Integer | InputKind::Number => Some(Type::Number),
        InputKind::Boolean => Some(Type::Boolean),
        InputKind::List => Some(Type::List),
        InputKind::Object => Some(Type::Object),
        InputKind::Enum => None,
    }
}

fn of_task(shape: &Shape<'_>, path: &[Segment]) -> Option<Type> {
    match (shape.is_expanded(), path) {
        (true, [Segment::Name(field)]) => {
            let row = FactInfo::of_name(field)?;
            match row.of_many {
                OfMany::Nothing => None,
                OfMany::List => Some(Type::List),
                OfMany::Whole => of_fact(row.is),
            }
        }
        (true, _) => None,
        (false, _) => of_single(shape, path),
    }
}

/// The type of a fact that is the same for every task; `None` where it has parts.
fn of_fact(is: FactType) -> Option<Type> {
    match is {
        FactType::Text => Some(Type::Text),
        FactType::Number => Some(Type::Number),
        FactType::Paths => Some(Type::List),
        FactType::State => Some(words(TaskState::ENDS.iter().map(|state| state.as_str()))),
        FactType::Reason => Some(words(Reason::ALL.iter().map(|reason| reason.as_str()))),
        FactType::Output | FactType::Usage | FactType::Results => None,
    }
}

fn of_single(shape: &Shape<'_>, path: &[Segment]) -> Option<Type> {
    let (Segment::Name(field), deeper) = path.split_first()? else { return None };
    match (FactInfo::of_name(field)?.is, deeper) {
        (FactType::Output, _) => of_output(&shape.output, deeper),
        (is, []) => of_fact(is),
        (_, [..]) => None,
    }
}

fn of_output(output: &Output, path: &[Segment]) -> Option<Type> {
    match (output, path) {
        (Output::Text, []) | (Output::Lines, [_]) | (Output::Pairs, [Segment::Name(_)]) => Some(Type::Text),
        (Output::Lines, []) => Some(Type::List),
        (Output::Pairs, []) => Some(Type::Object),
        (Output::Schema(root), _) => of_schema(schema::at(root, path)?),
        (Output::Json | Output::Text | Output::Lines | Output::Pairs, _) => None,
    }
}

fn of_schema(schema: &serde_json::Map<String, Value>) -> Option<Type> {
    if let Some(value) = schema.get("const") {
        return Some(Type::OneOf(vec![value.clone()]));
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(Type::OneOf(values.clone()));
    }
    // "T or null" compares as T does.
    let types: Vec<&str> = match schema.get("type")? {
        Value::String(one) => vec![one],
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ => return None,
    };
    match types.as_slice() {
        ["string"] => Some(Type::Text),
        ["integer" | "number"] | ["integer", "number"] | ["number", "integer"] => Some(Type::Number),
        ["boolean"] => Some(Type::Boolean),
        ["array"] => Some(Type::List),
        ["object"] => Some(Type::Object),
        _ => None,
    }
}
