//! The folder of an agent task: what it was told, what was said, what it cost, what came of it.
//!
//! | file | what |
//! |---|---|
//! | `meta.json` | whose conversation the latest one is |
//! | `prompt.md`, `system.md` | the first prompt and the system prompt of the latest conversation |
//! | `context.jsonl` | the transcript of the latest conversation, append-only; earlier ones as `context.N.jsonl` |
//! | `wire.jsonl` | the log of what happened, over all attempts |
//! | `output.txt` | final texts, appended; outcomes hold their places |
//! | `output.N.json` | the output of attempt N, when it is too large for the journal |

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flow_core::converse::{Item, LogLine, Logged};
use flow_core::ids::Attempt;
use flow_core::model::{Digest, Outcome, OutputSlice, Reason};
use serde::{Deserialize, Serialize};

use super::super::mask::Mask;
use super::launch::{AgentLaunch, AgentStart};
use crate::sys::clock::now;
use crate::sys::files::{make_private_dirs, write_atomically};

const CONTEXT: &str = "context.jsonl";
pub(super) const WIRE: &str = "wire.jsonl";
const META: &str = "meta.json";
const SYSTEM: &str = "system.md";

/// Why an agent's folder can't be written.
#[derive(Debug, thiserror::Error)]
#[error("can't write `{}`: {source}", path.display())]
pub(super) struct FilesError {
    path: PathBuf,
    source: io::Error,
}

impl FilesError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> FilesError {
        let path = path.to_owned();
        move |source| FilesError { path, source }
    }

    /// The outcome of an attempt that can't go on without its files.
    pub(super) fn outcome(&self) -> Outcome {
        let reason = match self.source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Reason::NoSpace,
            _ => Reason::Internal,
        };
        Outcome::failed(reason, self.to_string())
    }
}

/// How many calls of the model the attempts of a task have made so far: where a script goes on.
pub fn recorded_calls(folder: &Path) -> io::Result<u32> {
    match fs::read(folder.join(WIRE)) {
        Ok(bytes) => {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| is_request(line));
            Ok(u32::try_from(lines.count()).unwrap_or(u32::MAX))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Whether a whole line of the log says how a request ended.
fn is_request(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        ev: Option<String>,
    }
    let Some(line) = line.strip_suffix(b"\n") else { return false };
    // Earlier versions wrote nothing else, and no kind.
    serde_json::from_slice(line).is_ok_and(|Kind { ev }| ev.is_none_or(|ev| ev == "request_ended"))
}

/// Whose conversation stands in a folder.
#[derive(Debug, Serialize, Deserialize)]
struct Meta {
    agent_id: String,
    agent: String,
}

/// Whether an agent can go on with what stands in this folder: a transcript, and of this conversation as far as it says.
pub fn has_conversation(folder: &Path, agent_id: &str) -> io::Result<bool> {
    let meta = match fs::read(folder.join(META)) {
        Ok(bytes) => serde_json::from_slice::<Meta>(&bytes).ok(),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok(meta.is_none_or(|meta| meta.agent_id == agent_id) && !recorded(folder)?.items.is_empty())
}

/// What the latest attempt of an agent task was told and has said, for a fork of it.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Its system prompt.
    pub system: String,
    /// Its transcript.
    pub items: Vec<Item>,
}

/// Reads what the latest attempt of an agent task left in its folder; nothing where there was none.
pub fn recorded(folder: &Path) -> io::Result<Recorded> {
    let items = match fs::read(folder.join(CONTEXT)) {
        Ok(bytes) => whole_items(&bytes).0,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Recorded::default()),
        Err(error) => return Err(error),
    };
    Ok(Recorded { system: fs::read_to_string(folder.join(SYSTEM))?, items })
}

/// The items up to the first line that is not whole, and how many bytes they take.
fn whole_items(bytes: &[u8]) -> (Vec<Item>, usize) {
    let mut items = Vec::new();
    let mut whole = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        let Ok(item) = serde_json::from_slice(text) else { break };
        items.push(item);
        whole += line.len();
    }
    (items, whole)
}

/// The open folder of an attempt.
#[derive(Debug)]
pub(super) struct AgentFiles {
    folder: PathBuf,
    name: String,
    attempt: Attempt,
    context: File,
    wire: File,
    mask: Option<Arc<Mask>>,
}

impl AgentFiles {
    /// Makes or opens the folder.
    pub(super) fn open(launch: &AgentLaunch) -> Result<Self, FilesError> {
        let folder = launch.folder.clone();
        make_private_dirs(&folder).map_err(FilesError::at(&folder))?;
        match launch.start {
            AgentStart::Fresh => set_aside(&folder)?,
            AgentStart::Continue => {}
        }
        Ok(AgentFiles {
            context: append(&folder.join(CONTEXT))?,
            wire: append(&folder.join(WIRE))?,
            folder,
            name: launch.folder_name.clone(),
            attempt: launch.attempt,
            mask: launch.mask.clone(),
        })
    }

    /// Writes down who begins a conversation, and what it is told.
    pub(super) fn begin(&self, launch: &AgentLaunch) -> Result<(), FilesError> {
        let meta = Meta { agent_id: launch.agent_id.clone(), agent: launch.agent_name.clone() };
        let meta = serde_json::to_string(&meta).map_err(io::Error::from);
        let told = [
            ("prompt.md", launch.prompt.as_str()),
            (SYSTEM, &launch.spec.system),
            (META, &meta.map_err(FilesError::at(&self.folder.join(META)))?),
        ];
        for (name, text) in told {
            let path = self.folder.join(name);
            let written = create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(FilesError::at(&path))?;
        }
        Ok(())
    }

    /// The system prompt that the conversation began with.
    pub(super) fn system(&self) -> Result<String, FilesError> {
        let path = self.folder.join(SYSTEM);
        fs::read_to_string(&path).map_err(FilesError::at(&path))
    }

    /// The transcript of an earlier attempt as far as it is whole. What follows a line that is not is cut off, since
    /// more is about to be appended.
    pub(super) fn transcript(&self) -> Result<Vec<Item>, FilesError> {
        let path = self.folder.join(CONTEXT);
        let bytes = fs::read(&path).map_err(FilesError::at(&path))?;
        let (items, whole) = whole_items(&bytes);
        if whole < bytes.len() {
            self.context.set_len(whole as u64).map_err(FilesError::at(&path))?;
        }
        Ok(items)
    }

    /// Appends to the transcript.
    pub(super) fn record(&self, item: &Item) -> Result<(), FilesError> {
        write_line(&self.context, item).map_err(FilesError::at(&self.folder.join(CONTEXT)))
    }

    /// Appends to the log.
    pub(super) fn log(&self, line: LogLine) -> Result<Logged, FilesError> {
        let mut logged = Logged { at: now(), line };
        let written = match &self.mask {
            None => Ok(()),
            Some(mask) => serde_json::to_value(&logged).and_then(|mut value| {
                mask.apply_within(&mut value);
                logged = serde_json::from_value(value)?;
                Ok(())
            }),
        };
        written
            .map_err(io::Error::from)
            .and_then(|()| write_line(&self.wire, &logged))
            .map_err(FilesError::at(&self.folder.join(WIRE)))?;
        Ok(logged)
    }

    /// Keeps a final text; an empty one is none.
    pub(super) fn text(&self, text: &str) -> Result<Option<OutputSlice>, FilesError> {
        if text.is_empty() {
            return Ok(None);
        }
        let path = self.folder.join("output.txt");
        let mut file = append(&path)?;
        let start = file.metadata().map_err(FilesError::at(&path))?.len();
        file.write_all(text.as_bytes()).map_err(FilesError::at(&path))?;
        let slice = OutputSlice::new(format!("{}/output.txt", self.name), start, text.len() as u64);
        Ok(Some(slice.with_hash(Digest::of(text.as_bytes()))))
    }

    /// Keeps an output that is too large for the journal; gives its path relative to the run folder.
    pub(super) fn output(&self, json: &str) -> Result<String, FilesError> {
        let name = format!("output.{}.json", self.attempt);
        let path = self.folder.join(&name);
        write_atomically(&path, json.as_bytes()).map_err(FilesError::at(&path))?;
        Ok(format!("{}/{name}", self.name))
    }
}

/// Keeps the transcript of the attempt before under another name.
fn set_aside(folder: &Path) -> Result<(), FilesError> {
    let current = folder.join(CONTEXT);
    if !current.exists() {
        return Ok(());
    }
    let free = (1..u32::MAX).map(|n| folder.join(format!("context.{n}.jsonl"))).find(|path| !path.exists());
    match free {
        Some(path) => fs::rename(&current, path).map_err(FilesError::at(&current)),
        None => Ok(()),
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn append(path: &Path) -> Result<File, FilesError> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    file.map_err(FilesError::at(path))
}

/// One write a line, so that a crash leaves at most the last one torn.
fn write_line(mut file: &File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
