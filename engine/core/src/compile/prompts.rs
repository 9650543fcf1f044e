//! Prompts: written out, or in files beside the manifest that are read once and rendered alike.

use std::collections::HashMap;
use std::sync::Arc;

use super::findings::{Findings, Written};
use super::input::Place;
use super::scope::{Scope, Spot};
use super::templates;
use super::words::literal;
use crate::diagnostic::{Code, SourceFile};
use crate::syntax::{PromptText, WorkflowFile};
use crate::template::Template;

/// The files that prompts name, by the path as written.
pub(super) type PromptFiles = HashMap<String, Arc<SourceFile>>;

/// Reads every prompt file once; what can't be read is reported at each place that names it.
pub(super) fn read(findings: &mut Findings, place: &dyn Place, workflow: &WorkflowFile) -> PromptFiles {
    let mut files = PromptFiles::new();
    for task in &workflow.tasks {
        let Some(PromptText::File(path)) = &task.keys.prompt else { continue };
        if files.contains_key(&path.value) || !literal(findings, "prompt.file", path) {
            continue;
        }
        match place.read(&path.value) {
            Ok(text) => {
                let name = beside(&workflow.file.name, &path.value);
                files.insert(path.value.clone(), Arc::new(SourceFile::new(name, text)));
            }
            Err(why) => {
                let message = format!("can't read the prompt `{}`: {why}", path.value);
                let finding = findings.at(Code::Unreadable, path.span, message);
                findings.push(finding.help("the path is relative to the folder of this file"));
            }
        }
    }
    files
}

/// How messages call a file whose path is relative to the manifest.
fn beside(manifest: &str, path: &str) -> String {
    match manifest.rsplit_once('/') {
        Some((folder, _)) if !path.starts_with('/') => format!("{folder}/{}", path.trim_start_matches("./")),
        Some(_) | None => path.trim_start_matches("./").to_owned(),
    }
}

/// Reads the template of a prompt.
pub(super) fn prompt<'a>(
    findings: &mut Findings,
    scope: &mut Scope<'_, 'a>,
    prompt: &'a PromptText,
) -> Option<Template> {
    let (written, what) = match prompt {
        PromptText::Inline(text) => (Written::from(text), "`prompt` is empty".to_owned()),
        PromptText::File(path) => {
            let file = scope.world.prompts.get(&path.value)?;
            (Written::from(file), format!("the prompt `{}` is empty", path.value))
        }
    };
    if written.text.trim().is_empty() {
        findings.push(findings.at(Code::BadValue, prompt.written().span, what));
    }
    templates::text(findings, scope, Spot::Attempt, written)
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
