//! What every call of an agent shares.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use flow_core::policy::Permissions;

use crate::sys::stop::StopSignal;

/// Where and under which rules an agent's tools work. Clones share what was read.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The agent's own tree, absolute and free of links.
    pub tree: PathBuf,
    /// The folder in it where relative paths and commands start, absolute and free of links.
    pub dir: PathBuf,
    /// Files of the run that its prompt names. `Read` opens them, though they lie where nothing else does.
    pub opened: Arc<[PathBuf]>,
    /// Variables for commands, over the few that they inherit.
    pub env: Vec<(String, String)>,
    /// Which calls pass; asked again where a path leads elsewhere than its text says.
    pub permissions: Arc<Permissions>,
    /// Ends what a call has under way.
    pub stop: StopSignal,
    /// The value of `FLOW_ATTEMPT` in every process, so that one which escapes its group is known.
    pub tag: String,
    /// Which files the agent has seen.
    pub reads: ReadState,
}

/// Which files an agent has read, and what they were then.
#[derive(Clone, Debug, Default)]
pub struct ReadState(Arc<Mutex<HashMap<PathBuf, Stamp>>>);

/// Tells one content of a file from the next without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Stamp { modified: metadata.modified().ok(), len: metadata.len() }
    }
}

/// What an agent knows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It never read it.
    Never,
    /// It is another file by now.
    Stale,
    /// What it read is what is there.
    Fresh,
}

impl ReadState {
    /// Remembers that the agent knows the file as it is now.
    pub(super) fn remember(&self, path: &Path, metadata: &Metadata) {
        self.table().insert(path.to_owned(), Stamp::of(metadata));
    }

    /// What the agent knows of the file.
    pub(super) fn seen(&self, path: &Path, metadata: &Metadata) -> Seen {
        match self.table().get(path) {
            None => Seen::Never,
            Some(stamp) if *stamp == Stamp::of(metadata) => Seen::Fresh,
            Some(_) => Seen::Stale,
        }
    }

    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Stamp>> {
        // Entries are whole at every moment, so a panic elsewhere leaves nothing broken.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
