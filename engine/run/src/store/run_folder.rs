//! The folder of one run.

use std::io;
use std::path::{Component, Path, PathBuf};

use flow_core::ids::{Address, Millis, RunId};
use flow_core::text::file_name;

use super::state_dir::{StateDir, StateError};
use crate::sys::files;

/// A run's folder: `.flow/runs/<id>`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    id: RunId,
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a new run. No two processes get the same.
    pub fn create(state: &StateDir, now: Millis) -> Result<RunFolder, StateError> {
        loop {
            let id = new_id(now)
                .map_err(|error| StateError::io("make a name for a run in", &state.runs(), error))?;
            let folder = RunFolder::at(state, id);
            match files::make_private_dir(&folder.path).and_then(|()| files::make_private_dir(&folder.out()))
            {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StateError::io("make the run folder", &folder.path, error)),
            }
        }
    }

    pub(super) fn at(state: &StateDir, id: RunId) -> RunFolder {
        let path = state.runs().join(id.as_str());
        RunFolder { id, path }
    }

    /// The run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal.
    pub fn events(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    /// Orders from other processes to a live run.
    pub fn control(&self) -> PathBuf {
        self.path.join("control.jsonl")
    }

    /// The manifest as it was read.
    pub fn plan(&self) -> PathBuf {
        self.path.join("plan.yaml")
    }

    /// The agent definitions as they were read.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// The inputs; secrets by name only.
    pub fn inputs(&self) -> PathBuf {
        self.path.join("inputs.json")
    }

    /// The output of shell attempts.
    pub fn out(&self) -> PathBuf {
        self.path.join("out")
    }

    /// The report in one of its formats.
    pub fn report(&self, extension: &str) -> PathBuf {
        self.path.join("report").with_extension(extension)
    }

    /// Where the files of a task go. Not made until something is to be put there.
    pub fn task(&self, address: &Address) -> PathBuf {
        self.path.join("tasks").join(file_name(address.as_str()))
    }

    /// Makes the folder of a task.
    pub fn make_task(&self, address: &Address) -> io::Result<PathBuf> {
        let path = self.task(address);
        files::make_private_dirs(&path)?;
        Ok(path)
    }

    /// A path of this folder as the journal writes it. `None`: it lies outside.
    pub fn relative(&self, path: &Path) -> Option<String> {
        Some(path.strip_prefix(&self.path).ok()?.to_str()?.to_owned())
    }

    /// The file that a relative path of the journal names. A journal is data: what leads out of the folder is refused.
    pub fn resolve(&self, relative: &str) -> io::Result<PathBuf> {
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let relative = Path::new(relative);
        if relative.as_os_str().is_empty() || !relative.components().all(plain) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a path that leads out of the run folder",
            ));
        }
        Ok(self.path.join(relative))
    }
}

/// Date and time to the second, then 6 base-32 characters: two that say the millisecond, so that order by name is
/// order by time also within a second, and four at random.
fn new_id(now: Millis) -> io::Result<RunId> {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let millis = i64::try_from(now.0).map_err(io::Error::other)?;
    let moment = jiff::Timestamp::from_millisecond(millis).map_err(io::Error::other)?;
    let mut text = moment.strftime("%Y%m%d-%H%M%S-").to_string();
    let fraction = u32::try_from(now.0 % 1000).map_err(io::Error::other)?;
    let number = fraction << 20 | files::random_u32()? >> 12;
    text.extend((0..6).rev().map(|place| char::from(DIGITS[(number >> (5 * place) & 31) as usize])));
    RunId::parse(&text).ok_or_else(|| io::Error::other("bug: a run id that is none"))
}

#[cfg(test)]
#[path = "run_folder_tests.rs"]
mod tests;
