//! Runs whose engine died: what it left running is ended, its private trees are taken down, and it is said once.
//!
//! 1. Only processes that carry the run's own mark are touched, and only trees that its journal names.
//! 2. Whoever reconciles a run owns it for that long, so a live engine is never disturbed.
//! 3. A run is reconciled once for each time its engine died; whoever goes on with it tries again what was in the way.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use anyhow::Context;
use flow_core::event::{Entry, Event};
use flow_core::ids::{Address, Attempt};
use flow_core::model::RunStatus;
use flow_core::report::RunReport;
use flow_run::store::{Durability, Journal, OwnerLock, RunFolder, read_journal};
use flow_run::sys::clock;
use flow_run::workspace::{Recorded, Trees};

use crate::session::Session;
use crate::ui;

/// How many of the newest runs are looked at.
const NEWEST: usize = 50;

/// Where the last event of a run that ended surely begins.
const TAIL: u64 = 64 * 1024;

/// Reconciles every run whose engine died. What is in the way is said and stops nothing.
pub(super) fn all(session: &Session) -> anyhow::Result<()> {
    for folder in session.runs()?.into_iter().take(NEWEST) {
        one(session, &folder);
    }
    Ok(())
}

/// The newest runs whose engine died, reconciled or not.
pub(super) fn dead(session: &Session) -> anyhow::Result<Vec<RunFolder>> {
    let lost = |folder: &RunFolder| {
        !ended_by_itself(folder)
            && super::report::fold(folder).is_ok_and(|report| report.status == RunStatus::Lost)
    };
    Ok(session.runs()?.into_iter().take(NEWEST).filter(lost).collect())
}

/// Reconciles a run if its engine died.
pub(super) fn one(session: &Session, folder: &RunFolder) {
    if ended_by_itself(folder) || is_done(folder) {
        return;
    }
    if let Err(error) = try_one(session, folder, false) {
        ui::warning(&format!("what run {} left behind can't be looked at: {error:#}", folder.id()));
        // Said once; what reads the run itself says it again.
        let _ = mark(folder);
    }
}

/// The same before somebody goes on with the run, also when it was reconciled already: a tree may have been in use then.
/// Under the lock with which they go on: an engine that is just dying holds it for a moment longer, and who looked before
/// would see nothing and then run beside what it left.
pub(super) fn before_going_on(session: &Session, folder: &RunFolder, lock: &OwnerLock) {
    if !ended_by_itself(folder) {
        // Whoever goes on reads the journal next, and says what is wrong with it.
        let _ = under_lock(session, folder, lock, is_done(folder));
    }
}

fn try_one(session: &Session, folder: &RunFolder, again: bool) -> anyhow::Result<()> {
    // Somebody owns it: it lives, or is being reconciled.
    if folder.owner_alive()? {
        return Ok(());
    }
    let Ok(lock) = folder.lock() else { return Ok(()) };
    under_lock(session, folder, &lock, again)
}

fn under_lock(session: &Session, folder: &RunFolder, _: &OwnerLock, again: bool) -> anyhow::Result<()> {
    let read = read_journal(&folder.events())?;
    let Some(report) = RunReport::fold(&read.entries) else { return Ok(()) };
    if report.status != RunStatus::Running {
        return Ok(());
    }
    let mut said = Vec::new();
    if end_orphans(folder)? {
        said.push("what it left running was ended".to_owned());
    }
    let mut events = Vec::new();
    for (tree, recorded) in open_trees(&read.entries) {
        let (event, text) = reclaim(session, folder, &report, tree, &recorded);
        events.extend(event);
        said.extend(text);
    }
    if !events.is_empty() {
        let mut journal = Journal::open_for_append(&folder.events(), &read, Durability::Always)
            .context("can't go on with the journal")?;
        if let Some(torn) = &read.torn {
            said.push(format!("the journal's last line ({} bytes) was torn and is cut off", torn.bytes));
        }
        journal.append(clock::now(), events)?;
    }
    mark(folder)?;
    if again && said.is_empty() {
        return Ok(());
    }
    let said = if said.is_empty() { "nothing of it was left".to_owned() } else { said.join("; ") };
    ui::note(&format!(
        "the engine of run {run} died: {said}; go on with `{flow} resume {run}`",
        run = folder.id(),
        flow = ui::program()
    ));
    Ok(())
}

/// Ends what a dead engine left behind: only processes that carry the run's own mark.
fn end_orphans(folder: &RunFolder) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("can't start the runtime")?;
    Ok(runtime.block_on(flow_run::sys::process::sweep_everywhere(folder.id().as_str())))
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

type Tree = (Address, Attempt);

/// The private trees that were made and not settled.
fn open_trees(entries: &[Entry]) -> Vec<(Tree, Recorded)> {
    let mut open: HashMap<Tree, (usize, Recorded)> = HashMap::new();
    for (number, entry) in entries.iter().enumerate() {
        if let Event::WorktreeMade { task, attempt, path, branch, base } = &entry.event {
            let recorded = Recorded { path: path.into(), branch: branch.clone(), base: base.clone() };
            open.insert((task.clone(), *attempt), (number, recorded));
        } else if let Event::WorktreeEnded { task, attempt, .. } = &entry.event {
            open.remove(&(task.clone(), *attempt));
        }
    }
    let mut open: Vec<_> = open.into_iter().collect();
    open.sort_by_key(|(_, (number, _))| *number);
    open.into_iter().map(|(tree, (_, recorded))| (tree, recorded)).collect()
}

/// What is in a tree is committed to its branch, what is clean is removed.
fn reclaim(
    session: &Session,
    folder: &RunFolder,
    report: &RunReport,
    (task, attempt): Tree,
    recorded: &Recorded,
) -> (Option<Event>, Option<String>) {
    let root = std::path::Path::new(&report.root);
    let (settings, _) = session.find_settings(root);
    let dir = settings.worktrees_dir.map(std::path::PathBuf::from);
    let trees = Trees::new(root, dir, folder.id());
    // What a dead engine had half merged is undone first: the tree's work is still whole on its branch.
    let reclaimed = trees.recover().and_then(|_undone| trees.reclaim(recorded));
    match reclaimed {
        Ok(outcome) => {
            let kept = outcome.path.is_some() || outcome.branch.is_some();
            let text = match &outcome.branch {
                Some(branch) => format!("what `{task}` had done is on branch {branch}"),
                None => format!("the tree of `{task}` was removed"),
            };
            (Some(Event::WorktreeEnded { task, attempt, kept }), Some(text))
        }
        Err(error) => {
            let path = recorded.path.display();
            (None, Some(format!("the tree of `{task}` stays in {path}: {}", error.one_line())))
        }
    }
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
