//! Which run a person means.

use std::io;

use flow_core::ids::RunId;

use super::run_folder::RunFolder;
use super::state_dir::{StateDir, StateError, is_ours};

/// How many runs a message names.
const NAMED: usize = 5;

/// Why no run was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing has run here.
    #[error("there are no runs in `{}`", dir.display())]
    NoRuns {
        /// The state folder.
        dir: std::path::PathBuf,
    },
    /// What can't name a run.
    #[error("`{}` is no run id", text.escape_debug())]
    NotAnId {
        /// What was asked for.
        text: String,
    },
    /// No run begins like that.
    #[error("there is no run `{text}`; the newest are {}", list(newest))]
    Unknown {
        /// What was asked for.
        text: String,
        /// The newest runs, newest first.
        newest: Vec<RunId>,
    },
    /// Several runs begin like that.
    #[error("{count} runs begin with `{text}`: {}", list(candidates))]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// Some of them, newest first.
        candidates: Vec<RunId>,
        /// How many there are.
        count: usize,
    },
    /// The folder can't be used.
    #[error(transparent)]
    State(#[from] StateError),
}

impl RunFolder {
    /// All runs, oldest first. A folder whose engine died before its first event holds no run.
    pub fn list(state: &StateDir) -> Result<Vec<RunFolder>, StateError> {
        let runs = state.runs();
        let failed = |error| StateError::io("read", &runs, error);
        let entries = match std::fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                ids.extend(entry.file_name().to_str().and_then(RunId::parse));
            }
        }
        ids.sort();
        Ok(ids.into_iter().map(|id| RunFolder::at(state, id)).filter(RunFolder::has_begun).collect())
    }

    fn has_begun(&self) -> bool {
        std::fs::metadata(self.events()).is_ok_and(|events| events.len() > 0)
    }

    /// The run that a person names: `latest`, an id, or the beginning of exactly one.
    pub fn find(state: &StateDir, text: &str) -> Result<RunFolder, FindError> {
        let mut runs = RunFolder::list(state)?;
        let newest = || FindError::NoRuns { dir: state.path().to_owned() };
        let folder = if text == "latest" {
            runs.pop().ok_or_else(newest)?
        } else {
            let wanted = RunId::parse(text).ok_or_else(|| FindError::NotAnId { text: text.to_owned() })?;
            choose(runs, &wanted).ok_or_else(newest)??
        };
        // A journal that somebody else may write is nobody's truth.
        is_ours(folder.path())?;
        Ok(folder)
    }
}

/// `None`: there are no runs at all.
fn choose(runs: Vec<RunFolder>, wanted: &RunId) -> Option<Result<RunFolder, FindError>> {
    let names = |runs: &[RunFolder]| runs.iter().rev().take(NAMED).map(|run| run.id().clone()).collect();
    let text = wanted.as_str().to_owned();
    if runs.is_empty() {
        return None;
    }
    let newest = names(&runs);
    let (exact, others): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.id() == wanted);
    let mut fitting = if exact.is_empty() {
        others.into_iter().filter(|run| run.id().as_str().starts_with(&text)).collect()
    } else {
        exact
    };
    Some(match fitting.len() {
        0 => Err(FindError::Unknown { text, newest }),
        1 => fitting.pop().ok_or(FindError::Unknown { text, newest }),
        count => Err(FindError::Ambiguous { text, candidates: names(&fitting), count }),
    })
}

fn list(ids: &[RunId]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "run_find_tests.rs"]
mod tests;
