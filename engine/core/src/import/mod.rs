//! Agent files of every format, read as they are: one file and one line of `IMPORTERS` a format.

mod agent_file;
#[cfg(test)]
mod docs_tests;
mod native;
mod recover;

pub use agent_file::{AgentFile, ToolsFile};

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SourceFile};

/// Every format, the first that takes a file reads it.
const IMPORTERS: &[Importer] = &[native::IMPORTER];

/// A format of agent files.
pub(crate) struct Importer {
    /// Whether a file of this name may be one.
    pub(crate) takes: fn(&str) -> bool,
    /// Reads it.
    pub(crate) read: fn(&Arc<SourceFile>) -> Import,
}

/// What came of a file.
#[derive(Debug)]
pub struct Import {
    /// The definition; `None` when the file has none, or when it can't be told apart from prose.
    pub agent: Option<AgentFile>,
    /// Everything that is wrong or odd. With an error among them the definition must not be used.
    pub found: Vec<Diagnostic>,
}

/// Reads an agent file. `None`: no format claims the name.
pub fn import(file: &Arc<SourceFile>) -> Option<Import> {
    IMPORTERS.iter().find(|importer| (importer.takes)(&file.name)).map(|importer| (importer.read)(file))
}
