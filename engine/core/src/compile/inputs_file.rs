//! A file of inputs: YAML or JSON, names to values.

use std::sync::Arc;

use super::input::{GivenInput, GivenValue};
use super::literal::json;
use crate::diagnostic::{Code, Diagnostic, SourceFile};
use crate::syntax::{NodeKind, parse_yaml};

/// The inputs that a file gives. JSON is YAML too.
pub fn inputs_file(file: &Arc<SourceFile>) -> Result<Vec<GivenInput>, Vec<Diagnostic>> {
    let tree = parse_yaml(file)?;
    match &tree.kind {
        NodeKind::Null => Ok(Vec::new()),
        NodeKind::Map(entries) => Ok(entries
            .iter()
            .map(|entry| GivenInput {
                name: entry.key.to_string(),
                value: GivenValue::Json(json(&entry.value)),
                place: Some((Arc::clone(file), entry.key_span)),
            })
            .collect()),
        NodeKind::Bool(_)
        | NodeKind::Int(_)
        | NodeKind::Float(_)
        | NodeKind::Text { .. }
        | NodeKind::List(_) => {
            let message = format!("`{}` must map names of inputs to values", file.name);
            Err(vec![
                Diagnostic::new(Code::WrongType, file, tree.span, message).help("write `name: value` lines"),
            ])
        }
    }
}

#[cfg(test)]
#[path = "inputs_file_tests.rs"]
mod tests;
