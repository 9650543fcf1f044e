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
use crate::template::{Template, TemplateError};

/// The files that prompts name, by the path as written.
pub(super) type PromptFiles = HashMap<String, PromptFile>;

/// A prompt that is a file, and its template: parsed once, however many tasks name it.
pub(super) struct PromptFile {
    file: Arc<SourceFile>,
    template: Result<Template, Vec<TemplateError>>,
}

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
                let (file, template) =
                    (Arc::new(SourceFile::new(name, text.as_str())), Template::text(&text));
                files.insert(path.value.clone(), PromptFile { file, template });
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

/// What every agent is told first: the texts as written, and the files whole, each under its name.
pub(super) fn briefing(
    findings: &mut Findings,
    place: &dyn Place,
    workflow: &WorkflowFile,
) -> Option<String> {
    let mut parts = Vec::with_capacity(workflow.briefing.len());
    for part in &workflow.briefing {
        let written = part.written();
        if !literal(findings, "briefing", written) {
            continue;
        }
        match part {
            PromptText::Inline(text) => parts.push(text.value.trim_end().to_owned()),
            PromptText::File(path) => match place.read(&path.value) {
                Ok(text) => parts.push(format!("{}:\n\n{}", path.value, fenced(&text))),
                Err(why) => {
                    let message = format!("can't read `{}` for the briefing: {why}", path.value);
                    let finding = findings.at(Code::Unreadable, path.span, message);
                    findings.push(finding.help("the path is relative to the folder of this file"));
                }
            },
        }
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// A file's text between fences that are longer than any it has.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
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
    let (written, what, parsed) = match prompt {
        PromptText::Inline(text) => (Written::from(text), "`prompt` is empty".to_owned(), None),
        PromptText::File(path) => {
            let PromptFile { file, template } = scope.world.prompts.get(&path.value)?;
            (Written::from(file), format!("the prompt `{}` is empty", path.value), Some(template.clone()))
        }
    };
    if written.text.trim().is_empty() {
        findings.push(findings.at(Code::BadValue, prompt.written().span, what));
    }
    let parsed = parsed.unwrap_or_else(|| Template::text(written.text));
    templates::checked(findings, scope, Spot::Attempt, written, parsed)
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
