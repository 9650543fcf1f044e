//! What is asked of an attempt once nothing of it lives: its output in its form, its artifacts, what the plan expects.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flow_core::ids::Address;
use flow_core::model::{AttemptEnd, Digest, Outcome, Reason};
use flow_core::plan::Output;
use flow_core::text::{format_duration, list_some};
use flow_core::values::settle_output;
use serde_json::Value;

use super::artifacts::collect;
use super::site::Site;
use crate::execute::Mask;
use crate::store::{RunFolder, read_whole};
use crate::workspace::{PrivateTree, Snapshot, Trees, WorkspaceError};

/// An output larger than this as JSON is a file of the run.
const INLINE_OUTPUT: usize = 64 * 1024;

/// What must hold of an attempt that says it went well.
pub(super) struct Checks {
    pub(super) output: Output,
    pub(super) pairs: Option<PairsFile>,
    artifacts: Vec<String>,
    files: Vec<String>,
    changes: Option<bool>,
    /// The shared tree at the start, where it must stay as it is.
    before: Option<Snapshot>,
    /// The project root.
    root: PathBuf,
    dir: PathBuf,
    /// `timeout.run`, for the message of an attempt that ran longer.
    time: Option<Duration>,
    tree: Option<Arc<PrivateTree>>,
    trees: Arc<Trees>,
    folder: Arc<RunFolder>,
    address: Address,
}

/// The file `$FLOW_OUTPUT` of an attempt. It is gone once its attempt is judged: what it said is in the journal.
pub(super) struct PairsFile {
    pub(super) path: PathBuf,
    /// The most that it may hold.
    pub(super) limit: u64,
    /// What must not get into the journal.
    pub(super) mask: Option<Arc<Mask>>,
}

impl Drop for PairsFile {
    fn drop(&mut self) {
        // The task may have removed it itself.
        let _ = std::fs::remove_file(&self.path);
    }
}

type Fault = (Reason, String);

/// Where an output in its declared form is.
enum Kept {
    /// It is the text itself.
    Text,
    /// In the journal.
    Inline(Value),
    /// In a file of the run, and what that holds.
    File(Option<String>, Digest),
}

impl Checks {
    /// What is asked of every attempt. What its kind asks beyond that, the kind adds.
    pub(super) fn of(site: &Site<'_>) -> Self {
        let work = &site.packet.work;
        Checks {
            output: Output::Text,
            pairs: None,
            artifacts: work.artifacts.clone(),
            files: work.expect.files.clone(),
            changes: work.expect.changes,
            before: None,
            root: site.host.root().to_owned(),
            dir: site.dir.clone(),
            time: work.timeout.run,
            tree: site.tree.clone(),
            trees: Arc::clone(&site.host.trees),
            folder: Arc::clone(&site.host.folder),
            address: site.packet.address.clone(),
        }
    }

    /// Notes what must stay as it is. The error is the end of an attempt that has not begun.
    pub(super) async fn begin(&mut self) -> Result<(), Outcome> {
        if self.changes != Some(false) || self.tree.is_some() {
            return Ok(());
        }
        let root = self.root.clone();
        match tokio::task::spawn_blocking(move || Snapshot::of(&root)).await {
            Ok(Ok(before)) => {
                self.before = Some(before);
                Ok(())
            }
            Ok(Err(error)) => Err(Outcome::failed(error.reason(), error.one_line())),
            Err(error) => {
                Err(Outcome::failed(Reason::Internal, format!("bug: a look at the tree panicked: {error}")))
            }
        }
    }

    /// Judges an attempt. One that failed hands over its artifacts all the same: they may say why.
    pub(super) async fn judge(self, mut outcome: Outcome) -> Outcome {
        if let (Some(Reason::Timeout), None, Some(time)) = (outcome.reason, &outcome.message, self.time) {
            outcome.message = Some(format!("ran longer than {} (`timeout`)", format_duration(time)));
        }
        let asks = self.output != Output::Text || !self.files.is_empty() || self.changes.is_some();
        let nothing_to_do = match outcome.end {
            AttemptEnd::Completed => !asks && self.artifacts.is_empty(),
            AttemptEnd::Failed => self.artifacts.is_empty(),
            AttemptEnd::Killed | AttemptEnd::Lost => true,
        };
        if nothing_to_do {
            return outcome;
        }
        let judged = tokio::task::spawn_blocking(move || self.judge_now(outcome)).await;
        judged.unwrap_or_else(|error| {
            Outcome::failed(Reason::Internal, format!("bug: a check panicked: {error}"))
        })
    }

    fn judge_now(self, mut outcome: Outcome) -> Outcome {
        let artifacts = self.keep_artifacts(&mut outcome);
        if outcome.end != AttemptEnd::Completed {
            return outcome;
        }
        let settled = self.settle(&outcome).map(|settled| match settled {
            Kept::Text => {}
            Kept::Inline(value) => outcome.output = Some(value),
            Kept::File(file, hash) => (outcome.output_file, outcome.output_hash) = (file, Some(hash)),
        });
        match settled.and(artifacts).and_then(|()| self.expectations()) {
            Ok(()) => outcome,
            Err((reason, message)) => {
                Outcome { end: AttemptEnd::Failed, reason: Some(reason), message: Some(message), ..outcome }
            }
        }
    }

    /// Keeps what is there. The error says what is not.
    fn keep_artifacts(&self, outcome: &mut Outcome) -> Result<(), Fault> {
        if self.artifacts.is_empty() {
            return Ok(());
        }
        let into = self.folder.task(&self.address).join("artifacts");
        let collected = collect(&self.dir, &self.artifacts, &into).map_err(|error| {
            let full = error.kind() == std::io::ErrorKind::StorageFull;
            let reason = if full { Reason::NoSpace } else { Reason::Resource };
            (reason, format!("can't keep the artifacts: {error}"))
        })?;
        let kept = collected.kept.into_iter().filter_map(|mut artifact| {
            artifact.file = self.folder.relative(&into.join(&artifact.path))?;
            Some(artifact)
        });
        outcome.artifacts = kept.collect();
        match collected.faults.as_slice() {
            [] => Ok(()),
            faults => {
                let (some, more) = faults.split_at(faults.len().min(5));
                let more = if more.is_empty() { String::new() } else { format!("; and {} more", more.len()) };
                Err((Reason::MissingArtifact, format!("{}{more}", some.join("; "))))
            }
        }
    }

    /// The output in its declared form, inline or as a file.
    fn settle(&self, outcome: &Outcome) -> Result<Kept, Fault> {
        let io = |error: std::io::Error| (Reason::Resource, format!("can't keep the output: {error}"));
        let bytes = match (&self.output, &self.pairs, &outcome.stdout) {
            (Output::Text, _, _) => return Ok(Kept::Text),
            (Output::Pairs, Some(pairs), _) => pairs.read()?,
            (_, _, Some(slice)) => read_whole(&self.folder, slice)
                .map_err(|error| (Reason::Resource, format!("can't read the output: {error}")))?,
            (_, _, None) => return Ok(Kept::Text),
        };
        let value = settle_output(&self.output, &String::from_utf8_lossy(&bytes))
            .map_err(|message| (Reason::InvalidOutput, message))?;
        let Some(value) = value else { return Ok(Kept::Text) };
        if bytes.len() <= INLINE_OUTPUT {
            return Ok(Kept::Inline(value));
        }
        let path = self.folder.make_task(&self.address).map_err(io)?.join("output.json");
        let json = value.to_string();
        crate::sys::files::write_atomically(&path, json.as_bytes()).map_err(io)?;
        Ok(Kept::File(self.folder.relative(&path), Digest::of(json.as_bytes())))
    }

    fn expectations(&self) -> Result<(), (Reason, String)> {
        let missing: Vec<&str> =
            self.files.iter().map(String::as_str).filter(|pattern| !exists(&self.dir, pattern)).collect();
        if !missing.is_empty() {
            let message = format!("`expect.files`: nothing matches {}", list_some(missing, 5));
            return Err((Reason::Expectation, message));
        }
        let Some(must) = self.changes else { return Ok(()) };
        let fault = |error: WorkspaceError| (error.reason(), error.one_line());
        let message = match (&self.tree, &self.before) {
            (Some(tree), _) => match (self.trees.changed(tree).map_err(fault)?, must) {
                (false, true) => "`expect.changes`: the tree is as it was at the start".to_owned(),
                (true, false) => "`expect.changes: false`: the tree is not as it was at the start".to_owned(),
                (true, true) | (false, false) => return Ok(()),
            },
            (None, Some(before)) => {
                let changed = before.differences(&Snapshot::of(&self.root).map_err(fault)?);
                if changed.is_empty() {
                    return Ok(());
                }
                let names = list_some(changed.iter().map(String::as_str), 5);
                format!("`expect.changes: false`: changed while it ran: {names}")
            }
            (None, None) => return Ok(()),
        };
        Err((Reason::Expectation, message))
    }
}

impl PairsFile {
    /// What the task wrote, without secrets; nothing where it took the file away. The task may have put anything in its
    /// place, so no link is followed and nothing but a regular file is read.
    fn read(&self) -> Result<Vec<u8>, Fault> {
        let io =
            |error: std::io::Error| (Reason::InvalidOutput, format!("can't read `$FLOW_OUTPUT`: {error}"));
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(&self.path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        if !file.metadata().map_err(io)?.is_file() {
            return Err((Reason::InvalidOutput, "`$FLOW_OUTPUT` is no regular file any more".to_owned()));
        }
        let mut bytes = Vec::new();
        file.take(self.limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > self.limit {
            let message = format!("wrote more than {} bytes to `$FLOW_OUTPUT` (`max_output`)", self.limit);
            return Err((Reason::OutputLimit, message));
        }
        match &self.mask {
            None => Ok(bytes),
            Some(mask) => Ok(mask.apply(&String::from_utf8_lossy(&bytes)).into_owned().into_bytes()),
        }
    }
}

/// Whether a path, or anything that a glob matches, exists below a folder.
fn exists(dir: &Path, pattern: &str) -> bool {
    if !pattern.contains(['*', '?', '[', '{']) {
        return dir.join(pattern).exists();
    }
    let Ok(glob) = globset::GlobBuilder::new(pattern).literal_separator(true).build() else { return false };
    let matcher = glob.compile_matcher();
    let files = ignore::WalkBuilder::new(dir).standard_filters(false).build();
    files
        .filter_map(Result::ok)
        .any(|entry| entry.path().strip_prefix(dir).is_ok_and(|path| matcher.is_match(path)))
}
