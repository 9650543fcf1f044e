//! What the commits say that flow makes of a task's work.

use serde::{Deserialize, Serialize};

use crate::ids::RunId;
use crate::text::one_line;

/// The longest subject that flow makes up; git's own views cut longer ones.
const SUBJECT: usize = 72;

/// What a task gives to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitMessage {
    /// Nothing: the tree's name has to do.
    #[default]
    Nameless,
    /// A line about the task.
    Titled(String),
    /// `merge.message`, to be taken as it is.
    Written(String),
}

impl CommitMessage {
    /// The message of a task: the written one, else its description, else the first line of its prompt.
    pub(super) fn of(written: Option<String>, described: Option<&str>, prompt: Option<&str>) -> Self {
        if let Some(written) = written.filter(|written| !written.trim().is_empty()) {
            return CommitMessage::Written(written);
        }
        let first = |text: &str| {
            let lines = text.lines().map(|line| line.trim_start_matches('#').trim());
            lines.clone().find(|line| !line.is_empty()).map(|line| one_line(line, SUBJECT))
        };
        let title = described.and_then(first).or_else(|| prompt.and_then(first));
        title.map_or(CommitMessage::Nameless, CommitMessage::Titled)
    }

    /// The commit of what a task left uncommitted in its tree.
    pub fn of_rest(&self, tree: &str, run: &RunId) -> String {
        let whose = format!("Work of {tree} in run {run}");
        let by = "Committed by flow at the end of the task.";
        match self {
            CommitMessage::Written(text) => whole(text),
            CommitMessage::Titled(title) => format!("{title}\n\n{whose}.\n{by}\n"),
            CommitMessage::Nameless => format!("{whose}\n\n{by}\n"),
        }
    }

    /// The one commit for all of a branch, whose commits have these subjects.
    pub fn of_all(&self, tree: &str, run: &RunId, subjects: &[String]) -> String {
        let whose = format!("Work of {tree} in run {run}");
        let title = match self {
            CommitMessage::Written(text) => return whole(text),
            CommitMessage::Titled(title) => title,
            CommitMessage::Nameless => &whose,
        };
        let others = subjects.iter().filter(|subject| *subject != title);
        let mut body: String = others.map(|subject| format!("- {subject}\n")).collect();
        if title != &whose {
            let blank = if body.is_empty() { "" } else { "\n" };
            body.push_str(&format!("{blank}{whose}.\n"));
        }
        if body.is_empty() { format!("{title}\n") } else { format!("{title}\n\n{body}") }
    }
}

/// A message as git keeps it: without blank lines around, with a line end.
fn whole(text: &str) -> String {
    format!("{}\n", text.trim())
}

#[cfg(test)]
#[path = "commit_tests.rs"]
mod tests;
