//! What GitHub Actions shows beside the code, one workflow command a failure, and what later steps read.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::brief::{cause, said};
use super::format::{Format, Manifest, Texts};
use super::run_report::{RunReport, TaskReport};
use crate::diagnostic::SourceFile;
use crate::syntax::{WorkflowFile, workflow};
use crate::text::{one_line, visible};

pub(super) const FORMAT: Format =
    Format { name: "github", file: "report.github", about: "annotations of GitHub Actions", render };

/// The longest message of an annotation, in characters.
const WIDTH: usize = 400;

/// GitHub shows ten of a step, and fifty of a job.
const MOST: usize = 50;

/// The most that GitHub takes as one output.
const LONGEST_OUTPUT: usize = 1 << 20;

// Writing to a string can't fail, so the results of `write!` are dropped in this file.

fn render(report: &RunReport, texts: &dyn Texts) -> String {
    let mut failures = report.failures().peekable();
    if failures.peek().is_none() {
        return String::new();
    }
    let places = Places::of(texts.manifest());
    failures.take(MOST).map(|task| annotation(task, &places, texts)).collect()
}

/// Where tasks stand in the manifest, as far as GitHub can show it.
struct Places {
    /// The manifest's path in the repository; `None` when it is elsewhere.
    path: Option<String>,
    file: Arc<SourceFile>,
    tasks: Option<WorkflowFile>,
}

impl Places {
    fn of(manifest: Option<Manifest>) -> Self {
        let Manifest { path, text } = manifest.unwrap_or_default();
        let file = Arc::new(SourceFile::new(String::new(), text));
        let (tasks, _) = workflow(&file);
        Places { path, file, tasks }
    }

    /// `file=…,line=…,` of a task or an instance.
    fn of_task(&self, task: &TaskReport) -> String {
        let Some(path) = &self.path else { return String::new() };
        let own = task.address.without_keys();
        let found = self.tasks.iter().flat_map(|file| &file.tasks).find(|task| task.id.value.as_str() == own);
        let line = found.map(|task| self.file.line_column(task.id.span.start).0);
        let line = line.map(|line| format!("line={line},")).unwrap_or_default();
        format!("file={},{line}", property(path))
    }
}

fn annotation(task: &TaskReport, places: &Places, texts: &dyn Texts) -> String {
    let cause = match cause(task) {
        cause if cause.is_empty() => task.state.in_words(!task.never_began()).to_owned(),
        cause => cause,
    };
    let told = said(task, texts).or_else(|| task.message.clone()).unwrap_or_else(|| cause.clone());
    let title = one_line(&visible(&format!("{}: {cause}", task.address)), WIDTH);
    let message = one_line(&visible(&told), WIDTH);
    format!("::error {}title={}::{}\n", places.of_task(task), property(&title), data(&message))
}

/// The outputs of the plan as lines of the file that `GITHUB_OUTPUT` names, and the names of those that it can't hold.
/// `mark` ends a value of several lines: nobody may know it beforehand.
pub fn outputs(outputs: &Value, mark: &str) -> (String, Vec<String>) {
    let (mut lines, mut left) = (String::new(), Vec::new());
    for (name, value) in outputs.as_object().into_iter().flatten() {
        let text = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
        };
        let named = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !named || name.is_empty() || text.len() > LONGEST_OUTPUT || text.contains(mark) {
            left.push(name.clone());
        } else if text.contains(['\n', '\r']) {
            let _ = writeln!(lines, "{name}<<{mark}\n{text}\n{mark}");
        } else {
            let _ = writeln!(lines, "{name}={text}");
        }
    }
    (lines, left)
}

/// Text behind the second `::`: it can't begin another command.
pub fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text between the first two `::`.
pub fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
#[path = "github_tests.rs"]
mod tests;
