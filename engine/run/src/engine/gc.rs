//! What runs left behind and nobody needs: trees and branches without work, old run folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flow_core::ids::RunId;
use flow_core::model::Settings;

use super::error::EngineError;
use super::notice::{Notice, Tell};
use super::project::Engine;
use crate::store::RunFolder;
use crate::workspace::{Collector, Leftover, Standing};

/// How many runs stay whatever their age.
const KEPT_RUNS: usize = 20;

/// How long a run stays whatever their number.
const KEPT_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// What may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcOptions {
    /// Only looks.
    pub dry_run: bool,
    /// Removes work as well that no other branch has.
    pub force: bool,
    /// Keeps so many of the newest runs, whatever their age.
    pub keep: Option<usize>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// `tree` or `run`.
    pub what: &'static str,
    /// Whose it is.
    pub run: RunId,
    /// What it is called.
    pub name: String,
    /// Where it is; of a tree whose folder is gone nothing.
    pub path: Option<PathBuf>,
    /// The branch of a tree.
    pub branch: Option<String>,
    /// Where the branch stands.
    pub commit: Option<String>,
    /// What was found.
    pub state: &'static str,
    /// What was done.
    pub action: GcAction,
    /// Why, in words.
    pub why: String,
}

/// What was done about a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcAction {
    /// It is gone.
    Removed,
    /// It would go.
    WouldRemove,
    /// It stays.
    Kept,
    /// It could not be removed.
    Failed,
}

impl GcAction {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            GcAction::Removed => "removed",
            GcAction::WouldRemove => "would_remove",
            GcAction::Kept => "kept",
            GcAction::Failed => "failed",
        }
    }
}

impl Engine {
    /// Looks at all that runs left behind, and removes what may go.
    pub fn gc(
        &self,
        settings: &Settings,
        options: GcOptions,
        tell: Tell<'_>,
    ) -> Result<Vec<Remains>, EngineError> {
        let dir = settings.worktrees_dir.as_ref().map(PathBuf::from);
        let runs = self.folders()?;
        let live: BTreeSet<RunId> = runs
            .iter()
            // One that can't be asked may be alive.
            .filter(|run| run.owner_alive().unwrap_or(true))
            .map(|run| run.id().clone())
            .collect();
        let collector = Collector::open(&self.project.root, dir)?;
        if !options.dry_run {
            let undone = collector.recover()?.into_iter();
            undone.for_each(|what| tell(Notice::MergeUndone { what: what.to_string() }));
        }
        let found = collector.survey(&|run| live.contains(run))?;
        let mut all: Vec<Remains> =
            found.iter().map(|leftover| tree(&collector, leftover, options)).collect();
        if !options.dry_run {
            collector.sweep()?;
        }
        let kept = all.iter().filter(|one| one.action == GcAction::Kept);
        let needed: BTreeSet<RunId> = kept.map(|one| one.run.clone()).collect();
        all.extend(old_runs(&runs, (&live, &needed), options));
        Ok(all)
    }
}

fn tree(collector: &Collector, leftover: &Leftover, options: GcOptions) -> Remains {
    let may_go = leftover.standing.may_go(options.force);
    let removed = match (may_go, options.dry_run) {
        (true, true) => Ok(GcAction::WouldRemove),
        (false, true) => Ok(GcAction::Kept),
        (_, false) => collector.remove(leftover, options.force).and_then(|gone| {
            collector.prune(leftover)?;
            Ok(if gone { GcAction::Removed } else { GcAction::Kept })
        }),
    };
    let (action, why) = match removed {
        Ok(GcAction::Removed | GcAction::WouldRemove)
            if options.force && !leftover.standing.may_go(false) =>
        {
            let action = if options.dry_run { GcAction::WouldRemove } else { GcAction::Removed };
            (action, "by force: nothing else has its work".to_owned())
        }
        Ok(action) => (action, reason(&leftover.standing)),
        Err(error) => (GcAction::Failed, error.one_line()),
    };
    Remains {
        what: "tree",
        run: leftover.run.clone(),
        name: leftover.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        path: leftover.exists.then(|| leftover.path.clone()),
        branch: leftover.branch.clone(),
        commit: leftover.commit.clone(),
        state: leftover.standing.as_str(),
        action,
        why,
    }
}

fn reason(standing: &Standing) -> String {
    match standing {
        Standing::Live => "a live run has it",
        Standing::Unmade => "it was never finished",
        Standing::Clean => "nothing is in it that is not elsewhere",
        Standing::Unmerged => "no other branch has its commits; --force drops them",
        Standing::Dirty => "it holds changes that were never committed; --force drops them",
        Standing::Unclear(why) => why,
    }
    .to_owned()
}

/// Runs that are too many or too old.
fn old_runs(
    runs: &[RunFolder],
    (live, needed): (&BTreeSet<RunId>, &BTreeSet<RunId>),
    options: GcOptions,
) -> Vec<Remains> {
    let old = runs.iter().skip(options.keep.unwrap_or(KEPT_RUNS));
    let old = old.filter(|run| options.keep.is_some() || age(run).is_some_and(|age| age > KEPT_FOR));
    old.map(|run| {
        let (action, state, why) = if live.contains(run.id()) {
            (GcAction::Kept, "live", "it is being run".to_owned())
        } else if needed.contains(run.id()) {
            (GcAction::Kept, "needed", "a tree or branch of it is kept".to_owned())
        } else if !options.force && has_patches(&run.path().join("tasks")) {
            (GcAction::Kept, "patches", "it holds patches; --force drops them".to_owned())
        } else if options.dry_run {
            (GcAction::WouldRemove, "old", "it is old".to_owned())
        } else {
            let removed = run.lock().map_err(|error| error.to_string());
            match removed.and_then(|lock| run.remove(lock).map_err(|error| error.to_string())) {
                Ok(()) => (GcAction::Removed, "old", "it is old".to_owned()),
                Err(error) => (GcAction::Failed, "old", error),
            }
        };
        Remains {
            what: "run",
            run: run.id().clone(),
            name: run.id().to_string(),
            path: Some(run.path().to_owned()),
            branch: None,
            commit: None,
            state,
            action,
            why,
        }
    })
    .collect()
}

/// Since when nothing was written to the journal.
fn age(run: &RunFolder) -> Option<Duration> {
    std::fs::metadata(run.events()).ok()?.modified().ok()?.elapsed().ok()
}

fn has_patches(tasks: &Path) -> bool {
    let folders = std::fs::read_dir(tasks).into_iter().flatten().flatten();
    let mut files =
        folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten()).flatten();
    files.any(|file| file.path().extension().is_some_and(|extension| extension == "patch"))
}
