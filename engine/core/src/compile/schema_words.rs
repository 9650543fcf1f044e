//! Slips in a JSON Schema that a validator takes without a word: what it doesn't know it ignores, and a misspelt
//! `properties` leaves a schema that says nothing.

use serde_json::{Map, Value};

use crate::diagnostic::Code;
use crate::text::did_you_mean;

/// Keywords that decide what is valid.
const DECIDING: &[&str] = &[
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
    "then",
    "else",
    "required",
    "additionalProperties",
    "patternProperties",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "$defs",
    "definitions",
    "contains",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "additionalItems",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords that tell people or programs something, with those of `OpenAPI` that other schemas have too.
const TELLING: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "id",
    "externalDocs",
    "discriminator",
    "xml",
];

/// Words for keywords that no similarity finds.
const FOREIGN: &[(&str, &str)] = &[
    ("nullable", "write `type: [string, \"null\"]`"),
    ("optional", "what isn't in `required` may be missing"),
    ("values", "write `enum`"),
    ("choices", "write `enum`"),
    ("options", "write `enum`"),
    ("fields", "write `properties`"),
    ("props", "write `properties`"),
    ("elements", "write `items`"),
    ("element", "write `items`"),
    ("min", "write `minimum`, `minLength` or `minItems`"),
    ("max", "write `maximum`, `maxLength` or `maxItems`"),
];

/// The most slips of one schema that are told.
const MOST: usize = 20;

/// Something that a validator ignores.
pub(super) struct Slip {
    /// The JSON pointer to the value.
    pub path: String,
    pub code: Code,
    pub message: String,
    pub help: String,
}

/// All slips of a schema that is otherwise good.
pub(super) fn slips(root: &Value) -> Vec<Slip> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), root)];
    while let Some((path, schema)) = open.pop() {
        let Some(schema) = schema.as_object() else { continue };
        names_not_described(&path, schema, &mut found);
        let mut inner = Vec::new();
        for (word, value) in schema {
            let at = format!("{path}/{}", escaped(word));
            match (word.as_str(), value) {
                (
                    "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                    | "dependencies",
                    Value::Object(named),
                ) => inner.extend(named.iter().map(|(name, one)| (format!("{at}/{}", escaped(name)), one))),
                ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(several)) => {
                    inner.extend(
                        several.iter().enumerate().map(|(index, one)| (format!("{at}/{index}"), one)),
                    );
                }
                (
                    "items"
                    | "additionalProperties"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames"
                    | "additionalItems"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "contentSchema",
                    one,
                ) => inner.push((at, one)),
                _ => found.extend(unknown_word(at, word)),
            }
        }
        // A stack: what stands first is looked at first.
        open.extend(inner.into_iter().rev());
        if found.len() >= MOST {
            break;
        }
    }
    found.truncate(MOST);
    found
}

fn unknown_word(path: String, word: &str) -> Option<Slip> {
    let known = DECIDING.contains(&word) || TELLING.contains(&word);
    // `$comment`, `$id` and their kin tell nothing of values; `x-…` is everybody's own.
    if known || word.starts_with('$') || word.to_ascii_lowercase().starts_with("x-") {
        return None;
    }
    let message = format!("`{word}` is no word of a JSON Schema");
    if let Some((_, help)) = FOREIGN.iter().find(|(foreign, _)| *foreign == word) {
        return Some(Slip { path, code: Code::BadSchema, message, help: (*help).to_owned() });
    }
    // Short ones (`not`, `if`) are like too much.
    let near = did_you_mean(word, DECIDING.iter().chain(TELLING).copied().filter(|one| one.len() > 3));
    Some(match near {
        Some(near) => {
            let code = if DECIDING.contains(&near) { Code::BadSchema } else { Code::IgnoredKey };
            Slip { path, code, message, help: format!("did you mean `{near}`?") }
        }
        None => {
            let help = "it is ignored; take it out, or call it `x-…`".to_owned();
            Slip { path, code: Code::IgnoredKey, message, help }
        }
    })
}

/// What `required` names and `properties` lacks, where only `properties` describes the object.
fn names_not_described(path: &str, schema: &Map<String, Value>, found: &mut Vec<Slip>) {
    let elsewhere = ["allOf", "anyOf", "oneOf", "if", "patternProperties", "$ref"];
    let open = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    let (Some(Value::Object(properties)), Some(Value::Array(required))) =
        (schema.get("properties"), schema.get("required"))
    else {
        return;
    };
    if open || elsewhere.iter().any(|word| schema.contains_key(*word)) {
        return;
    }
    for (index, name) in required.iter().enumerate() {
        let Some(name) = name.as_str().filter(|name| !properties.contains_key(*name)) else { continue };
        let near = did_you_mean(name, properties.keys().map(String::as_str));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("say what it is: `properties: {{ {name}: {{ type: string }} }}`"),
        };
        found.push(Slip {
            path: format!("{path}/required/{index}"),
            code: Code::BadSchema,
            message: format!("`required` names `{name}`, which `properties` lacks"),
            help,
        });
    }
}

/// A name as a step of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
