//! Runs whose engine died: what it left running is ended, its private trees are taken down, and it is said once.
//!
//! 1. Only processes that carry the run's own mark are touched, and only trees that its journal names.
//! 2. Whoever reconciles a run owns it for that long, so a live engine is never disturbed.
//! 3. A run is reconciled once for each time its engine died; whoever goes on with it tries again what was in the way.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flow_core::event::Event;
use flow_core::ids::{Address, Attempt};
use flow_core::model::RunStatus;
use flow_core::report::{Fold, MadeTree};

use super::error::EngineError;
use super::notice::{Notice, TreeLeft};
use super::project::Engine;
use super::runs::Run;
use crate::store::{Durability, Journal, OwnerLock, RunFolder, read_journal};
use crate::sys::clock;
use crate::sys::process::sweep_everywhere;
use crate::workspace::Trees;

/// How many of the newest runs are looked at.
pub(super) const NEWEST: usize = 50;

/// Where the last event of a run that ended surely begins.
const TAIL: u64 = 64 * 1024;

impl Engine {
    /// Looks after every run whose engine died. What is in the way is told and stops nothing.
    pub fn reconcile(&self) -> Result<Vec<Notice>, EngineError> {
        let newest = self.folders()?.into_iter().take(NEWEST);
        Ok(newest.filter_map(|folder| self.reconcile_one(&folder)).collect())
    }

    /// Looks after a run if its engine died.
    pub fn reconcile_run(&self, run: &Run) -> Option<Notice> {
        self.reconcile_one(&run.folder)
    }

    fn reconcile_one(&self, folder: &RunFolder) -> Option<Notice> {
        if ended_by_itself(folder) || is_done(folder) {
            return None;
        }
        self.try_reconcile(folder).unwrap_or_else(|error| {
            // Said once; what reads the run itself says it again.
            let _ = mark(folder);
            Some(Notice::NotReconciled { run: folder.id().clone(), why: error.in_full() })
        })
    }

    fn try_reconcile(&self, folder: &RunFolder) -> Result<Option<Notice>, EngineError> {
        // Somebody owns it: it lives, or is being reconciled.
        if folder.owner_alive()? {
            return Ok(None);
        }
        let Ok(lock) = folder.lock() else { return Ok(None) };
        self.reconcile_owned(folder, &lock, false)
    }

    /// The same before somebody goes on with the run, also when it was reconciled already: a tree may have been in use
    /// then. Under the lock with which they go on: an engine that is just dying holds it for a moment longer, and who
    /// looked before would see nothing and then run beside what it left.
    pub(super) fn reconcile_before(&self, folder: &RunFolder, lock: &OwnerLock) -> Option<Notice> {
        if ended_by_itself(folder) {
            return None;
        }
        // Whoever goes on reads the journal next, and says what is wrong with it.
        self.reconcile_owned(folder, lock, is_done(folder)).unwrap_or_default()
    }

    /// `again`: it was done before, so that nothing is said where nothing was left.
    fn reconcile_owned(
        &self,
        folder: &RunFolder,
        _: &OwnerLock,
        again: bool,
    ) -> Result<Option<Notice>, EngineError> {
        let read = read_journal(&folder.events())?;
        let mut run = Fold::default();
        read.entries.iter().for_each(|entry| run.take(entry));
        let Some(report) = run.report() else { return Ok(None) };
        if report.status != RunStatus::Running {
            return Ok(None);
        }
        let ended = end_orphans(folder)?;
        let (mut events, mut trees, mut torn) = (Vec::new(), Vec::new(), None);
        for (task, attempt, tree) in run.open_trees() {
            let of = (task.address.clone(), attempt.attempt);
            let (event, left) = self.reclaim(folder, Path::new(&report.root), of, tree);
            events.extend(event);
            trees.push(left);
        }
        if !events.is_empty() {
            let failed = |source| EngineError::WriteJournal { path: folder.events(), source };
            let journal = Journal::open_for_append(&folder.events(), &read, Durability::Always);
            let mut journal = journal.map_err(failed)?;
            torn = read.torn.as_ref().map(|torn| torn.bytes);
            journal.append(clock::now(), events).map_err(failed)?;
        }
        mark(folder)?;
        if again && !ended && trees.is_empty() {
            return Ok(None);
        }
        Ok(Some(Notice::Reconciled { run: folder.id().clone(), ended, trees, torn }))
    }

    /// What is in a tree is committed to its branch, what is clean is removed.
    fn reclaim(
        &self,
        folder: &RunFolder,
        root: &Path,
        (task, attempt): (Address, Attempt),
        tree: &MadeTree,
    ) -> (Option<Event>, TreeLeft) {
        let (settings, _) = self.settings(root);
        let dir = settings.worktrees_dir.map(PathBuf::from);
        let trees = Trees::new(root, dir, folder.id());
        // What a dead engine had half merged is undone first: the tree's work is still whole on its branch.
        let reclaimed = trees.recover().and_then(|_undone| trees.reclaim(tree));
        match reclaimed {
            Ok(outcome) => {
                let kept = outcome.is_kept();
                let commit = outcome.commit;
                let left = match outcome.branch {
                    Some(branch) => TreeLeft::OnBranch { task: task.clone(), branch },
                    None => TreeLeft::Removed { task: task.clone() },
                };
                (Some(Event::WorktreeEnded { task, attempt, kept, commit }), left)
            }
            Err(error) => (None, TreeLeft::Stays { task, path: tree.path.clone(), why: error.one_line() }),
        }
    }
}

/// Whether nobody has said yet how a run ended: its engine lives, or died.
pub(super) fn is_open(folder: &RunFolder) -> bool {
    !ended_by_itself(folder)
}

/// Ends what a dead engine left behind: only processes that carry the run's own mark.
fn end_orphans(folder: &RunFolder) -> Result<bool, EngineError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|source| EngineError::System { what: "can't start the runtime", source })?;
    Ok(runtime.block_on(sweep_everywhere(folder.id().as_str())))
}

/// A cheap look at the end of the journal; what it can't tell is looked at whole.
fn ended_by_itself(folder: &RunFolder) -> bool {
    let tail = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(folder.events())?;
        let start = file.metadata()?.len().saturating_sub(TAIL);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match tail() {
        // A run without a journal has begun nothing.
        Err(_) => true,
        Ok(bytes) => is_run_ended(&bytes),
    }
}

/// Whether a tail of a journal ends in a whole `run_ended`. The first `ev` of a line is its own; others are task output.
fn is_run_ended(tail: &[u8]) -> bool {
    const KEY: &[u8] = b"\"ev\":";
    let Some(whole) = tail.strip_suffix(b"\n") else { return false };
    let Some(newline) = whole.iter().rposition(|byte| *byte == b'\n') else { return false };
    let last = &whole[newline + 1..];
    let own = last.windows(KEY.len()).position(|window| window == KEY).map(|at| &last[at + KEY.len()..]);
    own.is_some_and(|event| event.starts_with(b"\"run_ended\""))
}

fn length(folder: &RunFolder) -> u64 {
    folder.events().metadata().map_or(0, |found| found.len())
}

fn mark(folder: &RunFolder) -> std::io::Result<()> {
    std::fs::write(folder.path().join("reconciled"), length(folder).to_string())
}

/// Whether this very death was reconciled already: a later engine would have written more.
fn is_done(folder: &RunFolder) -> bool {
    let mark = std::fs::read_to_string(folder.path().join("reconciled")).unwrap_or_default();
    mark.trim().parse() == Ok(length(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_event_itself_says_that_a_run_ended() {
        assert!(is_run_ended(b"x\n{\"v\":1,\"seq\":9,\"ev\":\"run_ended\"}\n"));
        for tail in [
            &b"x\n{\"ev\":\"run_ended\"}"[..],
            b"x\n{\"ev\":\"attempt_ended\",\"output\":{\"ev\":\"run_ended\"}}\n",
            b"x\n{\"ev\":\"run_ended\"}\n{\"ev\":\"run_resumed\"}\n",
            // Its beginning is cut off, so nothing is known of it.
            b"\"ev\":\"run_ended\"}\n",
            b"",
        ] {
            assert!(!is_run_ended(tail), "{}", String::from_utf8_lossy(tail));
        }
    }
}
