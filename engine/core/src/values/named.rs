//! Outputs that the prompt of an agent names: those of tasks whose notifications stand in it.
//!
//! 1. What is named is a file with the output of that attempt and nothing else, though the commands of a slot share one.
//! 2. Only what the prompt says in the end is named, whatever was looked at while it was rendered.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{Address, Attempt};
use crate::model::{Artifact, Digest, OutputSlice};
use crate::report::{Manifest, Texts};
use crate::text::{escape_xml, file_name};

/// An output that a prompt names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedOutput {
    /// Where it was written.
    pub slice: OutputSlice,
    /// The file that the prompt names, relative to the run folder. It may be that of the slice.
    pub file: String,
}

/// The texts of a run as the prompt of an agent speaks of them. It takes down which outputs it was asked for.
pub(super) struct PromptTexts<'a> {
    texts: &'a dyn Texts,
    /// Each with the path by which it was named.
    asked: RefCell<Vec<(String, NamedOutput)>>,
}

impl<'a> PromptTexts<'a> {
    pub(super) fn of(texts: &'a dyn Texts) -> Self {
        PromptTexts { texts, asked: RefCell::default() }
    }

    /// What these parts of a prompt name, each once.
    pub(super) fn named_in(self, parts: &[&str]) -> Vec<NamedOutput> {
        let mut named: Vec<NamedOutput> = Vec::new();
        for (path, output) in self.asked.into_inner() {
            let path = escape_xml(&path);
            if !named.contains(&output) && parts.iter().any(|part| part.contains(&*path)) {
                named.push(output);
            }
        }
        named
    }
}

impl Texts for PromptTexts<'_> {
    fn output_path(&self, task: &Address, attempt: Attempt, slice: &OutputSlice) -> String {
        let folder = format!("tasks/{}", file_name(task.as_str()));
        let is_its_own = slice.file.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
        let file = if is_its_own { slice.file.clone() } else { format!("{folder}/output.{attempt}") };
        let path = self.path(&OutputSlice::new(file.clone(), 0, slice.len));
        self.asked.borrow_mut().push((path.clone(), NamedOutput { slice: slice.clone(), file }));
        path
    }

    fn tail(&self, slice: &OutputSlice, lines: usize) -> String {
        self.texts.tail(slice, lines)
    }

    fn text(&self, slice: &OutputSlice, max_bytes: usize) -> (String, u64) {
        self.texts.text(slice, max_bytes)
    }

    fn whole(&self, slice: &OutputSlice) -> Result<String, String> {
        self.texts.whole(slice)
    }

    fn json(&self, file: &str, hash: Option<Digest>) -> Result<Value, String> {
        self.texts.json(file, hash)
    }

    fn check(&self, slice: &OutputSlice) -> Result<(), String> {
        self.texts.check(slice)
    }

    fn check_artifact(&self, artifact: &Artifact) -> Result<(), String> {
        self.texts.check_artifact(artifact)
    }

    fn manifest(&self) -> Option<Manifest> {
        self.texts.manifest()
    }

    fn path(&self, slice: &OutputSlice) -> String {
        self.texts.path(slice)
    }
}

#[cfg(test)]
#[path = "named_tests.rs"]
mod tests;
