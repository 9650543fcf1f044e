//! `flow gc`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flow_core::ids::RunId;
use flow_core::model::Cause;
use flow_core::text::visible;
use flow_run::store::RunFolder;
use flow_run::workspace::{Collector, Leftover, Standing};
use serde_json::{Value, json};

use crate::args::{GcArgs, ListHow};
use crate::session::Session;
use crate::ui;

/// How many runs stay whatever their age.
const KEPT_RUNS: usize = 20;

/// How long a run stays whatever their number.
const KEPT_FOR: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// One thing that was looked at.
struct Row {
    what: &'static str,
    run: RunId,
    name: String,
    path: Option<PathBuf>,
    branch: Option<String>,
    commit: Option<String>,
    state: &'static str,
    action: Action,
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Removed,
    WouldRemove,
    Kept,
    Failed,
}

impl Action {
    fn as_str(self) -> &'static str {
        match self {
            Action::Removed => "removed",
            Action::WouldRemove => "would_remove",
            Action::Kept => "kept",
            Action::Failed => "failed",
        }
    }
}

pub(super) fn run(session: &Session, args: &GcArgs) -> anyhow::Result<u8> {
    let settings = session.settings(&session.project.root)?;
    let dir = settings.worktrees_dir.as_ref().map(PathBuf::from);
    let runs = session.runs()?;
    let live: BTreeSet<RunId> = runs
        .iter()
        // One that can't be asked may be alive.
        .filter(|run| run.owner_alive().unwrap_or(true))
        .map(|run| run.id().clone())
        .collect();
    let collector = Collector::open(&session.project.root, dir)?;
    if !args.dry_run {
        for undone in collector.recover()? {
            ui::note(&format!("what the last engine had half merged was undone: {undone}"));
        }
    }
    let found = collector.survey(&|run| live.contains(run))?;
    let mut rows: Vec<Row> = found.iter().map(|leftover| tree(&collector, leftover, args)).collect();
    if !args.dry_run {
        collector.sweep()?;
    }
    let needed: BTreeSet<RunId> =
        rows.iter().filter(|row| row.action == Action::Kept).map(|row| row.run.clone()).collect();
    rows.extend(old_runs(&runs, &live, &needed, args));
    match args.output {
        ListHow::Json => ui::print_json(&rows.iter().map(as_json).collect::<Vec<_>>())?,
        ListHow::Text => ui::print(&as_text(session, &rows))?,
    }
    let failed = rows.iter().any(|row| row.action == Action::Failed);
    Ok(if failed { Cause::Io.code() } else { Cause::Success.code() })
}

fn tree(collector: &Collector, leftover: &Leftover, args: &GcArgs) -> Row {
    let may_go = leftover.standing.may_go(args.force);
    let removed = match (may_go, args.dry_run) {
        (true, true) => Ok(Action::WouldRemove),
        (false, true) => Ok(Action::Kept),
        (_, false) => collector.remove(leftover, args.force).and_then(|gone| {
            collector.prune(leftover)?;
            Ok(if gone { Action::Removed } else { Action::Kept })
        }),
    };
    let (action, why) = match removed {
        Ok(Action::Removed | Action::WouldRemove) if args.force && !leftover.standing.may_go(false) => {
            let action = if args.dry_run { Action::WouldRemove } else { Action::Removed };
            (action, "by force: nothing else has its work".to_owned())
        }
        Ok(action) => (action, reason(&leftover.standing)),
        Err(error) => (Action::Failed, error.one_line()),
    };
    Row {
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
fn old_runs(runs: &[RunFolder], live: &BTreeSet<RunId>, needed: &BTreeSet<RunId>, args: &GcArgs) -> Vec<Row> {
    let old = runs.iter().skip(args.keep.unwrap_or(KEPT_RUNS));
    let old = old.filter(|run| args.keep.is_some() || age(run).is_some_and(|age| age > KEPT_FOR));
    old.map(|run| {
        let (action, state, why) = if live.contains(run.id()) {
            (Action::Kept, "live", "it is being run".to_owned())
        } else if needed.contains(run.id()) {
            (Action::Kept, "needed", "a tree or branch of it is kept".to_owned())
        } else if !args.force && has_patches(&run.path().join("tasks")) {
            (Action::Kept, "patches", "it holds patches; --force drops them".to_owned())
        } else if args.dry_run {
            (Action::WouldRemove, "old", "it is old".to_owned())
        } else {
            let removed = run.lock().map_err(|error| error.to_string());
            match removed.and_then(|lock| run.remove(lock).map_err(|error| error.to_string())) {
                Ok(()) => (Action::Removed, "old", "it is old".to_owned()),
                Err(error) => (Action::Failed, "old", error),
            }
        };
        Row {
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

fn as_json(row: &Row) -> Value {
    json!({
        "kind": row.what,
        "run": row.run,
        "name": row.name,
        "path": row.path,
        "branch": row.branch,
        "commit": row.commit,
        "state": row.state,
        "action": row.action.as_str(),
        "why": row.why,
    })
}

fn as_text(session: &Session, rows: &[Row]) -> String {
    if rows.is_empty() {
        return "nothing is left behind\n".to_owned();
    }
    let mut text = String::new();
    for row in rows {
        let action = row.action.as_str().replace('_', " ");
        let shown = row.branch.clone().unwrap_or_else(|| {
            row.path.as_deref().map_or_else(|| row.name.clone(), |path| session.project.show(path))
        });
        let commit = row.commit.as_deref().map(|commit| format!(" at {}", &commit[..commit.len().min(12)]));
        let _ = writeln!(
            text,
            "{action:<12} {:<8} {}{}: {}",
            row.what,
            visible(&shown),
            commit.unwrap_or_default(),
            row.why
        );
    }
    text
}
