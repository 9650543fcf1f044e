//! Private trees from the end of their attempt to their own: what comes home, what is kept, what others still look at.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use flow_core::event::Event;
use flow_core::ids::{Attempt, NodeId, TaskId};
use flow_core::model::{AttemptEnd, Merge, Moved, Outcome, Reason, TaskState, WorktreeOutcome};
use flow_core::report::by_hand;
use flow_core::schedule::Input;
use flow_core::text::list_some;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::driver::{DriveError, Driver};
use crate::store::RunFolder;
use crate::watch::Update;
use crate::workspace::{HeldTree, PrivateTree, TreeEnd, Trees, WorkspaceError};

/// How many names a note lists.
const NAMED: usize = 4;

/// Ends the private trees of a run.
pub(super) struct Settler {
    trees: Arc<Trees>,
    folder: Arc<RunFolder>,
    settling: FuturesUnordered<Pin<Box<dyn Future<Output = Settled> + Send>>>,
    /// Trees that others may look at until the run ends.
    held: Vec<Held>,
}

/// A tree that is settled, and how its attempt ended with that.
pub(super) struct Settled {
    pub(super) node: NodeId,
    attempt: Attempt,
    tree: Arc<PrivateTree>,
    outcome: Box<Outcome>,
    /// That it stays for others to look at.
    held: Option<HeldTree>,
}

/// A tree whose task has ended and that others may look at.
struct Held {
    node: NodeId,
    attempt: Attempt,
    tree: Arc<PrivateTree>,
    held: HeldTree,
    /// Whether its branch is there to stay.
    branch: bool,
    /// The last commit of that.
    commit: Option<String>,
}

impl Settler {
    pub(super) fn new(trees: Arc<Trees>, folder: Arc<RunFolder>) -> Self {
        Settler { trees, folder, settling: FuturesUnordered::new(), held: Vec::new() }
    }

    /// The next tree that is settled; never, if none is about to be.
    pub(super) async fn next(&mut self) -> Settled {
        match self.settling.next().await {
            Some(settled) => settled,
            None => std::future::pending().await,
        }
    }

    /// Begins to take a tree down, or to keep it; its work comes home only when the attempt completed.
    fn settle(
        &self,
        (node, attempt): (NodeId, Attempt),
        tree: Arc<PrivateTree>,
        end: TreeEnd,
        mut outcome: Box<Outcome>,
    ) {
        let (trees, folder, of_end) = (Arc::clone(&self.trees), Arc::clone(&self.folder), Arc::clone(&tree));
        let completed = end.completed;
        let finishing = tokio::task::spawn_blocking(move || {
            trees.finish(&of_end, &end).map(|(mut settled, held)| {
                settled.patch = settled.patch.and(end.patch_to.and_then(|path| folder.relative(&path)));
                (settled, held)
            })
        });
        let folder = Arc::clone(&self.folder);
        self.settling.push(Box::pin(async move {
            let mut held = None;
            match finishing.await {
                Ok(Ok((settled, stays))) => {
                    held = stays;
                    if let Some(message) = conflict(&settled, &folder) {
                        fail(&mut outcome, Reason::MergeConflict, message);
                    }
                    outcome.worktree = Some(settled);
                }
                Ok(Err(error)) => {
                    let mut message = error.one_line();
                    if !matches!(error, WorkspaceError::Kept { .. }) {
                        message.push_str(&format!("; everything is kept in `{}`", tree.path().display()));
                    }
                    if completed {
                        // The work is where it was; a task that has not brought it home is no success.
                        fail(&mut outcome, error.reason(), message);
                    } else {
                        let before = outcome.message.take().map(|before| format!("{before}; "));
                        outcome.message = Some(before.unwrap_or_default() + &message);
                    }
                }
                Err(error) => {
                    let kept = tree.path().display();
                    let message =
                        format!("bug: settling the worktree panicked: {error}; it is kept in {kept}");
                    fail(&mut outcome, Reason::Internal, message);
                }
            }
            Settled { node, attempt, tree, outcome, held }
        }));
    }
}

fn fail(outcome: &mut Outcome, reason: Reason, message: String) {
    outcome.end = AttemptEnd::Failed;
    outcome.reason = Some(reason);
    outcome.message = Some(message);
}

impl Driver {
    /// Begins to settle the tree of an attempt. That its work is on its way home is written first.
    pub(super) fn settle_tree(
        &mut self,
        id: NodeId,
        attempt: Attempt,
        tree: Arc<PrivateTree>,
        outcome: Box<Outcome>,
    ) -> Result<(), DriveError> {
        let (merge, hold) = (self.plan_task(id).1.merge, !self.plan_task(id).1.dir_readers.is_empty());
        let completed = outcome.end == AttemptEnd::Completed;
        let merging = completed && merge.changes_home();
        if merging {
            self.write(vec![Event::MergeStarted { task: self.address(id), attempt, how: merge }])?;
        }
        let live = self.live.get_mut(&id);
        let message = live.map(|live| {
            live.merging = merging;
            std::mem::take(&mut live.message)
        });
        let patch_to = matches!(merge, Merge::Patch | Merge::Apply).then(|| self.patch_file(id, attempt));
        let message = message.unwrap_or_default();
        let end = TreeEnd { address: self.address(id), completed, merge, message, patch_to, hold };
        self.settler.settle((id, attempt), tree, end, outcome);
        Ok(())
    }

    fn patch_file(&self, id: NodeId, attempt: Attempt) -> PathBuf {
        self.setup.folder.task(&self.address(id)).join(format!("{attempt}.patch"))
    }

    /// A tree is settled, and with it its attempt has ended.
    pub(super) fn settled(&mut self, settled: Settled) -> Result<(), DriveError> {
        let Settled { node, attempt, tree, outcome, held } = settled;
        if self.live.remove(&node).is_some_and(|live| live.merging) {
            let merge = outcome.worktree.as_ref().and_then(|tree| tree.merged.clone());
            self.write(vec![Event::MergeEnded { task: self.address(node), attempt, merge }])?;
        }
        let branch = outcome.worktree.as_ref().is_none_or(WorktreeOutcome::is_kept);
        let commit = outcome.worktree.as_ref().and_then(|tree| tree.commit.clone());
        self.say_what_stays(node, &outcome);
        match held {
            Some(held) => self.settler.held.push(Held { node, attempt, tree, held, branch, commit }),
            None => {
                let task = self.address(node);
                self.write(vec![Event::WorktreeEnded { task, attempt, kept: branch, commit }])?;
            }
        }
        self.feed(Input::Ended { node, attempt, outcome })
    }

    /// What no branch can hold is seen by nobody who looks at branches.
    fn say_what_stays(&self, id: NodeId, outcome: &Outcome) {
        let Some(tree) = outcome.worktree.as_ref().filter(|tree| !tree.undelivered.is_empty()) else {
            return;
        };
        let names = list_some(tree.undelivered.iter().map(String::as_str), NAMED);
        let note = format!(
            "`{}` made what no commit can hold, a repository of its own: {names} stays in `{}`",
            self.address(id),
            tree.path.as_deref().unwrap_or_default()
        );
        self.setup.publisher.publish(Update::Note(note));
    }

    /// Takes the trees down that others could look at; nobody runs any more. One that a reader still needs when the run is
    /// gone on with stays, and so does what can't be taken down.
    pub(super) fn release_trees(&mut self) -> Result<(), DriveError> {
        for Held { node, attempt, tree, held, branch, commit } in std::mem::take(&mut self.settler.held) {
            let readers = &self.plan_task(node).1.dir_readers;
            let is_done = |reader: &TaskId| {
                let scheduler = &self.setup.scheduler;
                let state = scheduler.node(scheduler.node_of(*reader)).state;
                matches!(state, TaskState::Completed | TaskState::Skipped)
            };
            let needed = !readers.iter().all(is_done);
            let (address, path) = (self.address(node), tree.path().display());
            let kept = self.settler.trees.release(&tree, &held, needed).unwrap_or(true);
            let note = match (needed, kept) {
                (true, _) => Some(format!("the tree of `{address}` stays for those that read it: `{path}`")),
                (false, true) => Some(format!("the tree of `{address}` was changed by others: `{path}`")),
                (false, false) => None,
            };
            if let Some(note) = note {
                self.setup.publisher.publish(Update::Note(note));
            }
            let kept = kept || branch;
            self.write(vec![Event::WorktreeEnded { task: address, attempt, kept, commit }])?;
        }
        Ok(())
    }
}

/// What to say of a merge that was refused.
fn conflict(tree: &WorktreeOutcome, folder: &RunFolder) -> Option<String> {
    let merged = tree.merged.as_ref().filter(|merged| merged.is_refused())?;
    let files = merged.conflicts.iter().take(3).map(|conflict| {
        let other = conflict.other.as_ref().map(|other| format!(" by `{other}`")).unwrap_or_default();
        format!("`{}` {}{other}", conflict.path, conflict.kind.in_words())
    });
    let mut message = files.collect::<Vec<_>>().join(", ");
    message.extend(merged.moved.as_ref().map(Moved::in_words));
    let more = merged.conflicts.len().saturating_sub(3);
    if more > 0 {
        message.push_str(&format!(" and {more} more"));
    }
    // What a sibling applied is not committed, so HEAD, where a worktree starts, doesn't have it.
    let siblings =
        merged.how == Merge::Apply && merged.conflicts.iter().any(|conflict| conflict.other.is_some());
    let hint = if siblings {
        "; a task that builds on uncommitted work starts from it with `base: dirty`"
    } else {
        ""
    };
    let patch = tree.patch.as_ref().map(|patch| folder.path().join(patch).display().to_string());
    let next = match (patch.and_then(|path| by_hand(tree, &path)), &tree.branch, &tree.path) {
        (Some(command), _, _) => format!("take it by hand: `{command}`"),
        (None, Some(branch), _) => format!("the work is kept on branch `{branch}`"),
        (None, None, Some(path)) => format!("the work is kept in `{path}`"),
        (None, None, None) => "the work is kept".to_owned(),
    };
    let how = merged.how.as_str();
    Some(format!("`merge: {how}`: {message}; nothing was written; {next}{hint}"))
}
