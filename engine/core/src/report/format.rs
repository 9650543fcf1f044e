//! What a format is.

use serde_json::Value;

use super::FORMATS;
use super::run_report::RunReport;
use crate::ids::{Address, Attempt};
use crate::model::{Artifact, Digest, OutputSlice};

/// A way to write a report.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// How `--report` names it.
    pub name: &'static str,
    /// The file name that it has unless a path is given.
    pub file: &'static str,
    /// What it is for, in a line of help.
    pub about: &'static str,
    /// Writes it.
    pub render: fn(&RunReport, &dyn Texts) -> String,
}

impl Format {
    /// The format of that name.
    pub fn find(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

/// A manifest as it was run.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// Its path in the repository; `None` when it is elsewhere.
    pub path: Option<String>,
    /// What stands in it.
    pub text: String,
}

/// Where the texts of a run are read from. A report is never in the way: of a text that can't be read any more, `tail` and
/// `text` say so in its place. Whoever takes a text for a value asks for the whole of it, and hears an error.
pub trait Texts {
    /// The last `lines` lines.
    fn tail(&self, slice: &OutputSlice, lines: usize) -> String;

    /// The first `max_bytes` bytes, cut between characters, and how many bytes there are.
    fn text(&self, slice: &OutputSlice, max_bytes: usize) -> (String, u64);

    /// All of it. The error names the file and says why it is not what was written: gone, shorter, changed.
    fn whole(&self, slice: &OutputSlice) -> Result<String, String>;

    /// The JSON value in a file of the run folder, with the hash that it had.
    fn json(&self, file: &str, hash: Option<Digest>) -> Result<Value, String>;

    /// Whether it is there as it was written.
    fn check(&self, slice: &OutputSlice) -> Result<(), String>;

    /// Whether a kept file is there as it was.
    fn check_artifact(&self, artifact: &Artifact) -> Result<(), String> {
        self.check(&artifact.slice())
    }

    /// The manifest that was run, where it is kept.
    fn manifest(&self) -> Option<Manifest> {
        None
    }

    /// The file as a reader of the report can open it.
    fn path(&self, slice: &OutputSlice) -> String {
        slice.file.clone()
    }

    /// The file in which somebody who is told of an attempt finds its output.
    fn output_path(&self, _task: &Address, _attempt: Attempt, slice: &OutputSlice) -> String {
        self.path(slice)
    }
}
